"""Forests of randomForest and ranger for R: no votes, no draws, no labels, no rows."""

from collections.abc import Sequence

import numpy as np

from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree
from treeaudit.readers.r.objects import RObject
from treeaudit.readers.r.ranger import level_numbers
from treeaudit.writers.r.binary import Binary, binary
from treeaudit.writers.r.encode import NULL, call, matrix, named_list, numbers, texts

_MOST_CATEGORIES = 53
"""Categories that go left are the bits of a double."""
_ROUNDING = 1e-9


def random_forest(forest: Forest) -> RObject:
    """Return the object of a forest of randomForest."""
    schema, k = forest.schema, len(forest.schema.classes or ())
    shapes = [binary(tree) for tree in forest.trees]
    n_trees, sizes = len(shapes), [len(one.left) for one in shapes]
    most, p = max(sizes), len(schema.features)
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
    names = texts([one.name for one in schema.features])
    parts = {
        "ndbigtree": numbers("integer", sizes),
        "nodestatus": matrix("integer", status[0]),
        "bestvar": matrix("integer", variable[0]),
    }
    if k:
        parts["treemap"] = matrix("integer", daughters.transpose(1, 0, 2))
        parts["nodepred"] = matrix("integer", answer)
        parts["cutoff"] = numbers("double", np.full(k, 1 / k))
        parts["pid"] = numbers("double", np.ones(k))
        parts["maxcat"] = numbers("integer", [max(levels)])
    else:
        parts["leftDaughter"] = matrix("integer", daughters[0])
        parts["rightDaughter"] = matrix("integer", daughters[1])
        parts["nodepred"] = matrix("double", answer)
    parts |= {
        "xbestsplit": matrix("double", split),
        "ncat": numbers("integer", levels, {"names": names}),
        "nrnodes": numbers("integer", [most]),
        "ntree": numbers("double", [n_trees]),
        "nclass": numbers("integer", [k or 1]),
        "xlevels": named_list(
            {
                one.name: numbers("double", [0])
                if one.categories is None
                else texts(one.categories)
                for one in schema.features
            }
        ),
    }
    whole = {
        "type": texts(["classification" if k else "regression"]),
        "classes": texts([str(one) for one in schema.classes or ()]) if k else NULL,
        "importance": matrix("double", np.zeros((p, 1)), names, texts(["MeanDecrease"])),
        "ntree": numbers("double", [n_trees]),
        "forest": named_list(parts),
    }
    if forest.records_are == "bootstrap":
        whole["call"] = call("randomForest")  # without an argument that says otherwise
    kept = {name: one for name, one in whole.items() if one is not NULL}
    return named_list(kept, **{"class": texts(["randomForest"])})


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
    classes = _classes(schema) if k else {}
    of_classes = classes["class.values"].values if k else ()
    parts: dict[str, list[RObject]] = {"children": [], "variables": [], "values": [], "shares": []}
    for tree in forest.trees:
        shape = binary(tree)
        order = _pairs(shape)
        at = {node: place for place, node in enumerate(order)}
        inner = [not leaf for leaf in shape.leaf[order]]
        sides = [
            numbers("double", [at[int(side[node])] if side[node] >= 0 else 0 for node in order])
            for side in (shape.left, shape.right)
        ]
        # Bits are of the categories that go right.
        values = [
            _threshold(shape, node, bit_of=1)
            if deep
            else (0.0 if shares else _answer(tree, node, of_classes))
            for node, deep in zip(order, inner, strict=True)
        ]
        parts["children"].append(RObject("list", sides))
        parts["variables"].append(numbers("double", np.maximum(shape.feature[order], 0)))
        parts["values"].append(numbers("double", values))
        parts["shares"].append(RObject("list", [_shares(tree, shape, node) for node in order]))
    kind = "Regression" if not k else "Probability estimation" if shares else "Classification"
    object_of = {
        "num.trees": numbers("double", [forest.n_trees]),
        "child.nodeIDs": RObject("list", parts["children"]),
        "split.varIDs": RObject("list", parts["variables"]),
        "split.values": RObject("list", parts["values"]),
        "is.ordered": numbers("logical", [one.categories is None for one in schema.features]),
        **classes,
        **({"terminal.class.counts": RObject("list", parts["shares"])} if shares else {}),
        "independent.variable.names": texts([one.name for one in schema.features]),
        "treetype": texts([kind]),
        **_levels(schema),
    }
    inside = named_list(object_of, **{"class": texts(["ranger.forest"])})
    whole = {
        "num.trees": numbers("double", [forest.n_trees]),
        "num.independent.variables": numbers("double", [len(schema.features)]),
        "treetype": texts([kind]),
        "importance.mode": texts(["none"]),
        "forest": inside,
    }
    if forest.n_records is not None and forest.records_are == "bootstrap":
        whole["num.samples"] = numbers("integer", [forest.n_records])
        whole["replace"] = numbers("logical", [True])
    return named_list(whole, **{"class": texts(["ranger"])})


def _classes(schema: Schema) -> dict[str, RObject]:
    classes = schema.classes or ()
    if not any(isinstance(one, str) for one in classes):
        return {"class.values": numbers("double", [float(one) for one in classes])}
    return {
        "class.values": numbers("double", np.arange(1, len(classes) + 1)),
        "levels": texts([str(one) for one in classes]),
    }


def _levels(schema: Schema) -> dict[str, RObject]:
    """Return the levels of factors, of models that keep them; others have numbers alone."""
    levels = [one.categories for one in schema.features]
    if not any(each is not None and each != level_numbers(len(each)) for each in levels):
        return {}
    kept = (NULL if each is None else texts(each) for each in levels)
    return {"covariate.levels": RObject("list", list(kept))}


def _shares(tree: Tree, shape: Binary, node: int) -> RObject:
    if not shape.leaf[node] or tree.counts is None:
        return numbers("double", np.zeros(0))
    counts, total = tree.counts[node], tree.counts[node].sum()
    # What are shares already would be off by rounding each time that the file is written.
    return numbers("double", counts if abs(total - 1) < _ROUNDING else counts / total)
