"""An rpart tree for R: nodes, counts and names; no labels, no rows, no surrogate splits."""

from dataclasses import replace

import numpy as np

from treeaudit.arrays import Float, Wide
from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree
from treeaudit.readers.limits import show
from treeaudit.readers.links import sums
from treeaudit.readers.r.objects import RObject
from treeaudit.writers.r.binary import Binary, binary
from treeaudit.writers.r.encode import call, r, symbol

_DEEPEST = 30
"""Nodes are numbered by 32 bits: those below node i are 2 i and 2 i + 1."""
_CONTROL = {
    "minsplit": 20, "minbucket": 7, "cp": 0.01, "maxcompete": 0, "maxsurrogate": 0,
    "usesurrogate": 2, "surrogatestyle": 0, "maxdepth": 30, "xval": 0,
}  # fmt: skip


def rpart(forest: Forest) -> RObject:
    """Return the object of an rpart tree."""
    tree = _of_leaves(forest.trees[0])
    shape, schema = binary(tree), forest.schema
    _check(forest)
    order = shape.preorder()
    number = np.ones(tree.n_nodes, dtype=np.int64)
    for node in order:
        if not shape.leaf[node]:
            number[shape.left[node]] = 2 * number[node]
            number[shape.right[node]] = 2 * number[node] + 1
    if tree.n_records is None or number.max() >= 1 << 31 or tree.depths.max() > _DEEPEST:
        raise UnsupportedModelError("rpart keeps people per node, and 30 levels: write it as .json")
    splits, categories = _splits(tree.n_records, shape, order, schema)
    names = [one.name for one in schema.features]
    parts = {
        "frame": _frame(forest, tree, shape, order, number),
        "terms": _terms(schema),
        "method": "anova" if schema.classes is None else "class",
        "control": _CONTROL,
        "parms": None if forest.class_weights is None else _priors(forest, tree),
        "numresp": 1 if schema.classes is None else len(schema.classes) + 2,
        "splits": splits,
        "csplit": categories,
        "ordered": r(np.zeros(len(names), np.bool_), names=names),
    }
    classes = [str(one) for one in schema.classes or ()]
    ylevels = {"ylevels": classes} if classes else {}
    xlevels = {one.name: one.categories for one in schema.features}
    return r(parts, xlevels=xlevels, **ylevels, **{"class": "rpart"})


def _of_leaves(tree: Tree) -> Tree:
    """Count at each node who ends in a leaf below, and nobody who stops for lack of a value."""
    if tree.n_records is None:
        return tree
    leaf, people = tree.is_leaf, tree.n_records.astype(np.float64)
    below = sums(tree.parent, people * leaf)
    counts, value, same = tree.counts, tree.value, below == people
    if counts is not None:
        counts = np.where(same[:, None], counts, sums(tree.parent, counts * leaf[:, None]))
    if value is not None:
        mean = sums(tree.parent, value * people * leaf) / np.maximum(below, 1)
        value = np.where(same, value, mean)
    return replace(tree, n_records=below.astype(np.int64), counts=counts, value=value)


def _check(forest: Forest) -> None:
    """Refuse what R could not answer with as before."""
    settings = forest.source.parameters
    computed = [one.name for one in forest.schema.features if "(" in one.name]
    what = None
    if forest.schema.classes is None and settings.get("method", "anova") != "anova":
        what = "rates (method poisson or exp) are"
    elif "largest loss" in settings:
        what = "classes chosen by a loss matrix are"
    elif computed:
        what = f"columns that a formula computes ({show(computed[0])}) are"
    if what is not None:
        raise UnsupportedModelError(f"{what} not written for R: treeaudit writes it as .json")


