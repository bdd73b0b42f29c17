"""Make nodes leaves, from the deepest upwards, until every leaf is good enough.

A node with a child leaf that is not good enough becomes a leaf. Whatever the
order, the same nodes become leaves, and no way to cut a tree down that leaves
only good leaves keeps more of them: it loses the least training accuracy.
"""

from collections.abc import Callable, Sequence

import numpy as np

from treeaudit.arrays import Flag, Float, Index
from treeaudit.defenses.defense import Defense, counts_of, people_in
from treeaudit.defenses.tree_edits import below, compact, levels, recount
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree


class Merging(Defense):
    """A defense that makes nodes leaves until none of the leaves is bad."""

    __slots__ = ()

    def bad(self, tree: Tree, forest: Forest) -> Flag:
        """Tell which nodes would not be good enough as leaves."""
        raise NotImplementedError

    def changed(self, tree: Tree, forest: Forest) -> Tree:
        """Return the tree with its bad leaves merged."""
        counted = recount(tree, tree.is_leaf)
        return merged(counted, self.bad(counted, forest))


def merged(counted: Tree, bad: Flag) -> Tree:
    """Return a tree, whose numbers add up, with its bad leaves merged."""
    by_level = levels(counted)
    cut = becoming_leaves(counted, bad, by_level)
    return compact(counted, ~below(counted, cut, by_level)) if cut.any() else counted


def bad_occupied(tree: Tree, forest: Forest, judge: Callable[[Float], Flag]) -> Flag:
    """Tell which nodes are bad by their class counts, of those that hold anybody."""
    counts = counts_of(tree, forest)
    occupied = (people_in(tree, forest) > 0) & (counts > 0).any(axis=1)
    bad = occupied.copy()
    bad[occupied] = judge(counts[occupied])
    return bad


def becoming_leaves(tree: Tree, bad: Flag, by_level: Sequence[Index] | None = None) -> Flag:
    """Tell which inner nodes become leaves so that no leaf is bad.

    Parameters
    ----------
    bad
        Shape ``(n_nodes,)``: which nodes would not be good enough as leaves.
        A bad root stays: it has no parent.
    by_level
        From `levels`, where it is at hand.
    """
    leaf = tree.is_leaf
    cut = np.zeros(tree.n_nodes, dtype=np.bool_)
    for level in reversed((by_level or levels(tree))[1:]):
        failing = level[leaf[level] & bad[level]]
        cut[tree.parent[failing]] = True
        leaf[tree.parent[failing]] = True
    return cut
