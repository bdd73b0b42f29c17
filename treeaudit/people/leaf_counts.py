"""How many people of which label end in which node: counts that add, whoever counts which rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Int, Wide
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.model.walk import Walk, walk_or_none

__all__ = ["LeafCounts", "Router", "count_into", "router_of"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeafCounts:
    """People counted by the node in which they end, in every tree.

    Sums do not depend on how the rows were divided, nor on the order: whole numbers add up the
    same in any.

    Attributes
    ----------
    n
        People counted.
    root
        Shape ``(n_trees + 1,)``: where the nodes of each tree start.
    counts
        Shape ``(n_nodes, n_classes)``: people of each label, trees one after the other; one
        column where no labels are known.
    """

    n: int
    root: Wide
    counts: Wide

    def __post_init__(self) -> None:
        self.counts.flags.writeable = False

    @classmethod
    def of(cls, node: Int | Wide, labels: Int | None, root: Wide, n_classes: int) -> "LeafCounts":
        """Count people.

        Parameters
        ----------
        node
            Shape ``(n_people, n_trees)``: where each ends.
        labels
            The position of the label of each, or None.
        root, n_classes
            As of the class; one class where there are no labels.

        Examples
        --------
        >>> root = np.array([0, 3])
        >>> one = LeafCounts.of(np.array([[1], [2]]), np.array([0, 1]), root, 2)
        >>> (one + LeafCounts.of(np.array([[2]]), np.array([0]), root, 2)).counts.tolist()
        [[0, 0], [1, 0], [1, 1]]
        """
        counts = np.zeros((int(root[-1]), n_classes), dtype=np.int64)
        count_into(counts, node, labels, root)
        return cls(n=len(node), root=root, counts=counts)

    def __add__(self, other: "LeafCounts") -> "LeafCounts":
        """Count the people of both."""
        return LeafCounts(n=self.n + other.n, root=self.root, counts=self.counts + other.counts)

    def in_tree(self, tree: int) -> Wide:
        """Return the people of each label, shape ``(n_nodes, n_classes)`` of one tree."""
        return self.counts[self.root[tree] : self.root[tree + 1]]


def count_into(counts: Wide, node: Int | Wide, labels: Int | None, root: Wide) -> None:
    """Add people to counts that are still being made; `LeafCounts.of` says what is what."""
    n_classes, flat = counts.shape[1], counts.reshape(-1)
    for tree, first in enumerate(root[:-1].tolist()):
        key = (node[:, tree].astype(np.int64) + first) * n_classes
        if labels is not None:
            key += labels
        size = (int(root[tree + 1]) - first) * n_classes
        if size <= 4 * len(key):
            start = first * n_classes
            flat[start : start + size] += np.bincount(key - start, minlength=size)
        else:
            # A few people in very many leaves: only these leaves are touched.
            where, times = np.unique(key, return_counts=True)
            flat[where] += times


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Router:
    """The trees of a model as what sends people down; can be sent to another machine."""

    ways: Sequence[Walk | Tree]
    root: Wide

    def ends(self, values: npt.NDArray[np.floating[Any]]) -> Int:
        """Return where each record ends in each tree, shape ``(n_records, n_trees)``."""
        node = np.empty((len(values), len(self.ways)), dtype=np.int32, order="F")
        for i, way in enumerate(self.ways):
            if isinstance(way, Walk):
                node[:, i] = way.descend(values, np.zeros(len(values), dtype=np.intp))
            else:
                node[:, i] = way.apply(values)
        return node


def router_of(forest: Forest) -> Router:
    """Return what routes people through a model, the fast way where a tree allows it."""
    ways: list[Walk | Tree] = []
    sizes = [0]
    for tree in forest.trees:
        ways.append(walk_or_none([tree], forest.schema) or tree)
        sizes.append(tree.n_nodes)
    return Router(ways=ways, root=np.cumsum(sizes))
