"""``treeaudit defend MODEL --sweep K,K,…``: what each size of leaves costs."""

from pathlib import Path
from typing import TYPE_CHECKING

from treeaudit.cli.console import Console, echo, grid, progress_bar
from treeaudit.errors import DataError

if TYPE_CHECKING:
    from treeaudit.model.forest import Forest
    from treeaudit.repair.defend import RepairRequest


def sweep_sizes(
    console: "Console",
    forest: "Forest",
    text: str,
    wanted: "RepairRequest",
    *,
    output: list[Path],
    force: bool,
) -> None:
    """Repair once for each k, print what it costs, and write the pages asked for."""
    import treeaudit as ta
    from treeaudit.repair.defend import frontier_of, sweep
    from treeaudit.repair.worth import uses_of
    from treeaudit.reports.comparison import check_output
    from treeaudit.reports.repairs import HEAD, curve, rest, shown

    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise DataError(f"--sweep takes numbers of people such as 2,5,10,20,50, not {text!r}")
    for path in output:
        check_output(path, force=force)
    sizes = [int(part) for part in parts]
    with progress_bar("repairing for every size") as progress:
        tried = frontier_of(forest, sizes, wanted, progress)
        attempts = sweep(forest, sizes, wanted) if output or not tried else []
        made = [one.forest for one in attempts]
        uses = uses_of(made, train=None, test=wanted.test, target=wanted.target)[0] if made else []
    if tried:
        console.print(grid(HEAD, [row.short for row in shown(tried, every=True)]))
        console.print(rest(tried))
    else:
        console.print(grid(*curve(sizes, attempts, uses)))
    if attempts and len(attempts) < len(sizes):
        console.print(
            f"no tree of at least two leaves is left at {sizes[len(attempts)]:,} and above"
        )
    if not output:
        return
    names = ["as it is", *(f"k = {k:,}" for k in sizes[: len(attempts)])]
    models = (forest, *(one.forest for one in attempts))
    found = ta.compare(
        *models, names=names, test=wanted.test, target=wanted.target, policy=wanted.policy
    )
    for path in output:
        found.save(path, force=force)
        echo(f"report  {path}")
