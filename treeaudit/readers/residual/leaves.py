"""The leaves of a stored tree, in a file that may be damaged."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Flag, any_of_row
from treeaudit.readers.columns import gathered
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.types import Float, Table, Wide

SQUARED = frozenset({"squared_error", "mse", "friedman_mse", "ls"})
"""Losses by which the impurity of a node is the variance of its numbers."""
ABSOLUTE = frozenset({"absolute_error", "mae"})
"""Those by which it is their mean absolute deviation from the median."""
POISSON = frozenset({"poisson"})
"""Those by which it is half their mean deviance from the mean."""
_MOST_DRAWS = 3
"""Of a draw with replacement, draws per person; there are 1.6."""
_MOST_REPEATS = 10
"""By a mean weight above that a person of weight 1 may be lost to rounding."""
_ROUNDING = 1e-14
"""Of the square of a mean: what rounding leaves of a variance of zero."""


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


def are_draws(
    n: Wide | Float, weight: Float, people: Wide | Float | float, total: Float | float
) -> bool:
    """Tell whether the weights of nodes can be draws with replacement, each of weight 1."""
    whole = bool(np.all((weight == np.rint(weight)) & (weight >= n)))
    return whole and bool(np.all(total <= _MOST_DRAWS * people))


def are_equal(n: Wide | Float, weight: Float, value: Float, square: Float) -> Flag:
    """Tell in which nodes all numbers are the same, also where people weigh 1 or more."""
    whole = (weight == np.rint(weight)) & (weight >= n) & (weight <= _MOST_REPEATS * n)
    equal: Flag = (square * weight <= _ROUNDING * value**2 * n) & bool(whole.all())
    return equal


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
