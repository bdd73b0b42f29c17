"""The reconstructed table as a file: CSV, Parquet or JSON with exact bounds."""

import io
import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.errors import DataError
from treeaudit.model.rules import Rules, rules_of
from treeaudit.model.words import label_text
from treeaudit.output import write_file
from treeaudit.reports.plain_text import cell
from treeaudit.table.table import Table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TABLE_FORMATS", "save_people", "save_table", "table_format", "to_records"]

TABLE_FORMATS = ("csv", "parquet", "json")


def table_format(path: str | os.PathLike[str]) -> str:
    """Return the format that a path asks for.

    Raises
    ------
    DataError
        If it is none of `TABLE_FORMATS`.
    """
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in TABLE_FORMATS:
        known = ", ".join(f".{name}" for name in TABLE_FORMATS)
        raise DataError(f"{path}: the table can be written as {known}")
    return suffix


def save_table(
    table: Table, path: str | os.PathLike[str], *, expand: bool = False, force: bool = False
) -> Path:
    """Write the reconstructed table.

    Parameters
    ----------
    path
        ``.csv`` and ``.parquet`` hold the text columns of `Table.to_frame`;
        ``.json`` holds exact bounds, one object per leaf. In CSV no text is one that
        a spreadsheet would run, and no character is hidden; the other two hold
        names as they are.
    expand
        One row per person instead of one per leaf (not for JSON).

    Raises
    ------
    DataError
        If the suffix is unknown, the file exists, or Parquet is not installed.
    """
    form = table_format(path)
    if form == "json":
        if expand:
            raise DataError("--expand writes CSV or Parquet; the JSON table has one row per leaf")
        content: str | bytes = json.dumps(to_records(table), allow_nan=False)
    else:
        frame = table.expand() if expand else table.to_frame()
        content = _csv(frame) if form == "csv" else _parquet(frame)
    return write_file(path, content, force=force, private=True)


def save_people(frame: "pd.DataFrame", path: str | os.PathLike[str], *, force: bool) -> Path:
    """Write a table with one row per person as CSV or Parquet, as `save_table` does.

    Raises
    ------
    DataError
        If the suffix is another, the file exists, or Parquet is not installed.
    """
    form = table_format(path)
    if form == "json":
        raise DataError(f"{path}: people are written as .csv or .parquet")
    content = _csv(frame) if form == "csv" else _parquet(frame)
    return write_file(path, content, force=force, private=True)


def _csv(frame: "pd.DataFrame") -> str:
    shown = {i: _shown(frame.iloc[:, i]) for i in range(frame.shape[1])}
    heads = [cell(str(name)) for name in frame.columns]
    return type(frame)(shown, index=frame.index).to_csv(index=False, header=heads)


def _shown(column: "pd.Series[Any]") -> "pd.Series[Any]":
    if column.dtype.kind in "biuf":
        return column
    values = column.unique()
    return column.map({v: cell(v) if isinstance(v, str) else v for v in values})


def _parquet(frame: "pd.DataFrame") -> bytes:
    buffer = io.BytesIO()
    try:
        frame.to_parquet(buffer, index=False)
    except ImportError:
        raise DataError(
            "Parquet needs pyarrow: run 'pip install treeaudit[parquet]', or write .csv"
        ) from None
    return buffer.getvalue()


def to_records(table: Table) -> list[dict[str, Any]]:
    """Return one plain object per leaf, with exact bounds.

    Examples
    --------
    >>> import treeaudit as ta
    >>> inf = math.inf
    >>> stump = ta.Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-inf, -inf, 15],
    ...                 high=[inf, 15, inf], n_records=[3, 1, 2])
    >>> model = ta.Forest(trees=(stump,), schema=ta.Schema.numeric(["age"]), counts_are="absent")
    >>> to_records(ta.reconstruct(model))[1]["rule"]
    [{'feature': 'age', 'low': 15.0, 'high': None}]
    """
    records: list[dict[str, Any]] = []
    for index, here in table.by_tree():
        rules = rules_of(table.forest.trees[index], table.leaf[here])
        ends = np.searchsorted(rules.row, np.arange(len(here) + 1)).tolist()
        conditions = _conditions(rules, table)
        for i, told in enumerate(_told(table, index, here)):
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


def _told(table: Table, tree: int, rows: Wide) -> list[dict[str, Any]]:
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
