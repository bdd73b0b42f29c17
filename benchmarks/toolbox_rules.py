"""Fredrikson's rules as the Adversarial Robustness Toolbox has them, to hold against it."""

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Int
from treeaudit.model.tree import Tree

__all__ = ["people_reached", "single_match"]


def people_reached(tree: Tree, node: Int) -> Float:
    """Return phi as it is where only the leaves count that somebody asked about reaches.

    An answer then depends on whom else the attacker asks about; the paper takes
    all leaves (`treeaudit.attacks.attribute_inference.guesses.Paths.people_with`).

    Parameters
    ----------
    tree
        The tree, with people per node.
    node
        Shape ``(n, n_candidates)``: where each person would end.
    """
    people = tree.n_records if tree.n_records is not None else np.zeros(tree.n_nodes)
    return np.array([people[np.unique(column)].sum() for column in node.T], dtype=np.float64)


def single_match(people: Float, prior: npt.ArrayLike, answer: Int, seen: Int) -> Int:
    """Return the one candidate with which the model answers as it did.

    Where none or several do, the candidate whose leaf holds most people,
    weighted by the prior.

    Parameters
    ----------
    people
        Shape ``(n, n_candidates)``: people in the leaf.
    prior
        Shape ``(n_candidates,)``: how frequent each candidate is.
    answer
        Shape ``(n, n_candidates)``: what the model answers with each.
    seen
        Shape ``(n,)``: what it answered.

    Examples
    --------
    >>> people = np.array([[9.0, 1.0], [9.0, 1.0]])
    >>> single_match(people, [0.5, 0.5], np.array([[0, 1], [0, 0]]), np.array([1, 0])).tolist()
    [1, 0]
    """
    same = answer == np.asarray(seen)[:, None]
    frequent = (people * np.asarray(prior, dtype=np.float64)).argmax(axis=1)
    single = same.sum(axis=1) == 1
    return np.asarray(np.where(single, same.argmax(axis=1), frequent), dtype=np.int32)
