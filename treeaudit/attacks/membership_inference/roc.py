"""How well a score separates members from others: area, and hits at few false alarms.

References
----------
DeLong, DeLong and Clarke-Pearson (1988), Comparing the areas under two or more
correlated receiver operating characteristic curves; the fast form is that of
Sun and Xu (2014). Carlini et al. (2022), section III, why hits at few false
alarms are what counts.
"""

import math
from statistics import NormalDist

import numpy as np

from treeaudit.arrays import Float
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


def rate_at(members: Float, control: Float, false_alarms: float) -> Estimate | None:
    """Return the share of members found where a share of the others is found wrongly.

    Parameters
    ----------
    false_alarms
        Largest share of control people above the threshold, such as 0.01.

    Returns
    -------
    Estimate or None
        With the Clopper-Pearson interval, the threshold taken as given. None
        where fewer than ten false alarms would be behind the threshold: see
        `people_needed`.

    Examples
    --------
    >>> control = np.arange(1000.0)
    >>> rate_at(np.array([5.0, 989.0, 990.0, 2000.0]), control, 0.01).value
    0.5
    >>> rate_at(np.array([5.0]), control, 0.001) is None
    True
    """
    if len(control) < people_needed(false_alarms):
        return None
    hits = int((members > threshold_at(control, false_alarms)).sum())
    return exact(hits, len(members))


def people_needed(false_alarms: float) -> int:
    """Return how many control people a rate of false alarms needs.

    Examples
    --------
    >>> people_needed(0.01), people_needed(0.001)
    (1000, 10000)
    """
    return math.ceil(FALSE_ALARMS / false_alarms - 1e-9)
