"""Measures of a model in a comparison: the claims of its file, and what attacks found.

A model that was trained with noise claims people who are not there. Counted on the real training
people, a claim is right or wrong. Without them it has a probability under the noise that the model
states, for an attacker to whom all counts are alike beforehand.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.attacks.attribute_inference.view import AttributesDetails, InferredColumn
from treeaudit.attacks.membership_inference.roc import MembershipDetails
from treeaudit.attacks.reconstruction.view import ReconstructionDetails
from treeaudit.findings.report import Report
from treeaudit.people.records import Records
from treeaudit.stats import Estimate, fact, largest_of
from treeaudit.table.reconstruction import claimed
from treeaudit.table.table import Table

Measure = Literal["membership", "attribute", "certified"]
MEASURES: dict[Measure, str] = {
    "membership": "membership",
    "attribute": "hidden values",
    "certified": "certified people",
}
"""What can be measured, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leakage:
    """What an attacker has of a model beyond the guess; each None where it was not measured."""

    auc: Estimate | None = None  # How well members are told from unseen people: 0.5 is a coin
    membership: Estimate | None = None  # The same as an advantage, ``2 auc - 1``
    # How much more often the hidden values of the worst column are found than for unseen
    # people and without the model, whichever is less
    attribute: Estimate | None = None
    # Share of the people whom the leaves of all trees together give away for certain
    certified: Estimate | None = None

    @property
    def measured(self) -> dict[Measure, Estimate]:
        """What was measured, by measure."""
        values = {measure: getattr(self, measure) for measure in MEASURES}
        return {measure: value for measure, value in values.items() if value is not None}

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
    excesses = (
        (row.excess, row.excess_low, row.excess_high),
        (row.beyond_imputation, row.beyond_imputation_low, row.beyond_imputation_high),
    )
    return lesser_of([Estimate(value=v, low=a, high=b, n=n) for v, a, b in excesses], several)


def lesser_of(excesses: Sequence[Estimate], columns: int) -> Estimate:
    """Return the least of the excesses of a column that was picked among several.

    Which of them is the least is not known either, so that the interval reaches down to where
    any of them may be, and no higher than all of them.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """Claims of the worst tree of a model, each beside what is true of them."""

    told: bool  # Whether the file tells how many people are in its leaves at all
    smallest: int | None  # People in the smallest leaf; None where the file does not tell
    alone: int  # Leaves that claim to hold one person
    # Those in which exactly one training person ends; None without training data
    alone_true: int | None
    certain: int  # People in leaves that claim to hold one label only
    # Training people who end in such a leaf and have its label; None without
    certain_true: int | None
    sizes: tuple[int, ...]  # People per leaf of the tree with most people alone, smallest first
    # How many of ``alone`` and ``certain`` to expect to be true under the noise, as if
    # nothing had been done to the counts after it; None for counts without known noise
    alone_expected: float | None = None
    certain_expected: float | None = None


def true_counts(noisy: Float, rate: float, n: int) -> Float:
    """Return how likely n people are behind each noisy count, all n from 0 being alike before."""
    likely: Float = np.exp(_log_true(np.rint(noisy), rate, n))
    return likely


def _log_true(c: Float, rate: float, n: int) -> Float:
    """Return the logarithm of that: of what is as good as impossible, too."""
    mass = -np.expm1(-rate)
    # The sum of exp(-rate |c - k|) over all k from 0, divided by its largest part.
    below = np.exp(-rate * (np.maximum(c, 0) + 1))
    others = np.where(c >= 0, np.log1p(np.exp(-rate) - below), 0.0)
    far = np.where(c >= 0, np.abs(c - n), float(n))
    result: Float = np.log(mass) - others - rate * far
    return result


def claims_of(table: Table, train: Records | None = None) -> Claims:
    """Return what a file claims, of the worst tree for each claim."""
    forest, noise = table.forest, table.forest.noise
    rate = None if noise is None else noise.rate
    groups = (table if table.tells_people else claimed(forest)).groups
    size = groups.size
    alone = size == 1
    pure = groups.labels.distinct == 1 if groups.tells_labels else np.zeros(len(size), np.bool_)
    one, other = _worst(groups, alone), _worst(groups, np.where(pure, size, 0))
    lonely, certain = _rows(groups, one, alone), _rows(groups, other, pure)
    return Claims(
        told=groups.tells_people,
        smallest=int(size.min()) if len(size) else None,
        alone=len(lonely),
        alone_true=None if train is None else _alone_true(groups, one, lonely, train),
        certain=int(size[certain].sum()),
        certain_true=None if train is None else _certain_true(groups, other, certain, train),
        sizes=tuple(np.sort(size[groups.rows_of(one)]).tolist()),
        alone_expected=None if rate is None else _alone_expected(groups, lonely, rate),
        certain_expected=None if rate is None else _certain_expected(groups, certain, rate),
    )


def _worst(groups: Table, values: npt.ArrayLike) -> int:
    """Return the tree with the largest sum, of those whose leaves hold anybody."""
    trees = np.flatnonzero(np.diff(groups.start))
    return int(trees[groups.per_tree(values)[trees].argmax()]) if len(trees) else 0


def _rows(groups: Table, tree: int, chosen: Flag) -> Wide:
    mine = groups.rows_of(tree)
    rows: Wide = np.flatnonzero(chosen[mine]) + mine.start
    return rows


def _alone_true(groups: Table, tree: int, rows: Wide, train: Records) -> int:
    position = groups.positions(tree, train.node[:, tree])
    real = np.bincount(position[position >= 0], minlength=len(groups))
    return int((real[rows] == 1).sum())


def _certain_true(groups: Table, tree: int, rows: Wide, train: Records) -> int | None:
    if not groups.tells_labels:
        return 0
    if train.labels is None:
        return None
    labels = np.full(len(groups) + 1, -1)
    labels[rows] = groups.labels.top[rows]
    # Position -1, of people in no such leaf, is the last entry: it states nothing.
    return int((labels[groups.positions(tree, train.node[:, tree])] == train.labels).sum())


def _alone_expected(groups: Table, rows: Wide, rate: float) -> float:
    """Return how many leaves to expect to hold one person: one of a class, none of others."""
    counts = groups.counts(rows)
    if counts is None:
        return 0.0
    c = np.rint(counts)
    one, none = _log_true(c, rate, 1), _log_true(c, rate, 0)
    return float(np.exp(none.sum(axis=1, keepdims=True) + (one - none)).sum())


def _certain_expected(groups: Table, rows: Wide, rate: float) -> float:
    """Return how many of the people to expect in leaves whose other classes are empty."""
    counts = groups.counts(rows)
    # Where noise leaves nobody in any leaf, no leaf states a label.
    if counts is None or not len(rows):
        return 0.0
    none = true_counts(counts, rate, 0)
    none[np.arange(len(rows)), groups.labels.top[rows]] = 1.0
    return float((groups.size[rows] * none.prod(axis=1)).sum())
