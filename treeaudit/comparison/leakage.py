"""What was measured of the people of a model, on scales that can be set side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from treeaudit.attacks.attribute_inference.details import AttributesDetails, InferredColumn
from treeaudit.attacks.membership_inference.details import MembershipDetails
from treeaudit.attacks.reconstruction.details import ReconstructionDetails
from treeaudit.findings.report import Report
from treeaudit.stats import Estimate, fact, largest_of

__all__ = ["MEASURES", "Leakage", "Measure", "leakage_of", "lesser_of"]

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
    """Return the lesser of the two excesses of one of several columns."""
    told = (
        (row.excess, row.excess_low, row.excess_high),
        (row.beyond_imputation, row.beyond_imputation_low, row.beyond_imputation_high),
    )
    return lesser_of([Estimate(value=v, low=a, high=b, n=n) for v, a, b in told], several)


def lesser_of(excesses: Sequence[Estimate], columns: int) -> Estimate:
    """Return the least of the excesses of a column that was picked among several.

    Which of them is the least is not known either, so that the interval reaches down to where
    any of them may be, and no higher than all of them.

    Examples
    --------
    >>> wide = Estimate(value=0.1, low=-0.05, high=0.25, n=400)
    >>> narrow = Estimate(value=0.05, low=0.02, high=0.08, n=400)
    >>> least = lesser_of([wide, narrow], 1)
    >>> least.value, round(least.low, 3), round(least.high, 3)
    (0.05, -0.05, 0.08)
    """
    each = [largest_of(one, columns) for one in excesses]
    return Estimate(
        value=min(one.value for one in each),
        low=min(one.low for one in each),
        high=min(one.high for one in each),
        n=each[0].n,
    )


def _advantage(auc: Estimate) -> Estimate:
    low, value, high = (2 * one - 1 for one in (auc.low, auc.value, auc.high))
    return Estimate(value=value, low=low, high=high, n=auc.n)
