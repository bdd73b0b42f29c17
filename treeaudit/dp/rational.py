"""Epsilon as an exact fraction, so that a budget divides without a rest."""

import math
import re
from fractions import Fraction
from numbers import Real

from treeaudit.errors import PrivacyError

__all__ = ["FINEST_CHOICE", "FINEST_COUNT", "Epsilon", "dyadic", "exact", "rational"]

Epsilon = int | float | Fraction
"""How an epsilon may be given."""

_FRACTION = re.compile(r"\d{1,400}(/\d{1,400})?", re.ASCII)
_LARGEST_DENOMINATOR = 10**6
_LARGEST = 1e200
"""By all people that there are it is a number still."""
_FINEST = 1 << 40
_BITS, _LARGEST_RATE = 24, 1 << 20
FINEST_COUNT, FINEST_CHOICE = 50, 62
"""Binary digits behind the point that noise, and the coins of a choice, are exact for."""


def rational(epsilon: Epsilon) -> Fraction:
    """Return epsilon as a fraction that is never larger than what was given.

    A decimal such as 0.1 is meant as one tenth. What has more than six decimals
    is rounded down to a multiple of 2^-40.

    Raises
    ------
    PrivacyError
        If it is none of a privacy budget: 0 or below, infinite or as good as that, not a number.

    Examples
    --------
    >>> rational(0.1), rational(2)
    (Fraction(1, 10), Fraction(2, 1))
    """
    if isinstance(epsilon, bool) or not _is_positive(epsilon):
        raise PrivacyError(f"epsilon is {epsilon!r}: it must be a finite number above 0, such as 1")
    if epsilon > _LARGEST:
        raise PrivacyError(f"epsilon is {epsilon!r}: above {_LARGEST:g} nothing is promised")
    exact = epsilon if isinstance(epsilon, Fraction) else Fraction(repr(float(epsilon)))
    if exact.denominator <= _LARGEST_DENOMINATOR:
        return exact
    below = Fraction(math.floor(exact * _FINEST), _FINEST)
    if below == 0:
        raise PrivacyError(f"epsilon is {epsilon!r}: below 1e-12 nothing can be learned")
    return below


def dyadic(rate: Fraction, finest: int) -> Fraction:
    """Return a rate that mechanisms are exact for: a whole number by a power of two, rounded down.

    The whole number has 23 or 24 binary digits, and fewer where the power would be above
    ``2^finest``; what is less than one such part is 0. With that the arithmetic of
    `treeaudit.dp.mechanisms` stays within 64 bits whatever the data are.

    Examples
    --------
    >>> dyadic(Fraction(1, 4), FINEST_COUNT), dyadic(Fraction(1, 3), FINEST_COUNT)
    (Fraction(1, 4), Fraction(5592405, 16777216))
    >>> dyadic(Fraction(1, 1 << 60), FINEST_COUNT)
    Fraction(0, 1)
    """
    capped = min(rate, Fraction(_LARGEST_RATE))
    # The rate is below 2^high, and at least 2^(high - 2).
    high = capped.numerator.bit_length() - capped.denominator.bit_length() + 1
    shift = min(finest, _BITS - high)
    return Fraction(math.floor(capped * (1 << shift)), 1 << shift)


def exact(text: object) -> Fraction:
    """Return the fraction that a file states as text, such as ``1/3``.

    Raises
    ------
    ValueError
        If it is none, or of more digits than any budget: 1e999999999 would take all memory. If
        it is not in lowest terms: 0/173 says more than 0.

    Examples
    --------
    >>> exact("1/3"), exact("7")
    (Fraction(1, 3), Fraction(7, 1))
    """
    if not isinstance(text, str) or not _FRACTION.fullmatch(text):
        raise ValueError(f"{str(text)[:40]!r} is no fraction")
    found = Fraction(text)
    if str(found) != text:
        raise ValueError(f"{text[:40]!r} is not in lowest terms")
    return found


def _is_positive(epsilon: object) -> bool:
    if not isinstance(epsilon, Real):
        return False
    try:
        return math.isfinite(epsilon) and float(epsilon) > 0
    except OverflowError:
        return False
