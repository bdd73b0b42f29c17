"""Fredrikson's rule: the value that most people in the leaf may have.

The white-box attack with counts of the paper, for one tree or several. It
infers what is frequent, not what was memorised: a baseline to be above.

References
----------
Fredrikson, Jha and Ristenpart (2015), Model inversion attacks that exploit
confidence information and basic countermeasures, section 4, "white-box with
counts".
"""

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float

__all__ = ["fredrikson"]


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
