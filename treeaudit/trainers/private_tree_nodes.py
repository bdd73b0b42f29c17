"""Nodes of trees that grow level by level, until they are read-only trees."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Index
from treeaudit.model.tree import CategorySets, Tree

__all__ = ["Edges", "Nodes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edges:
    """The conditions that lead out of one node.

    Attributes
    ----------
    feature
        The column that is asked about.
    low, high
        Of a numeric column, one each per part: ``low < x <= high``.
    categories
        Of a categorical one, the codes of each part.
    missing
        The part that missing values follow.
    """

    feature: int
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    categories: tuple[tuple[int, ...], ...] = ()
    missing: int = 0

    @property
    def n_parts(self) -> int:
        """Into how many parts the node is split."""
        return len(self.categories) or len(self.low)


@dataclass(slots=True, kw_only=True)
class Nodes:
    """Nodes of several trees, parents before children.

    Attributes
    ----------
    tree, parent, depth
        Per node.
    edge
        Per node, the edges of its parent and which of them leads here.
    """

    tree: list[int] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    edge: list[tuple[Edges, int] | None] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.tree)

    def add_root(self) -> int:
        """Begin a tree; return its root."""
        self.tree.append(max(self.tree, default=-1) + 1)
        self.parent.append(-1)
        self.depth.append(0)
        self.edge.append(None)
        return len(self) - 1

    def split(self, node: int, edges: Edges) -> list[int]:
        """Give a node its children; return them."""
        first = len(self)
        for part in range(edges.n_parts):
            self.tree.append(self.tree[node])
            self.parent.append(node)
            self.depth.append(self.depth[node] + 1)
            self.edge.append((edges, part))
        return list(range(first, len(self)))

    def high(self, node: int) -> float:
        """Return the upper end of the numeric edge into a node; infinite where open."""
        edge = self.edge[node]
        return np.inf if edge is None or not edge[0].high else edge[0].high[edge[1]]

    def trees(self, counts: npt.ArrayLike, keep: Flag | None = None) -> tuple[Tree, ...]:
        """Return the trees.

        Parameters
        ----------
        counts
            Shape ``(n_nodes, n_classes)``.
        keep
            Which nodes stay; with a node all nodes above it must.

        Examples
        --------
        >>> nodes = Nodes()
        >>> _ = nodes.split(nodes.add_root(), Edges(feature=0, low=(-np.inf, 3), high=(3, np.inf)))
        >>> nodes.trees([[2, 2], [2, 0], [0, 2]])[0].high.tolist()
        [inf, 3.0, inf]
        """
        table = np.asarray(counts, dtype=np.float64)
        kept = np.ones(len(self), dtype=np.bool_) if keep is None else keep
        tree = np.array(self.tree)
        return tuple(
            self._tree(np.flatnonzero((tree == number) & kept), table)
            for number in range(int(tree.max(initial=-1)) + 1)
        )

    def _tree(self, mine: Index, counts: Float) -> Tree:
        place = np.full(len(self), -1)
        place[mine] = np.arange(len(mine))
        n = len(mine)
        parent = np.full(n, -1)
        feature = np.full(n, -1)
        low, high = np.full(n, -np.inf), np.full(n, np.inf)
        missing = np.zeros(n, dtype=np.bool_)
        sets: list[tuple[int, ...]] = [()] * n
        for i, node in enumerate(mine.tolist()):
            edge = self.edge[node]
            if edge is None:
                continue
            edges, part = edge
            parent[i] = place[self.parent[node]]
            feature[i] = edges.feature
            missing[i] = part == edges.missing
            if edges.categories:
                sets[i] = edges.categories[part]
            else:
                low[i], high[i] = edges.low[part], edges.high[part]
        start = np.concatenate([[0], np.cumsum([len(codes) for codes in sets])])
        codes = np.array([code for group in sets for code in group], dtype=np.int32)
        return Tree(
            parent=parent,
            feature=feature,
            low=low,
            high=high,
            categories=CategorySets(start=start, codes=codes) if len(codes) else None,
            missing=missing,
            counts=counts[mine],
        )
