"""Epsilon as an exact fraction, so that a budget divides without a rest."""

import math
from fractions import Fraction
from numbers import Real

from treeaudit.errors import PrivacyError

__all__ = ["Epsilon", "rational"]

Epsilon = int | float | Fraction
"""How an epsilon may be given."""

_LARGEST_DENOMINATOR = 10**6
_FINEST = 1 << 40


def rational(epsilon: Epsilon) -> Fraction:
    """Return epsilon as a fraction that is never larger than what was given.

    A decimal such as 0.1 is meant as one tenth. What has more than six decimals
    is rounded down to a multiple of 2^-40.

    Raises
    ------
    PrivacyError
        If it is none of a privacy budget: 0 or below, infinite, not a number.

    Examples
    --------
    >>> rational(0.1), rational(2)
    (Fraction(1, 10), Fraction(2, 1))
    """
    if isinstance(epsilon, bool) or not _is_positive(epsilon):
        raise PrivacyError(f"epsilon is {epsilon!r}: it must be a finite number above 0, such as 1")
    exact = epsilon if isinstance(epsilon, Fraction) else Fraction(repr(float(epsilon)))
    if exact.denominator <= _LARGEST_DENOMINATOR:
        return exact
    below = Fraction(math.floor(exact * _FINEST), _FINEST)
    if below == 0:
        raise PrivacyError(f"epsilon is {epsilon!r}: below 1e-12 nothing can be learned")
    return below


def _is_positive(epsilon: object) -> bool:
    if not isinstance(epsilon, Real):
        return False
    try:
        return math.isfinite(epsilon) and float(epsilon) > 0
    except OverflowError:
        return False
