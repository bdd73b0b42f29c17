"""Conditions from the root to a leaf, in sparse form, for the leaves asked for.

Built level by level from the leaves up: one numpy pass per level over all
leaves at once, then merged per leaf and feature.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.model.tree import CategorySets, Tree

_ROOM = 64_000_000
_STEPS = 8
"""Edges per node up to which paths are walked; below deep trees boxes are filled instead."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rules:
    """The conditions of some leaves of one tree, one row per condition."""

    row: Wide  # Position of the leaf among those asked for; ascending
    feature: Int  # Feature of the condition; ascending within a leaf
    # Numeric condition ``low < x <= high``, merged over the whole path
    low: Float
    high: Float
    missing: Flag  # Whether missing values follow the whole path
    # Codes that pass the whole path, for categorical features
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Boxes:
    """What the paths to some nodes say of numeric features, a column each."""

    # Shape ``(n_nodes, n_features)``: ``low < x <= high``, infinite where nothing is said
    low: Float
    high: Float
    told: Flag  # Whether the path tests the feature
    missing: Flag  # Whether missing values follow the path


def boxes_of(tree: Tree, nodes: npt.ArrayLike, features: npt.ArrayLike) -> Boxes:
    """Return the merged conditions on some numeric features, from the root down."""
    asked, at = np.asarray(features, dtype=np.int64), np.asarray(nodes, dtype=np.int64)
    width = max(1, _ROOM // (18 * tree.n_nodes))
    parts = [
        _filled(tree, at, asked[first : first + width])
        for first in range(0, max(1, len(asked)), width)
    ]
    if len(parts) == 1:
        return parts[0]
    names = ("low", "high", "told", "missing")
    whole = {name: np.hstack([getattr(one, name) for one in parts]) for name in names}
    return Boxes(**whole)


def _filled(tree: Tree, nodes: Wide, features: Wide) -> Boxes:
    column = np.full(int(max(tree.feature.max(), features.max(initial=0))) + 1, -1)
    column[features] = np.arange(len(features))
    own = np.where(tree.feature >= 0, column[tree.feature], -1)
    shape = (tree.n_nodes, len(features))
    low, high = np.full(shape, -np.inf), np.full(shape, np.inf)
    told, missing = np.zeros(shape, np.bool_), np.ones(shape, np.bool_)
    follows = np.zeros(tree.n_nodes, np.bool_) if tree.missing is None else tree.missing
    depths = tree.depths
    order = np.argsort(depths, kind="stable")
    ends = np.cumsum(np.bincount(depths)).tolist()
    for first, last in pairwise(ends):
        at = order[first:last]
        above = tree.parent[at]
        for array in (low, high, told, missing):
            array[at] = array[above]
        if own[at].min() < 0:
            at = at[own[at] >= 0]
        cell = at, own[at]
        low[cell] = np.maximum(low[cell], tree.low[at])
        high[cell] = np.minimum(high[cell], tree.high[at])
        told[cell] = True
        missing[cell] &= follows[at]
    return Boxes(low=low[nodes], high=high[nodes], told=told[nodes], missing=missing[nodes])


def rules_of(tree: Tree, leaves: npt.ArrayLike) -> Rules:
    """Return the merged conditions that lead to some nodes of a tree."""
    node = np.asarray(leaves, dtype=np.int64)
    if tree.categories is None and len(node) > 1 and _deep(tree, node):
        return _of_boxes(tree, node)
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


def _deep(tree: Tree, nodes: Wide) -> bool:
    """Tell whether all paths together are much longer than the tree is large."""
    return len(nodes) * _STEPS > tree.n_nodes and bool(
        tree.depths[nodes].sum() > 4 * _STEPS * tree.n_nodes
    )


def _of_boxes(tree: Tree, nodes: Wide) -> Rules:
    features = np.unique(tree.feature[tree.feature >= 0])
    boxes = boxes_of(tree, nodes, features)
    row, column = np.nonzero(boxes.told)
    return Rules(
        row=row,
        feature=features[column].astype(np.int32),
        low=boxes.low[row, column],
        high=boxes.high[row, column],
        missing=boxes.missing[row, column],
    )


def edges_into(tree: Tree, nodes: npt.ArrayLike) -> Rules:
    """Return the condition of the edge into each of some nodes, one row each."""
    at = np.asarray(nodes, dtype=np.int64)
    return Rules(
        row=np.arange(len(at)),
        feature=tree.feature[at],
        low=tree.low[at],
        high=tree.high[at],
        missing=np.zeros(len(at), np.bool_) if tree.missing is None else tree.missing[at],
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
