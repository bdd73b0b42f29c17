"""Trees of party: a node is a list whose elements have places, in forests without names.

The places: 0 number, 1 weights of the training rows, 3 whether it is a leaf, 4 the split,
6 prediction, 7 left, 8 right. Of a split: 0 column, 2 the bound or a flag for every level, 4
whether what is below goes left, 6 the name of the column.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from treeaudit.errors import ReadError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Extras, Source
from treeaudit.model.tree import Tree
from treeaudit.readers.boosters import check_number, each_tree
from treeaudit.readers.limits import Most
from treeaudit.readers.r.fields import (
    Grown,
    attribute,
    extras_of,
    halves,
    items,
    numbers,
    optional,
    part,
    scalar,
    schema_of,
    texts,
    whole,
)
from treeaudit.readers.r.objects import RObject
from treeaudit.readers.r.rows import Response, columns_of, meaning

_NUMBER, _LEAF, _SPLIT, _LEFT, _RIGHT = 0, 3, 4, 7, 8
_COLUMN, _BOUND, _TO_LEFT, _NAME = 0, 2, 4, 6


class Columns:
    """The columns that the splits name, as far as they do, and those of the data."""

    def __init__(self, model: RObject) -> None:
        frame = optional(model, "data", "env", "input")
        self.names = [] if frame is None else frame.names
        self.levels = {} if frame is None else {
            name: one.levels for name, one in zip(frame.names, items(frame), strict=False)
            if one.levels
        }  # fmt: skip

    def place(self, split: list[RObject]) -> int:
        """Return the column of a split."""
        name = scalar(split[_NAME]) if len(split) > _NAME else None
        if name is None:
            at = scalar(split[_COLUMN])
            if not isinstance(at, float) or not 1 <= at <= len(self.names):
                raise ReadError("it tests a column that does not exist")
            name = self.names[int(at) - 1]
        if not isinstance(name, str):
            raise ReadError("a split names no column")
        if name not in self.names:
            self.names.append(name)
        levels = texts(attribute(split[_BOUND], "levels"))
        if levels:
            self.levels.setdefault(name, levels)
        return self.names.index(name)


def read(model: RObject, source: Source) -> Forest:
    """Return the tree of a BinaryTree."""
    where = optional(model, "where")
    return _forest(model, [part(model, "tree")], [where], [optional(model, "weights")], source)


def read_forest(model: RObject, source: Source) -> Forest:
    """Return the forest of a RandomForest, as cforest makes it."""
    stored = items(part(model, "ensemble"))
    where, weights = (
        [None] * len(stored) if (each := optional(model, name)) is None else items(each)
        for name in ("where", "weights")
    )
    if not len(stored) == len(where) == len(weights):
        raise ReadError("its lists of trees differ in length")
    return _forest(model, stored, where, weights, source)


def _forest(
    model: RObject,
    stored: list[RObject],
    where: Sequence[RObject | None],
    weights: Sequence[RObject | None],
    source: Source,
) -> Forest:
    check_number(len(stored), "party")
    variables = optional(model, "responses", "variables")
    columns, alone = Columns(model), source.estimator == "BinaryTree"
    response = None
    target = "label"
    if variables is not None and len(variables) == 1:
        response, target = Response.of(items(variables)[0]), (variables.names or ["label"])[0]
    drawn: list[np.ndarray] = []

    def one_tree(i: int) -> Tree:
        grown, number = _grown(stored[i], columns)
        tree = grown.tree()
        rows = where[i]
        if rows is None:
            return tree
        place = {one: at for at, one in enumerate(number)}
        leaf = np.array([place.get(one, -1) for one in whole(rows).tolist()], dtype=np.int64)
        held = weights[i]
        drawn.append(np.ones(len(leaf)) if held is None else numbers(held, len(leaf)))
        return replace(tree, **columns_of(tree.parent, leaf, drawn[-1], response))

    trees = each_tree(range(len(stored)), one_tree)
    told = len(drawn) == len(trees)
    numeric = response is None or response.classes is None
    counts_are, reason = meaning(drawn, response, drawn=not alone)
    means = alone and all(np.all(one == 1) for one in drawn)
    repeated = any(np.any(one > 1) for one in drawn)
    return Forest(
        trees=tuple(trees),
        schema=schema_of(
            columns.names, columns.levels, None if response is None else response.classes, target
        ),
        counts_are=counts_are if told else "absent",
        counts_reason=reason if told else "the file does not tell where its rows are (where)",
        records_are="all" if alone else "bootstrap" if repeated else "unknown",
        n_records=len(drawn[0]) if drawn else None,
        values_are="means" if numeric and means and told else "unknown",
        extras=extras_of(trees, means=means) if numeric else Extras(),
        source=replace(source, library="party"),
    )


def _grown(node: RObject, columns: Columns) -> tuple[Grown, list[int]]:
    """Return the nodes and the number of each in the file."""
    grown, number = Grown(), list[int]()
    todo: list[tuple[RObject, int, dict[str, object]]] = [(node, -1, {})]
    while todo:
        at, parent, edge = todo.pop()
        parts = items(at)
        if len(parts) <= _RIGHT:
            raise ReadError("a node lacks some of its parts")
        own = scalar(parts[_NUMBER])
        number.append(int(own) if isinstance(own, float) else -1)
        me = grown.add(parent, **edge)  # type: ignore[arg-type]  # as made below
        if me > Most.objects:
            raise ReadError("it has too many nodes")
        if scalar(parts[_LEAF]) == 1:
            continue
        split = items(parts[_SPLIT])
        if len(split) <= _TO_LEFT:
            raise ReadError("a node has no split")
        feature, bound = columns.place(split), split[_BOUND]
        levels = columns.levels.get(columns.names[feature])
        sides: list[dict[str, object]]
        if levels is not None and scalar(split[1]) == 0:
            flags = numbers(bound, len(levels))
            sides = [{"codes": np.flatnonzero(flags == flag).tolist()} for flag in (1, 0)]
        else:
            at_most = scalar(bound) if bound.kind != "integer" else float(numbers(bound, 1)[0])
            if not isinstance(at_most, float):
                raise ReadError("a split has no bound")
            sides = [{"high": at_most}, {"low": at_most}]
            if levels is not None:
                sides = [{"codes": codes} for codes in halves(len(levels), at_most)]
            if scalar(split[_TO_LEFT]) == 0:
                sides.reverse()
        todo += [
            (parts[child], me, {"feature": feature, **side})
            for child, side in ((_RIGHT, sides[1]), (_LEFT, sides[0]))
        ]
    return grown, number
