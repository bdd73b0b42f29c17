"""``treeaudit reconstruct MODEL``."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treeaudit.cli import options as opt
from treeaudit.cli.console import Console, echo, frame_grid, progress_bar, width_of
from treeaudit.cli.options import protect_inputs
from treeaudit.errors import DataError
from treeaudit.files import check_free, same_file
from treeaudit.reports.plain_text import plain

if TYPE_CHECKING:
    import pandas as pd

    from treeaudit.arrays import Index
    from treeaudit.model.forest import Forest
    from treeaudit.table.table import Table


_SHOWN = partial(typer.Option, rich_help_panel="What to show", show_default=False)


def reconstruct(
    model: opt.Model,
    output: opt.Output = None,
    expand: Annotated[bool, _SHOWN("--expand", help="One row per person.")] = False,
    words: Annotated[
        bool,
        _SHOWN(
            "--words",
            help="With -o: what a leaf says of a feature as one text, not as a low and a high end.",
        ),
    ] = False,
    leaf: Annotated[
        int | None, _SHOWN(help="Only the rule of this leaf, in words.", metavar="N")
    ] = None,
    tree: Annotated[bool, _SHOWN("--tree", help="Draw the tree.")] = False,
    number: Annotated[
        int | None,
        _SHOWN(
            "--number",
            help="Which tree of a forest, from 0; all of them unless told.",
            metavar="N",
            min=0,
        ),
    ] = None,
    people: Annotated[
        bool,
        _SHOWN(
            "--people",
            help="The people who are certain from all trees together, in the order of the training "
            "table where seeds are stored, or likely where counts are draws or noisy; -o takes "
            "people.csv, and proof.json for treeaudit verify.",
        ),
    ] = False,
    schema: Annotated[
        Path | None,
        _SHOWN(help="With --people: which values the columns can have (TOML).", metavar="TOML"),
    ] = None,
    known: opt.Known = None,
    test: opt.Test = None,
    target: opt.Target = None,
    seconds: opt.Seconds = 10.0,
    rows: Annotated[int, typer.Option(help="Rows to print, smallest groups first.", min=1)] = 20,
    select: opt.Select = None,
    max_bytes: opt.MaxBytes = None,
    force: opt.Force = False,
) -> None:
    """Rebuild the anonymised table that a model gives away, a row per leaf.

    treeaudit reconstruct model.pkl

    treeaudit reconstruct model.pkl -o table.parquet

    treeaudit reconstruct model.pkl --expand -o people.csv

    treeaudit reconstruct forest.pkl --people -o people.csv -o proof.json
    """
    import treeaudit as ta
    from treeaudit.cli.people import Knowledge, show_people
    from treeaudit.reports.table_files import save_table

    ways = {"--people": people, "--leaf": leaf is not None, "--tree": tree}
    beside = {"--schema": schema, "--known": known, "--test": test, "--target": target}
    of_table = {"--expand": expand, "--words": words}
    _check_ways([way for way, given in ways.items() if given], output, beside, of_table)
    for path in output or []:
        _check_output(path, model, expand=expand, force=force)
    protect_inputs(output or [], {"--known": known, "--test": test, "--schema": schema})
    with progress_bar("reading the file"):
        forest = ta.load(model, select=select, max_bytes=max_bytes)
    console = Console()
    if people:
        knows = Knowledge(known=known, test=test, target=target, schema=schema, seconds=seconds)
        show_people(console, forest, knows, output or [], rows, force=force)
        return
    if leaf is not None:
        _print_leaf(console, forest, number or 0, leaf)
        return
    if tree:
        from treeaudit.reports.table_files import draw

        if (number or 0) >= forest.n_trees:
            raise DataError(f"there is no tree {number}: the model has {forest.n_trees}")
        console.print(draw(forest.trees[number or 0], forest.schema))
        return
    table = ta.reconstruct(forest, None if number is None else [number])
    if output:
        for path in output:
            written = save_table(table, path, expand=expand, words=words, force=force)
            echo(f"table  {written}")
        return
    _print_table(console, table, rows, expand=expand)


def _check_ways(
    ways: list[str],
    output: list[Path] | None,
    beside: Mapping[str, object],
    of_table: Mapping[str, bool],
) -> None:
    """Refuse what would be left out of account."""
    way = ways[0] if ways else ""
    if len(ways) > 1:
        raise DataError(f"{' and '.join(ways)} show different things: ask for one of them")
    if output and way in ("--leaf", "--tree"):
        raise DataError(
            f"{way} is only printed, and -o {output[0]} writes the whole table: leave one of them "
            "away"
        )
    for option, given in beside.items():
        if given is not None and way != "--people":
            raise DataError(f"{option} says more of the people: add --people, or leave it away")
    if way and beside["--target"] and not (beside["--known"] or beside["--test"]):
        raise DataError("--target names the labels of --known and --test: add one, or drop it")
    for option, given in of_table.items():
        if given and way:
            raise DataError(f"{option} is about the table: leave it or {way} away")


def _check_output(path: Path, model: Path, *, expand: bool, force: bool) -> None:
    """Refuse what cannot be written before anything is."""
    from treeaudit.reports.table_files import table_format

    if table_format(path) == "json" and expand:
        raise DataError(
            f"{path}: --expand writes CSV or Parquet; the JSON table has one row per leaf"
        )
    if same_file(path, model):
        raise DataError(f"{path} is the model itself; choose another name for the table")
    check_free(path, force=force)


def _print_leaf(console: "Console", forest: "Forest", tree: int, leaf: int) -> None:
    from treeaudit.model.words import number_of
    from treeaudit.table.reconstruction import rule_text

    text = rule_text(forest, tree, leaf)
    counted = forest.trees[tree].n_records
    n = None if counted is None else int(counted[leaf])
    people = "" if n is None else f"{number_of(n, 'person', 'people')}: "
    echo(plain(f"leaf {leaf}, {people}{text}", 10_000))


def _print_table(console: "Console", table: "Table", rows: int, *, expand: bool) -> None:
    import numpy as np

    order = np.arange(len(table))
    if table.tells_people and not expand:
        order = np.argsort(table.size, kind="stable")
    frame = table.expand(order[:rows]) if expand else table.to_frame(order[:rows], words=True)
    frame = frame.head(rows)
    # Columns about which no printed row says anything only take room.
    silent = [name for name in frame.columns if (frame[name] == "*").all()]
    shown = frame_grid(frame.drop(columns=silent))
    if not expand and width_of(console, shown) > console.width:
        shown, silent = frame_grid(_in_words(table, frame, order[:rows])), []
    console.print(shown)
    total = int(table.size.sum()) if expand else len(table)
    if silent:
        console.print(f"nothing said about: {plain(', '.join(map(str, silent)), 400)}")
    if total > len(frame):
        what = "people" if expand else "leaves"
        console.print(f"{total - len(frame):,} more {what}: add -o table.csv for all, or --rows N")


def _in_words(table: "Table", frame: "pd.DataFrame", order: "Index") -> "pd.DataFrame":
    """Put the conditions into one column, where a column each would not fit."""
    from treeaudit.table.reconstruction import rule_text

    features = set(table.forest.schema.names)
    homes = zip(table.tree_of(order).tolist(), table.leaf[order].tolist(), strict=True)
    rules = [rule_text(table.forest, tree, leaf) for tree, leaf in homes]
    return frame.drop(columns=[c for c in frame.columns if c in features]).assign(rule=rules)
