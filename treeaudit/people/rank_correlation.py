"""Whether two numbers of the same people rise together, more than dealt out anew they would.

A correlation of the numbers themselves is ruled by a single one where they are skewed: by chance
it is high, and where they belong together it may be low. Ranks are not. Dealt out anew among the
same people, the correlation of any scores of ranks has mean 0 and variance ``1 / (n - 1)``.

References
----------
Wald and Wolfowitz (1944). Savage (1956), Contributions to the theory of rank order statistics.
"""

import numpy as np

from treeaudit.arrays import Float

__all__ = ["rise_together"]


def rise_together(one: Float, other: Float) -> float:
    """Return by how many deviations two numbers rise together more than by chance.

    By their ranks, or by scores that tell the largest apart, or the smallest where the other
    numbers are skewed to that side: the larger of the two.

    Parameters
    ----------
    one, other
        Shape ``(n_people,)``; neither is the same for everybody.

    Examples
    --------
    >>> number = np.arange(101.0)
    >>> round(rise_together(number, number**9), 3), round(rise_together(number, -number), 3)
    (10.0, -6.645)
    """
    parts, to_tail = [_part_below(one), _part_below(other)], _upper_tail
    if np.mean(other) < np.median(other):
        to_tail = _lower_tail
    return max(_correlated(*parts), _correlated(*map(to_tail, parts)))


def _part_below(number: Float) -> Float:
    """Return for each which part of all is below it, of those that are the same half of them."""
    _, place, times = np.unique(number, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(times) - times / 2)[place.reshape(-1)] / len(number))


def _upper_tail(part: Float) -> Float:
    return np.asarray(-np.log1p(-part))


def _lower_tail(part: Float) -> Float:
    return np.asarray(np.log(part))


def _correlated(one: Float, other: Float) -> float:
    one, other = one - one.mean(), other - other.mean()
    size = float(np.sqrt((one**2).sum() * (other**2).sum()))
    return float(one @ other) / size * float(np.sqrt(len(one) - 1))
