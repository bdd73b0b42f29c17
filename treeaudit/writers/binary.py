"""The splits of a tree in the one form that scikit-learn knows: yes to the left."""

from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.errors import UnsupportedModelError
from treeaudit.model.tree import Tree

JSON = "write the version-free form instead (-o model.treeaudit.json)"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Splits:
    """Binary splits, one entry per inner node.

    Attributes
    ----------
    inner
        Node numbers.
    left, right
        Their children: ``x <= threshold`` goes left.
    feature, threshold, missing_left
        The test, and whether missing values pass it.
    """

    inner: Wide
    left: Wide
    right: Wide
    feature: Wide
    threshold: Float
    missing_left: Flag


def splits_of(tree: Tree) -> Splits:
    """Return the binary splits of a tree.

    Examples
    --------
    >>> inf = np.inf
    >>> stump = Tree(parent=[-1, 0, 0], feature=[-1, 3, 3],
    ...              low=[-inf, 1.5, -inf], high=[inf, inf, 1.5])
    >>> splits = splits_of(stump)
    >>> splits.left.tolist(), splits.right.tolist(), splits.threshold.tolist()
    ([2], [1], [1.5])
    """
    start, child = tree.children()
    fan = np.diff(start)
    if np.any(fan == 1):
        raise UnsupportedModelError(
            "scikit-learn has no tree that leaves records unanswered: use --unanswered parent, or "
            + JSON
        )
    inner = np.flatnonzero(fan)
    sets = tree.categories is not None and len(tree.categories.codes) > 0
    if np.any(fan > 2) or sets:
        raise UnsupportedModelError(
            "scikit-learn has no tree that branches more than twice or by categories: " + JSON
        )
    first, second = child[start[inner]], child[start[inner] + 1]
    swapped = np.isfinite(tree.low[first]) | (tree.low[first] == np.inf)
    left = np.where(swapped, second, first).astype(np.int64)
    right = np.where(swapped, first, second).astype(np.int64)
    threshold = tree.high[left]
    fits = (tree.feature[left] == tree.feature[right]) & (threshold == tree.low[right])
    if not np.all(fits & (tree.low[left] == -np.inf) & (tree.high[right] == np.inf)):
        raise UnsupportedModelError(
            "a node of the tree is not one question with two answers, as scikit-learn has it: "
            + JSON
        )
    missing = np.zeros(len(inner), np.bool_) if tree.missing is None else tree.missing[left]
    return Splits(
        inner=inner,
        left=left,
        right=right,
        feature=tree.feature[left].astype(np.int64),
        threshold=threshold,
        missing_left=missing,
    )
