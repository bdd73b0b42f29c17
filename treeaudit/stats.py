"""Intervals for shares and for their differences.

References
----------
Wilson (1927), Probable inference. Clopper and Pearson (1934), The use of
confidence or fiducial limits. Newcombe (1998), Interval estimation for the
difference between independent proportions, method 10. Donner and Zou (2012),
Closed-form confidence intervals for functions of the normal mean and standard
deviation, for ratios. Giomi et al. (2023), A unified framework for quantifying
privacy risk in synthetic data (anonymeter), for the residual risk.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number that was measured on people, with the interval around it.

    Attributes
    ----------
    value
        The number.
    low, high
        Its 95 % interval; the number itself where it is counted, not estimated.
    n
        How many people it rests on.
    """

    value: float
    low: float
    high: float
    n: int


def fact(value: float, n: int) -> Estimate:
    """Return a number that is counted, not estimated: its interval is itself."""
    return Estimate(value=value, low=value, high=value, n=n)


def wilson(successes: float, n: int, confidence: float = 0.95) -> Estimate:
    """Return a share with its Wilson score interval.

    Examples
    --------
    >>> share = wilson(17, 31)
    >>> round(share.value, 3), round(share.low, 3), round(share.high, 3)
    (0.548, 0.378, 0.708)
    """
    _check(successes, n)
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return Estimate(
        value=share,
        low=max(0.0, min(middle - half, share)),
        high=min(1.0, max(middle + half, share)),
        n=n,
    )


def exact(successes: int, n: int, confidence: float = 0.95) -> Estimate:
    """Return a share with its Clopper-Pearson interval, which never covers too little.

    Examples
    --------
    >>> none = exact(0, 100)
    >>> none.low, round(none.high, 4)
    (0.0, 0.0362)
    """
    from scipy.special import betaincinv

    _check(successes, n)
    tail = (1 - confidence) / 2
    low = float(betaincinv(successes, n - successes + 1, tail)) if successes else 0.0
    high = float(betaincinv(successes + 1, n - successes, 1 - tail)) if successes < n else 1.0
    return Estimate(value=successes / n, low=low, high=high, n=n)


def difference(first: Estimate, second: Estimate) -> Estimate:
    """Return the first share minus the second, with Newcombe's interval.

    Parameters
    ----------
    first, second
        Shares of different people, each with its own interval.

    Examples
    --------
    >>> gap = difference(wilson(56, 70), wilson(48, 80))
    >>> round(gap.value, 4), round(gap.low, 4), round(gap.high, 4)
    (0.2, 0.0524, 0.3339)
    """
    value = first.value - second.value
    low = math.hypot(first.value - first.low, second.high - second.value)
    high = math.hypot(first.high - first.value, second.value - second.low)
    return Estimate(
        value=value,
        low=max(-1.0, value - low),
        high=min(1.0, value + high),
        n=min(first.n, second.n),
    )


def residual(attack: Estimate, control: Estimate) -> Estimate | None:
    """Return the residual risk: of what fails on others, the share in which the attack succeeds.

    ``(attack - control) / (1 - control)``, as anonymeter defines it, with the interval of
    Donner and Zou for the ratio of the two shares of failures, which are independent.

    Returns
    -------
    Estimate or None
        Between 0 and 1; None where nothing fails on others.

    Examples
    --------
    >>> found = residual(wilson(80, 100), wilson(60, 100))
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.5, 0.216, 0.684)
    """
    x, x_low, x_high = 1 - attack.value, 1 - attack.high, 1 - attack.low
    y, y_low, y_high = 1 - control.value, 1 - control.high, 1 - control.low
    if y <= 0 or y_low <= 0:
        return None
    of_low, of_high = x_low * (2 * x - x_low), x_high * (2 * x - x_high)
    down = x * y + math.sqrt(max(0.0, (x * y) ** 2 - of_low * y_high * (2 * y - y_high)))
    below = of_low / down if down else 0.0
    scale = y_low * (2 * y - y_low)
    above = (x * y + math.sqrt(max(0.0, (x * y) ** 2 - of_high * scale))) / scale
    return Estimate(
        value=min(1.0, max(0.0, 1 - x / y)),
        low=min(1.0, max(0.0, 1 - above)),
        high=min(1.0, max(0.0, 1 - below)),
        n=min(attack.n, control.n),
    )


def largest_of(found: Estimate, several: int) -> Estimate:
    """Return an interval that holds although the largest of several was picked (Bonferroni).

    Examples
    --------
    >>> largest_of(Estimate(value=0.1, low=0.0, high=0.2, n=90), 1).high
    0.2
    >>> round(largest_of(Estimate(value=0.1, low=0.0, high=0.2, n=90), 13).high, 3)
    0.247
    """
    from statistics import NormalDist

    # The ends of these intervals are about as many standard errors away as normal ones.
    wider = NormalDist().inv_cdf(1 - 0.025 / several) / NormalDist().inv_cdf(0.975)
    low = max(-1.0, found.value - wider * (found.value - found.low))
    high = min(1.0, found.value + wider * (found.high - found.value))
    return Estimate(value=found.value, low=low, high=high, n=found.n)


def summed(parts: Sequence[Estimate]) -> Estimate:
    """Return the sum of independent numbers, with the interval that follows from theirs.

    Examples
    --------
    >>> ten = Estimate(value=10, low=7, high=14, n=50)
    >>> summed([ten, ten]).n, round(summed([ten, ten]).low, 2)
    (100, 15.76)
    """
    value = math.fsum(one.value for one in parts)
    return Estimate(
        value=value,
        low=value - math.hypot(*(one.value - one.low for one in parts)),
        high=value + math.hypot(*(one.high - one.value for one in parts)),
        n=sum(one.n for one in parts),
    )


def paired(only_first: int, only_second: int, n: int, confidence: float = 0.95) -> Estimate:
    """Return the share that the first got right minus that of the second, on the same people.

    Who got both right or both wrong says nothing; of the others the share of
    the first is exact (Clopper-Pearson), given how many they are.

    Examples
    --------
    >>> gain = paired(30, 10, 200)
    >>> round(gain.value, 3), round(gain.low, 3), round(gain.high, 3)
    (0.1, 0.035, 0.149)
    """
    differ = only_first + only_second
    _check(differ, n)
    if not differ:
        return Estimate(value=0.0, low=0.0, high=0.0, n=n)
    share = exact(only_first, differ, confidence)
    low, value, high = ((2 * p - 1) * differ / n for p in (share.low, share.value, share.high))
    return Estimate(value=value, low=low, high=high, n=n)


def _check(successes: float, n: int) -> None:
    if n < 1:
        raise ValueError("a share of nobody is not a number")
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is not a share")
