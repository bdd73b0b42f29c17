"""Forests of randomForest: a column of each matrix for every tree, a row for every node.

The file holds neither how many people nor how many of each class a leaf has: of classes it keeps
the label that most draws had. Splits of factors are sets of levels, packed into the bits of a
number: a level goes left where its bit is set.
"""

from dataclasses import replace

import numpy as np

from treeaudit.errors import ReadError
from treeaudit.model.forest import Forest, RecordsAre
from treeaudit.model.source import Source
from treeaudit.model.tree import Tree
from treeaudit.readers.r.fields import (
    binary,
    each_of,
    no_trees,
    parameters_of,
    schema_of,
    sides_of,
    target_of,
)
from treeaudit.readers.r.objects import RObject

_COLUMNS = ("bestvar", "xbestsplit", "nodestatus", "nodepred")


def read(model: RObject, source: Source) -> Forest:
    """Return the forest of a randomForest object."""
    forest = model.get("forest")
    if not forest:
        raise no_trees(source.estimator)
    n_nodes = forest.part("ndbigtree").whole()
    stored = forest.get("treemap")
    labels = model.part("classes").texts() if stored else None
    shape = forest.part("bestvar").dim or (int(n_nodes.max(initial=0)), len(n_nodes))
    if len(shape) != 2 or shape[1] != len(n_nodes) or np.any((n_nodes < 1) | (n_nodes > shape[0])):
        raise ReadError("its trees do not have the nodes that it states")
    size = shape[0] * shape[1]
    columns = {name: forest.part(name).numbers() for name in _COLUMNS}
    if stored:
        both = stored.numbers()
        if len(both) != 2 * size:
            raise ReadError("a matrix has the wrong shape")
        left, right = both.reshape((shape[1], 2, shape[0])).transpose(1, 0, 2)
    else:
        left, right = (forest.part(f"{side}Daughter").numbers() for side in ("left", "right"))
    columns |= {"left": left, "right": right}
    if any(each.size != size for each in columns.values()):
        raise ReadError("a matrix has the wrong shape")
    table = {name: each.reshape((shape[1], shape[0])) for name, each in columns.items()}
    names, levels, n_levels = _columns(model, forest)
    factors = {i: len(levels[name]) for i, name in enumerate(names) if name in levels}
    by_bits = {i for i in factors if n_levels[i] > 1}

    def build(i: int) -> Tree:
        own = {name: each[i, : n_nodes[i]] for name, each in table.items()}
        if not all(np.isfinite(each).all() for each in own.values()):
            raise ReadError("numbers are missing")
        inner = own["nodestatus"] != -1
        feature, split = own["bestvar"].astype(np.int64) - 1, own["xbestsplit"]
        sets = sides_of(inner, feature, split, factors, by_bits, left=True)
        answer = own["nodepred"]
        if labels is not None and np.any((answer[~inner] < 1) | (answer[~inner] > len(labels))):
            raise ReadError("a leaf has a class that does not exist")
        return binary(
            inner=inner,
            left=own["left"].astype(np.int64) - 1,
            right=own["right"].astype(np.int64) - 1,
            feature=feature,
            bound=split,
            n_features=len(names),
            sets=sets,
            label=None if labels is None else np.maximum(answer.astype(np.int64) - 1, 0),
            value=answer if labels is None else None,
        )

    trees = each_of(len(n_nodes), build)
    # Numbers of levels are split by a bound: so R knows them again.
    ordered = [names[i] for i in factors if i not in by_bits]
    uneven = np.ptp(forest.get("cutoff").complete() if forest.get("cutoff") else 0) > 1e-9
    rows = model.get("y")
    return Forest(
        trees=trees,
        schema=schema_of(names, levels, labels, target_of(model.get("terms"))),
        counts_are="absent" if labels is None else "label-only",
        counts_reason="the file keeps no counts of the leaves",
        answers="mean" if labels is None else "vote",
        records_are=_records(model),
        n_records=len(rows) or None,
        warnings=("votes are weighed by cutoff, which treeaudit leaves out",) if uneven else (),
        source=replace(
            source,
            library="randomForest",
            parameters=parameters_of(model) | ({"ordered": ordered} if ordered else {}),
        ),
    )


def _records(model: RObject) -> RecordsAre:
    """Return how rows were drawn: with replacement, as many as there are, unless told."""
    call = model.get("call")
    told = any(call.get(name) for name in ("replace", "sampsize", "strata"))
    return "bootstrap" if call and not told else "unknown"


def _columns(model: RObject, forest: RObject) -> tuple[list[str], dict[str, list[str]], list[int]]:
    """Return the columns, the levels of factors, and how many of each a split is a set of."""
    stored, n_levels = forest.get("xlevels"), forest.part("ncat")
    names = n_levels.names or stored.names
    names = names or model.get("importance").dimnames(0)
    sizes = n_levels.whole(len(names)).tolist()
    held = [each.texts() for each in stored.items()] if stored else []
    levels = {name: one for name, one in zip(names, held, strict=False) if one}
    if any(size > 1 and len(levels.get(name, ())) != size
           for name, size in zip(names, sizes, strict=True)):  # fmt: skip
        raise ReadError("it does not keep the levels of its factors")
    if len(set(names)) != len(names):
        raise ReadError("two columns have one name")
    return names, levels, sizes
