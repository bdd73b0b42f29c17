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
    grown,
    halves,
    schema_of,
)
from treeaudit.readers.r.objects import RObject
from treeaudit.readers.r.rows import Response, places, with_rows

_NUMBER, _LEAF, _SPLIT, _LEFT, _RIGHT = 0, 3, 4, 7, 8
_COLUMN, _BOUND, _TO_LEFT, _NAME = 0, 2, 4, 6


class Columns:
    """The columns that the splits name, as far as they do, and those of the data."""

    def __init__(self, model: RObject) -> None:
        frame = model.get("data", "env", "input")
        self.names = frame.names
        held = zip(frame.names, frame.items() if frame else (), strict=False)
        self.levels = {name: one.levels for name, one in held if one.levels}

    def place(self, split: list[RObject]) -> int:
        """Return the column of a split."""
        name = split[_NAME].scalar() if len(split) > _NAME else None
        if name is None:
            at = split[_COLUMN].scalar()
            if not isinstance(at, float) or not 1 <= at <= len(self.names):
                raise ReadError("it tests a column that does not exist")
            name = self.names[int(at) - 1]
        if not isinstance(name, str):
            raise ReadError("a split names no column")
        if name not in self.names:
            self.names.append(name)
        levels = split[_BOUND].attribute("levels").texts()
        if levels:
            self.levels.setdefault(name, levels)
        return self.names.index(name)


def read(model: RObject, source: Source) -> Forest:
    """Return the tree of a BinaryTree."""
    where = model.get("where")
    return _forest(model, [model.part("tree")], [where], [model.get("weights")], source)


def read_forest(model: RObject, source: Source) -> Forest:
    """Return the forest of a RandomForest, as cforest makes it."""
    stored = model.part("ensemble").items()
    where, weights = (
        each.items() if (each := model.get(name)) else [each] * len(stored)
        for name in ("where", "weights")
    )
    if not len(stored) == len(where) == len(weights):
        raise ReadError("its lists of trees differ in length")
    return _forest(model, stored, where, weights, source)


def _forest(
    model: RObject,
    stored: list[RObject],
    where: Sequence[RObject],
    weights: Sequence[RObject],
    source: Source,
) -> Forest:
    check_number(len(stored), "party")
    variables = model.get("responses", "variables")
    columns, alone = Columns(model), source.estimator == "BinaryTree"
    response = None
    target = "label"
    if len(variables) == 1:
        response, target = Response.of(variables.items()[0]), (variables.names or ["label"])[0]
    grown_ones = each_tree(stored, lambda one: _grown(one, columns))
    told = [rows for rows in where if rows]
    leaf = [places(number, rows) for (_, number), rows in zip(grown_ones, told, strict=False)]
    held = zip(weights, leaf, strict=False)
    drawn = [one.complete(len(at)) if one else np.ones(len(at)) for one, at in held]
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
        parts = at.items()
        if len(parts) <= _RIGHT:
            raise ReadError("a node lacks some of its parts")
        if parts[_LEAF].scalar() == 1:
            return []
        split = parts[_SPLIT].items()
        if len(split) <= _TO_LEFT:
            raise ReadError("a node has no split")
        feature, bound = columns.place(split), split[_BOUND]
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
        below = zip((parts[_LEFT], parts[_RIGHT]), sides, strict=True)
        return [(child, {"feature": feature, **side}) for child, side in below]

    tree, order = grown(node, children)
    return tree, [one.items()[_NUMBER].scalar() for one in order]
