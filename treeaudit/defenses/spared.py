"""Which bad leaves may stay while few people are in any: the dearest to merge.

Of one tree the leaves of a share of its people may stay. Of a forest somebody who is in such a
leaf of one tree is no worse off in that of another: who they are the people tell.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treeaudit.arrays import Flag, Float, Index, Int
from treeaudit.defenses.cutting import levels, summed
from treeaudit.model.tree import Tree

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

__all__ = ["spared_in_all", "spared_in_one"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Merges:
    """The nodes that bad leaves would be merged into.

    ``home`` has an entry per node: where it ends; ``leaf`` are the bad leaves, ``lost`` is how
    many right answers of the people of a node go with what is below it.
    """

    home: Index
    leaf: Index
    lost: Float


def spared_in_one(tree: Tree, bad: Flag, counts: Float, people: Float, allowed: float) -> Flag:
    """Choose leaves of a tree that may stay, with at most a share of its people."""
    merges = _merges(tree, bad, counts)
    home, leaf = merges.home, merges.leaf
    freed = np.bincount(home[leaf], weights=people[leaf], minlength=tree.n_nodes)
    merging = np.flatnonzero(freed)
    dearest = merging[np.argsort(-merges.lost[merging] / freed[merging], kind="stable")]
    within = np.cumsum(freed[dearest]) <= allowed * people[0]
    stays = np.zeros(tree.n_nodes, dtype=np.bool_)
    stays[dearest[within]] = True
    # On the way to a home that is spared every node would be uniform; it is not made a leaf.
    spared = np.zeros(tree.n_nodes, dtype=np.bool_)
    spared[leaf] = stays[home[leaf]]
    return spared


def spared_in_all(
    trees: Sequence[Tree], bad: Sequence[Flag], counts: Sequence[Float], node: Int, allowed: float
) -> list[Flag]:
    """Choose leaves of all trees that may stay, with at most a share of all people in any.

    Parameters
    ----------
    bad, counts
        Per tree, as for `spared_in_one`.
    node
        Shape ``(n_people, n_trees)``: where everybody ends.
    """
    from scipy.sparse import csc_matrix

    merges = [_merges(*each) for each in zip(trees, bad, counts, strict=True)]
    start = np.cumsum([0, *(tree.n_nodes for tree in trees)])
    lost = np.concatenate([each.lost for each in merges])
    who, into = [], []
    for i, each in enumerate(merges):
        leaf = np.zeros(trees[i].n_nodes, dtype=np.bool_)
        leaf[each.leaf] = True
        inside = np.flatnonzero(leaf[node[:, i]])
        who.append(inside)
        into.append(start[i] + each.home[node[inside, i]])
    row, column = np.concatenate(into), np.concatenate(who)
    held = csc_matrix((np.ones(len(row)), (row, column)), shape=(len(lost), len(node)))
    stays = _dearest(held, lost, int(allowed * len(node)))
    found = []
    for i, each in enumerate(merges):
        spared = np.zeros(trees[i].n_nodes, dtype=np.bool_)
        spared[each.leaf] = stays[start[i] + each.home[each.leaf]]
        found.append(spared)
    return found


def _dearest(held: "csc_matrix", lost: Float, left: int) -> Flag:
    """Take what costs most for each person who is not in what was taken before, while it fits."""
    new = np.asarray(held.sum(axis=1)).ravel()
    stays, by_row = np.zeros(len(lost), dtype=np.bool_), held.tocsr()
    taken = np.zeros(held.shape[1], dtype=np.bool_)
    worth = np.flatnonzero((new > 0) & (lost > 0))
    while True:
        fits = worth[(new[worth] <= left) & ~stays[worth]]
        if not len(fits):
            return stays
        best = fits[(lost[fits] / np.maximum(new[fits], 0.5)).argmax()]
        stays[best] = True
        people = by_row.indices[by_row.indptr[best] : by_row.indptr[best + 1]]
        more = people[~taken[people]]
        taken[more] = True
        left -= len(more)
        new -= np.asarray(held[:, more].sum(axis=1)).ravel()


def _merges(tree: Tree, bad: Flag, counts: Float) -> _Merges:
    by_level = levels(tree)
    home = np.where(bad, -1, np.arange(tree.n_nodes))
    for level in by_level[1:]:
        home[level] = np.where(bad[level], home[tree.parent[level]], level)
    right = counts.max(axis=1)
    return _Merges(
        home=home,
        leaf=np.flatnonzero(tree.is_leaf & bad),
        lost=summed(tree, right, by_level) - right,
    )
