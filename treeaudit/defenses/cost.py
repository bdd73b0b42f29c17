"""What a repair costs, as far as the model itself tells."""

import numpy as np

from treeaudit.arrays import Flag
from treeaudit.defenses.defense import weights_of
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree

__all__ = ["n_leaves", "training_accuracy"]


def n_leaves(forest: Forest) -> int:
    """Return the leaves of all trees, without those that nobody is known to be in."""
    return sum(int(_held(tree).sum()) for tree in forest.trees)


def training_accuracy(forest: Forest) -> float | None:
    """Return how many of the people in its leaves a tree answers rightly.

    Read off the class counts; the mean over the trees of a forest, each taken
    alone. None where there are no class counts, and of a boosting, whose first tree
    alone may tell some and answers nothing by itself.

    Examples
    --------
    >>> import treeaudit as ta
    >>> inf = np.inf
    >>> stump = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-inf, -inf, 1],
    ...              high=[inf, 1, inf], counts=[[3, 3], [3, 1], [0, 2]])
    >>> forest = ta.Forest(trees=(stump,), schema=ta.Schema.numeric(1, ["no", "yes"]))
    >>> round(training_accuracy(forest), 3)
    0.833
    """
    if forest.answers == "sum":
        return None
    each = [_right(tree, forest, i) for i, tree in enumerate(forest.trees)]
    told = [share for share in each if share is not None]
    return float(np.mean(told)) if told else None


def _right(tree: Tree, forest: Forest, index: int) -> float | None:
    if tree.counts is None:
        return None
    leaf = _held(tree)
    counts = np.maximum(tree.counts[leaf], 0)
    answer = (counts * weights_of(tree, forest, index)).argmax(axis=1)
    total = float(counts.sum())
    return float(counts[np.arange(len(counts)), answer].sum()) / total if total else None


def _held(tree: Tree) -> Flag:
    leaf = tree.is_leaf
    # A leaf that nobody is in only stands in for one that was taken out.
    if tree.n_records is not None and tree.n_records[0] > 0:
        leaf &= tree.n_records > 0
    return leaf
