"""Untrusted text, made safe to show."""

__all__ = ["plain"]


def plain(text: str, length: int = 400) -> str:
    r"""Return untrusted text without anything that could steer a terminal.

    Examples
    --------
    >>> plain("age\x1b[31m\u202e")
    'age�[31m�'
    """
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[:length])
    return shown + ("…" if len(text) > length else "")
