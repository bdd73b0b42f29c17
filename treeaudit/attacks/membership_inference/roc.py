"""What TA105 measures.

Of several tests the strongest is reported. Its interval is that of the largest of the
true numbers: the lower end is the highest of all, each at its part of the five percent
(Bonferroni), as choosing the largest of several draws would else lift it; the upper end
is the highest as well and needs no correction, since the truly strongest test is below
its own. Choosing on one part of the people and measuring on the other would be the
alternative: it takes twice the unseen people, who are what is scarce.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from treeaudit.arrays import Float, Wide
from treeaudit.findings.details import Details, People, Share, only_if_given
from treeaudit.stats import Estimate, exact

_FALSE_ALARMS = 10
"""A rate of false alarms that rests on fewer of them is not reported."""


def area(members: Float, control: Float, confidence: float = 0.95) -> Estimate:
    """Return the area under the ROC curve with DeLong's interval, on the logit scale.

    The probability that a member scores higher than somebody else, ties counted
    by half. Where all pairs agree the variance is zero, and the interval is the
    exact one of as many disjoint pairs as there are.
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
    """
    from scipy.special import betaincinv, ndtr

    if len(control) < control_size(false_alarms):
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
    """Return how far each score is from being the threshold, as a squared normal score."""
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


def control_size(false_alarms: float) -> int:
    """Return how many control people a rate of false alarms needs."""
    return math.ceil(_FALSE_ALARMS / false_alarms - 1e-9)


Test = Literal["counts", "loss", "shadows"]

_Scores = tuple[Float, Float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused(Details):
    """Why a rate is not told, by rate."""

    # How many control people it needs, and how many there are
    tpr_at_1_percent_fpr: str | None = only_if_given()
    tpr_at_0_1_percent_fpr: str | None = only_if_given()


@dataclass(frozen=True, slots=True, kw_only=True)
class Separation(Details):
    """How well a test tells members from unseen people.

    * ``tpr_at_0_1_percent_fpr``, ``tpr_at_0_1_percent_fpr_low``, ``tpr_at_0_1_percent_fpr_high``:
      the same at 0.1 %.
    """

    # Area under the ROC curve with its 95 % interval (DeLong)
    auc: float
    auc_low: float
    auc_high: float
    # Share of members recognised where 1 % of the control people are taken for one, with its 95 %
    # interval, that of the threshold in it; None below ten of these
    tpr_at_1_percent_fpr: Share | None
    tpr_at_1_percent_fpr_low: Share | None
    tpr_at_1_percent_fpr_high: Share | None
    tpr_at_0_1_percent_fpr: Share | None
    tpr_at_0_1_percent_fpr_low: Share | None
    tpr_at_0_1_percent_fpr_high: Share | None
    refused: Refused  # Why a rate is None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotMade(Details):
    """A test that was not made."""

    reason: str  # Why, in words


@dataclass(frozen=True, slots=True, kw_only=True)
class References(Details):
    """Each test by itself, on the same people."""

    # How much more likely the counts of the leaves are with one more person
    counts: Separation | NotMade
    loss: Separation | NotMade  # How sure the model is of the right answer
    shadows: Separation | NotMade  # The same, over what shadow models are


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipDetails(Separation):
    """How well the strongest test tells members from unseen people, and who else is exposed."""

    # `counts`, or `answers` for private models, of which only what they answer can be attacked
    score: Literal["counts", "answers"]
    # The test with the highest area, and with the most members recognised
    strongest: Test
    strongest_at_1_percent_fpr: Test | None
    n_tests: int  # Among how many it was chosen; the intervals are corrected for that
    # Control people whom the file alone excludes
    certain_non_members: People
    certain_non_members_share: Share
    # People who were asked about, unseen people who were, and unseen people from whom the
    # population was learnt
    members: People
    control: People
    reference: People
    blind: bool  # Whether the loss sees little but right and wrong
    people_alone: People  # Leaves of one person, in all trees
    references: References  # Each test by itself


def separation(members: Float, control: Float) -> Separation:
    """Return how well scores tell members from control people."""
    return strongest({"counts": (members, control)})[0]


def strongest(tests: Mapping[Test, _Scores]) -> tuple[Separation, Test, Test | None]:
    """Return how well the best of some tests tells members, and which is best at what."""
    part = 1 - 0.05 / len(tests)
    areas = {name: (area(*one), area(*one, part)) for name, one in tests.items()}
    rates = [_rates(tests, alarms, part) for alarms in (0.01, 0.001)]
    auc, by_area = _highest(areas)
    one, by_one = _highest(rates[0]) if rates[0] else (None, None)
    tenth = _highest(rates[1])[0] if rates[1] else None
    n = max(len(control) for _, control in tests.values())
    found = Separation(
        auc=auc.value,
        auc_low=auc.low,
        auc_high=auc.high,
        tpr_at_1_percent_fpr=None if one is None else Share(one.value),
        tpr_at_1_percent_fpr_low=None if one is None else Share(one.low),
        tpr_at_1_percent_fpr_high=None if one is None else Share(one.high),
        tpr_at_0_1_percent_fpr=None if tenth is None else Share(tenth.value),
        tpr_at_0_1_percent_fpr_low=None if tenth is None else Share(tenth.low),
        tpr_at_0_1_percent_fpr_high=None if tenth is None else Share(tenth.high),
        refused=Refused(
            tpr_at_1_percent_fpr=_refused(one, 0.01, n),
            tpr_at_0_1_percent_fpr=_refused(tenth, 0.001, n),
        ),
    )
    return found, by_area, by_one


def _rates(
    tests: Mapping[Test, _Scores], false_alarms: float, part: float
) -> dict[Test, tuple[Estimate, Estimate]]:
    found: dict[Test, tuple[Estimate, Estimate]] = {}
    for name, scores in tests.items():
        usual, corrected = (rate_at(*scores, false_alarms, one) for one in (0.95, part))
        if usual is not None and corrected is not None:
            found[name] = usual, corrected
    return found


def _highest(found: Mapping[Test, tuple[Estimate, Estimate]]) -> tuple[Estimate, Test]:
    """Return the highest number with both of its ends, and whose it is."""
    name = max(found, key=lambda one: found[one][0].value)
    low = max(corrected.low for _, corrected in found.values())
    high = max(usual.high for usual, _ in found.values())
    return replace(found[name][0], low=low, high=high), name


def _refused(rate: Estimate | None, false_alarms: float, n: int) -> str | None:
    if rate is not None:
        return None
    return f"needs {control_size(false_alarms):,} control people, there are {n:,}"
