"""Groups of people whom no tree tells apart, and what follows of what they hold (TA106).

By linear algebra (`follow`): what a group adds up to follows from the sums of the leaves if its
unit vector is in their row space, that is if nothing that all leaves leave open has anything of it.
So a random vector, less its part in the row space, is 0 at the groups of which everything follows,
and at no other but by a chance in millions. The part in the row space comes from the Cholesky
factor of the smaller Gram matrix with pivots, or if that is large from conjugate gradients.

By bounds: of a group a leaf leaves no more than its count less the least that its other groups
hold, and no less than its count less the most that they hold, leaf by leaf until nothing changes
(`tightened`), and of few leaves all together (`determined`).

References
----------
Buzzigoli and Giusti (1999), An algorithm to calculate the lower and upper bounds of the elements of
an array given its marginals: the shuttle algorithm. Björck (1996), Numerical methods for least
squares problems.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Index, Int, Wide

_Key = npt.NDArray[np.uint64]


def shared_leaf_groups(
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """Which groups each leaf adds up."""

    start: Wide  # Shape `(n_trees + 1,)`: the leaves of tree t are `start[t]` to `start[t + 1]`
    # Shape `(n_trees, n_groups)`: in which leaf each group is, counted from the tree's first
    leaf: Int
    counts: Flag  # Shape `(n_leaves,)`: whether a leaf counts; what the others say is not known

    @classmethod
    def of(cls, start: Wide, node: Int, counts: Flag) -> "tuple[Sums, Index]":
        """Return the sums of people in groups, and the group of each person.

        * ``node``: shape ``(n_people, n_trees)``: in which leaf everybody ends.
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

    def added(self, each: npt.NDArray[Any]) -> Float:
        """Return what a number per group adds up to in each leaf that counts, elsewhere 0."""
        total = np.zeros(self.n_leaves)
        for (begin, end), leaf in zip(pairwise(self.start.tolist()), self.leaf, strict=True):
            total[begin:end] = np.bincount(leaf, each, end - begin)
        total[~self.counts] = 0.0
        return total

    def over_leaves(self, each: Float) -> Float:
        """Return the sum over a group's leaves of a number per leaf, group by group."""
        total = np.zeros(self.leaf.shape[1])
        for begin, leaf in zip(self.start.tolist(), self.leaf, strict=False):
            total += each[begin:].take(leaf)
        return total

    def least(self, each: Float) -> Float:
        """Return the least over a group's leaves of a number per leaf, of those that count."""
        each = np.where(self.counts, each, np.inf)
        least = np.full(self.leaf.shape[1], np.inf)
        for begin, ends in zip(self.start[:-1], self.leaf, strict=True):
            np.minimum(least, each[begin + ends], out=least)
        return least


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

_MOST_PIVOTS, _HALF = 50_000, 0.5


def determined(sums: Sums, sign: Float) -> Flag:
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
        options={"maxiter": _MOST_PIVOTS},
    )
    if solved.status == 0:
        known[signed] = solved.x[groups:] < _HALF
    return known


_VECTORS = 2
_DENSE, _DEAR = 4_000, 4e8
"""Rows of a Gram matrix, and what it may cost to count it."""
_NOTHING, _LITTLE = 1e-6, 1e-3
"""What of a random vector is none, and what may become none in more steps."""
_RANK = 1e-9
_MOST_STEPS, _FEWEST_STEPS, _WORK, _SETTLED = 500, 25, 1e9, 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Followed:
    """What follows from the sums."""

    known: Flag  # Shape `(n_groups,)`: of which groups the sum follows
    off: Float  # Shape `(n_groups,)`: how far off it is where the leaves are off by what was given
    open: int = 0  # How many groups may be known besides: the solution ended before that was told


