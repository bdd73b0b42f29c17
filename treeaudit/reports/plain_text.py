"""Untrusted text, made safe to show; and what a terminal would show, as text."""

import io
import re
import unicodedata
from collections.abc import Callable
from typing import TYPE_CHECKING

from treeaudit.files import well_formed

if TYPE_CHECKING:
    from rich.console import Console


_HIDDEN = {**{code: 0x2400 + code for code in range(32)}, 127: 0x2421}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf|nan", re.ASCII | re.IGNORECASE)


def printed(show: "Callable[[Console], None]", width: int) -> str:
    """Return what is printed on a terminal of some columns, without colours."""
    from rich.console import Console

    buffer = io.StringIO()
    console = Console(
        file=buffer, width=width, no_color=True, highlight=False, emoji=False,
        force_jupyter=False, force_terminal=False,
    )  # fmt: skip
    show(console)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


def plain(text: str, length: int = 400) -> str:
    r"""Return untrusted text without anything that could steer a terminal."""
    return visible(text[:length]) + ("…" if len(text) > length else "")


def visible(text: str) -> str:
    r"""Return text with a picture or an escape for every character that shows none."""
    if text.isprintable():
        return text
    pictured = well_formed(text).translate(_HIDDEN)
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in pictured)


def visible_lines(text: str) -> str:
    r"""Return text of several lines with a picture for every other character that shows none."""
    if text.replace("\n", "").isprintable():
        return text
    return "\n".join(map(visible, text.split("\n")))


def cell(text: str) -> str:
    """Return text as a cell of a CSV file that no spreadsheet takes for a formula.

    An apostrophe goes before what one would run, and before an apostrophe: without
    the first one, the cell is the text again.
    """
    shown = visible(text)
    first = unicodedata.normalize("NFKC", text.lstrip()[:1])  # of full-width forms, the plain one
    risky = first and first in "=+-@'" and not _NUMBER.fullmatch(shown.strip())
    return f"'{shown}" if risky else shown
