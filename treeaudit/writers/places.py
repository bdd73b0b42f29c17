"""Where the nodes of a repaired tree stood before: each is found by its conditions."""

from collections.abc import Sequence

import numpy as np

from treeaudit.arrays import Flag, Wide
from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.writers.binary import JSON


def origins(forest: Forest, whole: Forest, numbers: Sequence[int]) -> list[int]:
    """Return which of the stored trees each of the repaired ones was: their order is the same."""
    if forest.n_trees == whole.n_trees:
        return list(numbers)
    origin, k = [], 0
    for i in numbers:
        while not _is_cut(forest.trees[i], whole.trees[k]):
            k += 1
            if k == whole.n_trees:
                raise UnsupportedModelError(
                    f"trees were taken out and others changed, so that they are not found: {JSON}"
                )
        origin.append(k)
        k += 1
    return origin


def _is_cut(tree: Tree, whole: Tree) -> bool:
    """Tell whether one tree is the other, or what is left of it."""
    try:
        places_in(tree, whole)
    except UnsupportedModelError:
        return False
    return True


def places_in(tree: Tree, whole: Tree) -> Wide:
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
