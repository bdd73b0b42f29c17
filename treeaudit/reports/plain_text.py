"""Untrusted text, made safe to show; and what a terminal would show, as text."""

import io
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["plain", "printed"]


def printed(show: "Callable[[Console], None]", width: int) -> str:
    """Return what is printed on a terminal of some columns, without colours."""
    from rich.console import Console

    buffer = io.StringIO()
    console = Console(
        file=buffer, width=width, no_color=True, highlight=False, emoji=False, force_jupyter=False
    )
    show(console)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


def plain(text: str, length: int = 400) -> str:
    r"""Return untrusted text without anything that could steer a terminal.

    Examples
    --------
    >>> plain("age\x1b[31m\u202e")
    'age�[31m�'
    """
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[:length])
    return shown + ("…" if len(text) > length else "")
