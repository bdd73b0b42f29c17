"""Boosted trees of gbm: eight vectors each, and a third child of every split for missing values.

A split is at a number, or names an entry of ``c.splits``: the side of every level, -1 or 1. What
the people in the bag of a tree weigh is their number unless rows have weights of their own.
"""

from dataclasses import replace
from itertools import count

import numpy as np

from treeaudit.errors import ReadError
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Label
from treeaudit.model.source import KINDS, Extras, Source
from treeaudit.model.tree import Tree
from treeaudit.readers.boosters import check_number, each_tree
from treeaudit.readers.limits import Most
from treeaudit.readers.r.fields import (
    Edge,
    below,
    grown,
    halves,
    schema_of,
)
from treeaudit.readers.r.objects import RObject

_TWO = ("bernoulli", "huberized", "adaboost")
_ADDED_UP = ("bernoulli", "gaussian", "laplace", "tdist", "quantile")
"""Distributions whose steps add up to the number that is answered, or to its log odds."""


def read(model: RObject, source: Source) -> Forest:
    """Return the trees of a gbm object."""
    names = model.part("var.names").texts()
    kinds, held = model.part("var.type").whole(len(names)), model.part("var.levels").items()
    if len(held) != len(names):
        raise ReadError("it does not have levels for each column")
    levels = {
        name: one.texts() for name, one in zip(names, held, strict=True) if one.kind == "string"
    }
    ordered = {name for name, kind in zip(names, kinds, strict=True) if not kind}
    ways = [one.numbers() for one in model.part("c.splits").items()]
    stored = model.part("trees").items()
    check_number(len(stored), "gbm")
    trees = each_tree(stored, lambda one: _tree(one, names, levels, ordered, ways))
    distribution = model.get("distribution", "name").scalar()
    rows, share = model.get("nTrain").scalar(), model.get("bag.fraction").scalar()
    classes: list[Label] | None = None
    if distribution in _TWO:
        # To caret the first of two levels is 1.
        classes = [*reversed(model.get("obsLevels").texts())] or [0, 1]
    elif distribution == "multinomial":
        classes = [*model.get("classes").texts()]
    known = isinstance(rows, float) and isinstance(share, float) and 0 < share <= 1
    drawn = int(float(share or 0) * float(rows or 0)) if known else -1
    people = all(one.n_records is not None and one.n_records[0] == drawn for one in trees)
    if not people:
        trees = [replace(one, n_records=None) for one in trees]
    start = model.part("initF").scalar() if distribution in _ADDED_UP else None
    settings = {"distribution": distribution, "initF": start, "bag.fraction": share}
    return Forest(
        trees=tuple(trees),
        schema=schema_of(names, levels, classes, str(model.get("response.name").scalar())),
        counts_are="absent",
        counts_reason="boosted trees predict a number each: the file holds no counts of classes",
        answers="sum",
        records_are="all" if share == 1 else "unknown",
        n_records=int(rows) if isinstance(rows, float) and 0 < rows < Most.people else None,
        extras=Extras(looked_for=KINDS - {"first-round-counts", "targets"}),
        source=replace(
            source,
            library="gbm",
            parameters={name: value for name, value in settings.items() if value is not None},
        ),
    )


def _tree(
    stored: RObject,
    names: list[str],
    levels: dict[str, list[str]],
    ordered: set[str],
    ways: list[np.ndarray],
) -> Tree:
    parts = stored.items()
    if len(parts) != 8:
        raise ReadError("it does not have eight vectors")
    asked = parts[0].whole()
    n = len(asked)
    split, weight, value = (parts[i].complete(n) for i in (1, 6, 7))
    sides = [parts[i].whole(n) for i in (2, 3, 4)]
    if np.any((asked < -1) | (asked >= len(names))):
        raise ReadError("it tests a column that does not exist")
    for side in sides:
        below_it = side[asked >= 0]
        if np.any((below_it <= 0) | (below_it >= n)):
            raise ReadError("a child is out of range or the root")
    visits = count()

    def children(at: int) -> list[tuple[int, Edge]]:
        if next(visits) >= n:
            raise ReadError("a node has two parents")
        if (own := int(asked[at])) < 0:
            return []
        edges: list[Edge]
        if (name := names[own]) in levels and name in ordered:
            # Levels are numbers from 0 on.
            edges = [{"codes": side} for side in halves(len(levels[name]), np.ceil(split[at]))]
        elif name in levels:
            code = int(split[at])
            if not 0 <= code < len(ways) or len(ways[code]) > len(levels[name]):
                raise ReadError("the split of a factor is missing")
            edges = [{"codes": np.flatnonzero(ways[code] == way).tolist()} for way in (-1, 1)]
        else:
            bound = float(below(split[at]))
            edges = [{"high": bound}, {"low": bound}]
        edges.append({"codes": (), "missing": True})
        stated = (int(side[at]) for side in sides)
        return [(one, {"feature": own, **edge}) for one, edge in zip(stated, edges, strict=True)]

    tree, order = grown(0, children)
    if len(order) != n:
        raise ReadError("it has nodes that do not hang on its root")
    told = bool(np.all((weight == np.rint(weight)) & (weight >= 0)))
    # The leaf for missing values repeats the node above it where nobody has none.
    inner = np.flatnonzero(asked >= 0)
    no, yes, missing = (side[inner] for side in sides)
    gone = weight[inner] - weight[no] - weight[yes]
    told = told and bool(np.all((gone == weight[missing]) | (gone == 0)))
    weight[missing] = gone
    people = weight[order].astype(np.int64) if told else None
    return replace(tree, n_records=people, value=value[order])
