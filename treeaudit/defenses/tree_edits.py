"""Cut nodes out of a tree so that nothing of them is left in its arrays.

All passes go level by level over arrays. The numbers of the nodes that stay are
added up again from the leaves that stay: what was removed cannot be found by
subtracting siblings from parents.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from treeaudit.arrays import Flag, Float, Index, Int, Wide
from treeaudit.model.tree import CategorySets, Tree


def levels(tree: Tree) -> list[Index]:
    """Return the nodes of each depth, the root first."""
    depth = tree.depths
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)


def below(tree: Tree, cut: Flag, by_level: Sequence[Index] | None = None) -> Flag:
    """Tell for every node whether one of those above it is cut."""
    gone = np.zeros(tree.n_nodes, dtype=np.bool_)
    for level in (by_level or levels(tree))[1:]:
        above = tree.parent[level]
        gone[level] = gone[above] | cut[above]
    return gone


def summed(tree: Tree, column: Float, by_level: Sequence[Index] | None = None) -> Float:
    """Add up a column of the leaves over the nodes above them.

    Parameters
    ----------
    column
        Shape ``(n_nodes,)`` or ``(n_nodes, width)``; what inner nodes hold is
        not looked at.
    by_level
        From `levels`, where it is at hand.
    """
    leaf = tree.is_leaf
    total = np.where(leaf if column.ndim == 1 else leaf[:, None], column, 0.0)
    for level in reversed((by_level or levels(tree))[1:]):
        add_to(total, tree.parent[level], level)
    return total


def add_to(total: Float, above: Index | Int | Wide, level: Index) -> None:
    """Add what the nodes of a level hold to what the nodes above them do, in place.

    Parameters
    ----------
    total
        Shape ``(n_nodes,)`` or ``(n_nodes, width)``.
    above, level
        The parents, and the nodes.
    """
    first, last = int(above.min()), int(above.max())
    if last - first > len(level):
        np.add.at(total, above, total[level])
        return
    # The same sums, in the same order, of nodes that stand together.
    for held in [total] if total.ndim == 1 else total.T:
        held[first : last + 1] += np.bincount(above - first, held[level])


def averaged(
    tree: Tree, column: Float, weight: Float, by_level: Sequence[Index] | None = None
) -> Float:
    """Return a column of the leaves, and above them its mean by what the leaves weigh.

    Parameters
    ----------
    column
        Shape ``(n_nodes,)`` or ``(n_nodes, width)``; inner nodes keep what they
        hold where nothing below them weighs anything.
    weight
        Shape ``(n_nodes,)``; that of inner nodes is not looked at.
    by_level
        From `levels`, where it is at hand.
    """
    by_level = by_level or levels(tree)
    mean, total = column.copy(), summed(tree, weight, by_level)
    if column.ndim > 1:
        weight, total = weight[:, None], total[:, None]
    inner = ~tree.is_leaf & (total.ravel() > 0)
    leaves = np.where(tree.is_leaf if column.ndim == 1 else tree.is_leaf[:, None], column, 0)
    mean[inner] = summed(tree, weight * leaves, by_level)[inner] / total[inner]
    return mean


def recount(tree: Tree, counted: Flag) -> Tree:
    """Return the tree with the numbers of every node added up from some leaves.

    People and class counts are sums. A label is what most people below the
    node are answered, a value their mean; where no leaf was left out, and the
    inner nodes of the tree state means of their own, these stay.

    Parameters
    ----------
    counted
        Shape ``(n_nodes,)``: which leaves count.
    """
    by_level = levels(tree)
    weight = np.where(counted, 1.0 if tree.n_records is None else tree.n_records, 0.0)
    n_records = counts = label = value = None
    if tree.n_records is not None:
        n_records = summed(tree, weight, by_level).astype(np.int64)
    if tree.counts is not None:
        counts = summed(tree, np.where(counted[:, None], tree.counts, 0.0), by_level)
    if tree.label is not None:
        votes = np.zeros((tree.n_nodes, int(tree.label.max(initial=0)) + 1))
        votes[np.arange(tree.n_nodes), tree.label] = weight
        label = np.where(tree.is_leaf, tree.label, summed(tree, votes, by_level).argmax(axis=1))
    if tree.value is not None:
        value = _means(tree, counted, weight, by_level)
    return replace(tree, n_records=n_records, counts=counts, label=label, value=value, spread=None)


def _means(tree: Tree, counted: Flag, weight: Float, by_level: Sequence[Index]) -> Float:
    value = np.zeros(tree.n_nodes) if tree.value is None else tree.value
    # Leaves that nobody is in still count where nobody else does.
    tiny = np.where(counted & (weight == 0), 1e-12, weight)
    mean = averaged(tree, value, tiny, by_level)
    if not _states_means(tree, value):
        return mean
    left_out = summed(tree, np.where(counted, 0.0, 1.0), by_level) > 0
    return np.where(left_out, mean, value)


def _states_means(tree: Tree, value: Float) -> bool:
    """Whether every inner node lies between its children, as means and medians do.

    Boosting libraries scale leaves alone: what their inner nodes hold is no answer.
    """
    low, high = np.full(tree.n_nodes, np.inf), np.full(tree.n_nodes, -np.inf)
    above = tree.parent[1:]
    np.minimum.at(low, above, value[1:])
    np.maximum.at(high, above, value[1:])
    inner = ~tree.is_leaf
    slack = 1e-9 * (1 + np.abs(value[inner]))
    between = (value[inner] >= low[inner] - slack) & (value[inner] <= high[inner] + slack)
    return bool(between.all())


def compact(tree: Tree, kept: Flag) -> Tree:
    """Return the tree of some nodes, numbered anew; parents of kept nodes are kept."""
    if kept.all():
        return tree
    number = np.cumsum(kept) - 1
    node = np.flatnonzero(kept)
    parent = tree.parent[node]
    inside = parent >= 0
    return Tree(
        parent=np.where(inside, number[parent], -1).astype(np.int32),
        feature=tree.feature[node],
        low=tree.low[node],
        high=tree.high[node],
        categories=_sets(tree.categories, node),
        **columns_at(tree, node, ("missing", "n_records", "counts", "label", "value")),
    )


def columns_at(tree: Tree, node: Index, columns: Sequence[str]) -> dict[str, Any]:
    """Return those of some columns that a tree has, for some of its nodes."""
    held = {name: getattr(tree, name) for name in columns}
    return {name: column[node] for name, column in held.items() if column is not None}


def _sets(sets: CategorySets | None, node: Index) -> CategorySets | None:
    if sets is None:
        return None
    width = np.diff(sets.start)
    start = np.concatenate([[0], np.cumsum(width[node])])
    at = np.arange(int(start[-1])) + np.repeat(sets.start[node] - start[:-1], width[node])
    return CategorySets(start=start, codes=sets.codes[at])
