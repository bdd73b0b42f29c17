"""Several trees in a row: their nodes as one set of arrays, level by level."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from treeaudit.arrays import Float, Int, Wide
from treeaudit.errors import DataError
from treeaudit.model.tree import Tree, depths_of

__all__ = ["Nodes", "chunks", "nodes_of", "stable_order"]

_MOST_NODES = 400_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Nodes:
    """The nodes of some trees, tree after tree, parents before children.

    Attributes
    ----------
    start
        Shape ``(n_trees + 1,)``: the nodes of tree t are ``start[t]`` to ``start[t + 1]``.
    parent
        In these arrays; -1 at the roots.
    feature, low, high
        As in `Tree`.
    owner, code
        Every category code that leads into a node, by node.
    counts
        Shape ``(n_nodes, n_classes)``.
    levels
        Nodes of depth 1, 2, …, ascending.
    """

    start: Wide
    parent: Wide
    feature: Int
    low: Float
    high: Float
    owner: Wide
    code: Int
    counts: Float
    levels: tuple[Wide, ...]

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

    Raises
    ------
    DataError
        If a tree holds none.
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
    order = stable_order(depth)
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


def stable_order(keys: Int | Wide) -> Wide:
    """Return the stable order of keys: numpy sorts those that fit in 16 bits by their digits.

    Examples
    --------
    >>> stable_order(np.array([2, -1, 2, 0])).tolist()
    [1, 3, 0, 2]
    """
    bounds = np.iinfo(np.int16)
    small = bounds.min <= keys.min(initial=0) and keys.max(initial=0) <= bounds.max
    order: Wide = np.argsort(keys.astype(np.int16) if small else keys, kind="stable")
    return order


def chunks(trees: Iterable[Tree], most: int = _MOST_NODES) -> Iterator[list[Tree]]:
    """Yield the trees, as many at a time as have no more than so many nodes, or one."""
    held: list[Tree] = []
    nodes = 0
    for tree in trees:
        if held and nodes + tree.n_nodes > most:
            yield held
            held, nodes = [], 0
        held.append(tree)
        nodes += tree.n_nodes
    if held:
        yield held
