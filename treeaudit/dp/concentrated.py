"""Concentrated differential privacy, and what of it is an epsilon at a delta.

A law that is rho-concentrated has Rényi divergences of at most rho times their order. Rhos of
answers add up, and an answer that is private by epsilon is epsilon^2 / 2 concentrated.

References
----------
Bun & Steinke (2016), Concentrated differential privacy, proposition 1.4 and lemma 1.7.
Canonne, Kamath & Steinke (2020), The discrete Gaussian for differential privacy, proposition 12
and corollary 13: the tightest epsilon that follows from the bounds on all orders.
"""

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

__all__ = ["epsilon_at", "of_epsilon", "pure_epsilon", "rho_at", "rounded_down"]

_EXACT = Context(prec=60, Emin=-(10**6), Emax=10**6)
_SLACK = Decimal("1e-40")
"""Far more than sixty digits are off by."""
_TOLD = Context(prec=12, rounding=ROUND_CEILING, Emin=-(10**6), Emax=10**6)
_STEPS = 80
_ORDERS = (Decimal(-60), Decimal(120))
"""Of which powers of two the order is above 1. Any order tells a bound; the best is searched."""
_ROOT, _BITS = 64, 24


def of_epsilon(epsilon: Fraction) -> Fraction:
    """Return how concentrated an answer is that is private by epsilon."""
    return epsilon * epsilon / 2


def pure_epsilon(rho: Fraction) -> Fraction:
    """Return the epsilon of an answer that may be so concentrated, rounded down.

    Examples
    --------
    >>> pure_epsilon(Fraction(1, 2)), round(float(pure_epsilon(Fraction(1))), 6)
    (Fraction(1, 1), 1.414214)
    """
    shift = _ROOT + max(0, rho.denominator.bit_length() - rho.numerator.bit_length())
    return rounded_down(Fraction(math.isqrt(math.floor(2 * rho * 4**shift)), 1 << shift))


def rounded_down(number: Fraction) -> Fraction:
    """Return at most a number, of 24 binary digits, so that a ledger tells it in few.

    Examples
    --------
    >>> rounded_down(Fraction(1, 3)), rounded_down(Fraction(5))
    (Fraction(5592405, 16777216), Fraction(5, 1))
    """
    high = number.numerator.bit_length() - number.denominator.bit_length() + 1
    unit = Fraction(2) ** (high - _BITS)
    return math.floor(number / unit) * unit


@lru_cache(maxsize=4096)
def epsilon_at(rho: Fraction, delta: Fraction) -> Fraction:
    """Return the epsilon of what is so concentrated, at a delta, rounded up to twelve digits.

    For every order a above 1 what is rho-concentrated is private by ``a rho + ln(1 - 1/a) -
    ln(a delta) / (a - 1)`` at delta.

    Examples
    --------
    >>> float(epsilon_at(Fraction(1, 2), Fraction(1, 10**6)))
    5.22153444454
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
    """Return how concentrated all answers may be for an epsilon at a delta, rounded down.

    Examples
    --------
    >>> rho = rho_at(Fraction(1), Fraction(1, 10**6))
    >>> round(float(rho), 6), round(float(epsilon_at(rho, Fraction(1, 10**6))), 6)
    (0.024356, 1.0)
    """
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
