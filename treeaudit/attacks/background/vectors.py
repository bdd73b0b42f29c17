"""The different counts that leaves hold: what a leaf risks depends on nothing else.

A tree of 73,000 leaves has a few hundred different ones. Which label has how
many people does not matter either, so the counts of a leaf are sorted.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.table.table import Table

__all__ = ["Vectors", "distinct_vectors", "vectors_of"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Vectors:
    """Different count vectors, and how often each occurs.

    Attributes
    ----------
    counts
        Shape ``(n_vectors, n_classes)``: people per class, largest first.
    leaves
        Shape ``(n_vectors,)``: leaves with these counts.
    """

    counts: Wide
    leaves: Wide

    def __len__(self) -> int:
        """Return how many different vectors there are."""
        return len(self.leaves)

    @property
    def size(self) -> Wide:
        """People in one leaf of each vector."""
        total: Wide = self.counts.sum(axis=1)
        return total

    @property
    def mixed(self) -> "Vectors":
        """The vectors with people of more than one class."""
        chosen = self.counts[:, 0] < self.size
        return Vectors(counts=self.counts[chosen], leaves=self.leaves[chosen])


_SMALL = 256
_BLOCK = 1 << 16


def distinct_vectors(counts: npt.ArrayLike, leaves: npt.ArrayLike | None = None) -> Vectors:
    """Sort the counts of each leaf and join the leaves that have the same.

    Parameters
    ----------
    counts
        Shape ``(n_leaves, n_classes)``: whole numbers, none of them negative.
    leaves
        Shape ``(n_leaves,)``: how often each row occurs; once unless told.

    Examples
    --------
    >>> found = distinct_vectors([[1, 2], [5, 0], [2, 1]])
    >>> found.counts.tolist(), found.leaves.tolist()
    ([[2, 1], [5, 0]], [2, 1])
    """
    table = -np.sort(-np.atleast_2d(np.asarray(counts)).astype(np.int64), axis=1)
    times = np.ones(len(table), np.int64) if leaves is None else np.asarray(leaves, np.int64)
    if not len(table):
        return Vectors(counts=table, leaves=times)
    order = np.lexsort(table.T[::-1])
    table = table[order]
    first = np.flatnonzero(np.r_[True, (table[1:] != table[:-1]).any(axis=1)])
    return Vectors(counts=table[first], leaves=np.add.reduceat(times[order], first))


def vectors_of(table: Table, tree: int | None = None) -> Vectors:
    """Return the count vectors of all leaves whose counts are people; of one tree where it is told.

    The largest class tells the counts of a leaf of at most two labels; the
    trees are only looked at again where a leaf holds three. Of one tree in
    persons these are left out: its class counts are records.

    Examples
    --------
    >>> import treeaudit as ta
    >>> inf = np.inf
    >>> stump = ta.Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-inf, -inf, 1.5],
    ...                 high=[inf, 1.5, inf], n_records=[5, 2, 3], counts=[[2, 3], [1, 1], [1, 2]])
    >>> forest = ta.Forest(trees=(stump,), schema=ta.Schema.numeric(1, ["no", "yes"]))
    >>> vectors_of(ta.reconstruct(forest).groups).counts.tolist()
    [[1, 1], [2, 1]]
    """
    rows = slice(0, len(table)) if tree is None else table.rows_of(tree)
    majority, distinct = table.labels.majority[rows], table.labels.distinct[rows]
    known = ~np.isnan(majority)
    parts = _of_two(majority, table.size[rows], known & (distinct <= 2))
    many = rows.start + np.flatnonzero(known & (distinct > 2))
    if tree is not None and table.in_persons:
        many = many[:0]
    for _, here in table.by_tree(many):
        people = table.people(many[here])
        parts.append(distinct_vectors(people[~np.isnan(people).any(axis=1)]))
    return _joined(parts)


def _of_two(majority: Float, size: Wide, few: Flag) -> list[Vectors]:
    """Join leaves of at most two labels: the small ones, nearly all, without sorting them."""
    seen = np.zeros(_SMALL * _SMALL, dtype=np.int64)
    rest = []
    for begin in range(0, len(size), _BLOCK):
        here = begin + np.flatnonzero(few[begin : begin + _BLOCK])
        largest, people = majority[here].astype(np.int64), size[here]
        small = people < _SMALL
        seen += np.bincount(people[small] * _SMALL + largest[small], minlength=len(seen))
        largest, people = largest[~small], people[~small]
        rest.append(np.column_stack([largest, people - largest]))
    key = np.flatnonzero(seen)
    people, most = np.divmod(key, _SMALL)
    return [
        distinct_vectors(np.column_stack([most, people - most]), seen[key]),
        distinct_vectors(np.concatenate(rest)),
    ]


def _joined(parts: list[Vectors]) -> Vectors:
    width = max(part.counts.shape[1] for part in parts)
    padded = [np.pad(p.counts, ((0, 0), (0, width - p.counts.shape[1]))) for p in parts]
    return distinct_vectors(np.concatenate(padded), np.concatenate([p.leaves for p in parts]))
