"""How certain a label can become from k implications, in the worst case.

"If Hannah has flu, then Charlie has flu": the attacker knows k sentences of the
form "if this person has this label, that person has that one", whichever are
the worst. Without knowing any label for sure they may still be enough.

Among all sentences of this kind the worst k share one conclusion A, and then
the certainty is 1 / (1 + R) where R is the smallest possible ratio of "A and
the k conditions are all false" to "A is true". Labels of different leaves are
independent, so R follows from two dynamic programs: over the people of a leaf,
and over leaves.

References
----------
Martin, Kifer, Machanavajjhala, Gehrke and Halpern (2007), Worst-case background
knowledge for privacy-preserving data publishing, theorem 9 and section 3.
"""

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float
from treeaudit.attacks.background.vectors import Vectors

__all__ = ["all_false", "certainty_by_implications"]


def certainty_by_implications(vectors: Vectors, most: int) -> Float:
    """Return how certain some label can become from 0, 1, …, ``most`` implications.

    Parameters
    ----------
    vectors
        The counts of all leaves in question. The people in the implications
        may be in any of them.

    Returns
    -------
    numpy.ndarray
        Shape ``(most + 1,)``; never falls. Costs O(n_vectors · most²).

    Examples
    --------
    >>> from treeaudit.attacks.background.vectors import distinct_vectors
    >>> men_and_women = distinct_vectors([[2, 2, 1, 0, 0], [2, 0, 1, 1, 1]])
    >>> certainty_by_implications(men_and_women, 2).round(4).tolist()
    [0.4, 0.6667, 1.0]
    """
    if not len(vectors):
        return np.zeros(most + 1)
    false = all_false(vectors.counts, most + 1)
    share = vectors.counts[:, 0] / vectors.size
    # A leaf can be used once, so that more copies than sentences are of no use.
    copies = np.minimum(vectors.leaves, most + 1)
    elsewhere = np.repeat(false, copies, axis=0)
    here = np.repeat(false / share[:, None], copies, axis=0)
    while len(here) > 1:
        even = len(here) - len(here) % 2
        one, two = slice(0, even, 2), slice(1, even, 2)
        either = np.minimum(
            _least_product(here[one], elsewhere[two], first=1),
            _least_product(here[two], elsewhere[one], first=1),
        )
        both = _least_product(elsewhere[one], elsewhere[two], first=0)
        here = np.concatenate([either, here[even:]])
        elsewhere = np.concatenate([both, elsewhere[even:]])
    certainty: Float = 1 / (1 + here[0, 1:])
    return certainty


def all_false(counts: npt.ArrayLike, most: int) -> Float:
    """Return the smallest probability that some statements about a leaf are all false.

    A statement says "this person has this label". The worst ones concern the
    most frequent labels: person i is said to have one of the k_i largest, with
    k_0 ≥ k_1 ≥ …, and the probability is Π (n − i − S_k) / (n − i) with S_k
    the sum of the k largest counts.

    Parameters
    ----------
    counts
        Shape ``(n, n_classes)``, largest first.

    Returns
    -------
    numpy.ndarray
        Shape ``(n, most + 1)``: for 0, 1, …, ``most`` statements.

    Examples
    --------
    >>> all_false([[2, 2, 1]], 2).round(4).tolist()
    [[1.0, 0.6, 0.2]]
    """
    table = np.asarray(counts, dtype=np.float64)
    n = table.sum(axis=1)
    largest = np.pad(np.cumsum(table, axis=1), ((0, 0), (1, 0)))
    width = table.shape[1]
    # least[k][j]: j statements left, at most k of them about the next person.
    least = np.ones((most + 1, most + 1, len(table)))
    for person in range(most - 1, -1, -1):
        inside = person < n
        left = np.maximum(n - person, 1)
        after, least = least, np.ones_like(least)
        for k in range(1, most + 1):
            wrong = np.maximum(left - largest[:, min(k, width)], 0) / left
            least[k, :k] = least[k - 1, :k]
            found = np.where(inside, wrong * after[k, : most + 1 - k], 1.0)
            least[k, k:] = np.minimum(least[k - 1, k:], found)
    return np.ascontiguousarray(least[most].T)


def _least_product(one: Float, other: Float, *, first: int) -> Float:
    """Share out statements over two leaves, at least ``first`` of them in the one."""
    result = np.full(one.shape, np.inf)
    width = one.shape[1]
    for i in range(first, width):
        product = one[:, i : i + 1] * other[:, : width - i]
        result[:, i:] = np.minimum(result[:, i:], product)
    return result
