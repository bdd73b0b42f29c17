"""Shares of classes that are those of the training people, where counts themselves were changed."""

import numpy as np

from treeaudit.arrays import Float, Index, Int
from treeaudit.model.tree import Tree

__all__ = ["shares_right"]

_HALF = 0.49
"""Of a person: so near is one whole number at most."""
_SAME = 1e-12


def shares_right(
    tree: Tree, counts: tuple[Float, Float], nodes: Index | Int, slack: Float, *, fine: bool
) -> tuple[int, int]:
    """Return how many nodes have the shares of their people, and how many could have them.

    With its people told, and what is added to them, the share of a class in a node moves by one
    in so many for one count of noise: it is right by less than half of that for one number alone.
    A node of one class, or that answers as the node above, tells nothing of its own.

    Parameters
    ----------
    counts
        Shape ``(n_nodes, n_classes)``: those told, and those of the people.
    nodes
        Which are looked at.
    slack
        How many people were added to each node, at most.
    fine
        Whether shares were taken to a power, or their people scaled: then one moves them less.

    Examples
    --------
    >>> tree = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[0, 0, 1], high=[1, 1, 2])
    >>> real = np.array([[3.0, 9.0], [1.0, 4.0], [2.0, 5.0]])
    >>> told = np.array([[3.0, 9.0], [2.0, 8.0], [3.0, 4.0]])
    >>> shares_right(tree, (told, real), np.array([1, 2]), np.zeros(2), fine=False)
    (1, 2)
    """
    told, real = (
        column / np.maximum(column.sum(axis=1, keepdims=True), 1e-300) for column in counts
    )
    people = np.maximum(counts[0].sum(axis=1), counts[1].sum(axis=1))[nodes] + slack + 1
    above = tree.parent[nodes]
    as_above = (np.abs(told[nodes] - told[above]) <= _SAME).all(axis=1) & (above >= 0)
    there = np.where(real[nodes] > 0, real[nodes], 2.0)
    rarest = there.min(axis=1)
    own = (rarest < 1) & ~as_above
    at = np.arange(len(nodes)), there.argmin(axis=1)
    off = np.abs(told[nodes][at] - real[nodes][at]) * people
    if fine:
        off *= 4 / np.maximum(rarest * (1 - rarest), 1e-300)
    return int((own & (off < _HALF)).sum()), int(own.sum())
