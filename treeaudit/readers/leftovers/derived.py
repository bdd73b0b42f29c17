"""Numbers of a stored tree that follow from others: what differs was not written by fitting.

An impurity is the mean of some g over the targets of a node, less g of its value. So impurity
plus g of the value adds up over the children of a node, as the value does. For classes that mean
is known, and the impurity of every node follows from its values.

L. Breiman, J. Friedman, R. Olshen, C. Stone, Classification and Regression Trees (1984), 4.2, 8.3.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from treeaudit.readers.types import Float, Wide

__all__ = ["underived"]

_MEDIANS = ("absolute_error", "mae")
_UNKNOWN = np.float64(np.nan).tobytes()
# Sums in double precision, over the people of a node and those beside it.
_ROUNDING = 1e-12


def underived(
    nodes: npt.NDArray[np.void],
    values: Float,
    criterion: str,
    *,
    changed: bool = False,
    clipped: bool = False,
) -> tuple[int, int]:
    """Return how many impurities and values do not follow from the other numbers.

    Parameters
    ----------
    nodes
        The table of a `Tree` of scikit-learn, all nodes within reach.
    values
        Shape ``(n_nodes, n_outputs, n_classes)``.
    criterion
        What the estimator says it was split by.
    changed
        Whether the leaves were given other values after fitting, as boosting does.
    clipped
        Whether values were moved into bounds, as monotonic constraints do: then impurities
        are only held against those of the children.
    """
    impurity, weight = nodes["impurity"], np.ascontiguousarray(nodes["weighted_n_node_samples"])
    of_classes = values.shape[2] > 1
    inner = np.flatnonzero(nodes["left_child"] >= 0)
    sides = nodes["left_child"][inner], nodes["right_child"][inner]

    def excess(a: Float) -> Float:
        """Return by how much a parent is above the mean of its children."""
        wide = (-1, *[1] * (a.ndim - 1))
        below: Float = sum(a[side] * weight[side].reshape(wide) for side in sides)
        above: Float = a[inner] - below / weight[inner].reshape(wide)
        return above

    if of_classes:
        values = values / np.add.reduce(values, axis=2, keepdims=True)
    size = np.ones(len(nodes)) if of_classes else np.abs(values).max(axis=(1, 2))
    unknown = impurity.tobytes() == len(nodes) * _UNKNOWN
    by_median = criterion in _MEDIANS and not of_classes
    # Without people nothing adds up: a model may not tell them.
    usual = weight[inner] > 0
    if changed:
        leaf = nodes["left_child"] < 0
        usual &= ~(leaf[sides[0]] | leaf[sides[1]])

    if clipped:
        odd = np.zeros(len(inner), dtype=bool)
    elif by_median:
        ends = np.sort(np.stack([values[side] for side in sides]), axis=0)
        odd = ((values[inner] < ends[0]) | (values[inner] > ends[1])).any(axis=(1, 2))
    else:
        # Shares of classes sum up to 1: one of them follows.
        gap = np.abs(excess(values[:, :, : -1 if of_classes else 1])).max(axis=(1, 2))
        odd = ~(gap <= 1e3 * _ROUNDING * (size[inner] + size[sides[0]] + size[sides[1]]))
    n_values = int(np.count_nonzero(odd & usual))
    if unknown:
        return 0, n_values

    if of_classes and not clipped:
        off = np.abs(impurity - _of_classes(values, criterion))
        if off.max() <= _ROUNDING:
            return 0, n_values
        return int(np.count_nonzero(~(off <= _slack(weight, inner, sides)))), n_values
    slack = _slack(weight, inner, sides)
    most = np.abs(impurity).max() + size.max() ** 2
    below = ~(excess(impurity) >= -most * _ROUNDING) | ~(impurity[inner] >= 0)
    alone = (nodes["n_node_samples"] <= 1) & ~(np.abs(impurity) <= 1e-9 * most)
    if not (clipped or by_median):
        g = values[:, :, 0] ** 2
        if criterion == "poisson":
            g = values[:, :, 0] * np.log(np.maximum(values[:, :, 0], 1e-300))
        whole = impurity + g.mean(axis=1)
        # Sums of as many squares as there are people.
        digits = 2e-13 + 8e-14 * np.sqrt(nodes["n_node_samples"][inner])
        bound = digits * (np.abs(g).max(axis=1) + np.abs(impurity))[inner]
        apart = sum(slack[some] for some in (inner, *sides)) / _ROUNDING
        below |= ~(np.abs(excess(whole)) <= bound * apart) & usual
    return int(np.count_nonzero(below) + np.count_nonzero(alone)), n_values


def _slack(weight: Float, inner: Wide, sides: Sequence[Wide]) -> Float:
    """Return how far a number of each node may be off, which was summed up with the one beside."""
    slack = np.full(len(weight), _ROUNDING)
    for side in sides:
        slack[side] *= np.maximum(1, weight[inner] / np.maximum(weight[side], 1e-300))
    return slack


def _of_classes(shares: Float, criterion: str) -> Float:
    """Return the impurity of every node, the mean over its outputs."""
    if criterion in ("entropy", "log_loss"):
        terms = shares * np.log2(np.where(shares > 0, shares, 1))
        entropy: Float = -terms.sum(axis=2).mean(axis=1)
        return entropy
    gini: Float = (1 - np.einsum("nok,nok->no", shares, shares)).mean(axis=1)
    return gini
