"""Noisy counts made to fit together: post-processing, which costs nothing."""

import numpy as np
import numpy.typing as npt

__all__ = ["settled"]

Float = npt.NDArray[np.float64]
Wide = npt.NDArray[np.int64]


def settled(parent: npt.ArrayLike, counts: npt.ArrayLike, deviation: float, trust: float) -> Float:
    """Return counts for all nodes from noisy counts of the leaves.

    A node holds what its leaves hold together. Its shares are drawn towards
    those of the node above, the more so the fewer people it holds by the noise
    in it; a node of few people answers as the one above, which is
    surer. Nothing below zero is left.

    Parameters
    ----------
    parent
        Shape ``(n_nodes,)``; -1 at roots, parents before children.
    counts
        Shape ``(n_nodes, n_classes)``: noisy in leaves, 0 elsewhere.
    deviation
        The standard deviation of the noise of one count.
    trust
        How many deviations the node above is worth.

    Examples
    --------
    >>> settled([-1, 0, 0], [[0, 0], [30, 10], [-2, 1]], deviation=4.0, trust=1.0).round(1).tolist()
    [[28.0, 11.0], [29.9, 10.1], [0.1, 0.4]]
    """
    above = np.asarray(parent, dtype=np.int64)
    held = np.array(counts, dtype=np.float64)
    n_nodes, n_classes = held.shape
    leaf = np.ones(n_nodes)
    leaf[above[above >= 0]] = 0
    n_leaves = leaf.copy()
    for node in range(n_nodes - 1, 0, -1):
        if above[node] >= 0:
            held[above[node]] += held[node]
            n_leaves[above[node]] += n_leaves[node]
    share = np.full((n_nodes, n_classes), 1 / n_classes)
    for node in range(n_nodes):
        pull = trust * deviation * np.sqrt(n_leaves[node])
        over = share[above[node]] if above[node] >= 0 else share[node]
        pulled = np.maximum(held[node] + (pull * over if above[node] >= 0 else 0.0), 0.0)
        total = pulled.sum()
        share[node] = pulled / total if total > 0 else over
    result: Float = share * np.maximum(held.sum(axis=1), 0.5)[:, None]
    return result
