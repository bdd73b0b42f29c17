"""What TA105 measures."""

from dataclasses import dataclass
from typing import Literal

from treeaudit.arrays import Float
from treeaudit.attacks.membership_inference.roc import area, people_needed, rate_at
from treeaudit.findings.details import Details, only_if_given
from treeaudit.findings.numbers import People, Share
from treeaudit.stats import Estimate

__all__ = ["MembershipDetails", "NotMade", "References", "Refused", "Separation", "separation"]


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
        one, with its 95 % interval (Clopper-Pearson); None below ten of these.
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
    """The usual tests, on the same people.

    Attributes
    ----------
    loss
        How sure the model is of the right answer.
    lira
        The same against shadow models (LiRA, offline), on fewer people.
    """

    loss: Separation | NotMade
    lira: Separation | NotMade


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipDetails(Separation):
    """How well the counts tell members from unseen people, and who else is exposed.

    Attributes
    ----------
    score
        ``counts``, or ``answers`` for private models, of which only what they
        answer can be attacked.
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
        The usual tests.
    """

    score: Literal["counts", "answers"]
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
    found = area(members, control)
    one, tenth = rate_at(members, control, 0.01), rate_at(members, control, 0.001)
    return Separation(
        auc=found.value,
        auc_low=found.low,
        auc_high=found.high,
        tpr_at_1_percent_fpr=None if one is None else Share(one.value),
        tpr_at_1_percent_fpr_low=None if one is None else Share(one.low),
        tpr_at_1_percent_fpr_high=None if one is None else Share(one.high),
        tpr_at_0_1_percent_fpr=None if tenth is None else Share(tenth.value),
        tpr_at_0_1_percent_fpr_low=None if tenth is None else Share(tenth.low),
        tpr_at_0_1_percent_fpr_high=None if tenth is None else Share(tenth.high),
        refused=Refused(
            tpr_at_1_percent_fpr=_refused(one, 0.01, len(control)),
            tpr_at_0_1_percent_fpr=_refused(tenth, 0.001, len(control)),
        ),
    )


def _refused(rate: Estimate | None, false_alarms: float, n: int) -> str | None:
    if rate is not None:
        return None
    return f"needs {people_needed(false_alarms):,} control people, there are {n:,}"
