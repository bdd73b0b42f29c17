"""Trees of the package tree: numbered as rpart's, with conditions as text.

The text is ``<7.5`` and ``>7.5`` for numbers, and ``:acd`` for the levels of a factor, a letter
each. ``where`` is the row of the leaf of every training row, ``yprob`` the shares of classes.
"""

from dataclasses import replace
from string import ascii_letters

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.errors import ReadError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Extras, Source
from treeaudit.readers.links import sums
from treeaudit.readers.r.fields import (
    Sides,
    below,
    binary,
    codes_of,
    extras_of,
    levels_of,
    schema_of,
    target_of,
)
from treeaudit.readers.r.objects import RObject
from treeaudit.readers.r.rpart import LEAF, children_of
from treeaudit.readers.sklearn.counts import absent, people_per_class


def read(model: RObject, source: Source) -> Forest:
    """Return the tree of a tree object."""
    frame = model.part("frame")
    asked = frame.part("var").texts()
    leaf, n = np.array([one == LEAF for one in asked]), len(asked)
    left, right = children_of(frame, leaf)
    stored = model.attribute("xlevels")
    names = model.get("terms").attribute("term.labels").texts()
    names = names or stored.names
    levels = levels_of(names, stored)
    feature = np.full(n, -1)
    feature[~leaf] = codes_of(names, [one for one in asked if one != LEAF])
    labels = model.attribute("ylevels").texts() or None
    weight = frame.part("n").complete(n)
    bound, sets = _conditions(frame.part("splits").texts(), feature, names, levels)
    held, counts = _people(model, leaf, weight), None
    meaning = absent("the model predicts a number, not a class")
    if labels is not None:
        counts = frame.part("yprob").matrix(n, len(labels))[:, : len(labels)] * weight[:, None]
        meaning = people_per_class(counts[leaf], held[leaf], weight[leaf])
        counts = np.rint(counts) if meaning.counts_are == "exact" else counts
    tree = binary(
        inner=~leaf,
        left=left,
        right=right,
        feature=feature,
        bound=below(bound),
        n_features=len(names),
        sets=sets,
        n_records=held.astype(np.float64),
        counts=counts,
        value=frame.part("yval").complete(n) if labels is None else None,
    )
    people = sums(tree.parent, np.asarray(tree.n_records, np.float64))
    tree = replace(tree, n_records=people.astype(np.int64))
    alike = np.array_equal(weight[leaf], held[leaf])
    return Forest(
        trees=(tree,),
        schema=schema_of(names, levels, labels, target_of(model.get("terms"))),
        counts_are=meaning.counts_are,
        counts_reason=meaning.reason,
        n_records=int(people[0]),
        values_are="means" if alike and labels is None else "unknown",
        extras=extras_of((tree,), means=alike) if labels is None else Extras(),
        source=replace(source, library="tree"),
    )


def _people(model: RObject, leaf: Flag, weight: Float) -> Wide:
    """Return the people that end in every node: without a value of a column they do so above."""
    where = model.get("where")
    if not where:
        return np.where(leaf, np.rint(weight), 0).astype(np.int64)
    at = where.whole() - 1
    if np.any((at < 0) | (at >= len(leaf))):
        raise ReadError("a row is in no node")
    return np.bincount(at, minlength=len(leaf)).astype(np.int64)


def _conditions(
    stored: list[str], feature: Wide, names: list[str], levels: dict[str, list[str]]
) -> tuple[Float, dict[int, Sides]]:
    """Return the bounds of numbers and the sets of levels, by their text."""
    n = len(feature)
    if len(stored) != 2 * n:
        raise ReadError("it does not have two conditions for each node")
    bound, sets = np.zeros(n), dict[int, Sides]()
    for i in np.flatnonzero(feature >= 0).tolist():
        known, both = levels.get(names[feature[i]]), (stored[i], stored[n + i])
        if known is None:
            try:
                bound[i] = float(both[0].removeprefix("<"))
            except ValueError:
                raise ReadError("a split has no bound") from None
            continue
        codes = [[ascii_letters.find(letter) for letter in one[1:]] for one in both]
        if any(not 0 <= code < len(known) for side in codes for code in side):
            raise ReadError("a split names a level that does not exist")
        sets[i] = codes[0], codes[1]
    return bound, sets
