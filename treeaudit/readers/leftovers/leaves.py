"""The leaves of a stored tree, in a file that may be damaged."""

from collections.abc import Sequence

import numpy as np

from treeaudit.arrays import any_of_row
from treeaudit.dataclass import dataclass
from treeaudit.readers.columns import gathered
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Inert
from treeaudit.readers.types import Float, Table

__all__ = ["SQUARED", "Leaves", "has_numbers", "is_one_of", "leaves_of", "spread_of"]

SQUARED = frozenset({"squared_error", "mse", "friedman_mse", "ls"})
"""Losses by which the impurity of a node is the variance of its numbers."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Leaves:
    """The leaves of one stored tree.

    Attributes
    ----------
    n, weight, impurity
        Shape ``(n_leaves,)``: people, their weight, variance of their targets.
    value
        Shape ``(n_leaves, n_outputs)``: the mean per output.
    """

    n: Float
    weight: Float
    impurity: Float
    value: Float


def is_one_of(model: Inert, name: str, words: frozenset[str]) -> bool:
    """Tell whether an attribute is one of some words; it may be anything."""
    value = model.get(name)
    return isinstance(value, str) and value in words


def spread_of(leaves: Leaves) -> float:
    """Return the variance of the targets of everybody, by those of the leaves and their means."""
    mean, share = leaves.value[:, 0], leaves.weight / max(float(leaves.weight.sum()), 1e-300)
    told = np.where(np.isfinite(leaves.impurity), leaves.impurity, 0.0)
    return float(share @ (told + (mean - share @ mean) ** 2))


def leaves_of(tree: object) -> Leaves | None:
    """Return the leaves of a fitted tree, or None where they cannot be made out."""
    record = arrived(tree.get("tree_")) if isinstance(tree, Inert) else None
    if not isinstance(record, Inert):
        return None
    nodes, values = arrived(record.get("nodes")), arrived(record.get("values"))
    count = record.get("node_count")
    needed = ("left_child", "n_node_samples", "weighted_n_node_samples", "impurity")
    if not isinstance(nodes, np.ndarray) or not isinstance(values, np.ndarray):
        return None
    if not has_numbers(nodes, needed) or values.ndim != 3 or values.dtype.kind != "f":
        return None
    if not isinstance(count, int) or not 0 < count <= min(len(nodes), len(values)):
        return None
    columns = gathered(nodes[:count], needed)
    leaf = np.flatnonzero(columns["left_child"] < 0)
    if not leaf.size or not values[0].size:
        return None
    n, weight, impurity = (columns[name].take(leaf).astype(np.float64) for name in needed[1:])
    value = values.take(leaf, axis=0).reshape(len(leaf), -1)
    usable = (n > 0) & (n < 1 << 53) & ~any_of_row(~np.isfinite(value))
    if not usable.any():
        return None
    value = value[usable].astype(np.float64)
    return Leaves(n=n[usable], weight=weight[usable], impurity=impurity[usable], value=value)


def has_numbers(nodes: Table, names: Sequence[str]) -> bool:
    """Tell whether a table of nodes has these columns, all of them numbers."""
    stored = nodes.dtype.names or ()
    return nodes.ndim == 1 and all(
        name in stored and nodes.dtype[name].kind in "iuf" for name in names
    )
