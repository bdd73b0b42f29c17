"""A tree with two children a node, in the order in which R's packages write one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Flag, Float, Int
from treeaudit.errors import UnsupportedModelError
from treeaudit.model.tree import Tree

_JSON = "write it as .json, treeaudit's own form"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Binary:
    """The nodes of a tree; -1 and NaN in leaves."""

    left: Int
    right: Int
    feature: Int
    high: Float  # Numbers up to this go to the left
    sets: Sequence[tuple[list[int], list[int]] | None]  # Categories that go left, and right

    @property
    def leaf(self) -> Flag:
        """Which nodes are leaves."""
        return self.left < 0

    def preorder(self) -> list[int]:
        """Return the nodes, each before those below it, the left ones first."""
        order, stack = [], [0]
        while stack:
            node = stack.pop()
            order.append(node)
            if self.left[node] >= 0:
                stack += [int(self.right[node]), int(self.left[node])]
        return order


def binary(tree: Tree) -> Binary:
    """Return a tree as R's packages hold it.

    Raises
    ------
    UnsupportedModelError
        If a node has more than two children, or splits by more than one threshold.
    """
    start, child = tree.children()
    n = tree.n_nodes
    left, right, feature = np.full((3, n), -1, dtype=np.int32)
    high = np.full(n, np.nan)
    sets: list[tuple[list[int], list[int]] | None] = [None] * n
    for node in np.flatnonzero(np.diff(start) > 0).tolist():
        pair = child[start[node] : start[node + 1]].tolist()
        if len(pair) != 2 or tree.feature[pair[0]] != tree.feature[pair[1]]:
            raise UnsupportedModelError(f"R's trees have two children a node: {_JSON}")
        feature[node] = tree.feature[pair[0]]
        codes = [[] if tree.categories is None else tree.categories.of(one) for one in pair]
        if any(codes):
            left[node], right[node] = pair
            sets[node] = (codes[0], codes[1])
            continue
        below, above = sorted(pair, key=lambda one: tree.low[one])
        if tree.low[below] > -np.inf or tree.high[below] != tree.low[above]:
            raise UnsupportedModelError(f"R's trees split by one threshold: {_JSON}")
        left[node], right[node], high[node] = below, above, tree.high[below]
    return Binary(left=left, right=right, feature=feature, high=high, sets=sets)
