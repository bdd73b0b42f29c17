"""Conditions from the root to a leaf, in sparse form, for the leaves asked for.

Built level by level from the leaves up: one numpy pass per level over all
leaves at once, then merged per leaf and feature.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.model.tree import CategorySets, Tree

__all__ = ["Rules", "edges_into", "rules_of"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rules:
    """The conditions of some leaves of one tree, one row per condition.

    Attributes
    ----------
    row
        Position of the leaf among those asked for; ascending.
    feature
        Feature of the condition; ascending within a leaf.
    low, high
        Numeric condition ``low < x <= high``, merged over the whole path.
    missing
        Whether missing values follow the whole path.
    categories
        Codes that pass the whole path, for categorical features.
    """

    row: Wide
    feature: Int
    low: Float
    high: Float
    missing: Flag
    categories: CategorySets | None = None

    def __len__(self) -> int:
        return len(self.row)

    def part(self, at: Wide) -> "Rules":
        """Return some of the conditions."""
        return Rules(
            row=self.row[at],
            feature=self.feature[at],
            low=self.low[at],
            high=self.high[at],
            missing=self.missing[at],
            categories=_picked(self.categories, at),
        )


def rules_of(tree: Tree, leaves: npt.ArrayLike) -> Rules:
    """Return the merged conditions that lead to some nodes of a tree.

    Examples
    --------
    >>> inf = np.inf
    >>> chain = Tree(parent=[-1, 0, 0, 2, 2], feature=[-1, 0, 0, 0, 0],
    ...              low=[-inf, -inf, 1, 1, 3], high=[inf, 1, inf, 3, inf])
    >>> rules = rules_of(chain, [3])
    >>> rules.feature.tolist(), rules.low.tolist(), rules.high.tolist()
    ([0], [1.0], [3.0])
    """
    node = np.asarray(leaves, dtype=np.int64)
    row = np.arange(len(node))
    rows: list[Wide] = []
    nodes: list[Wide] = []
    while len(node):
        inside = tree.parent[node] >= 0
        node, row = node[inside], row[inside]
        rows.append(row)
        nodes.append(node)
        node = tree.parent[node].astype(np.int64)
    edge = np.concatenate(nodes) if nodes else np.empty(0, np.int64)
    owner = np.concatenate(rows) if rows else np.empty(0, np.int64)
    width = int(tree.feature.max(initial=0)) + 1
    key = owner * width + tree.feature[edge]
    order = np.argsort(key, kind="stable")
    key, edge = key[order], edge[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    if not len(first):
        return edges_into(tree, first)
    missing = np.zeros(tree.n_nodes, np.bool_) if tree.missing is None else tree.missing
    return Rules(
        row=key[first] // width,
        feature=(key[first] % width).astype(np.int32),
        low=np.maximum.reduceat(tree.low[edge], first),
        high=np.minimum.reduceat(tree.high[edge], first),
        missing=np.logical_and.reduceat(missing[edge], first),
        categories=_merge(tree.categories, edge, first),
    )


def edges_into(tree: Tree, nodes: npt.ArrayLike) -> Rules:
    """Return the condition of the edge into each of some nodes, one row each."""
    at = np.asarray(nodes, dtype=np.int64)
    return Rules(
        row=np.arange(len(at)),
        feature=tree.feature[at],
        low=tree.low[at],
        high=tree.high[at],
        missing=np.zeros(len(at), np.bool_),
        categories=_picked(tree.categories, at),
    )


def _picked(sets: CategorySets | None, at: Wide) -> CategorySets | None:
    if sets is None:
        return None
    sizes = np.diff(sets.start)[at]
    start = np.concatenate([[0], np.cumsum(sizes)])
    return CategorySets(start=start, codes=sets.codes[_ranges(sets.start[at], sizes)])


def _merge(sets: CategorySets | None, edge: Wide, first: Wide) -> CategorySets | None:
    """Intersect the category sets of the edges of each condition."""
    if sets is None:
        return None
    sizes = np.diff(sets.start)[edge]
    condition = np.repeat(np.arange(len(first)), np.diff(first, append=len(edge)))
    codes = sets.codes[_ranges(sets.start[edge], sizes)].astype(np.int64)
    width = int(codes.max(initial=0)) + 1
    pair, times = np.unique(np.repeat(condition, sizes) * width + codes, return_counts=True)
    edges_with_codes = np.bincount(condition[sizes > 0], minlength=len(first))
    passing = pair[times == edges_with_codes[pair // width]]
    start = np.zeros(len(first) + 1, dtype=np.int64)
    np.cumsum(np.bincount(passing // width, minlength=len(first)), out=start[1:])
    return CategorySets(start=start, codes=(passing % width).astype(np.int32))


def _ranges(start: Wide, sizes: Wide) -> Wide:
    """Concatenate ``arange(start, start + size)`` of every pair."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - sizes - start, sizes)
