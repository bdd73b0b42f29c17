"""Attribute inference: one hidden value of a person, from all others (TA104).

The attacker knows everything about a training person but one column. Each value
that may be in it leads to leaves; the counts there say whether one more person
with this label is in them. That is added to what anybody can guess without the
model. What unseen people lose as well is a fact of the population; what the
guess without the model finds as well is no leak of the model.

References
----------
Fredrikson, Jha and Ristenpart (2015), Model inversion attacks that exploit
confidence information: the first attack, kept as a reference. Jayaraman and
Evans (2022), Are attribute inference attacks just imputation?, for the baseline
that an attack has to be above.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from treeaudit.arrays import Flag, Int
from treeaudit.attacks.attribute_inference.guesses import (
    Column,
    Targets,
    Weighed,
    answers,
    columns_of,
    fredrikson,
    guesses,
    target_people,
    tempering,
    weigh,
)
from treeaudit.attacks.attribute_inference.view import AttributesDetails, InferredColumn, view
from treeaudit.attacks.case import Case, Need, severity_of_share
from treeaudit.attacks.control import of_what_fails
from treeaudit.attacks.membership_inference.scores import Groups, split_groups
from treeaudit.attacks.needs import LABELS, TEST, TRAIN, TRUE_COUNTS, TWO_HALVES
from treeaudit.findings.checks import Rule
from treeaudit.findings.details import Details, People, Share
from treeaudit.findings.findings import About, Control, Finding, Skipped, Words, details_of
from treeaudit.findings.report import Show
from treeaudit.model.forest import Forest
from treeaudit.model.words import estimated, in_percent
from treeaudit.stats import Estimate, difference, paired, residual, wilson


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """Who was found out about one column, and by what."""

    column: Column
    is_member: Flag  # Shape `(n,)`: members, the others are control people
    # Shape `(n,)`: whether the value is right that follows from the counts and the guess, from
    # the guess alone, from the most frequent value, and from Fredrikson's rule
    model: Flag
    imputation: Flag
    frequent: Flag
    fredrikson: Flag

    def share(self, right: Flag, confidence: float = 0.95) -> tuple[Estimate, Estimate]:
        """Return how often something is right, for members and for control people."""
        found = [right[self.is_member], right[~self.is_member]]
        members, control = (wilson(int(r.sum()), len(r), confidence) for r in found)
        return members, control

    def beyond_control(self, confidence: float = 0.95) -> Estimate:
        """Return how much more often members are found out than unseen people."""
        return difference(*self.share(self.model, confidence))

    def beyond_imputation(self, confidence: float = 0.95) -> Estimate:
        """Return how much more often members are found out than without the model."""
        ours, theirs = self.model[self.is_member], self.imputation[self.is_member]
        only = int((ours & ~theirs).sum()), int((theirs & ~ours).sum())
        return paired(*only, len(ours), confidence)

    def given_away(self, confidence: float) -> float:
        """Return the share of members whose value the model gives away; 0 where not certain."""
        excesses = [self.beyond_control(confidence), self.beyond_imputation(confidence)]
        if any(excess.low <= 0 for excess in excesses):
            return 0.0
        return min(excess.value for excess in excesses)


def _inferred(outcome: Outcome, *, given_away: bool) -> InferredColumn:
    """Return the shares of a column, and whether the model gives it away."""
    model, imputation, frequent, fredrikson = (
        [Share(found.value) for found in outcome.share(right)]
        for right in (outcome.model, outcome.imputation, outcome.frequent, outcome.fredrikson)
    )
    excess, beyond = outcome.beyond_control(), outcome.beyond_imputation()
    return InferredColumn(
        column=outcome.column.name,
        candidates=len(outcome.column.says),
        model_members=model[0],
        model_control=model[1],
        imputation_members=imputation[0],
        imputation_control=imputation[1],
        frequent_members=frequent[0],
        frequent_control=frequent[1],
        fredrikson_members=fredrikson[0],
        fredrikson_control=fredrikson[1],
        excess=excess.value,
        excess_low=excess.low,
        excess_high=excess.high,
        beyond_imputation=beyond.value,
        beyond_imputation_low=beyond.low,
        beyond_imputation_high=beyond.high,
        given_away=given_away,
    )


def _control_of(outcome: Outcome) -> Control:
    """Put members beside unseen people and beside guesses without the model."""
    members, control = outcome.share(outcome.model)
    guessed_members, guessed = outcome.share(outcome.imputation)
    frequent = outcome.share(outcome.frequent)[1]
    name, left = outcome.column.name, residual(members, control)
    return Control(
        of=name,
        claim=members,
        verified=members,
        control=control,
        baselines={"most frequent value": frequent, "guess without the model": guessed},
        excess=difference(members, control),
        residual=left,
        sentence=(
            f"{name} is found for {estimated(members, 0)} of {members.n:,} members and "
            f"{in_percent(control.value, 0)} of {control.n:,} unseen people; without the model for "
            f"{in_percent(guessed_members.value, 0)} and {in_percent(guessed.value, 0)}"
            + (of_what_fails(left) or ".")
        ),
    )


_FEWEST_PEOPLE = 500

_MOST_TIMES_TREES = 80_000


def _advantage(findings: Sequence[Finding], _: Forest) -> float | None:
    """Measure how much more often a value is found than for unseen people and without the model."""
    details = details_of(findings[0], AttributesDetails)
    if details.not_attacked:
        return None
    both = (min(row.excess_high, row.beyond_imputation_high) for row in details.columns)
    return max(0.0, *both)


_ADVANTAGE = Rule(
    name="max-attribute-advantage",
    title="Hidden values found beyond the guess (upper bound)",
    bound="at most {:.1%}",
    tells_of="everybody",
    measure=_advantage,
    missing="not every column was attacked",
    share=True,
    rests_on=("unit", "train", "test", "seed"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributes:
    """Infer each column of training people from all their others."""

    id: ClassVar[str] = "TA104"
    title: ClassVar[str] = "Attribute inference"
    words: ClassVar[Words] = Words(
        kinds=("attribute inference", "model inversion"),
        attacker="The attacker knows all of a training person but one value. They try every value "
        "it may have and keep the one whose leaves hold somebody like that, weighed with what "
        "is likely anyway.",
        assumes="the attacker has the file, knows all other columns and the label of the target, "
        "knows that they are in the training data, and has a sample of the population",
        remedy="merge leaves until each holds at least k people, leave the column out, or train "
        "with differential privacy",
        limit="one column at a time, and the most likely value only; a column that the model does "
        "not use cannot be attacked this way; numbers are inferred up to an interval",
        reference="Fredrikson et al. (2015); Jayaraman and Evans (2022) for the baseline",
    )
    about: ClassVar[About] = "people"
    checks: ClassVar[tuple[Rule, ...]] = (_ADVANTAGE,)
    view: ClassVar[Show] = staticmethod(view)
    needs: ClassVar[tuple[Need, ...]] = (TRAIN, TEST, LABELS, TWO_HALVES, TRUE_COUNTS)
    details: ClassVar[type[Details]] = AttributesDetails
    # The most members, and the most control people, that are asked about; fewer in forests of
    # more than fifty trees, never below 500
    most_people: int = 2_000
    most_columns: int = 30  # The most columns that are attacked, most identifying first
    # The same by cost: people times candidates times trees, 40 million of which take about eight
    # seconds
    most_work: int = 40_000_000

    def run(self, case: Case) -> Finding | Skipped:
        """Return which columns the model gives away beyond control and imputation."""
        trees = case.forest.n_trees
        most = max(_FEWEST_PEOPLE, min(self.most_people, _MOST_TIMES_TREES // trees))
        people = split_groups(case, self.id, min(most, self.most_people))
        asked = target_people(people)
        columns, left = self._choose(case, people, len(asked.values))
        if not columns:
            reason = "the model asks about no column in which two values could be told apart"
            return Skipped(id=self.id, title=self.title, reason=reason)
        outcomes = []
        weighed = weigh(case, people, asked, columns)
        for done, (column, sums) in enumerate(zip(columns, weighed, strict=True), start=1):
            outcomes.append(_outcome(case, people, asked, column, sums))
            case.step("guessing without the model", done, len(columns))
        return self._finding(case, people, outcomes, left)

    def _choose(self, case: Case, people: Groups, n: int) -> tuple[list[Column], list[str]]:
        """Return the columns to attack, most identifying first, and the names of the rest."""
        reference = people.test.values[people.reference]
        columns = columns_of(case.forest, reference)
        bits = np.array([_entropy(column.truth(reference)) for column in columns])
        ordered = [columns[i] for i in np.argsort(-bits, kind="stable")]
        work = np.cumsum([n * len(column.says) * case.forest.n_trees for column in ordered])
        most = max(1, int((work <= self.most_work).sum()))
        most = min(most, self.most_columns)
        return ordered[:most], [column.name for column in ordered[most:]]

    def _finding(
        self, case: Case, people: Groups, outcomes: Sequence[Outcome], left: Sequence[str]
    ) -> Finding:
        # Many columns are tested: each has to pass at its part of the five percent.
        confidence = 1 - 0.05 / len(outcomes)
        shares = [outcome.given_away(confidence) for outcome in outcomes]
        given = [o.column.name for o, share in zip(outcomes, shares, strict=True) if share > 0]
        share = max(shares)
        exposed = round(share * len(people.train))
        return Finding(
            id=self.id,
            title=self.title,
            severity=severity_of_share(share),
            leaves=0,
            people=exposed,
            summary=_summary(outcomes, shares, exposed, left),
            looked=tuple(f"values of {outcome.column.name}" for outcome in outcomes),
            details=AttributesDetails(
                columns=tuple(
                    _inferred(outcome, given_away=share > 0)
                    for outcome, share in zip(outcomes, shares, strict=True)
                ),
                given_away=tuple(given),
                not_attacked=tuple(left),
                alpha=tempering(case.forest.n_trees),
                members=People(len(people.members)),
                control=People(len(people.control)),
                reference=People(len(people.reference)),
            ),
            controls=tuple(_control_of(outcome) for outcome in outcomes),
        )


def _entropy(code: Int) -> float:
    share = np.bincount(code + 1) / len(code)
    share = share[share > 0]
    return float(-(share * np.log2(share)).sum())


def _outcome(case: Case, people: Groups, asked: Targets, column: Column, sums: Weighed) -> Outcome:
    truth = column.truth(asked.values)
    known = column.truth(people.test.values[people.reference])
    frequency = np.bincount(known[known >= 0], minlength=len(column.says)) + 0.5
    probability = guesses(case, people, asked, column)
    found = answers(sums.score, probability, tempering(case.forest.n_trees))
    rule = fredrikson(sums.people, frequency / frequency.sum(), sums.phi)
    return Outcome(
        column=column,
        is_member=asked.is_member,
        model=found == truth,
        imputation=probability.argmax(axis=1) == truth,
        frequent=frequency.argmax() == truth,
        fredrikson=rule.argmax(axis=1) == truth,
    )


def _summary(
    outcomes: Sequence[Outcome], shares: Sequence[float], exposed: int, left: Sequence[str]
) -> str:
    n = len(outcomes)
    more = f" {len(left):,} further columns were not attacked." if left else ""
    if not any(shares):
        what = "The column is not" if n == 1 else f"None of {n:,} columns is"
        return f"{what} given away beyond what can be guessed without the model.{more}"
    worst = outcomes[int(np.argmax(shares))]
    others = sum(share > 0 for share in shares) - 1
    also = f" {others:,} other columns are given away as well." if others > 1 else ""
    also = " One other column is given away as well." if others == 1 else also
    members, control = worst.share(worst.model)
    guessed = worst.share(worst.imputation)[0]
    found, unseen, without = (in_percent(one.value, 0) for one in (members, control, guessed))
    return (
        f"{worst.column.name} is found for {found} of the members, against "
        f"{unseen} of unseen people and {without} without the model: the file "
        f"gives it away for about {exposed:,} people.{also}{more}"
    )
