"""What a leaf proves about its people: at least and at most how many of each class.

Where the counts are people both bounds are the count. Weights and repeated
draws still prove that somebody of a class is there, or nobody.
"""

from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Flag, Int, Wide
from treeaudit.model.forest import CountsAre, Forest
from treeaudit.model.tree import Tree
from treeaudit.table.labels import people_per_class

__all__ = ["Bounds", "bounds_of", "one_left", "sees_everybody", "tightened"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bounds:
    """People per class in the leaves of one tree, one row per node.

    Attributes
    ----------
    low, high
        Shape ``(n_nodes, n_classes)``.
    size
        Shape ``(n_nodes,)``: people of the leaf; 0 in inner nodes.
    holds
        Shape ``(n_nodes,)``: leaves in which everybody who fits is counted.
        The others prove nothing about a given person.
    """

    low: Wide
    high: Wide
    size: Wide
    holds: Flag

    def without(self, taken: Wide) -> "Bounds":
        """Return what is proved about the others, given known people per node and class."""
        size = self.size - taken.sum(axis=1)
        low, high = tightened(np.maximum(self.low - taken, 0), self.high - taken, size)
        return Bounds(low=low, high=high, size=size, holds=self.holds)


def bounds_of(tree: Tree, counts_are: CountsAre, holds: Flag | None = None) -> Bounds | None:
    """Return what the leaves of a tree prove, or None where it proves nothing.

    Parameters
    ----------
    counts_are
        As in `Forest`. Noise proves nothing.
    holds
        Shape ``(n_nodes,)``; every leaf with people unless told.

    Examples
    --------
    >>> inf = np.inf
    >>> weighted = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-inf, -inf, 1.5],
    ...                 high=[inf, 1.5, inf], n_records=[5, 3, 2],
    ...                 counts=[[3, 2], [2.5, 2], [.5, 0]])
    >>> bounds = bounds_of(weighted, "weighted")
    >>> bounds.low[1:].tolist(), bounds.high[1:].tolist()
    ([[1, 1], [2, 0]], [[2, 2], [2, 0]])
    """
    if tree.counts is None or tree.n_records is None or counts_are == "noisy":
        return None
    leaf = tree.is_leaf & (tree.n_records > 0)
    size = np.where(leaf, tree.n_records, 0)
    there = (tree.counts > 0) & leaf[:, None]
    others = np.maximum(there.sum(axis=1) - 1, 0)
    low = there.astype(np.int64)
    high = np.where(there, (size - others)[:, None], 0)
    people = np.full(tree.counts.shape, np.nan)
    people[leaf] = people_per_class(tree.counts[leaf], size[leaf], counts_are)
    exact = ~np.isnan(people)
    known = np.where(exact, people, 0).astype(np.int64)
    return Bounds(
        low=np.where(exact, known, low),
        high=np.where(exact, known, high),
        size=size,
        holds=leaf if holds is None else leaf & holds,
    )


def sees_everybody(forest: Forest, tree: Tree) -> bool:
    """Tell whether all training people are counted in a tree, as far as the file tells."""
    if forest.records_are == "all":
        return True
    root = None if tree.n_records is None else int(tree.n_records[0])
    return root is not None and root == forest.n_records


def tightened(low: Wide, high: Wide, size: Wide) -> tuple[Wide, Wide]:
    """Use that the classes of a leaf add up to its size."""
    high = np.minimum(high, size[:, None] - (low.sum(axis=1, keepdims=True) - low))
    low = np.maximum(low, size[:, None] - (high.sum(axis=1, keepdims=True) - high))
    return low, high


def one_left(bounds: Bounds) -> Int:
    """Return the only class that people of each node can have; -1 where there are several.

    Examples
    --------
    >>> two_and_one = np.array([[2, 1]])
    >>> leaf = Bounds(low=two_and_one, high=two_and_one, size=np.array([3]), holds=np.array([True]))
    >>> one_left(leaf).tolist(), one_left(leaf.without(np.array([[0, 1]]))).tolist()
    ([-1], [0])
    """
    possible = bounds.high > 0
    one = bounds.holds & (bounds.size > 0) & (possible.sum(axis=1) == 1)
    return np.where(one, possible.argmax(axis=1), -1).astype(np.int32)
