"""How well a score separates members from others: area, and hits at few false alarms.

References
----------
DeLong, DeLong and Clarke-Pearson (1988), Comparing the areas under two or more
correlated receiver operating characteristic curves; the fast form is that of
Sun and Xu (2014). Self and Liang (1987), Asymptotic properties of maximum likelihood
estimators under nonstandard conditions, the mixture of two chi-squared laws.
Carlini et al. (2022), section III, why hits at few false alarms are what counts.
"""

import math

import numpy as np

from treeaudit.arrays import Float, Wide
from treeaudit.stats import Estimate, exact

__all__ = ["FALSE_ALARMS", "area", "people_needed", "rate_at", "threshold_at"]


FALSE_ALARMS = 10
"""A rate of false alarms that rests on fewer of them is not reported."""


def area(members: Float, control: Float, confidence: float = 0.95) -> Estimate:
    """Return the area under the ROC curve with DeLong's interval, on the logit scale.

    The probability that a member scores higher than somebody else, ties counted
    by half. Where all pairs agree the variance is zero, and the interval is the
    exact one of as many disjoint pairs as there are.

    Parameters
    ----------
    members, control
        Scores; minus infinity is allowed. At least one each.

    Examples
    --------
    >>> found = area(np.array([3.0, 2.0, 2.0]), np.array([2.0, 1.0, -np.inf]))
    >>> round(found.value, 4), found.n
    (0.8889, 6)
    """
    m, n = len(members), len(control)
    ranks = _midranks(np.concatenate([members, control]))
    above = (ranks[:m] - _midranks(members)) / n
    below = 1 - (ranks[m:] - _midranks(control)) / m
    value = float(above.mean())
    variance = sum(float(part.var(ddof=1)) / len(part) for part in (above, below) if len(part) > 1)
    if not 0 < value < 1 or variance == 0:
        pairs = min(m, n)
        found = exact(round(value * pairs), pairs, confidence)
        return Estimate(
            value=value, low=min(value, found.low), high=max(value, found.high), n=m + n
        )
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1 + confidence) / 2)
    middle, half = math.log(value / (1 - value)), z * math.sqrt(variance) / (value * (1 - value))
    low, high = (_expit(middle + sign * half) for sign in (-1, 1))
    return Estimate(value=value, low=low, high=high, n=m + n)


def _expit(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


def _midranks(values: Float) -> Float:
    """Return ranks from 1; equal values share the mean of theirs."""
    _, code, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((last - (count - 1) / 2)[code.reshape(-1)])


def threshold_at(control: Float, false_alarms: float) -> float:
    """Return the score that at most this share of the control people is above."""
    allowed = math.floor(false_alarms * len(control) + 1e-9)
    return float(np.partition(control, len(control) - 1 - allowed)[len(control) - 1 - allowed])


def rate_at(
    members: Float, control: Float, false_alarms: float, confidence: float = 0.95
) -> Estimate | None:
    """Return the share of members found where a share of the others is found wrongly.

    The threshold is estimated, too: its false alarms are a draw of the control. So the
    interval holds the rates at all thresholds whose false alarms may be the share asked
    for, the less sure of the members the less sure the threshold is: the squared normal
    scores of both exact tails together stay below the bound. With equal scores the true
    threshold can lie at the edge of such a group, hence a bound between that of one
    degree of freedom and that of two (Self and Liang).

    Parameters
    ----------
    false_alarms
        Largest share of control people above the threshold, such as 0.01.
    confidence
        Coverage of the interval; `benchmarks.coverage` simulates it.

    Returns
    -------
    Estimate or None
        None where fewer than ten false alarms would be behind the threshold: see
        `people_needed`.

    Examples
    --------
    >>> control = np.arange(1000.0)
    >>> found = rate_at(np.array([5.0, 989.0, 990.0, 2000.0] * 50), control, 0.01)
    >>> found.value, round(found.low, 2), round(found.high, 2)
    (0.5, 0.18, 0.82)
    >>> rate_at(np.array([5.0]), control, 0.001) is None
    True
    """
    from scipy.special import betaincinv, ndtr

    if len(control) < people_needed(false_alarms):
        return None
    m, hits = len(members), int((members > threshold_at(control, false_alarms)).sum())
    most = _both(1 - confidence)
    scores, times = np.unique(control, return_counts=True)
    reached = np.cumsum(times[::-1])[::-1].astype(np.int64)
    off = _off_threshold(reached - times.astype(np.int64), reached, len(control), false_alarms)
    chosen = off <= most
    found = m - np.searchsorted(np.sort(members), scores[chosen], side="right")
    tail = ndtr(-np.sqrt(most - off[chosen]))
    low = np.where(found > 0, betaincinv(np.maximum(found, 1), m - found + 1, tail), 0.0)
    high = np.where(found < m, betaincinv(found + 1, np.maximum(m - found, 1), 1 - tail), 1.0)
    return Estimate(
        value=hits / m,
        low=min(hits / m, float(low.min(initial=1.0))),
        high=max(hits / m, float(high.max(initial=0.0))),
        n=m,
    )


def _off_threshold(above: Wide, reached: Wide, n: int, false_alarms: float) -> Float:
    """Return how far each score is from being the threshold, as a squared normal score.

    It is the threshold if no more than the share lie above it, and more reach it.
    """
    from scipy.special import betainc, ndtri

    many = np.where(above > 0, betainc(np.maximum(above, 1), n - above + 1, false_alarms), 1.0)
    few = np.where(
        reached < n, betainc(np.maximum(n - reached, 1), reached + 1, 1 - false_alarms), 1.0
    )
    rare = np.minimum(many, few)
    return np.asarray(np.where(rare < 0.5, ndtri(rare) ** 2, 0.0))


def _both(error: float) -> float:
    """Return what one or two squared normal scores, each as likely, exceed that often."""
    from statistics import NormalDist

    low, high, normal = 0.0, 100.0, NormalDist()
    for _ in range(60):
        middle = (low + high) / 2
        if normal.cdf(-math.sqrt(middle)) + math.exp(-middle / 2) / 2 > error:
            low = middle
        else:
            high = middle
    return high


def people_needed(false_alarms: float) -> int:
    """Return how many control people a rate of false alarms needs.

    Examples
    --------
    >>> people_needed(0.01), people_needed(0.001)
    (1000, 10000)
    """
    return math.ceil(FALSE_ALARMS / false_alarms - 1e-9)
