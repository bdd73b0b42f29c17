"""``python -m benchmarks.private_tables``: private trees on twelve tables, beside their peers.

Needs ``TREEAUDIT_DATA``. Adds what is missing to ``benchmarks/private_tables.jsonl``, a line of
JSON for each fit, and writes ``benchmarks/PRIVATE_TABLES.md``, the accuracies that
``treeaudit train --algorithm list`` prints, and the table of trainers on the site. A run that
is stopped goes on where it was; a larger ``--seeds`` adds splits. A line names the code it is
from: after a change of trainers, ``--again treeaudit``. Environments of the peers are made in
``--environments``.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.private_tables.cells import TABLES, forget, scores_in
from benchmarks.private_tables.environments import python_of, unavailable
from benchmarks.private_tables.listed import write_listed
from benchmarks.private_tables.models import PEERS, RUNNERS, module_of
from benchmarks.private_tables.page import write_page
from benchmarks.private_tables.run import fold, measure, wanted
from benchmarks.private_tables.summary import Results
from benchmarks.private_trees_data import Table, read_table

HERE = Path(__file__).parents[1]


def main() -> None:
    """Measure what is missing and write the page."""
    options = _options()
    if options.privatree is not None:
        os.environ["PRIVATREE"] = str(options.privatree.resolve())
    if options.again:
        forget(options.scores, module_of(RUNNERS[options.again]).MODELS)
    tables = {name: read_table(name) for name in TABLES}
    absent: dict[str, str] = {}
    if not options.page_only:
        pythons, absent = _pythons(options.runners, options.environments)
        with tempfile.TemporaryDirectory() as folder:
            folds = Path(folder)
            classes = {
                name: fold(tables[name], options.seeds, folds / f"{name}.npz")
                for name in options.tables
            }
            cells = wanted(classes, options.seeds, pythons)
            measure(cells, pythons, folds, options.scores, options.jobs)
    scores = scores_in(options.scores)
    measured = {cell.model for cell in scores}
    reasons = {
        peer: absent.get(peer) or unavailable(peer) or "it was not asked for"
        for peer in PEERS
        if measured.isdisjoint(module_of(RUNNERS[peer]).MODELS)
    }
    if options.scores.resolve() == (HERE / "private_tables.jsonl").resolve():
        write_listed(Results(scores))
    write_page(scores, {n: _shape(t) for n, t in tables.items()}, reasons, options.page)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="random splits of every table")
    parser.add_argument("--jobs", type=int, default=1, help="workers at a time")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--runners", nargs="+", choices=RUNNERS, default=list(RUNNERS))
    parser.add_argument(
        "--again", choices=RUNNERS, help="forget what a runner measured and measure it again"
    )
    parser.add_argument(
        "--environments", type=Path, default=HERE.parent / ".peers", help="folder for the peers"
    )
    parser.add_argument("--privatree", type=Path, metavar="FOLDER", help="a checkout of PrivaTree")
    parser.add_argument("--scores", type=Path, default=HERE / "private_tables.jsonl")
    parser.add_argument("--page", type=Path, default=HERE / "PRIVATE_TABLES.md")
    parser.add_argument("--page-only", action="store_true", help="measure nothing")
    return parser.parse_args()


def _pythons(runners: list[str], folder: Path) -> tuple[dict[str, Path], dict[str, str]]:
    """Return the Python of each runner, and why a peer has none."""
    pythons: dict[str, Path] = {}
    absent: dict[str, str] = {}
    for runner in runners:
        if runner not in PEERS:
            pythons[runner] = Path(sys.executable)
        elif (why := unavailable(runner)) is not None:
            absent[runner] = why
        else:
            try:
                pythons[runner] = python_of(runner, folder)
            except subprocess.CalledProcessError as error:
                absent[runner] = f"its environment could not be made ({error.cmd[1:4]} failed)"
    return pythons, absent


def _shape(table: Table) -> str:
    rows, columns = table.X.shape
    return f"{rows:,} records, {columns} columns, {len(table.schema.classes or ())} classes"


if __name__ == "__main__":
    main()
