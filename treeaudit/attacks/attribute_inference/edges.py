"""Whether values pass edges, made ready to be asked many times about one tree."""

from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Int
from treeaudit.model.tree import Tree

__all__ = ["Edges"]


_MOST_CELLS = 50_000_000


class Edges:
    """The conditions of a tree, sets of categories as a table of yes and no.

    `Tree.passes` sorts the sets each time; this does so once, as long as the
    table stays below 50 MB.

    Examples
    --------
    >>> stump = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0],
    ...              low=[-np.inf, -np.inf, 1.5], high=[np.inf, 1.5, np.inf])
    >>> Edges(stump).passes(np.array([1, 2]), np.array([1.0, 1.0])).tolist()
    [True, False]
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._allowed: Flag | None = None
        sets = tree.categories
        if sets is None:
            return
        size = np.diff(sets.start)
        listed = np.flatnonzero(size)
        self._width = int(sets.codes.max(initial=0)) + 1
        self._row = np.full(tree.n_nodes, -1, dtype=np.int64)
        self._row[listed] = np.arange(len(listed))
        if len(listed) * self._width <= _MOST_CELLS:
            self._allowed = np.zeros(len(listed) * self._width + 1, dtype=np.bool_)
            owner = np.repeat(np.arange(len(listed)), size[listed])
            self._allowed[owner * self._width + sets.codes] = True

    def passes(self, node: Int, x: npt.NDArray[np.floating[Any]]) -> Flag:
        """Return whether values pass the edges into some nodes, as `Tree.passes` does."""
        tree = self._tree
        if self._allowed is None:
            return tree.passes(node, x)
        x = np.asarray(x, dtype=np.float64)
        row = self._row[node]
        whole = (x >= 0) & (x < self._width) & (x == np.floor(x))
        cell = row * self._width + np.where(whole, x, 0).astype(np.int64)
        # Numeric edges have row -1: any cell will do, the answer is not used.
        inside = whole & self._allowed[np.maximum(cell, 0)]
        found = np.where(row >= 0, inside, (tree.low[node] < x) & (x <= tree.high[node]))
        if tree.missing is not None:
            found = np.where(np.isnan(x), tree.missing[node], found)
        return np.asarray(found)
