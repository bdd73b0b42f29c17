"""Epsilon as an exact fraction, and concentrated privacy (zCDP): from rho to epsilon and back.

A law that is rho-concentrated has Rényi divergences of at most rho times their order. The rhos
of several answers add up, and an answer that is private by epsilon is epsilon^2 / 2 concentrated.

References
----------
Bun & Steinke (2016), Concentrated differential privacy, proposition 1.4 and lemma 1.7.
Canonne, Kamath & Steinke (2020), The discrete Gaussian for differential privacy, proposition 12
and corollary 13: the tightest epsilon that follows from the bounds on all orders.
"""

import math
import re
from collections.abc import Callable
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from numbers import Real

from treeaudit.errors import PrivacyError

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
    """
    capped = min(rate, Fraction(_LARGEST_RATE))
    # The rate is below 2^high, and at least 2^(high - 2).
    high = capped.numerator.bit_length() - capped.denominator.bit_length() + 1
    shift = min(finest, _BITS - high)
    return Fraction(math.floor(capped * (1 << shift)), 1 << shift)


def exact(text: object) -> Fraction:
    """Return the fraction that a file states as text, such as ``1/3``."""
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


_EXACT = Context(prec=60, Emin=-(10**6), Emax=10**6)
_SLACK = Decimal("1e-40")
"""Far more than sixty digits are off by."""
_TOLD = Context(prec=12, rounding=ROUND_CEILING, Emin=-(10**6), Emax=10**6)
_STEPS = 80
_ORDERS = (Decimal(-60), Decimal(120))
"""Of which powers of two the order is above 1. Any order tells a bound; the best is searched."""
_ROOT = 64


def of_epsilon(epsilon: Fraction) -> Fraction:
    """Return how concentrated an answer is that is private by epsilon."""
    return epsilon * epsilon / 2


def pure_epsilon(rho: Fraction) -> Fraction:
    """Return the epsilon of an answer that may be so concentrated, rounded down."""
    shift = _ROOT + max(0, rho.denominator.bit_length() - rho.numerator.bit_length())
    return rounded_down(Fraction(math.isqrt(math.floor(2 * rho * 4**shift)), 1 << shift))


def rounded_down(number: Fraction) -> Fraction:
    """Return at most a number, of 24 binary digits, so that a ledger tells it in few."""
    high = number.numerator.bit_length() - number.denominator.bit_length() + 1
    unit = Fraction(2) ** (high - _BITS)
    return math.floor(number / unit) * unit


@lru_cache(maxsize=4096)
def epsilon_at(rho: Fraction, delta: Fraction) -> Fraction:
    """Return the epsilon of what is so concentrated, at a delta, rounded up to twelve digits.

    For every order a above 1 what is rho-concentrated is private by ``a rho + ln(1 - 1/a) -
    ln(a delta) / (a - 1)`` at delta.
    """
    if rho <= 0:
        return Fraction(0)
    with localcontext(_EXACT):
        r, rest = _decimal(rho), _decimal(delta).ln()

        def bound(above: Decimal) -> Decimal:
            order = 1 + above
            return order * r + (above / order).ln() - (rest + order.ln()) / above

        found = max(Decimal(0), _least(bound)) * (1 + _SLACK) + _SLACK
    return Fraction(_TOLD.plus(found))


@lru_cache(maxsize=4096)
def rho_at(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return how concentrated all answers may be for an epsilon at a delta, rounded down."""
    with localcontext(_EXACT):
        most, rest = _decimal(epsilon), _decimal(delta).ln()

        def missing(above: Decimal) -> Decimal:
            order = 1 + above
            return -(most - (above / order).ln() + (rest + order.ln()) / above) / order

        found = Fraction(-_least(missing))
    if found <= 0:
        return Fraction(0)
    rho = rounded_down(found)
    while epsilon_at(rho, delta) > epsilon:
        rho = rounded_down(rho * (1 - Fraction(1, 1 << _BITS)))
    return rho


def _least(bound: Callable[[Decimal], Decimal]) -> Decimal:
    """Return the least of a bound over how far the order is above 1, as far as it is found."""
    low, high = _ORDERS
    golden = (Decimal(5).sqrt() - 1) / 2
    inner = [high - golden * (high - low), low + golden * (high - low)]
    told = [bound(Decimal(2) ** at) for at in inner]
    best = min(told)
    for _ in range(_STEPS):
        if told[0] < told[1]:
            high, inner[1], told[1] = inner[1], inner[0], told[0]
            inner[0] = high - golden * (high - low)
            told[0] = bound(Decimal(2) ** inner[0])
        else:
            low, inner[0], told[0] = inner[0], inner[1], told[1]
            inner[1] = low + golden * (high - low)
            told[1] = bound(Decimal(2) ** inner[1])
        best = min(best, *told)
    return best


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)
