"""Where the leaves of a forest stand in a table: one row each, tree by tree."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Int, Wide

__all__ = ["LeafRows"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeafRows:
    """A row per leaf.

    Attributes
    ----------
    start
        Shape ``(n_trees + 1,)``: rows ``start[t]`` to ``start[t + 1]`` belong
        to tree t.
    leaf
        Shape ``(n_rows,)``: the node of each row in its tree, ascending within a tree.
    """

    start: Wide
    leaf: Int

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.leaf)

    def tree_of(self, rows: npt.ArrayLike) -> Wide:
        """Return the tree of some rows."""
        return np.searchsorted(self.start, np.asarray(rows), side="right") - 1

    def rows_of(self, tree: int) -> slice:
        """Return the rows of a tree."""
        return slice(int(self.start[tree]), int(self.start[tree + 1]))

    def positions(self, tree: int, nodes: npt.ArrayLike) -> Wide:
        """Return the rows of some nodes of a tree, or -1."""
        leaves, nodes = self.leaf[self.rows_of(tree)], np.asarray(nodes)
        if not len(leaves):
            return np.full(len(nodes), -1, dtype=np.int64)
        if len(nodes) < len(leaves):
            at = np.minimum(np.searchsorted(leaves, nodes), len(leaves) - 1)
            return np.where(leaves[at] == nodes, at + int(self.start[tree]), -1)
        # Of many nodes: one look-up each.
        row = np.full(1 + max(int(leaves[-1]), int(nodes.max())), -1, dtype=np.int64)
        row[leaves] = np.arange(int(self.start[tree]), int(self.start[tree + 1]))
        found: Wide = row.take(nodes)
        return found

    def per_tree(self, values: npt.ArrayLike) -> Wide:
        """Sum a whole number per row over each tree."""
        told = np.flatnonzero(np.diff(self.start))
        total = np.zeros(len(self.start) - 1, dtype=np.int64)
        if len(told):
            added = np.asarray(values)
            if added.dtype != np.bool_:
                added = added.astype(np.int64, copy=False)
            # Each from where it begins to the next tree that has rows.
            total[told] = np.add.reduceat(added, self.start[told], dtype=np.int64)
        return total

    def by_tree(self, rows: npt.ArrayLike | None = None) -> Iterator[tuple[int, Wide]]:
        """Yield each tree of some rows (all unless told), and where its rows stand in ``rows``."""
        tree = self.tree_of(self._chosen(rows))
        order = np.argsort(tree, kind="stable")
        found, first = np.unique(tree[order], return_index=True)
        yield from zip(found.tolist(), np.split(order, first)[1:], strict=True)

    def _chosen(self, rows: npt.ArrayLike | None) -> Wide:
        return np.arange(len(self)) if rows is None else np.asarray(rows, dtype=np.int64)
