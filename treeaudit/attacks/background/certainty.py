"""How certain a label is once the attacker knows others, or what it is not.

All assignments of the labels to the people of a leaf are equally likely to an
attacker who knows nothing else. Every function takes counts of shape
``(n, n_classes)``, one row per leaf, and returns one number per row; rows
without people are not allowed.

References
----------
Machanavajjhala et al. (2006), l-diversity, section 3. Martin et al. (2007),
Worst-case background knowledge for privacy-preserving data publishing, section
2. Chen, LeFevre and Ramakrishnan (2007), Privacy skyline, section 4.
"""

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float

__all__ = [
    "certainty_by_known",
    "certainty_by_negations",
    "certainty_by_skyline",
    "share_certain_by_random",
]


def certainty_by_known(counts: npt.ArrayLike, known: int) -> Float:
    """Return how certain a label can become when ``known`` others are known.

    The worst case: the attacker happens to know people of other labels.

    Examples
    --------
    >>> [round(float(certainty_by_known([[90, 10]], r)[0]), 4) for r in (0, 1, 5, 10)]
    [0.9, 0.9091, 0.9474, 1.0]
    """
    table = np.asarray(counts, dtype=np.float64)
    n = table.sum(axis=1, keepdims=True)
    left = n - np.minimum(known, n - table)
    certainty: Float = np.where(table > 0, table / np.maximum(left, 1), 0.0).max(axis=1)
    return certainty


def share_certain_by_random(counts: npt.ArrayLike, known: int) -> Float:
    """Return how likely somebody is disclosed when ``known`` random others are known.

    Somebody of the most frequent label, as the best choice of others is for them
    too: it is never exceeded. Everybody of another label has to be among the known:
    with d of them out of n − 1 others that has the probability Π (known − i)/(n − 1 − i)
    over i < d.

    Examples
    --------
    >>> [f"{share_certain_by_random([[90, 10]], r)[0]:.2g}" for r in (10, 50, 90)]
    ['5.8e-14', '0.00059', '0.33']
    >>> share_certain_by_random([[1, 2]], 1).round(4).tolist()
    [0.3333]
    """
    table = np.asarray(counts, dtype=np.float64)
    n, most = table.sum(axis=1), table.max(axis=1)
    drawn = np.minimum(known, n - 1)
    others = n - most
    chance = (others <= drawn).astype(np.float64)
    for i in range(int(np.where(chance > 0, others, 0).max(initial=0))):
        factor = (drawn - i) / np.maximum(n - 1 - i, 1)
        chance *= np.where(i < others, np.clip(factor, 0, 1), 1.0)
    share: Float = most / n * chance
    return share


def certainty_by_negations(counts: npt.ArrayLike, negations: int) -> Float:
    """Return how certain a label can become when others are ruled out for the target.

    "It is not flu" takes the largest other classes out of the count.

    Examples
    --------
    >>> [round(float(certainty_by_negations([[2, 2, 1]], n)[0]), 4) for n in (0, 1, 2)]
    [0.4, 0.6667, 1.0]
    """
    return certainty_by_skyline(counts, negations, 0, 0)


def certainty_by_skyline(
    counts: npt.ArrayLike, negations: int, known: int, implications: int
) -> Float:
    """Return how certain a label can become from three kinds of knowledge at once.

    Parameters
    ----------
    counts
        Shape ``(n, n_classes)``.
    negations
        Labels that the attacker knows the target does not have.
    known
        Other people of the leaf whose labels the attacker knows.
    implications
        Further people of the leaf of whom the attacker knows that the target
        has a label if they have it.

    Examples
    --------
    >>> certainty_by_skyline([[2, 2, 1]], 0, 0, 1).round(4).tolist()
    [0.5714]
    """
    table = -np.sort(-np.asarray(counts, dtype=np.float64), axis=1)
    n = table.sum(axis=1)
    total = np.pad(np.cumsum(table, axis=1), ((0, 0), (1, 0)))
    few = min(negations, table.shape[1] - 1)
    best = np.zeros(len(table))
    for place in range(table.shape[1]):
        mine = table[:, place]
        # The largest classes beside this one; it may be among the largest itself.
        out = total[:, few + 1] - mine if place < few else total[:, few]
        left = n - np.minimum(known, n - mine - out)
        wrong = left - mine - out
        for i in range(1, implications + 1):
            wrong = wrong * np.clip((left - mine - i) / np.maximum(left - i, 1), 0, 1)
        best = np.maximum(best, np.where(mine > 0, mine / np.maximum(mine + wrong, 1), 0))
    return best
