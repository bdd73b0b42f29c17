"""What TA105 measures.

Of several tests the strongest is reported. Its interval is that of the largest of the
true numbers: the lower end is the highest of all, each at its part of the five percent
(Bonferroni), as choosing the largest of several draws would else lift it; the upper end
is the highest as well and needs no correction, since the truly strongest test is below
its own. Choosing on one part of the people and measuring on the other would be the
alternative: it takes twice the unseen people, who are what is scarce.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from treeaudit.arrays import Float
from treeaudit.attacks.membership_inference.roc import area, people_needed, rate_at
from treeaudit.findings.details import Details, only_if_given
from treeaudit.findings.numbers import People, Share
from treeaudit.stats import Estimate

__all__ = [
    "MembershipDetails",
    "NotMade",
    "References",
    "Refused",
    "Separation",
    "Test",
    "separation",
    "strongest",
]

Test = Literal["counts", "loss", "lira"]
Scores = tuple[Float, Float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused(Details):
    """Why a rate is not told, by rate.

    Attributes
    ----------
    tpr_at_1_percent_fpr, tpr_at_0_1_percent_fpr
        How many control people it needs, and how many there are.
    """

    tpr_at_1_percent_fpr: str | None = only_if_given()
    tpr_at_0_1_percent_fpr: str | None = only_if_given()


@dataclass(frozen=True, slots=True, kw_only=True)
class Separation(Details):
    """How well a test tells members from unseen people.

    Attributes
    ----------
    auc, auc_low, auc_high
        Area under the ROC curve with its 95 % interval (DeLong).
    tpr_at_1_percent_fpr, tpr_at_1_percent_fpr_low, tpr_at_1_percent_fpr_high
        Share of members recognised where 1 % of the control people are taken for
        one, with its 95 % interval, that of the threshold in it; None below ten of these.
    tpr_at_0_1_percent_fpr, tpr_at_0_1_percent_fpr_low, tpr_at_0_1_percent_fpr_high
        The same at 0.1 %.
    refused
        Why a rate is None.
    """

    auc: float
    auc_low: float
    auc_high: float
    tpr_at_1_percent_fpr: Share | None
    tpr_at_1_percent_fpr_low: Share | None
    tpr_at_1_percent_fpr_high: Share | None
    tpr_at_0_1_percent_fpr: Share | None
    tpr_at_0_1_percent_fpr_low: Share | None
    tpr_at_0_1_percent_fpr_high: Share | None
    refused: Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class NotMade(Details):
    """A test that was not made.

    Attributes
    ----------
    reason
        Why, in words.
    """

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class References(Details):
    """Each test by itself, on the same people.

    Attributes
    ----------
    counts
        How much more likely the counts of the leaves are with one more person.
    loss
        How sure the model is of the right answer.
    lira
        The same against shadow models (LiRA, offline), on fewer people.
    """

    counts: Separation | NotMade
    loss: Separation | NotMade
    lira: Separation | NotMade


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipDetails(Separation):
    """How well the strongest test tells members from unseen people, and who else is exposed.

    Attributes
    ----------
    score
        ``counts``, or ``answers`` for private models, of which only what they
        answer can be attacked.
    strongest, strongest_at_1_percent_fpr
        The test with the highest area, and with the most members recognised.
    n_tests
        Among how many it was chosen; the intervals are corrected for that.
    certain_non_members, certain_non_members_share
        Control people whom the file alone excludes.
    members, control, reference
        People who were asked about, unseen people who were, and unseen people
        from whom the population was learnt.
    blind
        Whether the loss sees little but right and wrong.
    people_alone
        Leaves of one person, in all trees.
    references
        Each test by itself.
    """

    score: Literal["counts", "answers"]
    strongest: Test
    strongest_at_1_percent_fpr: Test | None
    n_tests: int
    certain_non_members: People
    certain_non_members_share: Share
    members: People
    control: People
    reference: People
    blind: bool
    people_alone: People
    references: References


def separation(members: Float, control: Float) -> Separation:
    """Return how well scores tell members from control people."""
    return strongest({"counts": (members, control)})[0]


def strongest(tests: Mapping[Test, Scores]) -> tuple[Separation, Test, Test | None]:
    """Return how well the best of some tests tells members, and which is best at what.

    Parameters
    ----------
    tests
        Scores of members and of control people, at least of one test.

    Returns
    -------
    tuple
        The numbers; the test with the highest area; that with the most members recognised
        at 1 % false alarms, None where that is not told.
    """
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
    tests: Mapping[Test, Scores], false_alarms: float, part: float
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
    return f"needs {people_needed(false_alarms):,} control people, there are {n:,}"
