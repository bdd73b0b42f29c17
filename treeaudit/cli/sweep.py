"""``treeaudit defend MODEL --sweep``: what each k costs, as a table and as a page."""

from pathlib import Path
from typing import TYPE_CHECKING

from treeaudit.cli import declared as typer
from treeaudit.cli.grid import grid

if TYPE_CHECKING:
    from rich.console import Console

    from treeaudit.model.forest import Forest
    from treeaudit.repair.defend import RepairRequest

__all__ = ["sweep_sizes"]


def sweep_sizes(
    console: "Console",
    forest: "Forest",
    text: str,
    wanted: "RepairRequest",
    *,
    test: Path | None,
    output: list[Path],
    force: bool,
) -> None:
    """Repair once for each k, print what it costs, and write the pages asked for."""
    import treeaudit as ta
    from treeaudit.errors import DataError
    from treeaudit.repair.defend import sweep, utility_on
    from treeaudit.reports.comparison import check_output
    from treeaudit.reports.repair_rows import curve

    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise DataError(f"--sweep takes numbers of people such as 2,5,10,20,50, not {text!r}")
    for path in output:
        check_output(path, force=force)
    sizes = [int(part) for part in parts]
    attempts = sweep(forest, sizes, wanted)
    target = wanted.target
    uses = [None if test is None else utility_on(one.forest, test, target) for one in attempts]
    console.print(grid(*curve(sizes, attempts, uses)))
    if len(attempts) < len(sizes):
        console.print(
            f"no tree of at least two leaves is left at {sizes[len(attempts)]:,} and above"
        )
    if not output:
        return
    names = ["as it is", *(f"k = {k:,}" for k in sizes[: len(attempts)])]
    models = (forest, *(one.forest for one in attempts))
    found = ta.compare(*models, names=names, test=test, target=wanted.target, policy=wanted.policy)
    for path in output:
        found.save(path, force=force)
        typer.echo(f"report  {path}")
