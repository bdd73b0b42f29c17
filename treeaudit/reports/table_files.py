"""The reconstructed table as a file, and one tree as a drawing for the terminal.

CSV, Parquet and Arrow are written block by block, JSON at once.
"""

import json
import math
import os
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.errors import DataError
from treeaudit.files import suffix_of, write_file, writing
from treeaudit.model.rules import Rules, edges_into, rules_of
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree
from treeaudit.model.words import conditions, label_text, number_of
from treeaudit.reports.plain_text import cell, plain
from treeaudit.table.frame import Column, Columns
from treeaudit.table.table import Table

if TYPE_CHECKING:
    import pandas as pd


TABLE_FORMATS = ("csv", "parquet", "arrow", "feather", "json")

# As `treeaudit.table.frame.bounds` calls it, whatever the feature is called.
_LOW = re.compile(r"_low( \(\d+\))?\Z")


def table_format(path: str | os.PathLike[str]) -> str:
    """Return the format that a path asks for."""
    return suffix_of(path, TABLE_FORMATS, "the table")


def save_table(
    table: Table,
    path: str | os.PathLike[str],
    *,
    expand: bool = False,
    words: bool = False,
    force: bool = False,
) -> Path:
    """Write the reconstructed table."""
    form = table_format(path)
    if form == "json":
        if expand:
            raise DataError("--expand writes CSV or Parquet; the JSON table has one row per leaf")
        return write_file(
            path, json.dumps(to_records(table), allow_nan=False), force=force, private=True
        )
    return _write(_expanded(table) if expand else table.blocks(words=words), Path(path), force)


def _expanded(table: Table) -> Iterator[Columns]:
    return iter((_columns(table.expand()),))


def save_people(frame: "pd.DataFrame", path: str | os.PathLike[str], *, force: bool) -> Path:
    """Write a table with one row per person as CSV, Parquet or Arrow, as `save_table` does."""
    if table_format(path) == "json":
        raise DataError(f"{path}: people are written as .csv or .parquet")
    return _write(iter((_columns(frame),)), Path(path), force)


def _columns(frame: "pd.DataFrame") -> Columns:
    return {str(name): frame[name].to_numpy() for name in frame.columns}


def _write(blocks: Iterator[Columns], path: Path, force: bool) -> Path:
    write = _csv if table_format(path) == "csv" else _arrow
    first = next(blocks)
    with writing(path, force=force, private=True) as file:
        write(chain((first,), blocks), file, table_format(path))
    return path


def _csv(blocks: Iterable[Columns], file: BinaryIO, _form: str) -> None:
    for i, block in enumerate(blocks):
        if not i:
            file.write((",".join(_quoted(cell(name)) for name in block) + "\n").encode())
        texts = [_texts(name, column) for name, column in block.items()]
        file.write("".join([",".join(row) + "\n" for row in zip(*texts, strict=True)]).encode())


def _texts(name: str, column: Column) -> list[str]:
    """Return every value as CSV has it, each put into words once."""
    values = column.tolist()
    if column.dtype.kind == "O":
        known = {one: _quoted(_shown(one)) for one in set(values)}
        return [known[one] for one in values]
    found, at = np.unique(column, return_inverse=True)
    # An end that is not open: nobody but those whose value is missing.
    blank = {"-inf": "", "nan": "", "inf": "inf" if _LOW.search(name) else ""}
    texts = [blank.get(text := repr(one), text) for one in found.tolist()]
    return [texts[i] for i in at.tolist()]


def _shown(value: object) -> str:
    if isinstance(value, str):
        return cell(value)
    return "" if value is None or value != value else str(value)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\r\n') else text


def _arrow(blocks: Iterable[Columns], file: BinaryIO, form: str) -> None:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise DataError(
            f"{form} needs pyarrow: run 'pip install treeaudit[parquet]', or write .csv"
        ) from None
    writer = None
    for block in blocks:
        made = pa.table(
            {
                name: pa.array(column, from_pandas=column.dtype.kind == "O")
                for name, column in block.items()
            }
        )
        if writer is None:
            open_writer = parquet.ParquetWriter if form == "parquet" else pa.ipc.new_file
            writer = open_writer(file, made.schema)
        writer.write_table(made)
    if writer is not None:
        writer.close()