def _frame(forest: Forest, tree: Tree, shape: Binary, order: list[int], number: Wide) -> RObject:
    """Return the table of nodes; deviances and complexities are not in it."""
    assert tree.n_records is not None  # noqa: S101  # rpart() asked
    names = [one.name for one in forest.schema.features]
    used = sorted({names[i] for i in shape.feature[order] if i >= 0})
    levels = ["<leaf>", *used]
    variable = [levels.index(names[i]) + 1 if i >= 0 else 1 for i in shape.feature[order]]
    nothing = np.zeros(len(order))
    columns = {
        "var": r(variable, levels=levels, **{"class": "factor"}),
        "n": tree.n_records[order],
        "wt": tree.n_records[order].astype(np.float64),
        "dev": np.full(len(order), np.nan),
        "yval": nothing,
        "complexity": nothing,
        "ncompete": nothing.astype(np.int32),
        "nsurrogate": nothing.astype(np.int32),
    }
    if forest.schema.classes is None:
        assert tree.value is not None  # noqa: S101  # a tree of numbers
        columns["yval"] = tree.value[order]
    else:
        assert tree.counts is not None  # noqa: S101  # a tree of classes
        counts = tree.counts[order]
        weight = counts.sum(axis=1, keepdims=True)
        priors = _class_weights(forest)
        share = counts * priors / np.maximum((counts * priors).sum(axis=1, keepdims=True), 1e-300)
        label = share.argmax(axis=1) + 1.0
        whole = weight / weight[0]
        columns |= {
            "wt": weight[:, 0],
            "yval": label,
            "yval2": np.column_stack([label, counts, share, whole]),
        }
    return r(columns, **{"row.names": number[order], "class": "data.frame"})


def _class_weights(forest: Forest) -> Float:
    """Return what a person of each class counts."""
    stored = None if forest.class_weights is None else forest.class_weights[0]
    return np.ones(len(forest.schema.classes or ())) if stored is None else np.array(stored)


def _priors(forest: Forest, tree: Tree) -> RObject:
    """Return the shares that everybody's classes are taken to have."""
    assert tree.counts is not None  # noqa: S101  # _frame() asked
    root = tree.counts[0] * _class_weights(forest)
    return r({"prior": root / root.sum()})


def _splits(
    people: Wide, shape: Binary, order: list[int], schema: Schema
) -> tuple[RObject | None, Wide | None]:
    """Return the split of each inner node, and where the categories go: 1 left, 3 right."""
    inner = [node for node in order if not shape.leaf[node]]
    if not inner:
        return None, None
    widest = max((len(one.categories or ()) for one in schema.features), default=0)
    rows, sides = [], []
    for node in inner:
        pair, feature = shape.sets[node], schema.features[shape.feature[node]]
        # As many had a value, if the file does not tell that some had none.
        count = 0.0 if feature.had_missing else float(people[node])
        if pair is None:
            # To the left goes what is below.
            rows.append([count, -1.0, 0.0, np.nextafter(shape.high[node], np.inf), 0.0])
            continue
        side, known = np.full(widest, 2), len(feature.categories or ())
        # R sends other levels to most people too.
        side[:known] += np.sign(people[shape.right[node]] - people[shape.left[node]])
        side[pair[0]], side[pair[1]] = 1, 3
        sides.append(side)
        rows.append([count, float(known), 0.0, float(len(sides)), 0.0])
    names = [schema.features[shape.feature[node]].name for node in inner]
    table = r(np.array(rows), dimnames=[names, ["count", "ncat", "improve", "index", "adj"]])
    return table, np.array(sides) if sides else None


def _terms(schema: Schema) -> RObject:
    """Return the formula: the target by all columns, whatever types they come with."""
    target, features = schema.target, schema.features
    names = [one.name for one in features]
    quoted = [_quoted(name) for name in names]
    variables = call("list", symbol(target), *map(symbol, names))
    factors = np.eye(len(names) + 1, len(names), -1, dtype=np.int64)
    made = call("~", symbol(target), symbol("."))
    made.attributes = {
        "variables": variables,
        "factors": r(factors, dimnames=[[_quoted(target), *quoted], quoted]),
        "term.labels": r(quoted),
        "order": r(np.ones(len(names), np.int64)),
        "intercept": r(1),
        "response": r(1),
        "class": r(["terms", "formula"]),
        ".Environment": RObject("global"),
        "predvars": variables,
    }
    return made


def _quoted(name: str) -> str:
    """Return a name as R writes it: one that is none of its own in backquotes."""
    plain = name.replace(".", "a").replace("_", "a")
    usual = plain.isidentifier() and not name.startswith("_") and not name[:2].lstrip(".").isdigit()
    return name if usual else f"`{name}`"
