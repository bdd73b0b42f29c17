"""What a terminal report is made of: lines of words and grids of cells, for rich or for text.

A report in a pipe or a file is laid out by `laid_out`, as rich would: what is imported for
colours then takes as long as the audit. What it does not know how to lay out rich does.
"""

import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "ASKED_OF_RICH",
    "Block",
    "Column",
    "Grid",
    "Line",
    "laid_out",
    "show",
    "width_without_terminal",
]

Styled = tuple[str, str]
"""A text and its style."""


@dataclass(frozen=True, slots=True)
class Line:
    """Words that are broken into lines where they do not fit.

    Attributes
    ----------
    parts
        One behind the other.
    style
        Of all of them.
    whole
        Whether they are one line however long: a command that is broken cannot be copied.
    """

    parts: tuple[Styled, ...] = ()
    style: str = ""
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a grid.

    Attributes
    ----------
    title
        What stands above it.
    least, width
        Columns of the terminal that it takes at least, or always.
    wraps
        Whether its cells are broken into lines.
    right
        Whether they stand at its right edge.
    """

    title: str = ""
    least: int | None = None
    width: int | None = None
    wraps: bool = False
    right: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Rows of cells, two blanks between columns.

    Attributes
    ----------
    titled
        Whether the titles of the columns are shown.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Styled, ...], ...]
    titled: bool = False


Block = Line | Grid


def show(block: Block, console: "Console") -> None:
    """Print a block."""
    if isinstance(block, Line):
        from rich.text import Text

        text = Text.assemble(*block.parts, style=block.style)
        console.print(text, soft_wrap=True) if block.whole else console.print(text)
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=None,
        show_header=block.titled,
        header_style="dim",
        padding=(0, _GAP, 0, 0),
        pad_edge=False,
    )
    for one in block.columns:
        table.add_column(
            one.title,
            min_width=one.least,
            width=one.width,
            no_wrap=not one.wraps,
            justify="right" if one.right else "left",
        )
    for row in block.rows:
        table.add_row(*(Text(text, style=style) for text, style in row))
    console.print(table)


ASKED_OF_RICH = {"COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "JUPYTER_COLUMNS"}
"""Variables by which somebody tells rich where it prints."""

_WIDTH = 80
_GAP = 2
_NARROW = str.maketrans(dict.fromkeys("·–—…≤≥≠≈×→█✓✕±ε", "x"))
"""Of the characters that are no ASCII, those of our own that take one column."""
_WORD = re.compile(r"\s*\S+\s*")


def laid_out(blocks: Iterable[Block], width: int) -> str | None:
    """Return blocks as rich lays them out without colours, blanks at the ends of lines left out.

    None where that is not known: for characters of another width, and where a word does not fit.
    """
    lines: list[str] = []
    for block in blocks:
        found = _line(block, width) if isinstance(block, Line) else _grid(block, width)
        if found is None:
            return None
        lines += found
    return "\n".join(line.rstrip() for line in lines) + "\n"


def width_without_terminal() -> int | None:
    """Return how wide rich would print where no terminal is written to; None to ask rich itself."""
    unusual = os.environ.keys() & ASKED_OF_RICH or os.name != "posix" or "ipykernel" in sys.modules
    if unusual or sys.stdout.isatty():
        return None
    for stream in range(3):
        try:
            return os.get_terminal_size(stream).columns or _WIDTH
        except (OSError, ValueError):
            continue
    return _WIDTH


def _line(line: Line, width: int) -> list[str] | None:
    text = "".join(part for part, _ in line.parts)
    if line.whole:
        return [text] if _is_narrow(text) else None
    return _broken(text, width)


def _grid(grid: Grid, width: int) -> list[str] | None:
    titles = [[one.title for one in grid.columns]] if grid.titled else []
    rows = titles + [[text for text, _ in row] for row in grid.rows]
    widths = _widths(grid, rows, width)
    if widths is None:
        return None
    lines: list[str] = []
    for number, row in enumerate(rows):
        cells = list(map(_cell, row, widths, grid.columns))
        told = [cell for cell in cells if cell is not None]
        if len(told) < len(cells):
            return None
        high = max(map(len, told))
        for cell in told:
            # Titles stand on the first row of cells.
            at = 0 if grid.titled and not number else len(cell)
            cell[at:at] = [""] * (high - len(cell))
        placed = (map(_placed, parts, widths, grid.columns) for parts in zip(*told, strict=True))
        lines += map((" " * _GAP).join, placed)
    return lines


def _widths(grid: Grid, rows: Sequence[Sequence[str]], width: int) -> list[int] | None:
    """Return how wide columns are; what is too much for a line is taken from the one that wraps."""
    widths = []
    for one, cells in zip(grid.columns, zip(*rows, strict=True), strict=True):
        held = max(len(line) for cell in cells for line in cell.split("\n"))
        widths.append(one.width or max(held, one.least or 0))
    # An empty column is as wide as its gap, and behind the last there is none.
    widths[-1] = max(widths[-1], 1)
    over = sum(widths) + _GAP * (len(widths) - 1) - width
    if over <= 0:
        return widths
    wraps = [at for at, one in enumerate(grid.columns) if one.wraps and one.width is None]
    if len(wraps) != 1 or widths[wraps[0]] - over < max(1, grid.columns[wraps[0]].least or 0):
        return None
    widths[wraps[0]] -= over
    return widths


def _cell(text: str, width: int, column: Column) -> list[str] | None:
    fits = column.wraps or all(len(line) <= width for line in text.split("\n"))
    return _broken(text, width) if fits else None


def _placed(text: str, width: int, column: Column) -> str:
    return text.rjust(width) if column.right else text.ljust(width)


def _broken(text: str, width: int) -> list[str] | None:
    """Return the lines of a text; None where a word does not fit into one."""
    lines = []
    for line in text.split("\n"):
        if not _is_narrow(line):
            return None
        start, room = 0, width
        for word in _WORD.finditer(line):
            n = len(word[0].rstrip())
            if n > width:
                return None
            if n > room:
                lines.append(line[start : word.start()].rstrip())
                start, room = word.start(), width
            room -= len(word[0])
        lines.append(line[start:].rstrip())
    return lines


def _is_narrow(text: str) -> bool:
    return text.isprintable() and (text.isascii() or text.translate(_NARROW).isascii())
