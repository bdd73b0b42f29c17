"""Forests of ranger: nodes numbered from 0, with both children 0 at leaves.

Of a leaf the file keeps the label, the mean or the shares of the classes of its draws, and never
how many they are. Factors are split by the number of a level, in an order that the file keeps, or
by a set of levels in the bits of a number (``partition``): a level goes right if its bit is set.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from treeaudit.arrays import Flag, Float
from treeaudit.errors import ReadError
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Label
from treeaudit.model.source import Source
from treeaudit.model.tree import Tree
from treeaudit.readers.limits import Most, listed
from treeaudit.readers.r.fields import (
    binary,
    each_of,
    no_trees,
    parameters_of,
    schema_of,
    sides_of,
)
from treeaudit.readers.r.objects import RObject

_VOTE, _SHARES, _NUMBER = "Classification", "Probability estimation", "Regression"
_REASONS = {
    _VOTE: "only a label is kept for each leaf",
    _SHARES: "only the share of each class in each leaf is kept",
}


def read(model: RObject, source: Source) -> Forest:
    """Return the forest of a ranger object."""
    forest = model.get("forest")
    if not forest:
        raise no_trees(source.estimator)
    kind = forest.get("treetype").scalar()
    children = forest.part("child.nodeIDs").items()
    asked, split = forest.part("split.varIDs").items(), forest.part("split.values").items()
    shares = forest.part("terminal.class.counts").items() if kind == _SHARES else children
    if not len(children) == len(asked) == len(split) == len(shares):
        raise ReadError("its lists of trees differ in length")
    labels, place = _classes(forest) if kind in (_VOTE, _SHARES) else (None, {})
    names = forest.part("independent.variable.names").texts()
    levels = _levels(forest, names)
    by_set = np.flatnonzero(forest.get("is.ordered").numbers() == 0).tolist()
    # The file need not keep the levels of columns split by sets: those that bits name are counted.
    nameless = sorted(i for i in by_set if i < len(names) and names[i] not in levels)
    for i in nameless:
        each = zip(asked, split, children, strict=True)
        most = max((_highest(*one, i) for one in each), default=0)
        levels[names[i]] = list(level_numbers(most + 1))
    factors = {i: len(levels[name]) for i, name in enumerate(names) if name in levels}

    def build(i: int) -> Tree:
        sides = children[i].items()
        if len(sides) != 2:
            raise ReadError("it is no list of two children")
        left = sides[0].whole()
        n = len(left)
        right, feature, value = sides[1].whole(n), asked[i].whole(n), split[i].complete(n)
        inner = (left != 0) | (right != 0)
        sets = sides_of(inner, feature, value, factors, by_set, left=False)
        label = counts = None
        if labels is not None and kind == _VOTE:
            found = [place.get(float(one), -1) for one in value[~inner]]
            if min(found) < 0:
                raise ReadError("a leaf has a class that does not exist")
            label = np.zeros(n, dtype=np.int64)
            label[~inner] = found
        elif labels is not None:
            counts = _shares(shares[i].items(), inner, list(place.values()), len(labels))
        return binary(
            inner=inner,
            left=left,
            right=right,
            feature=feature,
            bound=value,
            n_features=len(names),
            sets=sets,
            label=label,
            counts=counts,
            value=value if kind == _NUMBER else None,
        )

    trees = each_of(len(children), build)
    rows, drawn = model.get("num.samples").scalar(), model.get("replace").scalar()
    target = model.get("dependent.variable.name").scalar()
    return Forest(
        trees=trees,
        schema=schema_of(names, levels, labels, target if isinstance(target, str) else "label"),
        counts_are=("label-only" if kind == _VOTE else "weighted" if kind == _SHARES else "absent"),
        counts_reason=_REASONS.get(str(kind), "the file keeps no counts of the leaves"),
        answers="vote" if kind == _VOTE else "mean" if kind in (_SHARES, _NUMBER) else "unknown",
        records_are="bootstrap" if drawn == 1 else "unknown",
        n_records=int(rows) if isinstance(rows, float) and 0 < rows < 2**53 else None,
        warnings=(
            (f"the levels of {listed(names[i] for i in nameless)} are not in the file: numbered",)
            if nameless
            else ()
        ),
        source=replace(source, library="ranger", parameters=parameters_of(model)),
    )


def _classes(forest: RObject) -> tuple[list[Label], dict[float, int]]:
    """Return the classes, and the place of each by the number that stands for it in the trees."""
    values, stored = forest.part("class.values").complete().tolist(), forest.get("levels")
    labels: list[Label] = []
    if stored:
        labels = list(stored.texts())
        place = {float(i + 1): i for i in range(len(labels))}
    else:
        labels = [int(one) if one == int(one) else one for one in values]
        place = {float(label): i for i, label in enumerate(labels)}
    if any(one not in place for one in values) or len(set(values)) != len(values):
        raise ReadError("a class does not exist")
    # In the order of the columns of shares; a level that nobody had has none.
    ordered = {one: place[one] for one in values}
    return labels, ordered


def _levels(forest: RObject, names: Sequence[str]) -> dict[str, list[str]]:
    stored = forest.get("covariate.levels")
    held = [one.texts() for one in stored.items()] if stored else []
    return {name: one for name, one in zip(names, held, strict=False) if one}


def level_numbers(n: int) -> tuple[str, ...]:
    """Return what stands for the levels of a column whose file has their numbers alone."""
    return tuple(f"level {k + 1}" for k in range(n))


def _highest(asked: RObject, split: RObject, children: RObject, feature: int) -> int:
    """Return the highest level that a set of a column names."""
    left, own = children.items()[0].numbers(), asked.numbers() == feature
    if not len(split) == len(own) == len(left):
        raise ReadError("its vectors of nodes differ in length")
    most = float(split.numbers()[own & (left != 0)].max(initial=0))
    return int(np.frexp(most)[1]) if 0 < most < 2.0**1023 else 0


def _shares(stored: Sequence[RObject], inner: Flag, place: Sequence[int], width: int) -> Float:
    """Return the share of each class in every leaf, and at inner nodes none."""
    if len(stored) != len(inner):
        raise ReadError("it does not have shares of classes for each node")
    found, leaves = np.zeros((len(inner), width)), np.flatnonzero(~inner)
    held = [stored[node].numbers() for node in leaves.tolist()]
    if any(len(one) != len(place) for one in held):
        raise ReadError("it does not have shares of classes for each node")
    found[leaves[:, None], place] = held
    if not np.all((found >= 0) & (found <= Most.weight)):
        raise ReadError("a share is negative or impossible")
    return found
