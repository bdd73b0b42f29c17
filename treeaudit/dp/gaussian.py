"""Gaussian noise on whole numbers, drawn exactly.

References
----------
Canonne, Kamath & Steinke (2020), The discrete Gaussian for differential privacy, algorithm 3
and theorem 4.
"""

import math
from fractions import Fraction

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.dp.bernoulli import NEVER, coins
from treeaudit.dp.entropy import Entropy
from treeaudit.dp.mechanisms import discrete_laplace

__all__ = ["GAUSSIAN", "discrete_gaussian", "fine_variance"]

GAUSSIAN = "discrete Gaussian"
"""The mechanism of a row whose cost is a rho."""

_BITS = 24
_FINEST, _LARGEST = 36, 1 << 30


def fine_variance(least: Fraction) -> Fraction | None:
    """Return a variance that is drawn exactly, at least so large; None where there is none.

    A whole number of at most 24 binary digits by a power of two of at most 2^36; above 2^30 the
    square of a whole number.

    Examples
    --------
    >>> fine_variance(Fraction(9, 2)), fine_variance(Fraction((1 << 40) + 1))
    (Fraction(9, 2), Fraction(1099513724929, 1))
    """
    if least > _LARGEST:
        root = math.isqrt(math.ceil(least) - 1) + 1
        return Fraction(root * root) if root <= _LARGEST else None
    # The variance is below 2^high.
    high = least.numerator.bit_length() - least.denominator.bit_length() + 1
    shift = min(_FINEST, _BITS - 1 - high)
    whole = Fraction(2) ** shift
    return max(Fraction(math.ceil(least * whole), 1) / whole, Fraction(1, 1 << 12))


def discrete_gaussian(variance: Fraction, n: int, entropy: Entropy) -> Wide:
    """Draw whole numbers z with probability proportional to ``exp(-z^2 / (2 * variance))``.

    Where a count moves by d, an answer is d^2 / (2 variance) concentrated: the Rényi
    divergence of order a is at most a times that, for all a above 1. The variance is one of
    `fine_variance`.

    Examples
    --------
    >>> from treeaudit.dp.entropy import OperatingSystem
    >>> discrete_gaussian(Fraction(1, 4096), 3, OperatingSystem()).tolist()
    [0, 0, 0]
    """
    p, q = variance.numerator, variance.denominator
    root = math.isqrt(p // q)
    # The law is the same for any t; a square root that is whole keeps the fractions small.
    t = root if root * root * q == p else root + 1
    common = math.gcd(t * q, p)
    # (|y| - variance / t)^2 / (2 variance), in whole numbers.
    step, away = t * q // common, p // common
    rate = Fraction(common * common, 2 * p * q * t * t)
    result = np.zeros(n, dtype=np.int64)
    todo = np.arange(n)
    while len(todo):
        tried = discrete_laplace(Fraction(1, t), len(todo), entropy)
        squares = (np.abs(tried).astype(object) * step - away) ** 2 * rate.numerator
        whole = np.minimum(squares // rate.denominator, NEVER).astype(np.int64)
        rest = (squares % rate.denominator).astype(np.int64)
        kept = coins(whole, rest, rate.denominator, entropy)
        result[todo[kept]] = tried[kept]
        todo = todo[~kept]
    return result
