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
from treeaudit.model.source import Source
from treeaudit.model.tree import Tree
from treeaudit.readers.boosters import check_number, each_tree
from treeaudit.readers.r.fields import (
    Edge,
    attribute,
    grown,
    halves,
    items,
    numbers,
    optional,
    part,
    scalar,
    schema_of,
    texts,
)
from treeaudit.readers.r.objects import RObject
from treeaudit.readers.r.rows import Response, places, with_rows

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
    grown_ones = each_tree(stored, lambda one: _grown(one, columns))
    told = [rows for rows in where if rows is not None]
    leaf = [places(number, rows) for (_, number), rows in zip(grown_ones, told, strict=False)]
    held = zip(weights, leaf, strict=False)
    drawn = [np.ones(len(at)) if one is None else numbers(one, len(at)) for one, at in held]
    return Forest(
        schema=schema_of(
            columns.names, columns.levels, None if response is None else response.classes, target
        ),
        source=replace(source, library="party"),
        **with_rows(
            [tree for tree, _ in grown_ones],
            leaf if len(leaf) == len(stored) else [],
            drawn,
            response,
            alone=alone,
        ),
    )


def _grown(node: RObject, columns: Columns) -> tuple[Tree, list[float | str | None]]:
    """Return the tree, and the number of each node in the file."""

    def children(at: RObject) -> list[tuple[RObject, Edge]]:
        parts = items(at)
        if len(parts) <= _RIGHT:
            raise ReadError("a node lacks some of its parts")
        if scalar(parts[_LEAF]) == 1:
            return []
        split = items(parts[_SPLIT])
        if len(split) <= _TO_LEFT:
            raise ReadError("a node has no split")
        feature, bound = columns.place(split), split[_BOUND]
        levels = columns.levels.get(columns.names[feature])
        sides: list[Edge]
        if levels is not None and scalar(split[1]) == 0:
            flags = numbers(bound, len(levels))
            sides = [{"codes": np.flatnonzero(flags == flag).tolist()} for flag in (1, 0)]
        else:
            at_most = float(numbers(bound, 1)[0])
            sides = [{"high": at_most}, {"low": at_most}]
            if levels is not None:
                sides = [{"codes": codes} for codes in halves(len(levels), at_most)]
            if scalar(split[_TO_LEFT]) == 0:
                sides.reverse()
        below = zip((parts[_LEFT], parts[_RIGHT]), sides, strict=True)
        return [(child, {"feature": feature, **side}) for child, side in below]

    nodes, order = grown(node, children)
    return nodes.tree(), [scalar(items(one)[_NUMBER]) for one in order]
