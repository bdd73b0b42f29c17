"""Numbers of a stored tree that follow from others: what differs was not written by fitting.

An impurity is the mean of some g over the targets of a node, less g of its value. So impurity
plus g of the value adds up over the children of a node, as the value does. For classes that mean
is known, and the impurity of every node follows from its values.

L. Breiman, J. Friedman, R. Olshen, C. Stone, Classification and Regression Trees (1984), 4.2, 8.3.
"""

import numpy as np
import numpy.typing as npt

from treeaudit.readers.types import Float

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
    impurity, weight = nodes["impurity"], nodes["weighted_n_node_samples"]
    inner = np.flatnonzero(nodes["left_child"] >= 0)
    sides = nodes["left_child"][inner], nodes["right_child"][inner]
    slack = np.full(len(nodes), _ROUNDING)
    for side in sides:
        slack[side] *= np.maximum(1, weight[inner] / np.maximum(weight[side], 1e-300))

    def excess(a: Float) -> Float:
        """Return by how much a parent is above the mean of its children."""
        wide = (-1, *[1] * (a.ndim - 1))
        shares = ((weight[side] / weight[inner]).reshape(wide) for side in sides)
        below: Float = sum(a[side] * share for side, share in zip(sides, shares, strict=True))
        return a[inner] - below

    of_classes = values.shape[2] > 1
    if of_classes:
        values = values / values.sum(axis=2, keepdims=True)
    size = np.abs(values).max(axis=(1, 2))
    unknown = impurity.tobytes() == len(nodes) * _UNKNOWN and not of_classes
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
        gap = np.abs(excess(values)).max(axis=(1, 2))
        odd = ~(gap <= 1e3 * _ROUNDING * (size[inner] + size[sides[0]] + size[sides[1]]))
    n_values = int(np.count_nonzero(odd & usual))
    if unknown:
        return 0, n_values

    if of_classes and not clipped:
        follows = _of_classes(values, criterion)
        return int(np.count_nonzero(~(np.abs(impurity - follows) <= slack))), n_values
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


def _of_classes(shares: Float, criterion: str) -> Float:
    """Return the impurity of every node, the mean over its outputs."""
    if criterion in ("entropy", "log_loss"):
        terms = shares * np.log2(np.where(shares > 0, shares, 1))
        entropy: Float = -terms.sum(axis=2).mean(axis=1)
        return entropy
    gini: Float = (1 - (shares * shares).sum(axis=2)).mean(axis=1)
    return gini
