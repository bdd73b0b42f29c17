"""Method 2 for trees that branch more than twice: small leaves join one sibling.

Where a node has two children, nothing loses less training accuracy than Method
2: a small leaf can only join its sibling. Where it has more, the others may
stay: each small leaf joins the sibling leaf with which it loses the least.

References
----------
Wakabayashi et al. (2024), section 4.1, Method 2; merging of categories as in
Kass (1980), CHAID.
"""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from treeaudit.arrays import Float, Index, Int
from treeaudit.defenses.defense import Bounds, Defense, DefenseWords
from treeaudit.defenses.merge_siblings import sizes_for
from treeaudit.defenses.tree_edits import compact, levels, recount
from treeaudit.model.forest import Forest
from treeaudit.model.tree import CategorySets, Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeClosest(Defense):
    """Merge small leaves with the sibling that costs the least, until each holds ``min_leaf``.

    Attributes
    ----------
    min_leaf
        The k of k-anonymity.
    """

    id = "merge-closest"
    title = "Merge small leaves with one sibling"
    did = "merged leaves of fewer than {0.min_leaf} people with their closest siblings"
    words = DefenseWords(
        does="joins each leaf of fewer than k people with the sibling leaf that loses the fewest "
        "right answers (categories are united, intervals must touch); where there is none, the "
        "node above becomes a leaf",
        fixes="nobody stands in a group below k, in any single tree; the same guarantee as "
        "merge-siblings, and on binary trees the same result",
        leaves="large leaves of one label; the groups in which the leaves of several trees "
        "intersect can be smaller than k",
        reference="Wakabayashi et al. (2024), section 4.1, Method 2, in a least-cost order",
    )
    min_leaf: Annotated[int, Bounds(2)] = 5

    def changed(self, tree: Tree, forest: Forest) -> Tree:
        """Return the tree with its small leaves joined."""
        counted = recount(tree, tree.is_leaf)
        work = _Work(counted, sizes_for(counted, forest, self.min_leaf))
        start, child = counted.children()
        for level in reversed(levels(counted)):
            for node in level[np.diff(start)[level] > 0].tolist():
                work.settle(node, child[start[node] : start[node + 1]].tolist(), self.min_leaf)
        return work.tree()


class _Work:
    """The edges and numbers of a tree while leaves are joined."""

    def __init__(self, tree: Tree, size: Float) -> None:
        self._before = tree
        self._size = size.copy()
        self._counts = np.ones((tree.n_nodes, 1)) if tree.counts is None else tree.counts.copy()
        self._leaf = tree.is_leaf
        self._kept = np.ones(tree.n_nodes, dtype=np.bool_)
        self._home = np.arange(tree.n_nodes)
        self._low, self._high = tree.low.copy(), tree.high.copy()
        self._missing = None if tree.missing is None else tree.missing.copy()
        sets = tree.categories
        self._codes = [[] if sets is None else sets.of(i) for i in range(tree.n_nodes)]

    def settle(self, node: int, children: list[int], least: int) -> None:
        """Join the small leaves below a node, or make it a leaf."""
        leaves = [c for c in children if self._leaf[c]]
        while small := [c for c in leaves if self._size[c] < least]:
            one = min(small, key=lambda c: float(self._size[c]))
            near = [c for c in leaves if c != one and self._touches(one, c)]
            if not near or len(children) == 2:
                self._leaf[node] = True
                return
            other = min(near, key=lambda c: (self._lost(one, c), float(self._size[c]), c))
            self._join(one, other)
            leaves.remove(one)
            children.remove(one)

    def _touches(self, one: int, other: int) -> bool:
        if self._before.feature[one] != self._before.feature[other]:
            return False
        if self._codes[one] or self._codes[other]:
            return bool(self._codes[one] and self._codes[other])
        low, high = self._low, self._high
        return bool(high[one] == low[other] or high[other] == low[one])

    def _lost(self, one: int, other: int) -> float:
        first, second = self._counts[one], self._counts[other]
        return float(first.max() + second.max() - (first + second).max())

    def _join(self, one: int, other: int) -> None:
        self._size[other] += self._size[one]
        self._counts[other] += self._counts[one]
        self._low[other] = min(self._low[one], self._low[other])
        self._high[other] = max(self._high[one], self._high[other])
        self._codes[other] = sorted({*self._codes[one], *self._codes[other]})
        if self._missing is not None:
            self._missing[other] |= self._missing[one]
        self._kept[one] = False
        self._home[self._home == one] = other

    def tree(self) -> Tree:
        """Return the tree of what is left, with its numbers added up from all leaves."""
        tree, home = self._before, self._home
        # Everything below a node that became a leaf goes with it.
        for level in levels(tree)[1:]:
            above = tree.parent[level]
            gone = self._leaf[above] & ~tree.is_leaf[above] | ~self._kept[above]
            self._kept[level[gone]] = False
        width = [len(codes) for codes in self._codes]
        codes = [code for each in self._codes for code in each]
        moved = replace(
            tree,
            low=self._low,
            high=self._high,
            missing=self._missing,
            categories=None
            if tree.categories is None
            else CategorySets(
                start=np.concatenate([[0], np.cumsum(width)]), codes=np.array(codes, np.int32)
            ),
            n_records=None
            if tree.n_records is None
            else _joined(_weight(tree), home).astype(np.int64),
            counts=None if tree.counts is None else _joined(tree.counts, home),
            value=_mean(tree, home),
            label=_voted(tree, home),
        )
        return compact(moved, self._kept)


def _joined(column: Float, home: Index) -> Float:
    total = np.array(column)
    moved = np.flatnonzero(home != np.arange(len(home)))
    np.add.at(total, home[moved], column[moved])
    return total


def _weight(tree: Tree) -> Float:
    return np.ones(tree.n_nodes) if tree.n_records is None else tree.n_records.astype(np.float64)


def _mean(tree: Tree, home: Index) -> Float | None:
    if tree.value is None:
        return None
    # Leaves that nobody is in still count where nobody else does.
    weight = np.maximum(_weight(tree), 1e-12)
    total = np.bincount(home, weights=weight * tree.value, minlength=tree.n_nodes)
    people = np.bincount(home, weights=weight, minlength=tree.n_nodes)
    joined = np.bincount(home, minlength=tree.n_nodes) > 1
    return np.where(joined, total / np.where(people > 0, people, 1), tree.value)


def _voted(tree: Tree, home: Index) -> Int | None:
    if tree.label is None:
        return None
    votes = np.zeros((tree.n_nodes, int(tree.label.max(initial=0)) + 1))
    np.add.at(votes, (home, tree.label), _weight(tree))
    joined = np.bincount(home, minlength=tree.n_nodes) > 1
    return np.where(joined, votes.argmax(axis=1), tree.label).astype(np.int32)
