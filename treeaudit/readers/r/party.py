"""Trees of party and partykit, whose nodes hold nobody: rows that the file keeps tell who is where.

In partykit nodes lie in nodes, and a split has a child for every interval or set of levels. Rows
are in ``fitted``, the node of each; in forests the data themselves are sent down the trees.

In party a node is a list whose elements have places, in forests without names: 0 number, 1 weights
of the training rows, 3 whether it is a leaf, 4 the split, 6 prediction, 7 left, 8 right. Of a
split: 0 column, 2 the bound or a flag for every level, 4 whether what is below goes left, 6 the
name of the column.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from treeaudit.arrays import Float, Int, Wide
from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.model.forest import CountsAre, Forest
from treeaudit.model.source import Source
from treeaudit.model.tree import Tree
from treeaudit.readers.boosters import check_number, each_tree
from treeaudit.readers.limits import Most, listed
from treeaudit.readers.links import sums
from treeaudit.readers.r.fields import (
    DRAWS,
    Edge,
    below,
    grown,
    halves,
    schema_of,
    target_of,
)
from treeaudit.readers.r.objects import RObject

_NUMBER, _LEAF, _SPLIT, _LEFT, _RIGHT = 0, 3, 4, 7, 8
_COLUMN, _BOUND, _TO_LEFT, _NAME = 0, 2, 4, 6

Numbers = list[float | str | None]
"""The number that a file gives each node."""


@dataclass(slots=True, eq=False)
class _Columns:
    """The columns of the data, the levels of factors, and the target."""

    stored: list[str]  # Of the data, the target among them
    names: list[str]
    levels: dict[str, list[str]]
    target: str
    gaps: frozenset[int] = frozenset()  # Those with missing values
    unclear: set[int] = field(default_factory=set)  # Those whose missing values go several ways

    @classmethod
    def of(cls, frame: RObject, target: str) -> "_Columns":
        """Return the columns of a table, which may have no rows."""
        each = dict(zip(frame.names, frame.items(), strict=False)) if frame else {}
        if len(each) != len(frame.names):
            raise ReadError("the columns of its data have no names of their own")
        known = {name: one for name, one in each.items() if name != target}
        gaps = (i for i, one in enumerate(known.values()) if np.isnan(one.numbers()).any())
        levels = {name: one.levels for name, one in known.items() if one.levels}
        return cls(list(each), list(known), levels, target, frozenset(gaps))

    def place(self, at: float | str | None) -> int:
        """Return the column of a number of the data."""
        inside = isinstance(at, float) and 1 <= at <= len(self.stored)
        name = self.stored[int(at) - 1] if isinstance(at, float) and inside else None
        if name not in self.names:
            raise ReadError("it tests a column that does not exist")
        return self.names.index(name)

    def column_of(self, split: list[RObject]) -> int:
        """Return the column of a split of party, which may name one that no data have."""
        name = split[_NAME].scalar() if len(split) > _NAME else None
        if not isinstance(name, str):
            return self.place(split[_COLUMN].scalar())
        if name not in self.names:
            self.names.append(name)
        if levels := split[_BOUND].levels:
            self.levels.setdefault(name, levels)
        return self.names.index(name)


@dataclass(frozen=True, slots=True, eq=False)
class _Response:
    """What the rows were labelled with: codes of classes from 0 on, or numbers."""

    values: Float
    classes: tuple[str, ...] | None

    @classmethod
    def of(cls, stored: RObject) -> "_Response | None":
        """Return the response in a column, None where it is neither labels nor numbers."""
        if "levels" in stored.attributes:
            return cls(stored.numbers() - 1, tuple(stored.levels)) if len(stored) else None
        if stored.kind == "string" and len(stored):
            classes, code = np.unique(stored.texts(), return_inverse=True)
            return cls(code.astype(np.float64), tuple(classes.tolist()))
        return cls(stored.numbers(), None) if len(stored.numbers()) and not stored.dim else None


def read_binary_tree(model: RObject, source: Source) -> Forest:
    """Return the tree of a BinaryTree of party."""
    where, weights = [model.get("where")], [model.get("weights")]
    return _of_party(model, [model.part("tree")], where, weights, source)


def read_random_forest(model: RObject, source: Source) -> Forest:
    """Return the forest of a RandomForest, as cforest of party makes it."""
    stored = model.part("ensemble").items()
    where, weights = (
        each.items() if (each := model.get(name)) else [each] * len(stored)
        for name in ("where", "weights")
    )
    if not len(stored) == len(where) == len(weights):
        raise ReadError("its lists of trees differ in length")
    return _of_party(model, stored, where, weights, source)


def _of_party(
    model: RObject,
    stored: list[RObject],
    where: Sequence[RObject],
    weights: Sequence[RObject],
    source: Source,
) -> Forest:
    check_number(len(stored), "party")
    variables = model.get("responses", "variables")
    one = len(variables) == 1
    columns = _Columns.of(model.get("data", "env", "input"), target="")
    columns.target = (variables.names or ["label"])[0] if one else "label"
    grown_ones = each_tree(stored, lambda node: _grown(node, columns, _below_in_party))
    leaf, drawn = list[Wide](), list[Float]()
    if all(where):
        leaf = [_places(ids, rows) for (_, ids), rows in zip(grown_ones, where, strict=True)]
        both = zip(weights, leaf, strict=True)
        drawn = [held.complete(len(at)) if held else np.ones(len(at)) for held, at in both]
    response = _Response.of(variables.items()[0]) if one else None
    return _forest([tree for tree, _ in grown_ones], leaf, drawn, response, columns, source)


def _below_in_party(at: RObject, columns: _Columns) -> list[tuple[RObject, Edge]]:
    parts = at.items()
    if len(parts) <= _RIGHT:
        raise ReadError("a node lacks some of its parts")
    if parts[_LEAF].scalar() == 1:
        return []
    split = parts[_SPLIT].items()
    if len(split) <= _TO_LEFT:
        raise ReadError("a node has no split")
    feature, bound = columns.column_of(split), split[_BOUND]
    columns.unclear.add(feature)
    levels = columns.levels.get(columns.names[feature])
    sides: list[Edge]
    if levels is not None and split[1].scalar() == 0:
        flags = bound.complete(len(levels))
        sides = [{"codes": np.flatnonzero(flags == flag).tolist()} for flag in (1, 0)]
    else:
        at_most = float(bound.complete(1)[0])
        sides = [{"high": at_most}, {"low": at_most}]
        if levels is not None:
            sides = [{"codes": codes} for codes in halves(len(levels), at_most)]
        if split[_TO_LEFT].scalar() == 0:
            sides.reverse()
    kids = zip((parts[_LEFT], parts[_RIGHT]), sides, strict=True)
    return [(child, {"feature": feature, **side}) for child, side in kids]


def read_party(model: RObject, source: Source) -> Forest:
    """Return the tree of a party object of partykit."""
    fitted, leaf, weight = model.get("fitted"), list[Wide](), list[Float]()
    columns = _Columns.of(model.part("data"), target_of(model.get("terms")))
    tree, ids = _grown(model.part("node"), columns, _below_in_partykit)
    if where := fitted.get("(fitted)"):
        leaf, stored = [_places(ids, where)], fitted.get("(weights)")
        weight = [stored.complete(len(where)) if stored else np.ones(len(where))]
    response = _Response.of(fitted.get("(response)")) if leaf else None
    forest = _forest([tree], leaf, weight, response, columns, source)
    # Other kinds of trees answer with a model for each leaf.
    return forest if model.is_a("constparty") else replace(forest, answers="unknown")


def read_cforest(model: RObject, source: Source) -> Forest:
    """Return the forest of a cforest object of partykit."""
    stored, held, data = model.part("nodes").items(), model.get("weights"), model.part("data")
    check_number(len(stored), "partykit")
    columns = _Columns.of(data, target_of(model.get("terms")))
    grown_ones = each_tree(stored, lambda node: _grown(node, columns, _below_in_partykit))
    trees = [tree for tree, _ in grown_ones]
    leaf, weights = list[Wide](), list[Float]()
    # Codes of levels are numbered from 0 on here.
    table = [data.get(name).numbers() - (name in columns.levels) for name in columns.names]
    if len({len(column) for column in table}) != 1:
        raise ReadError("the columns of its data differ in length")
    if held and len(table[0]):
        weights = [one.complete(len(table[0])) for one in held.items()]
        ends = [tree.apply(np.column_stack(table)).astype(np.int64) for tree in trees]
        leaf = [np.where(t.is_leaf[at], at, -1) for t, at in zip(trees, ends, strict=True)]
    response = _Response.of(model.get("fitted", "(response)"))
    return _forest(trees, leaf, weights, response, columns, source)


def _below_in_partykit(at: RObject, columns: _Columns) -> list[tuple[RObject, Edge]]:
    if not (kids := at.get("kids")):
        return []
    split = at.part("split")
    feature = columns.place(split.get("varid").scalar())
    chance = split.get("prob").numbers()
    sure = len(chance) == len(kids) and bool(np.any(chance == 1))
    if at.get("surrogates") or not sure:
        columns.unclear.add(feature)
    edges = _edges(split, len(kids), columns.levels.get(columns.names[feature]))
    edges = [{**edge, "feature": feature, "missing": sure and chance[i] == 1}
             for i, edge in enumerate(edges)]  # fmt: skip
    return list(zip(kids.items(), edges, strict=True))


def _edges(split: RObject, n_kids: int, levels: list[str] | None) -> list[Edge]:
    """Return the levels or bounds of every child."""
    breaks, stored = split.get("breaks"), split.get("index")
    # R closes intervals on the right unless told.
    bounds = breaks.complete() if breaks else np.empty(0)
    if split.get("right").scalar() == 0:
        bounds = below(bounds)
    ends = np.concatenate([[-np.inf], bounds, [np.inf]])
    index = stored.numbers() if stored else np.arange(1.0, len(ends))
    if np.any(np.diff(ends) < 0) or (not breaks and levels is None):
        raise ReadError("the split of a column has no bounds")
    if levels is not None and breaks:
        interval = np.searchsorted(bounds, np.arange(1, len(levels) + 1), side="left")
        index = index[interval] if len(index) == len(ends) - 1 else np.empty(0)
    size = len(levels) if levels is not None else len(ends) - 1
    known = index[~np.isnan(index)]
    if len(index) != size or np.any((known < 1) | (known > n_kids) | (known != np.rint(known))):
        raise ReadError("a split does not fit the children of its node")
    own = [np.flatnonzero(index == kid + 1).tolist() for kid in range(n_kids)]
    if levels is not None:
        return [{"codes": codes} for codes in own]
    if any(len(intervals) != 1 for intervals in own):
        raise ReadError("a split does not fit the children of its node")
    return [{"low": float(ends[at]), "high": float(ends[at + 1])} for (at,) in own]


def _grown(
    node: RObject,
    columns: _Columns,
    children: Callable[[RObject, _Columns], list[tuple[RObject, Edge]]],
) -> tuple[Tree, Numbers]:
    """Return the tree, and the number of each node in the file."""
    tree, order = grown(node, lambda at: children(at, columns))
    return tree, [(one.get("id") or one.values[_NUMBER]).scalar() for one in order]


def _places(ids: Numbers, rows: RObject) -> Wide:
    """Return the node of each row, by the numbers that the file gives its nodes."""
    place = {one: i for i, one in enumerate(ids)}
    return np.array([place.get(one, -1) for one in rows.complete().tolist()], dtype=np.int64)


def _forest(
    trees: Sequence[Tree],
    leaf: Sequence[Wide],
    weights: Sequence[Float],
    response: _Response | None,
    columns: _Columns,
    source: Source,
) -> Forest:
    """Return a forest with what rows tell of its leaves.

    ``leaf`` is the node in which each row ends, by tree, -1 where in none; empty where the file
    does not tell. ``weights`` is how often each was drawn, or what it weighs.
    """
    alone = source.estimator in ("party", "BinaryTree")  # A single tree, which saw all rows
    library = "partykit" if source.estimator in ("party", "cforest") else "party"
    classes = None if response is None else response.classes
    means = alone and all(bool(np.all(one == 1)) for one in weights)
    counts_are, reason = _meaning(weights, classes, drawn=not alone)
    if leaf:
        each = zip(trees, leaf, weights, strict=True)
        trees = [replace(t, **_of_rows(t.parent, at, held, response)) for t, at, held in each]
    drawn = any(np.any(one > 1) for one in weights)
    lost = [columns.names[i] for i in sorted(columns.unclear & columns.gaps)]
    says = f"missing values of {listed(lost)} follow surrogate splits or chance: not shown"
    return Forest(
        trees=tuple(trees),
        schema=schema_of(columns.names, columns.levels, classes, columns.target, columns.gaps),
        counts_are=counts_are if leaf else "absent",
        counts_reason=reason if leaf else "the file does not tell where its rows are",
        records_are="all" if alone else "bootstrap" if drawn else "unknown",
        n_records=len(leaf[0]) if leaf else None,
        values_are="means" if classes is None and means and leaf and response else "unknown",
        warnings=(says,) if lost else (),
        source=replace(source, library=library),
    )


def _of_rows(parent: Int, leaf: Wide, weight: Float, response: _Response | None) -> dict[str, Any]:
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
    weights: Sequence[Float], classes: Sequence[str] | None, *, drawn: bool
) -> tuple[CountsAre, str]:
    """Return what counts are that were added up from rows of some weights, and why."""
    if classes is None:
        return "absent", "the model predicts a number, not a class"
    if drawn and all(np.array_equal(one, np.rint(one)) for one in weights):
        return "exact", DRAWS
    if all(np.isin(one, (0.0, 1.0)).all() for one in weights):
        return "exact", "every training row weighs 1"
    return "weighted", "rows have weights of their own"
