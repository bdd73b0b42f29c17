"""Forests of randomForest and ranger for R: no votes, no draws, no labels, no rows."""

from collections.abc import Sequence

import numpy as np

from treeaudit.arrays import Float
from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.readers.r.objects import RObject
from treeaudit.readers.r.ranger import level_numbers
from treeaudit.writers.r.binary import Binary, binary
from treeaudit.writers.r.encode import call, r

_MOST_CATEGORIES = 53
"""Categories that go left are the bits of a double."""
_ROUNDING = 1e-9


def random_forest(forest: Forest) -> RObject:
    """Return the object of a forest of randomForest."""
    schema, k = forest.schema, len(forest.schema.classes or ())
    shapes = [binary(tree) for tree in forest.trees]
    n_trees, sizes = len(shapes), [len(one.left) for one in shapes]
    most = max(sizes)
    told = forest.source.parameters.get("ordered", ())
    ordered = {i for i, one in enumerate(schema.features) if one.name in told}
    daughters, status, variable = np.zeros((3, 2, most, n_trees), dtype=np.int64)
    split, answer = np.zeros((2, most, n_trees))
    for t, (tree, shape) in enumerate(zip(forest.trees, shapes, strict=True)):
        order = _pairs(shape)
        at = {node: place + 1 for place, node in enumerate(order)}
        for place, node in enumerate(order):
            if shape.leaf[node]:
                status[0, place, t] = -1
                answer[place, t] = _answer(tree, node, range(1, k + 1))
                continue
            status[0, place, t] = 1 if k else -3
            daughters[0, place, t] = at[int(shape.left[node])]
            daughters[1, place, t] = at[int(shape.right[node])]
            variable[0, place, t] = shape.feature[node] + 1
            split[place, t] = _threshold(shape, node, bit_of=0)
            if shape.feature[node] in ordered and (pair := shape.sets[node]) is not None:
                split[place, t] = _bound(pair[0])
    levels = [
        1 if one.categories is None or i in ordered else len(one.categories)
        for i, one in enumerate(schema.features)
    ]
    names = [one.name for one in schema.features]
    parts = {
        "ndbigtree": np.array(sizes),
        "nodestatus": status[0],
        "bestvar": variable[0],
        "treemap": daughters.transpose(1, 0, 2) if k else None,
        "leftDaughter": None if k else daughters[0],
        "rightDaughter": None if k else daughters[1],
        "nodepred": answer.astype(np.int64) if k else answer,
        "cutoff": np.full(k, 1 / k) if k else None,
        "pid": np.ones(k) if k else None,
        "maxcat": max(levels) if k else None,
        "xbestsplit": split,
        "ncat": r(levels, names=names),
        "nrnodes": most,
        "ntree": float(n_trees),
        "nclass": k or 1,
        "xlevels": {one.name: one.categories or 0.0 for one in schema.features},
    }
    whole = {
        "type": "classification" if k else "regression",
        "classes": [str(one) for one in schema.classes or ()] if k else None,
        "importance": r(np.zeros((len(names), 1)), dimnames=[names, ["MeanDecrease"]]),
        "ntree": float(n_trees),
        "forest": parts,
        # Without an argument that says otherwise
        "call": call("randomForest") if forest.records_are == "bootstrap" else None,
    }
    return r(whole, **{"class": "randomForest"})


def _pairs(shape: Binary) -> list[int]:
    """Return the nodes as randomForest numbers them: level by level, children side by side."""
    order = [0]
    for node in order:
        if not shape.leaf[node]:
            order += [int(shape.left[node]), int(shape.right[node])]
    return order


def _answer(tree: Tree, node: int, classes: Sequence[float]) -> float:
    """Return what stands for the class of a leaf, or its number."""
    if not len(classes):
        return float("nan") if tree.value is None else float(tree.value[node])
    if tree.label is not None:
        return float(classes[tree.label[node]])
    if tree.counts is None:
        raise UnsupportedModelError("a leaf has no class: write the model as .json")
    return float(classes[tree.counts[node].argmax()])


def _bound(left: list[int]) -> float:
    """Return the number of the last level of an ordered factor that goes left."""
    if left != list(range(len(left))):
        raise UnsupportedModelError(
            "an ordered factor is not split by its order: write it as .json"
        )
    return float(len(left))


def _threshold(shape: Binary, node: int, *, bit_of: int) -> float:
    """Return the threshold, or the categories of one side as bits."""
    pair = shape.sets[node]
    if pair is None:
        return float(shape.high[node])
    if max(pair[0] + pair[1]) >= _MOST_CATEGORIES:
        raise UnsupportedModelError("R keeps up to 53 categories a split: write it as .json")
    return float(sum(1 << code for code in pair[bit_of]))


def ranger(forest: Forest) -> RObject:
    """Return the object of a forest of ranger."""
    if forest.answers == "unknown":
        raise UnsupportedModelError("curves of survival are not written for R, nor elsewhere")
    schema, k = forest.schema, len(forest.schema.classes or ())
    shares = bool(k) and forest.answers == "mean"
    # Classes that are numbers stand for themselves.
    named = any(isinstance(one, str) for one in schema.classes or ())
    codes = list(map(float, range(1, k + 1) if named else schema.classes or ()))
    each: dict[str, list[object]] = {"children": [], "variables": [], "values": [], "shares": []}
    for tree in forest.trees:
        shape = binary(tree)
        order = _pairs(shape)
        at = {node: float(place) for place, node in enumerate(order)}
        sides = (shape.left[order].tolist(), shape.right[order].tolist())
        each["children"].append([[at.get(node, 0.0) for node in side] for side in sides])
        each["variables"].append(np.maximum(shape.feature[order], 0.0))
        # In probability forests a leaf has shares alone; bits are of the categories that go right.
        each["values"].append(
            [
                (0.0 if shares else _answer(tree, node, codes))
                if shape.leaf[node]
                else _threshold(shape, node, bit_of=1)
                for node in order
            ]
        )
        each["shares"].append([_shares(tree, shape, node) for node in order])
    kind = "Regression" if not k else "Probability estimation" if shares else "Classification"
    levels = [one.categories for one in schema.features]
    # Some models keep the levels of factors; others have numbers alone.
    kept = any(one and one != level_numbers(len(one)) for one in levels)
    inside = {
        "num.trees": float(forest.n_trees),
        "child.nodeIDs": each["children"],
        "split.varIDs": each["variables"],
        "split.values": each["values"],
        "is.ordered": np.array([one is None for one in levels], np.bool_),
        "class.values": codes or None,
        "levels": [str(one) for one in schema.classes or ()] if named else None,
        "terminal.class.counts": each["shares"] if shares else None,
        "independent.variable.names": [one.name for one in schema.features],
        "treetype": kind,
        "covariate.levels": levels if kept else None,
    }
    drawn = forest.n_records is not None and forest.records_are == "bootstrap"
    whole = {
        "num.trees": float(forest.n_trees),
        "num.independent.variables": float(len(schema.features)),
        "treetype": kind,
        "importance.mode": "none",
        "forest": r(inside, **{"class": "ranger.forest"}),
        "num.samples": forest.n_records if drawn else None,
        "replace": True if drawn else None,
    }
    return r(whole, **{"class": "ranger"})


def _shares(tree: Tree, shape: Binary, node: int) -> Float:
    if not shape.leaf[node] or tree.counts is None:
        return np.zeros(0)
    counts, total = tree.counts[node], tree.counts[node].sum()
    # What are shares already would be off by rounding each time that the file is written.
    shares: Float = counts if abs(total - 1) < _ROUNDING else counts / total
    return shares
