"""Groups of people whom no tree tells apart, and bounds on what they hold (TA106).

Of a group a leaf leaves no more than its count less the least that its other groups hold, and no
less than its count less the most that they hold: leaf by leaf, until nothing changes (`tightened`),
and of few leaves all together (`fixed`).

References
----------
Buzzigoli and Giusti (1999), An algorithm to calculate the lower and upper bounds of the elements of
an array given its marginals: the shuttle algorithm.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Index, Int, Wide

_Key = npt.NDArray[np.uint64]


def groups_together(
    node: Int, after: Collection[int], persons: Int | None = None
) -> dict[int, tuple[int, Wide]]:
    """Return the groups that share all leaves after some trees, and their smallest sizes."""
    each = np.arange(len(node)) if persons is None else persons
    there = np.flatnonzero(np.bincount(each))
    apart = np.zeros(int(each.max(initial=0)) + 1, dtype=np.bool_)
    # Whose record shares its leaves with no other never does again.
    left, done = np.arange(len(node)), 0
    key = np.zeros(len(node), dtype=np.uint64)
    found = {}
    for i, ends in enumerate(node.T, start=1):
        # A hash of 64 bits per person: two groups fall together once in 2 ** 64 pairs.
        key = _mixed(key ^ _mixed(ends[left].astype(np.uint64) + np.uint64(i << 32)))
        if i in after:
            _, group, records = np.unique(key, return_inverse=True, return_counts=True)
            group, n_groups = group.reshape(-1), done + len(records)
            found[i] = (n_groups, _smallest(group, each[left], apart)[there])
            shared = records[group] > 1
            apart[each[left[~shared]]] = True
            left, key = left[shared], key[shared]
            done = n_groups - int(np.count_nonzero(records > 1))
    return found


def _group_of(ends: Int) -> tuple[Index, Index]:
    """Return the group of each record, those that share all leaves, and the first of each group."""
    key = np.zeros(ends.shape[1], dtype=np.uint64)
    for i, each in enumerate(ends, start=1):
        key = _mixed(key ^ _mixed(each.astype(np.uint64) + np.uint64(i << 32)))
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    # In the order of the records, whatever their hashes are.
    order = np.argsort(first)
    place = np.empty(len(first), dtype=np.intp)
    place[order] = np.arange(len(first))
    return place[group.reshape(-1)], first[order]


def _smallest(group: Wide, each: Int | Wide, apart: Flag) -> Wide:
    """Return the people of the smallest group of everybody, one entry per person."""
    n = len(apart)
    pair = np.sort(group * n + each)
    held, who = np.divmod(pair[np.diff(pair, prepend=-1) > 0], n)
    smallest = np.where(apart, 1, n + 1)
    np.minimum.at(smallest, who, np.bincount(held)[held])
    return smallest


def _mixed(key: _Key) -> _Key:
    """Return numbers whose bits all depend on all bits (the finalizer of SplitMix64)."""
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: npt.NDArray[Any] = key ^ (key >> np.uint64(31))
    return mixed


_Part = tuple[slice, Index, int]

_AT_ONCE = 1 << 15
"""Groups times trees that are added up at once."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """Which groups each leaf adds up.

    * ``start``: shape ``(n_trees + 1,)``: the leaves of tree t are ``start[t]`` to ``start[t +
      1]``.
    * ``leaf``: shape ``(n_trees, n_groups)``: in which leaf each group is, counted from the tree's
      first.
    * ``counts``: shape ``(n_leaves,)``: whether a leaf counts; what the others say is not known.
    """

    start: Wide
    leaf: Int
    counts: Flag

    @classmethod
    def of(cls, start: Wide, node: Int, counts: Flag) -> "tuple[Sums, Index]":
        """Return the sums of people in groups, and the group of each person.

        Parameters
        ----------
        node
            Shape ``(n_people, n_trees)``: in which leaf everybody ends.

        Examples
        --------
        >>> node = np.array([[0, 0], [0, 1], [0, 1], [1, 1]])
        >>> sums, group = Sums.of(np.array([0, 2, 4]), node, np.array([True, True, True, True]))
        >>> group.tolist(), sums.leaf.tolist()
        ([0, 1, 1, 2], [[0, 0, 1], [0, 1, 1]])
        """
        ends = node.T.astype(np.int32, order="C")
        for t, (begin, end) in enumerate(pairwise(start)):
            # All leaves of a tree that do not count are one.
            ends[t][~counts[begin:end][ends[t]]] = -1
        group, first = _group_of(ends)
        some = np.empty((len(ends), len(first)), dtype=np.int32)
        for t in range(len(ends)):
            some[t] = node[first, t]
        return cls(start=start, leaf=some, counts=counts), group

    @property
    def n_leaves(self) -> int:
        """All leaves of all trees."""
        return len(self.counts)

    def among(self, groups: Flag) -> "Sums":
        """Return the sums of some groups alone."""
        return replace(self, leaf=self.leaf[:, groups])

    def places(self) -> Wide:
        """Return ``leaf`` counted from the first leaf of all trees."""
        return self.leaf + self.start[:-1, None]

    def added(self, each: npt.NDArray[Any], parts: "Iterable[_Part] | None" = None) -> Float:
        """Return what a number per group adds up to in each leaf that counts, elsewhere 0."""
        total = np.zeros(self.n_leaves)
        for trees, at, n in self.parts() if parts is None else parts:
            begin, several = int(self.start[trees.start]), trees.stop - trees.start
            weights = each if several == 1 else np.tile(each, several)
            total[begin : begin + n] = np.bincount(at, weights, n)
        total[~self.counts] = 0.0
        return total

    def told(self, each: Float, parts: "Iterable[_Part] | None" = None) -> Float:
        """Return the sum over a group's leaves of a number per leaf, group by group."""
        total = np.zeros(self.leaf.shape[1])
        for trees, at, n in self.parts() if parts is None else parts:
            begin, several = int(self.start[trees.start]), trees.stop - trees.start
            term = each[begin : begin + n].take(at, mode="clip")
            total += term if several == 1 else term.reshape(several, -1).sum(axis=0)
        return total

    def least(self, each: Float) -> Float:
        """Return the least over a group's leaves of a number per leaf, of those that count."""
        each = np.where(self.counts, each, np.inf)
        least = np.full(self.leaf.shape[1], np.inf)
        for begin, ends in zip(self.start[:-1], self.leaf, strict=True):
            np.minimum(least, each[begin + ends], out=least)
        return least

    def parts(self) -> "Iterator[_Part]":
        """Yield some trees together, where each of their groups is, and how many leaves."""
        trees, groups = self.leaf.shape
        step = max(1, _AT_ONCE // max(groups, 1))
        for i in range(0, trees, step):
            some = slice(i, min(i + step, trees))
            above = self.start[some] - self.start[i]
            at = (self.leaf[some] + above[:, None]).ravel()
            yield some, at, int(self.start[some.stop] - self.start[i])


_MOST_ROUNDS = 100

_CLOSE = 1e-6


def tightened(
    sums: Sums, total: Float, low: Float, high: Float, size: Float | None = None
) -> tuple[Float, Float]:
    """Return narrower bounds of what each group holds of each label."""
    low, high = low.copy(), high.copy()
    for _ in range(_MOST_ROUNDS):
        before = low.copy(), high.copy()
        for c in range(low.shape[1]):
            spare = total[:, c] - sums.added(low[:, c])
            np.minimum(high[:, c], low[:, c] + sums.least(spare), out=high[:, c])
            spare = sums.added(high[:, c]) - total[:, c]
            np.maximum(low[:, c], high[:, c] - sums.least(spare), out=low[:, c])
        if size is not None:
            high = np.minimum(high, low + (size - low.sum(axis=1))[:, None])
            low = np.maximum(low, high - (high.sum(axis=1) - size)[:, None])
        if np.abs([low - before[0], high - before[1]]).max(initial=0) <= _CLOSE:
            break
    return low, high


MOST_CELLS = 20_000
"""Groups times trees; the effort grows much faster than these."""

_MOST_STEPS, _HALF = 50_000, 0.5


def fixed(sums: Sums, sign: Float) -> Flag:
    """Return which groups can hold nothing else; none if too many steps do not show it."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack

    signed = np.flatnonzero(sign)
    known = np.zeros(len(sign), dtype=np.bool_)
    at = sums.places()
    trees, groups = at.shape
    told = sums.counts[at]
    table = csr_array(
        (np.ones(int(told.sum())), (at[told], np.tile(np.arange(groups), (trees, 1))[told])),
        shape=(sums.n_leaves, groups),
    )
    rows = np.flatnonzero(np.bincount(at[told], minlength=sums.n_leaves))
    if not len(signed) or not len(rows):
        return known
    # Of each difference that has a sign a part up to 1 counts, and the rest does not.
    towards = np.where(sign == 0, 1.0, sign)
    table = table[rows] * towards[None, :]
    solved = linprog(
        np.r_[np.zeros(groups), -np.ones(len(signed))],
        A_eq=hstack([table, table[:, signed]], format="csc"),
        b_eq=np.zeros(len(rows)),
        bounds=[(0.0 if one else None, None) for one in sign] + [(0.0, 1.0)] * len(signed),
        method="highs",
        options={"maxiter": _MOST_STEPS},
    )
    if solved.status == 0:
        known[signed] = solved.x[groups:] < _HALF
    return known
