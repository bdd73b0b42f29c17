"""The reconstructed table as a file: CSV, Parquet or JSON with exact bounds."""

import io
import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from treeaudit.errors import DataError
from treeaudit.output import write_file
from treeaudit.rules import Rules, rules_of
from treeaudit.table import Table
from treeaudit.words import label_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TABLE_FORMATS", "save_table", "table_format", "to_records"]

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
    table
        The table.
    path
        ``.csv`` and ``.parquet`` hold the text columns of `Table.to_frame`;
        ``.json`` holds exact bounds, one object per leaf.
    expand
        One row per person instead of one per leaf (not for JSON).
    force
        Replace a file that exists.

    Raises
    ------
    DataError
        If the suffix is unknown, the file exists, or Parquet is not installed.
    """
    form = table_format(path)
    if form == "json":
        if expand:
            raise DataError("--expand writes CSV or Parquet; the JSON table has one row per leaf")
        return write_file(path, json.dumps(to_records(table), allow_nan=False), force=force)
    frame = table.expand() if expand else table.to_frame()
    if form == "csv":
        return write_file(path, frame.to_csv(index=False), force=force)
    return write_file(path, _parquet(frame), force=force)


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
    for index in np.unique(table.tree).tolist():
        here = np.flatnonzero(table.tree == index)
        rules = rules_of(table.forest.trees[index], table.leaf[here])
        ends = np.searchsorted(rules.row, np.arange(len(here) + 1)).tolist()
        conditions = _conditions(rules, table)
        for i, row in enumerate(here.tolist()):
            records.append(_record(table, row, conditions[ends[i] : ends[i + 1]]))
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


def _record(table: Table, row: int, rule: list[dict[str, Any]]) -> dict[str, Any]:
    classes = table.forest.schema.classes
    record: dict[str, Any] = {"tree": int(table.tree[row]), "leaf": int(table.leaf[row])}
    if table.n_records is not None:
        record["people"] = int(table.n_records[row])
    if table.counts is not None and classes is not None:
        record["counts"] = {
            label_text(label): n
            for label, n in zip(classes, table.counts[row].tolist(), strict=True)
        }
        record["counts_are"] = table.forest.counts_are
    if table.value is not None:
        record["value"] = float(table.value[row])
    record["rule"] = rule
    return record
