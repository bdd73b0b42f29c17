"""What the people of groups add up to, leaf by leaf: a matrix of zeros and ones, never written out.

A group are people who share all leaves that count: no sum of leaves tells one of them from another.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Index, Int, Wide
from treeaudit.attacks.composition.groups import group_of

__all__ = ["Part", "Sums"]

Part = tuple[slice, Index, int]

_AT_ONCE = 1 << 15
"""Groups times trees that are added up at once."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """Which groups each leaf adds up.

    Attributes
    ----------
    start
        Shape ``(n_trees + 1,)``: the leaves of tree t are ``start[t]`` to ``start[t + 1]``.
    leaf
        Shape ``(n_trees, n_groups)``: in which leaf each group is, counted from the tree's first.
    counts
        Shape ``(n_leaves,)``: whether a leaf counts; what the others say is not known.
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
        group, first = group_of(ends)
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

    def added(self, each: npt.NDArray[Any], parts: "Iterable[Part] | None" = None) -> Float:
        """Return what a number per group adds up to in each leaf that counts, elsewhere 0."""
        total = np.zeros(self.n_leaves)
        for trees, at, n in self.parts() if parts is None else parts:
            begin, several = int(self.start[trees.start]), trees.stop - trees.start
            weights = each if several == 1 else np.tile(each, several)
            total[begin : begin + n] = np.bincount(at, weights, n)
        total[~self.counts] = 0.0
        return total

    def told(self, each: Float, parts: "Iterable[Part] | None" = None) -> Float:
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

    def parts(self) -> "Iterator[Part]":
        """Yield some trees together, where each of their groups is, and how many leaves."""
        trees, groups = self.leaf.shape
        step = max(1, _AT_ONCE // max(groups, 1))
        for i in range(0, trees, step):
            some = slice(i, min(i + step, trees))
            above = self.start[some] - self.start[i]
            at = (self.leaf[some] + above[:, None]).ravel()
            yield some, at, int(self.start[some.stop] - self.start[i])
