"""What a forest answers: as soft as what it releases allows."""

import numpy as np
import numpy.typing as npt

from treeaudit.tree import Forest, Tree
from treeaudit.walk import in_chunks, walk_of

__all__ = ["node_shares", "votes"]

Float = npt.NDArray[np.float64]


def votes(forest: Forest, values: Float, n_jobs: int | None = None) -> Float:
    """Return the share of every class among the answers of the trees.

    A tree that releases labels votes for one class; a tree that releases noisy
    counts gives each class its share of the leaf.

    Parameters
    ----------
    forest
        The model.
    values
        Shape ``(n_rows, n_features)``; categories as codes, missing as NaN.
    n_jobs
        Threads, as in scikit-learn.

    Returns
    -------
    numpy.ndarray
        Shape ``(n_rows, n_classes)``; rows sum to 1.
    """
    trees = list(forest.trees)
    n_classes = len(forest.schema.classes or ())
    walk = walk_of(trees, forest.schema)
    share = np.concatenate([node_shares(tree, n_classes) for tree in trees])
    result = np.zeros((len(values), n_classes))

    def answer(rows: slice) -> None:
        part = values[rows]
        n, n_trees = len(part), len(trees)
        at = np.tile(walk.root[:-1], n)
        end = walk.descend(part, at, np.repeat(np.arange(n), n_trees)).reshape(n, n_trees)
        for tree in range(n_trees):
            result[rows] += share[end[:, tree]]

    in_chunks(answer, len(values), n_jobs, max(1, (1 << 20) // len(trees)))
    return result / len(trees)


def node_shares(tree: Tree, n_classes: int) -> Float:
    """Return the share of each class in each node, as far as the tree tells.

    Counts below zero are noise and count as zero. A node that tells nothing
    holds all classes alike.

    Examples
    --------
    >>> inf = np.inf
    >>> noisy = Tree(parent=[-1], feature=[-1], low=[-inf], high=[inf], counts=[[3, -2]])
    >>> node_shares(noisy, 2).tolist()
    [[1.0, 0.0]]
    """
    if tree.counts is not None:
        counts = np.maximum(tree.counts, 0.0)
        total = counts.sum(axis=1, keepdims=True)
        return np.where(total > 0, counts / np.maximum(total, 1e-300), 1 / n_classes)
    if tree.label is not None:
        alone: Float = np.eye(n_classes)[tree.label]
        return alone
    return np.full((tree.n_nodes, n_classes), 1 / n_classes)
