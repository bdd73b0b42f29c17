"""Answers of trees that split numbers into more than two parts, or weigh their votes."""

import numpy as np
import numpy.typing as npt

from treeaudit.trainers.votes import node_shares, votes
from treeaudit.tree import Forest
from treeaudit.walk import walkable

__all__ = ["confident_votes", "routed_votes"]

Float = npt.NDArray[np.float64]


def routed_votes(forest: Forest, values: Float, n_jobs: int | None = None) -> Float:
    """Return the mean share of every class, as `votes` does, for any kind of split.

    Parameters
    ----------
    forest
        The model.
    values
        Shape ``(n_rows, n_features)``; categories as codes, missing as NaN.
    n_jobs
        Threads, where the trees can be walked by tables.
    """
    if all(walkable(tree, forest.schema) for tree in forest.trees):
        return votes(forest, values, n_jobs)
    n_classes = len(forest.schema.classes or ())
    total = np.zeros((len(values), n_classes))
    for tree in forest.trees:
        total += node_shares(tree, n_classes)[tree.apply(values)]
    return total / len(forest.trees)


def confident_votes(forest: Forest, values: Float) -> Float:
    """Return votes for the largest class of each tree, weighed by its confidence.

    The confidence of a leaf is the share of its largest class. Rows sum to 1.

    Parameters
    ----------
    forest
        A model with counts.
    values
        Shape ``(n_rows, n_features)``; categories as codes, missing as NaN.

    References
    ----------
    Fletcher & Islam (2015), section 3, the voting.
    """
    n_classes = len(forest.schema.classes or ())
    total = np.zeros((len(values), n_classes))
    every = np.arange(len(values))
    for tree in forest.trees:
        shares = node_shares(tree, n_classes)[tree.apply(values)]
        best = np.argmax(shares, axis=1)
        total[every, best] += shares[every, best]
    result: Float = total / total.sum(axis=1, keepdims=True)
    return result
