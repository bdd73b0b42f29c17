"""What whole counts within bounds leave open: leaf by leaf, until nothing changes.

Of a group a leaf leaves no more than its count less the least that its other groups hold, and no
less than its count less the most that they hold.

References
----------
Buzzigoli and Giusti (1999), An algorithm to calculate the lower and upper bounds of the elements of
an array given its marginals: the shuttle algorithm.
"""

import numpy as np

from treeaudit.arrays import Float
from treeaudit.attacks.composition.sums import Sums

__all__ = ["tightened"]

_MOST_ROUNDS = 100
_CLOSE = 1e-6


def tightened(
    sums: Sums, total: Float, low: Float, high: Float, size: Float | None = None
) -> tuple[Float, Float]:
    """Return narrower bounds of what each group holds of each label.

    Parameters
    ----------
    sums
        Which groups each leaf adds up.
    total
        Shape ``(n_leaves, n_labels)``: what each leaf holds.
    low, high
        Shape ``(n_groups, n_labels)``: what each group holds at least and at most.
    size
        Shape ``(n_groups,)``: what all labels of a group add up to; None where that is not known.

    Examples
    --------
    Leaves of the first two groups hold 0 of a label, those of the last two 1: it is the last one's.

    >>> sums = Sums(start=np.array([0, 2, 4]), leaf=np.array([[0, 0, 1], [0, 1, 1]]),
    ...     counts=np.array([True, False, False, True]))
    >>> low, high = np.zeros((3, 1)), np.ones((3, 1))
    >>> [one[:, 0].tolist() for one in tightened(sums, np.array([[0], [0], [0], [1]]), low, high)]
    [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    """
    low, high = low.copy(), high.copy()
    for _ in range(_MOST_ROUNDS):
        before = low.copy(), high.copy()
        for c in range(low.shape[1]):
            spare = total[:, c] - sums.added(low[:, c])
            np.minimum(high[:, c], low[:, c] + sums.least(spare), out=high[:, c])
            spare = sums.added(high[:, c]) - total[:, c]
            np.maximum(low[:, c], high[:, c] - sums.least(spare), out=low[:, c])
        if size is not None:
            high = np.minimum(high, low + (size - low.sum(axis=1))[:, None])
            low = np.maximum(low, high - (high.sum(axis=1) - size)[:, None])
        if np.abs([low - before[0], high - before[1]]).max(initial=0) <= _CLOSE:
            break
    return low, high
