"""Say a repaired tree in the columns that its estimator saw.

Behind a pipeline a tree asks about encoded columns; a `Forest` is in terms of
the data. Every node that stayed is found in the model as it was read, and takes
its question from there.
"""

from dataclasses import replace

import numpy as np

from treeaudit.arrays import Flag, Wide
from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest, LazyTrees
from treeaudit.model.source import Source
from treeaudit.model.tree import Tree
from treeaudit.readers.estimators.found import Found
from treeaudit.readers.estimators.grove import Budget, Grove
from treeaudit.readers.estimators.histogram_boosting import read_histogram_boosting
from treeaudit.readers.estimators.scikit_learn import to_forest
from treeaudit.readers.estimators.tree_ensembles import read_trees
from treeaudit.writers.binary import JSON

__all__ = ["encoded"]

_ENOUGH = 1 << 62


def encoded(forest: Forest, found: Found) -> Forest:
    """Return the forest over the columns that its estimator saw.

    Parameters
    ----------
    forest
        What became of the model.
    found
        The model as it was read.

    Raises
    ------
    UnsupportedModelError
        If trees or questions were changed, and not only cut: they cannot be
        found again.
    """
    budget = Budget(_ENOUGH)
    kind = found.estimator.kind
    read = read_histogram_boosting if kind.startswith("HistGradient") else read_trees
    grove: Grove = read(found, budget)
    if not found.before:
        return replace(forest, schema=replace(grove.schema, classes=forest.schema.classes))
    whole = to_forest(found, Source(), _ENOUGH)
    trees = forest.trees
    if whole.n_trees < len(trees):
        raise UnsupportedModelError("the model has more trees than the file it was read from")

    def build(i: int) -> Tree:
        tree = trees[i]
        seen, inside = whole.trees[i], grove.build(i)
        place = _places(tree, seen)
        return replace(
            tree,
            feature=inside.feature[place],
            low=inside.low[place],
            high=inside.high[place],
            categories=None,
            missing=None if inside.missing is None else inside.missing[place],
        )

    return replace(
        forest,
        trees=LazyTrees(build, len(trees)),
        schema=replace(grove.schema, classes=forest.schema.classes),
        single_precision=grove.single_precision,
    )


def _places(tree: Tree, whole: Tree) -> Wide:
    """Return where each node of a cut tree stands in the tree that it was cut from."""
    place = np.zeros(tree.n_nodes, dtype=np.int64)
    start, child = whole.children()
    depth = tree.depths
    taken = np.zeros(whole.n_nodes, dtype=np.bool_)
    for level in range(1, int(depth.max()) + 1):
        node = np.flatnonzero(depth == level)
        above = place[tree.parent[node]]
        found = np.full(len(node), -1, dtype=np.int64)
        for i in range(int((start[above + 1] - start[above]).max(initial=0))):
            candidate = child[np.minimum(start[above] + i, len(child) - 1)].astype(np.int64)
            fits = (found < 0) & (start[above] + i < start[above + 1])
            fits &= ~taken[candidate] & _same(tree, node, whole, candidate)
            # Two children with one condition are taken one after the other.
            _, first = np.unique(np.where(fits, candidate, -1), return_index=True)
            once = np.zeros(len(node), dtype=np.bool_)
            once[first] = True
            found = np.where(fits & once, candidate, found)
            taken[found[found >= 0]] = True
        if np.any(found < 0):
            raise UnsupportedModelError(
                "the conditions were changed, and the steps before the tree cannot be written "
                "around them: " + JSON
            )
        place[node] = found
    return place


def _same(tree: Tree, node: Wide, whole: Tree, other: Wide) -> Flag:
    same = (tree.feature[node] == whole.feature[other]) & (tree.low[node] == whole.low[other])
    same &= tree.high[node] == whole.high[other]
    if tree.missing is not None and whole.missing is not None:
        same &= tree.missing[node] == whole.missing[other]
    if tree.categories is None or whole.categories is None:
        return np.asarray(same)
    mine, theirs = tree.categories, whole.categories
    width, wide = np.diff(mine.start)[node], np.diff(theirs.start)[other]
    same &= width == wide
    pair = np.flatnonzero(same)
    row = np.repeat(pair, width[pair])
    step = np.arange(len(row)) - np.repeat(np.cumsum(width[pair]) - width[pair], width[pair])
    differ = (
        mine.codes[mine.start[node[row]] + step] != theirs.codes[theirs.start[other[row]] + step]
    )
    same[row[differ]] = False
    return np.asarray(same)
