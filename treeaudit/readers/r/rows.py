"""What the training rows that an R object keeps tell of the leaves of its trees."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treeaudit.arrays import Float, Int, Wide
from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.model.forest import CountsAre
from treeaudit.model.source import Extras
from treeaudit.model.tree import Tree
from treeaudit.readers.limits import Most
from treeaudit.readers.links import sums
from treeaudit.readers.r.fields import extras_of
from treeaudit.readers.r.objects import RObject

DRAWS = "class counts are bootstrap draws: a person drawn twice counts twice"


@dataclass(frozen=True, slots=True, eq=False)
class Response:
    """What the rows were labelled with: codes of classes from 0 on, or numbers."""

    values: Float
    classes: tuple[str, ...] | None

    @classmethod
    def of(cls, stored: RObject) -> "Response | None":
        """Return the response in a column, None where it is neither labels nor numbers."""
        if not len(stored):
            return None
        if "levels" in stored.attributes:
            return cls(stored.numbers() - 1, tuple(stored.levels))
        if stored.kind == "string":
            classes, code = np.unique(stored.texts(), return_inverse=True)
            return cls(code.astype(np.float64), tuple(classes.tolist()))
        return cls(stored.numbers(), None) if len(stored.numbers()) and not stored.dim else None


def places(number: Sequence[float | str | None], rows: RObject) -> Wide:
    """Return the node of each row, by the numbers that the file gives its nodes."""
    place = {one: i for i, one in enumerate(number)}
    return np.array([place.get(one, -1) for one in rows.complete().tolist()], dtype=np.int64)


def with_rows(
    trees: Sequence[Tree],
    leaf: Sequence[Wide],
    weights: Sequence[Float],
    response: Response | None,
    *,
    alone: bool,
) -> dict[str, Any]:
    """Return what rows tell of a forest: its trees, what their numbers are, and its records.

    ``leaf`` is the node in which each row ends, by tree, -1 where in none; empty where the file
    does not tell. ``weights`` is how often each was drawn, or what it weighs. ``alone``: whether it
    is a single tree, which saw all rows.
    """
    numeric = response is None or response.classes is None
    means = alone and all(bool(np.all(one == 1)) for one in weights)
    counts_are, reason = _meaning(weights, response, drawn=not alone)
    if leaf:
        each = zip(trees, leaf, weights, strict=True)
        trees = [replace(t, **_columns(t.parent, at, held, response)) for t, at, held in each]
    drawn = any(np.any(one > 1) for one in weights)
    return {
        "trees": tuple(trees),
        "counts_are": counts_are if leaf else "absent",
        "counts_reason": reason if leaf else "the file does not tell where its rows are",
        "records_are": "all" if alone else "bootstrap" if drawn else "unknown",
        "n_records": len(leaf[0]) if leaf else None,
        "values_are": "means" if numeric and means and leaf and response else "unknown",
        "extras": extras_of(trees, means=means) if numeric else Extras(),
    }


def _columns(parent: Int, leaf: Wide, weight: Float, response: Response | None) -> dict[str, Any]:
    """Return people, and counts of classes or means, of all nodes.

    ``leaf`` is the node of every row, -1 where the row is in none; ``weight`` how often it was
    drawn, or what it weighs.
    """
    n = len(parent)
    inside = (leaf >= 0) & (weight > 0)
    if np.any(leaf >= n) or (response is not None and len(response.values) != len(leaf)):
        raise ReadError("the rows do not fit the tree")
    at, weight = leaf[inside], weight[inside]
    found: dict[str, Any] = {
        "n_records": sums(parent, np.bincount(at, minlength=n).astype(np.float64)).astype(np.int64)
    }
    if response is None:
        return found
    values = response.values[inside]
    if not np.isfinite(values).all():
        raise ReadError("a row has no label")
    if response.classes is None:
        own = np.bincount(at, weights=weight, minlength=n)
        total = np.bincount(at, weights=weight * values, minlength=n)
        both = sums(parent, np.column_stack([own, total]))
        found["value"] = np.divide(both[:, 1], both[:, 0], out=np.zeros(n), where=both[:, 0] > 0)
        return found
    width = len(response.classes)
    if n * width > Most.cells:
        raise ModelTooLargeError("a tree has more nodes and classes than treeaudit takes in")
    if len(values) and not (values.min() >= 0 and values.max() < width):
        raise ReadError("a row has a class that does not exist")
    cell = at * width + values.astype(np.int64)
    flat: Float = np.bincount(cell, weights=weight, minlength=n * width).astype(np.float64)
    found["counts"] = sums(parent, flat.reshape(n, width))
    return found


def _meaning(
    weights: Sequence[Float], response: Response | None, *, drawn: bool
) -> tuple[CountsAre, str]:
    """Return what counts are that were added up from rows of some weights, and why."""
    if response is None or response.classes is None:
        return "absent", "the model predicts a number, not a class"
    if drawn and all(np.array_equal(one, np.rint(one)) for one in weights):
        return "exact", DRAWS
    if all(np.isin(one, (0.0, 1.0)).all() for one in weights):
        return "exact", "every training row weighs 1"
    return "weighted", "rows have weights of their own"


def table_of(frame: RObject, names: list[str], levels: dict[str, list[str]]) -> Float:
    """Return columns of a data frame as numbers and codes of categories from 0 on."""
    columns = [frame.get(name).numbers() - (name in levels) for name in names]
    if len({len(column) for column in columns}) != 1:
        raise ReadError("the columns of its data differ in length")
    return np.column_stack(columns)
