"""What was measured of the people of a model, on scales that can be set side by side."""

from dataclasses import dataclass
from typing import Literal

from treeaudit.attacks.attribute_inference.details import AttributesDetails, InferredColumn
from treeaudit.attacks.membership_inference.details import MembershipDetails
from treeaudit.attacks.reconstruction.details import ReconstructionDetails
from treeaudit.findings.report import Report
from treeaudit.stats import Estimate, fact, largest_of

__all__ = ["MEASURES", "Leakage", "Measure", "leakage_of"]

Measure = Literal["membership", "attribute", "certified"]
MEASURES: dict[Measure, str] = {
    "membership": "membership",
    "attribute": "hidden values",
    "certified": "certified people",
}
"""What can be measured, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leakage:
    """What an attacker has of a model beyond the guess; each None where it was not measured.

    Attributes
    ----------
    auc
        How well members are told from unseen people: 0.5 is a coin.
    membership
        The same as an advantage, ``2 auc - 1``.
    attribute
        How much more often the hidden values of the worst column are found than for unseen
        people and without the model, whichever is less.
    certified
        Share of the people whom the leaves of all trees together give away for certain.
    """

    auc: Estimate | None = None
    membership: Estimate | None = None
    attribute: Estimate | None = None
    certified: Estimate | None = None

    @property
    def measured(self) -> dict[Measure, Estimate]:
        """What was measured, by measure."""
        told = {measure: getattr(self, measure) for measure in MEASURES}
        return {measure: value for measure, value in told.items() if value is not None}

    @property
    def worst(self) -> Estimate | None:
        """The largest of what was measured."""
        return max(self.measured.values(), key=lambda one: one.value, default=None)


def leakage_of(report: Report) -> Leakage:
    """Return what the attacks of a report measured on people, and who is certain."""
    auc = attribute = certified = None
    for finding in report.findings:
        details = finding.details
        if isinstance(details, MembershipDetails):
            auc = Estimate(
                value=details.auc, low=details.auc_low, high=details.auc_high, n=details.members
            )
        elif isinstance(details, AttributesDetails) and details.columns:
            rows, members = details.columns, details.members
            columns = [_of_column(row, members, len(rows)) for row in rows]
            attribute = max(columns, key=lambda one: one.value)
        elif isinstance(details, ReconstructionDetails) and details.certified.whole:
            n = details.certified.whole
            certified = fact(details.given_away / n, n) if details.likely is None else None
    return Leakage(
        auc=auc,
        membership=None if auc is None else _advantage(auc),
        attribute=attribute,
        certified=certified,
    )


def _of_column(row: InferredColumn, n: int, several: int) -> Estimate:
    """Return the lesser of the two excesses of one of several columns.

    Which of the two is the lesser is not known either, so that the interval reaches down to
    where either of them may be, and no higher than both.
    """
    told = (
        (row.excess, row.excess_low, row.excess_high),
        (row.beyond_imputation, row.beyond_imputation_low, row.beyond_imputation_high),
    )
    both = [largest_of(Estimate(value=v, low=a, high=b, n=n), several) for v, a, b in told]
    return Estimate(
        value=min(one.value for one in both),
        low=min(one.low for one in both),
        high=min(one.high for one in both),
        n=n,
    )


def _advantage(auc: Estimate) -> Estimate:
    low, value, high = (2 * one - 1 for one in (auc.low, auc.value, auc.high))
    return Estimate(value=value, low=low, high=high, n=auc.n)
