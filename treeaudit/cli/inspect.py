"""``treeaudit inspect FILE``."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treeaudit.cli import options as opt
from treeaudit.cli.console import Console, echo, page
from treeaudit.reports.plain_text import plain

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.tree import Tree as Branches

    from treeaudit.readers.parts import Contents, Part


_MOST_NAMES = 12


def inspect(
    file: Annotated[Path, typer.Argument(help="Any file, a model or not.", show_default=False)],
    select: opt.Select = None,
    max_bytes: opt.MaxBytes = None,
    form: opt.Form = "text",
) -> None:
    """Show what is inside a file, without auditing it and without running it.

    This is no verdict. Exits with 0 for every file that can be read, whatever
    is in it; with 2 for one that is damaged or would run code when loaded.

    treeaudit inspect model.joblib
    """
    from treeaudit.readers.inspect import describe

    contents = describe(file, select=select, max_bytes=max_bytes)
    if form == "json":
        page(_as_json(contents))
    else:
        _print(contents)
    raise typer.Exit(0 if contents.refused is None else 2)


def _as_json(contents: "Contents") -> str:
    from treeaudit.reports.to_json import as_json

    return as_json({"schema_version": 1, **asdict(contents)})


def _print(contents: "Contents") -> None:

    console = Console()
    shown = _page(contents)
    if console.is_terminal:
        console.print(shown)
        return
    with console.capture() as captured:
        console.print(shown)
    for line in captured.get().split("\n")[:-1]:
        echo(line.rstrip())


def _page(contents: "Contents") -> "Table":
    """Put every section beside its name."""
    from rich.table import Table
    from rich.text import Text

    page = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    page.add_column(style="dim", no_wrap=True)
    page.add_column(overflow="fold")
    page.add_row("file", Text(plain(Path(contents.path).name, 120), style="bold"))
    page.add_row("format", Text(plain(_format(contents))))
    page.add_row("sha256", Text(contents.sha256))
    if contents.versions:
        page.add_row("written by", Text(plain(", ".join(contents.versions))))
    if contents.refused is not None:
        page.add_row("refused", Text(plain(contents.refused, 2000), style="bold red"))
    if contents.model is not None:
        page.add_row("audits", Text(plain(contents.model, 1000)))
    if contents.structure is not None:
        page.add_row("structure", Text(plain(contents.structure, 1000)))
    if contents.no_model is not None:
        page.add_row("no model", Text(plain(contents.no_model, 2000)))
    for name, section in _sections(contents):
        page.add_row()
        page.add_row(name, section)
    return page


def _sections(contents: "Contents") -> "list[tuple[str, RenderableType]]":
    sections: list[tuple[str, RenderableType]] = []
    if contents.outline is not None:
        sections.append(("holds", _outline(contents.outline)))
    if contents.arrays:
        sections.append(("arrays", _arrays(contents)))
    if contents.leftovers:
        sections.append(("gives away", _extras(contents)))
    if contents.names:
        sections.append(("names", _names(contents)))
    return sections


def _format(contents: "Contents") -> str:
    parts = [contents.format]
    if contents.protocol is not None:
        parts.append(f"pickle protocol {contents.protocol}")
    parts.append(contents.compression or "not compressed")
    parts.append(f"{contents.n_bytes:,} bytes")
    return " · ".join(parts)


def _outline(part: "Part") -> "Branches":
    from rich.tree import Tree as Branches

    top = Branches(_line(part), guide_style="dim")
    todo = [(part, top)]
    while todo:
        above, branch = todo.pop()
        todo += [(held, branch.add(_line(held))) for held in above.parts]
    return top


def _line(part: "Part") -> "RenderableType":
    from rich.text import Text

    name = f"{plain(part.name, 60)}: " if part.name else ""
    facts = f"  {plain(' · '.join(part.facts), 200)}" if part.facts else ""
    return Text.assemble(name, (plain(part.kind, 80), "bold"), (facts, "dim"))


def _grid() -> "Table":
    from rich.table import Table

    return Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)


def _arrays(contents: "Contents") -> "Table":
    from rich.text import Text

    grid = _grid()
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for array in contents.arrays:
        shape = " × ".join(f"{size:,}" for size in array.shape)
        grid.add_row(
            f"{array.n_bytes:,} bytes",
            Text(plain(f"{shape} {array.dtype}", 60)),
            Text(plain(array.where)),
        )
    return grid


def _extras(contents: "Contents") -> "Table":
    from rich.text import Text

    grid = _grid()
    grid.add_column(overflow="fold")
    for one in contents.leftovers:
        grid.add_row(Text.assemble((plain(one.where), "bold"), f": {plain(one.says)}"))
    return grid


def _names(contents: "Contents") -> "Table":
    from rich.text import Text

    grid = _grid()
    grid.add_column(overflow="fold")
    for one in contents.names[:_MOST_NAMES]:
        note = "  outside the usual libraries" if one.foreign else ""
        times = f" × {one.n:,}" if one.n > 1 else ""
        grid.add_row(Text.assemble(plain(one.name, 200), times, (note, "yellow")))
    if len(contents.names) > _MOST_NAMES:
        grid.add_row(f"{len(contents.names) - _MOST_NAMES:,} more: see --format json")
    return grid
