"""Rows of the reconstructed table as pandas: one per leaf, or one per person."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Int, Wide
from treeaudit.model.schema import Schema
from treeaudit.model.words import label_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Rows", "per_leaf", "per_person"]

Texts = npt.NDArray[np.object_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """Some rows of the table with all that the model says of them.

    Attributes
    ----------
    tree
        Tree of each row; None where there is only one.
    rules
        Shape ``(n_rows, n_features)``: a text per feature.
    size, counts, value, label
        People, class counts, predicted number and predicted class per row, or
        None where the model does not tell.
    """

    schema: Schema
    tree: Wide | None
    leaf: Int
    rules: Texts
    size: Wide | None
    counts: Float | None
    value: Float | None
    label: Int | None


def per_leaf(rows: Rows) -> "pd.DataFrame":
    """Return one row per leaf, as `treeaudit.table.table.Table.to_frame` describes it."""
    import pandas as pd

    schema = rows.schema
    columns: dict[str, object] = {} if rows.tree is None else {"tree": rows.tree}
    columns["leaf"] = rows.leaf
    for i, name in enumerate(schema.names):
        columns[_free(name, columns)] = rows.rules[:, i]
    if rows.size is not None:
        columns[_free("people", columns)] = rows.size
    if rows.counts is not None and schema.classes is not None:
        for i, label in enumerate(schema.classes):
            name = _free(f"{schema.target}={label_text(label)}", columns)
            columns[name] = rows.counts[:, i]
    if rows.value is not None:
        columns[_free("value", columns)] = rows.value
    if rows.label is not None and schema.classes is not None:
        labels = np.array([label_text(c) for c in schema.classes], dtype=object)
        columns[_free(schema.target, columns)] = labels[rows.label]
    return pd.DataFrame(columns)


def per_person(rows: Rows, size: Wide, people: Float) -> "pd.DataFrame":
    """Return one row per person, as `treeaudit.table.table.Table.expand` describes it.

    Parameters
    ----------
    size
        Shape ``(n_rows,)``: people per row.
    people
        Shape ``(n_rows, n_classes)``: people per class, NaN where unknown.
    """
    import pandas as pd

    schema = rows.schema
    columns: dict[str, object] = {}
    if rows.tree is not None:
        columns["tree"] = np.repeat(rows.tree, size)
    grid = np.repeat(rows.rules, size, axis=0)
    for i, name in enumerate(schema.names):
        columns[_free(name, columns)] = grid[:, i]
    if schema.classes is not None:
        known = np.nan_to_num(people, nan=0).astype(np.int64)
        split = np.column_stack([known, size - known.sum(axis=1)])
        texts: list[object] = [label_text(c) for c in schema.classes]
        names = np.array([*texts, None], dtype=object)
        labels = np.repeat(np.tile(names, len(size)), split.ravel())
        columns[_free(schema.target, columns)] = labels
    if rows.value is not None:
        columns[_free("value", columns)] = np.repeat(rows.value, size)
    return pd.DataFrame(columns)


def _free(name: str, taken: dict[str, object]) -> str:
    """Return the name, with a number where two columns would share it."""
    free, i = name, 2
    while free in taken:
        free, i = f"{name} ({i})", i + 1
    return free
