"""Rows as a table without lines."""

__all__ = ["grid"]


def grid(head: list[str], rows: "list[list[str]] | list[tuple[str, str, str]]") -> object:
    """Return rows as a table without lines, numbers to the right."""
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for i, name in enumerate(head):
        grid.add_column(Text(name), justify="right" if i else "left", no_wrap=not head[0])
    for row in rows:
        grid.add_row(*(Text(part) for part in row))
    return grid
