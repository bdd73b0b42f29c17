"""The inner nodes of boosted trees with their children: what is known of each."""

import numpy as np

from treeaudit.dataclass import dataclass
from treeaudit.readers.types import Flag, Float, Wide

__all__ = ["Inner", "at_the_bound", "bounded", "every", "met_once"]

_LEAST = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inner:
    """The nodes of all trees; those of one tree lie together, children behind their parents.

    Attributes
    ----------
    node, left, right, tree
        Shape ``(n_inner,)``: positions of inner nodes, ascending, and of their children; the
        tree they are of.
    cover, weight
        Shape ``(n_nodes,)``.
    scaled
        Shape ``(n_nodes,)``: whether the weight is stored times the learning rate.
    told
        Shape ``(n_nodes,)``: whether the file tells the weight as the node was grown.
    gain
        Shape ``(n_inner,)``: what the split gained.
    slack
        The error of sums of the numbers as they are stored, relative to their size.
    error
        Shape ``(n_nodes,)``: of the weights, where it is larger than that.
    n_moved
        How many trees, the first ones, may have all weights moved by one number, and gains in a
        unit of their own.
    same
        How far a number may be from the same one stored elsewhere, relative to it.
    bound
        The largest size of a weight as it is grown, where the file tells.
    """

    node: Wide
    left: Wide
    right: Wide
    tree: Wide
    cover: Float
    weight: Float
    scaled: Flag
    told: Flag
    gain: Float
    slack: float
    error: Float | float = 0.0
    n_moved: int = 0
    same: float = 4e-7
    bound: float = np.inf


def at_the_bound(inner: Inner) -> Flag:
    """Tell which weights are as large as a bound lets them be, where several are or it is known."""
    found = ~inner.scaled & bounded(inner, inner.weight)
    for some in (inner.scaled, ~inner.scaled):
        magnitude = np.where(some, np.abs(inner.weight), 0)
        at = magnitude >= max(magnitude.max(initial=0) * (1 - inner.same), _LEAST)
        if np.count_nonzero(at) > 1:
            found |= at
    return found


def bounded(inner: Inner, grown: Float) -> Flag:
    """Tell which weights, as they were grown, meet the bound that the file tells."""
    at: Flag = np.abs(grown) >= inner.bound * (1 - 4 * inner.same)
    return at


def met_once(inner: Inner, grown: Float) -> Flag:
    """Tell which weights, as they were grown, are the largest, where that is a short number.

    A bound that a single weight meets is known by nothing else.
    """
    size = np.abs(grown)
    most = float(size.max(initial=0))
    short = abs(float(f"{most:.2e}") - most) <= 4 * inner.same * most
    at: Flag = (size >= most * (1 - 4 * inner.same)) & (short and not inner.n_moved and most > 0)
    return at


def every(inner: Inner, at: Flag) -> Flag:
    """Tell which inner nodes have something that both of their children have too."""
    return at[inner.node] & at[inner.left] & at[inner.right]