def to_records(table: Table) -> list[dict[str, Any]]:
    """Return one plain object per leaf, with exact bounds."""
    records: list[dict[str, Any]] = []
    for index, here in table.by_tree():
        rules = rules_of(table.forest.trees[index], table.leaf[here])
        ends = np.searchsorted(rules.row, np.arange(len(here) + 1)).tolist()
        conditions = _conditions(rules, table)
        for i, told in enumerate(_leaf_records(table, index, here)):
            records.append(told | {"rule": conditions[ends[i] : ends[i + 1]]})
    return records


def _conditions(rules: Rules, table: Table) -> list[dict[str, Any]]:
    features = table.forest.schema.features
    conditions = []
    for i, (feature, low, high) in enumerate(
        zip(rules.feature.tolist(), rules.low.tolist(), rules.high.tolist(), strict=True)
    ):
        known = features[feature].categories
        condition: dict[str, Any] = {"feature": features[feature].name}
        if known is not None and rules.categories is not None:
            codes = rules.categories.of(i)
            condition["categories"] = [known[c] if c < len(known) else c for c in codes]
        else:
            condition["low"] = low if math.isfinite(low) else None
            condition["high"] = high if math.isfinite(high) else None
        conditions.append(condition)
    return conditions


def _leaf_records(table: Table, tree: int, rows: Wide) -> list[dict[str, Any]]:
    """Return what the model tells of some leaves of a tree, one object each."""
    classes, counts, value = table.forest.schema.classes, table.counts(rows), table.value(rows)
    records: list[dict[str, Any]] = [
        {"tree": tree, "leaf": leaf} for leaf in table.leaf[rows].tolist()
    ]
    if table.tells_people:
        for record, n in zip(records, table.size[rows].tolist(), strict=True):
            record["people"] = n
    if counts is not None and classes is not None:
        names = [label_text(label) for label in classes]
        for record, row in zip(records, counts.tolist(), strict=True):
            record["counts"] = dict(zip(names, row, strict=True))
            record["counts_are"] = table.forest.counts_are
    if value is not None:
        for record, number in zip(records, value.tolist(), strict=True):
            record["value"] = number
    return records


if TYPE_CHECKING:
    from rich.tree import Tree as Drawing


def draw(tree: Tree, schema: Schema, *, k: int = 5, most: int = 400) -> "Drawing":
    """Return a drawing of a tree, the condition into every node as its text.

    Leaves with fewer than k people are marked; what lies deeper than the first nodes is counted.
    """
    from rich.text import Text
    from rich.tree import Tree as Drawing

    leaf = tree.is_leaf
    start, child = tree.children()
    below = _leaves_below(tree)
    texts = ["everybody", *conditions(edges_into(tree, range(1, tree.n_nodes)), schema)]
    root = Drawing(Text.assemble((texts[0], "bold"), _people(tree, 0)), guide_style="dim")
    todo = [(0, root)]
    drawn = 1
    while todo:
        node, branch = todo.pop(0)
        for inner in child[start[node] : start[node + 1]].tolist():
            if drawn >= most:
                branch.add(Text(f"… {below[inner]:,} leaves more", style="dim"))
                continue
            drawn += 1
            text = Text.assemble(plain(texts[inner], 160), _people(tree, inner))
            if leaf[inner]:
                text.append(_label(tree, schema, inner), style="bold")
                if tree.n_records is not None and tree.n_records[inner] < k:
                    text.append(f"  below {k}", style="bold red")
            todo.append((inner, branch.add(text)))
    return root


def _leaves_below(tree: Tree) -> list[int]:
    count: list[int] = tree.is_leaf.astype(int).tolist()
    for node, parent in zip(
        range(tree.n_nodes - 1, 0, -1), tree.parent[:0:-1].tolist(), strict=True
    ):
        count[parent] += count[node]
    return count


def _people(tree: Tree, node: int) -> tuple[str, str]:
    if tree.n_records is None:
        return "", "dim"
    return f"  {number_of(int(tree.n_records[node]), 'person', 'people')}", "dim"


def _label(tree: Tree, schema: Schema, node: int) -> str:
    if tree.counts is not None and schema.classes is not None:
        return f"  {plain(label_text(schema.classes[int(tree.counts[node].argmax())]), 60)}"
    if tree.value is not None:
        return f"  {tree.value[node]:.6g}"
    return ""
