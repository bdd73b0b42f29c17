"""Fredrikson's rules: the value that most people in the leaf may have.

The white-box attack with counts of the paper, for one tree or several. It
infers what is frequent, not what was memorised: a baseline to be above.

References
----------
Fredrikson, Jha and Ristenpart (2015), Model inversion attacks that exploit
confidence information and basic countermeasures, section 4, "white-box with
counts". The second rule is a variation of it in the Adversarial Robustness
Toolbox.
"""

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Int
from treeaudit.model.tree import Tree

__all__ = ["fredrikson", "people_reached", "single_match"]


def fredrikson(people: npt.ArrayLike, prior: npt.ArrayLike, phi: npt.ArrayLike) -> Float:
    """Return the probability of each candidate value.

    Parameters
    ----------
    people
        Shape ``(n, n_candidates)``: people in the leaf that each person would
        be in; the sum over the trees of a forest.
    prior
        Shape ``(n_candidates,)``: how frequent each candidate is.
    phi
        Shape ``(n_candidates,)``: people in all leaves that the candidate can
        reach.

    Returns
    -------
    numpy.ndarray
        Shape ``(n, n_candidates)``, proportional to ``people * prior / phi``;
        the prior where all of them are 0.

    Examples
    --------
    >>> fredrikson([[30, 10]], [0.25, 0.75], [100, 100]).tolist()
    [[0.5, 0.5]]
    """
    prior, phi = np.asarray(prior, dtype=np.float64), np.asarray(phi, dtype=np.float64)
    weight = np.asarray(people) * np.divide(prior, phi, out=np.zeros_like(prior), where=phi > 0)
    total = weight.sum(axis=1, keepdims=True)
    share = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    return np.asarray(np.where(total > 0, share, prior / prior.sum()))


def people_reached(tree: Tree, node: Int) -> Float:
    """Return phi as it is where only the leaves count that somebody asked about reaches.

    An answer then depends on whom else the attacker asks about; the paper takes
    all leaves (`treeaudit.attacks.attribute_inference.what_if.Paths.people_with`).

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
