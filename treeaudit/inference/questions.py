"""Several trees as one set of arrays, and the questions that they ask about columns.

The questions show which columns hold 0 or 1 alone: with more values a tree would ask again.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.errors import DataError
from treeaudit.model.tree import Tree, depths_of

_MOST_NODES = 400_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Nodes:
    """The nodes of some trees, tree after tree, parents before children."""

    # Shape ``(n_trees + 1,)``: the nodes of tree t are ``start[t]`` to ``start[t + 1]``
    start: Wide
    parent: Wide  # In these arrays; -1 at the roots
    # As in `Tree`
    feature: Int
    low: Float
    high: Float
    # Every category code that leads into a node, by node
    owner: Wide
    code: Int
    counts: Float  # Shape ``(n_nodes, n_classes)``
    levels: tuple[Wide, ...]  # Nodes of depth 1, 2, …, ascending

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.start) - 1

    @property
    def tree(self) -> Int:
        """The tree of every node."""
        return np.repeat(np.arange(self.n_trees, dtype=np.int32), np.diff(self.start))


def nodes_of(trees: Sequence[Tree]) -> Nodes:
    """Put trees that hold class counts in a row.

    Raises DataError if a tree holds none.
    """
    start = np.concatenate([[0], np.cumsum([tree.n_nodes for tree in trees])])
    first = np.repeat(start[:-1], np.diff(start))
    parent = np.concatenate([tree.parent for tree in trees]).astype(np.int64)
    parent = np.where(parent >= 0, parent + first, -1)
    owners, codes, counts = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)], []
    for tree, at in zip(trees, start[:-1].tolist(), strict=True):
        if tree.counts is None:
            raise DataError("a tree holds no class counts")
        counts.append(tree.counts)
        if tree.categories is not None:
            owners.append(at + np.repeat(np.arange(tree.n_nodes), np.diff(tree.categories.start)))
            codes.append(tree.categories.codes)
    depth = depths_of(parent)
    order = np.argsort(depth, kind="stable")
    ends = np.cumsum(np.bincount(depth))
    return Nodes(
        start=start,
        parent=parent,
        feature=np.concatenate([tree.feature for tree in trees]),
        low=np.concatenate([tree.low for tree in trees]),
        high=np.concatenate([tree.high for tree in trees]),
        owner=np.concatenate(owners),
        code=np.concatenate(codes),
        counts=np.concatenate(counts),
        levels=tuple(order[a:b] for a, b in pairwise(ends.tolist())),
    )


def chunks(trees: Iterable[Tree], most: int = _MOST_NODES) -> Iterator[list[Tree]]:
    """Yield the trees, as many at a time as have no more than so many nodes, or one."""
    some: list[Tree] = []
    nodes = 0
    for tree in trees:
        if some and nodes + tree.n_nodes > most:
            yield some
            some, nodes = [], 0
        some.append(tree)
        nodes += tree.n_nodes
    if some:
        yield some


_HALF = 0.5
_BETWEEN = (_HALF, float(np.nextafter(1.0, 0.0)), float(np.float32(1e-35)))
"""Where libraries put a threshold between 0 and 1: half way, ``x < 1``, and next to 0."""
_AGAIN = 10
"""Questions to be expected again about a column of 0 and 1: with fewer it is not believed."""
_BITS = 64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Questions:
    """Questions of trees: thresholds per column, columns of sets, and columns below a 1 of others.

    ``halves`` counts the edges between 0 and 1 per column, and ``flags`` are the columns that have
    any. ``below[i, j]`` counts the edges of the j-th of them below those on which the i-th is above
    that.
    """

    cuts: tuple[Float, ...]
    sets: frozenset[int]
    halves: Wide
    flags: Wide
    below: Int

    def union(self, other: "Questions") -> "Questions":
        """Return the questions of both, if neither of them is evidence besides the other."""
        flags = np.union1d(self.flags, other.flags)
        below = self.below
        if len(other.flags):
            mine, theirs = (_among(one.below, one.flags, flags) for one in (self, other))
            below = np.maximum(mine, theirs)
        return Questions(
            cuts=tuple(map(np.union1d, self.cuts, other.cuts)),
            sets=self.sets | other.sets,
            halves=np.maximum(self.halves, other.halves),
            flags=flags,
            below=below,
        )

    def about(self, column: int) -> bool:
        """Tell whether anything is asked about a column."""
        return len(self.cuts[column]) > 0 or column in self.sets

    def zero_or_one(self) -> Flag:
        """Tell which columns are asked one thing alone, where more was to be expected.

        A column with more values would be asked about again where it is above the threshold.
        """
        again = np.zeros(len(self.cuts))
        again[self.flags] = np.prod(self.expected(np.arange(len(self.flags))), axis=0)
        between = np.array([_between(cuts) for cuts in self.cuts], dtype=np.bool_)
        silent = np.array([len(cuts) == 0 for cuts in self.cuts], dtype=np.bool_)
        only = bool((silent | between).all()) and not self.sets
        enough = (again >= _AGAIN) | (only and again.sum() >= 2 * _AGAIN)
        return np.asarray(enough & between)

    @property
    def half_way(self) -> bool:
        """Tell whether no threshold is between 0 and 1 but 0.5."""
        return not any(np.isin(_BETWEEN[1:], cuts).any() for cuts in self.cuts)

    def places(self, columns: Sequence[int]) -> Wide:
        """Return where those of some columns that are asked between 0 and 1 stand in ``flags``."""
        return np.flatnonzero(np.isin(self.flags, columns))

    def expected(self, places: Wide) -> tuple[Float, Float]:
        """Return what ``below`` would be if what is asked did not depend on what was asked.

        For some of the flags: the questions below each of them, and the share of all questions that
        are about each; their products.
        """
        share = self.halves[self.flags[places]] / max(int(self.halves.sum()), 1)
        return self.below.sum(axis=1)[places].astype(np.float64), share


def questions_of(trees: Iterable[Tree], n_features: int) -> Questions:
    """Return the questions of trees about so many columns."""
    halves, sets = np.zeros(n_features, dtype=np.int64), set[int]()
    half_way = np.zeros(n_features, dtype=np.bool_)
    other: list[tuple[Wide, Float]] = []
    flags, below = np.zeros(0, dtype=np.int64), np.zeros((0, 0), dtype=np.int32)
    for some in chunks(_distinct(trees)):
        nodes = nodes_of(some)
        sets |= {*np.unique(nodes.feature[nodes.owner]).tolist()}
        ones = np.isin(nodes.low, _BETWEEN)
        for side in (nodes.low, nodes.high):
            between = ones if side is nodes.low else np.isin(side, _BETWEEN)
            halves += np.bincount(nodes.feature[between], minlength=n_features)
            half_way[nodes.feature[side == _HALF]] = True
            at = np.flatnonzero((side != _HALF) & np.isfinite(side) & (nodes.parent >= 0))
            at = at[np.lexsort((side[at], nodes.feature[at]))]
            column, cut = nodes.feature[at], side[at]
            fresh = (np.diff(column, prepend=-1) != 0) | (np.diff(cut, prepend=0) != 0)
            other.append((column[fresh].astype(np.int64), cut[fresh]))
        before, flags = flags, np.flatnonzero(halves)
        more = _below(nodes, ones, flags)
        below = more if not len(before) else _among(below, before, flags) + more
    column = np.concatenate([np.zeros(0, np.int64), *(one for one, _ in other)])
    cut = np.concatenate([np.zeros(0), *(one for _, one in other)])
    order = np.argsort(column, kind="stable")
    bounds = np.searchsorted(column[order], np.arange(1, n_features))
    cuts = [np.unique(one) for one in np.split(cut[order], bounds)]
    for i in np.flatnonzero(half_way).tolist():
        cuts[i] = np.union1d(cuts[i], _HALF)
    return Questions(
        cuts=tuple(cuts), sets=frozenset(sets), halves=halves, flags=flags, below=below
    )


def _among(below: Int, flags: Wide, more: Wide) -> Int:
    """Return counts of pairs of columns as those of more columns, all of them among these."""
    place = np.searchsorted(more, flags)
    result = np.zeros((len(more), len(more)), dtype=np.int32)
    result[np.ix_(place, place)] = below
    return result


def _distinct(trees: Iterable[Tree]) -> Iterator[Tree]:
    """Yield each tree once: those that ask the same are no evidence besides each other."""
    keys = set[int]()
    for tree in trees:
        key = hash((tree.feature.tobytes(), tree.low.tobytes(), tree.high.tobytes()))
        if key not in keys:
            keys.add(key)
            yield tree


def _below(nodes: Nodes, one: Flag, flags: Wide) -> Int:
    """Count the edges of each of some columns below those on which another is above 0.5.

    ``one`` marks the edges into such nodes. What is above a node is a bit a column.
    """
    at = np.flatnonzero(one)
    # Each of them is among the columns.
    column, parent = np.searchsorted(flags, nodes.feature[at]), nodes.parent[at]
    n = len(flags)
    result = np.zeros((n, n), dtype=np.int32)
    columns_with_ones = np.flatnonzero(np.bincount(column, minlength=n))
    for columns in np.split(columns_with_ones, range(_BITS, len(columns_with_ones), _BITS)):
        bit = np.zeros(n, dtype=np.uint64)
        bit[columns] = np.uint64(1) << np.arange(len(columns), dtype=np.uint64)
        ones = np.zeros(len(nodes.parent), dtype=np.uint64)
        ones[at] = bit[column]
        for level in nodes.levels:
            ones[level] |= ones[nodes.parent[level]]
        above = ones[parent]
        for i in columns.tolist():
            # One edge of each question whether a column is above 0.5.
            result[i] = np.bincount(column[(above & bit[i]) != 0], minlength=n)
    return result


def _between(cuts: Float) -> bool:
    """Tell whether the only threshold is one between 0 and 1."""
    return len(cuts) == 1 and float(cuts[0]) in _BETWEEN