def follow(sums: Sums, off: Float | None = None) -> _Followed:
    """Return of which groups the sum follows from those of the leaves."""
    groups = sums.leaf.shape[1]
    held = sums.added(np.ones(groups))
    rows = np.flatnonzero(held)
    if not groups or not len(rows):
        return _Followed(known=np.zeros(groups, np.bool_), off=np.zeros(groups))
    # Every tree is a projection then: that of a group on the mean of its leaf.
    scale = np.zeros(len(held))
    scale[rows] = held[rows] ** -0.5
    rng = np.random.default_rng(0)
    random = rng.standard_normal((groups, _VECTORS))
    wanted = np.column_stack([scale * sums.added(one) for one in random.T])
    trees = len(sums.leaf)
    few = min(groups, len(rows)) <= _DENSE
    if few and trees * float(np.dot(held, held) if groups <= len(rows) else trees * groups) < _DEAR:
        if off is not None:
            wanted = np.column_stack([wanted, np.where(sums.counts, scale * off, 0.0)])
        found, settled = _by_factors(sums, scale, rows, wanted), True
    else:
        found, settled = _by_gradients(sums, scale, wanted[:, :1])
        if (np.abs(random[:, :1] - found) >= _LITTLE).all():
            # What one vector tells of nobody no other would.
            return _Followed(known=np.zeros(groups, np.bool_), off=np.zeros(groups))
        more, also = _by_gradients(sums, scale, wanted[:, 1:])
        found, settled = np.column_stack([found, more]), settled and also
    left = np.abs(random - found[:, :_VECTORS]).max(axis=1)
    known = left < _NOTHING
    if off is not None and found.shape[1] == _VECTORS and known.any():
        more, _ = _by_gradients(sums, scale, np.where(sums.counts, scale * off, 0.0)[:, None])
        found = np.column_stack([found, more])
    # What follows by small weights is small long before the end.
    maybe = 0 if settled else int(np.count_nonzero(left < _LITTLE) - np.count_nonzero(known))
    beside = found[:, _VECTORS] if found.shape[1] > _VECTORS else np.zeros(groups)
    return _Followed(known=known, off=beside, open=maybe)


def _by_factors(sums: Sums, scale: Float, rows: Index, wanted: Float) -> Float:
    """Return the shortest solution for every column of what is wanted of the leaves."""
    from scipy.linalg import cho_factor, cho_solve, lapack
    from scipy.sparse import csr_array

    at = sums.places()
    trees, groups = at.shape
    columns = np.tile(np.arange(groups), trees)
    table = csr_array((scale[at].ravel(), (at.ravel(), columns)), shape=(sums.n_leaves, groups))[
        rows
    ]
    wide = groups > table.shape[0]
    gram = (table @ table.T if wide else table.T @ table).toarray(order="F")
    edge = _RANK * float(gram.diagonal().max())
    factor, pivots, rank, _ = lapack.dpstrf(gram, tol=edge, lower=1, overwrite_a=1)
    lower = np.empty((len(factor), rank))
    lower[pivots - 1] = np.tril(factor[:, :rank])
    # The Gram matrix is L L', and its pseudo-inverse L (L' L)^-2 L'.
    inner = cho_factor(lower.T @ lower, overwrite_a=True, check_finite=False)

    def solved(right: Float) -> Float:
        found: Float = lower @ cho_solve(inner, cho_solve(inner, lower.T @ right))
        return found

    if wide:
        return np.asarray(table.T @ solved(wanted[rows]))
    return solved(np.asarray(table.T @ wanted[rows]))


def _by_gradients(sums: Sums, scale: Float, wanted: Float) -> tuple[Float, bool]:
    """Return the same by conjugate gradients, and whether they were done after so many steps."""
    most = int(min(_MOST_STEPS, max(_FEWEST_STEPS, _WORK / sums.leaf.size)))
    found = np.zeros((sums.leaf.shape[1], wanted.shape[1]))
    settled = True
    for i, column in enumerate(wanted.T):
        x, rest = np.zeros(len(found)), column.copy()
        way = pull = sums.over_leaves(scale * rest)
        size = float(pull @ pull)
        least, step = size * _SETTLED**2, 0
        while size > least and step < most:
            moved = scale * sums.added(way)
            pace = size / float(moved @ moved)
            x += pace * way
            rest -= pace * moved
            pull = sums.over_leaves(scale * rest)
            before, size = size, float(pull @ pull)
            way = pull + (size / before) * way
            step += 1
        found[:, i] = x
        settled &= size <= least
    return found, settled
