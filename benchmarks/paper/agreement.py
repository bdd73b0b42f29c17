"""Whether a measured number is the printed one."""

import math
from typing import Literal

from benchmarks.paper.cells import Spread

__all__ = ["Agreement", "agreement", "distance"]

Agreement = Literal["agrees", "cut off", "ties", "differs"]
"""To the printed digits; if further digits are cut off instead of rounded; for some of
the equally good trees; not at all."""

_SLACK = 1e-9


def agreement(printed: str, measured: Spread) -> Agreement:
    """Compare a measured number with printed digits.

    Examples
    --------
    >>> one = Spread(mean=7863.9, deviation=156.0, low=7863.9, high=7863.9)
    >>> agreement("7863.9", one), agreement("7864", one), agreement("7863", one)
    ('agrees', 'agrees', 'cut off')
    >>> agreement("7865", one)
    'differs'
    >>> agreement("0", Spread(mean=0.4, deviation=0.5, low=0.4, high=0.4))
    'differs'
    >>> some = Spread(mean=6.86, deviation=2.6, low=6.6, high=7.0)
    >>> agreement("6.7", some), agreement("6", some), agreement("5", some)
    ('ties', 'ties', 'differs')
    """
    value, unit = float(printed), _unit(printed)
    if value == 0:  # a printed 0 says none, not few
        return "agrees" if measured.high == 0 else "differs"
    ends = (measured.low, measured.high)
    if all(abs(end - value) <= unit / 2 + _SLACK for end in ends):
        return "agrees"
    if all(math.floor(end / unit + _SLACK) == round(value / unit) for end in ends):
        return "cut off"
    rounds = measured.low - unit / 2 - _SLACK <= value <= measured.high + unit / 2 + _SLACK
    cuts = measured.low - unit + _SLACK < value <= measured.high + _SLACK
    return "ties" if measured.tied and (rounds or cuts) else "differs"


def distance(printed: str, measured: Spread) -> float:
    """Return how far the printed number lies outside the range of ties, with its sign."""
    value = float(printed)
    return value - min(max(value, measured.low), measured.high)


def _unit(printed: str) -> float:
    return 10.0 ** -len(printed.partition(".")[2])
