"""Rows as a table without lines."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table as Grid

__all__ = ["frame_grid", "grid", "width_of"]


def grid(head: list[str], rows: "list[list[str]] | list[tuple[str, str, str]]") -> object:
    """Return rows as a table without lines, numbers to the right."""
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for i, name in enumerate(head):
        grid.add_column(Text(name), justify="right" if i else "left")
    for row in rows:
        grid.add_row(*(Text(part) for part in row))
    return grid


def frame_grid(frame: "pd.DataFrame") -> "Grid":
    """Return a table of columns as the terminal shows it."""
    from rich.table import Table as Grid
    from rich.text import Text

    from treeaudit.reports.plain_text import plain

    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for name in frame.columns:
        numeric = frame[name].dtype.kind in "if"
        words = name == "rule"
        grid.add_column(
            Text(plain(str(name), 60)), justify="right" if numeric else "left", no_wrap=not words
        )
    for row in frame.itertuples(index=False):
        grid.add_row(*(Text(_cell(value)) for value in row))
    return grid


def width_of(console: "Console", shown: "Grid") -> int:
    """Return how wide a table is where nothing has to be left out."""
    return console.measure(shown, options=console.options.update(max_width=100_000)).maximum


def _cell(value: object) -> str:
    from treeaudit.reports.plain_text import plain

    if isinstance(value, float):
        return "" if value != value else f"{value:,.6g}"
    return "" if value is None else plain(str(value), 1000)
