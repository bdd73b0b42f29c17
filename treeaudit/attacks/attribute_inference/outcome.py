"""Who was found out about one column in TA104, and by what."""

from dataclasses import dataclass

from treeaudit.arrays import Flag
from treeaudit.attacks.attribute_inference.candidates import Column
from treeaudit.attacks.attribute_inference.details import InferredColumn
from treeaudit.attacks.control import of_what_fails
from treeaudit.findings.findings import Control
from treeaudit.findings.numbers import Share
from treeaudit.model.words import estimated, in_percent
from treeaudit.stats import Estimate, difference, paired, residual, wilson

__all__ = ["Outcome", "control_of", "inferred"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """Who was found out about one column, and by what.

    Attributes
    ----------
    is_member
        Shape ``(n,)``: members, the others are control people.
    model, imputation, frequent, fredrikson
        Shape ``(n,)``: whether the value is right that follows from the counts
        and the guess, from the guess alone, from the most frequent value, and
        from Fredrikson's rule.
    """

    column: Column
    is_member: Flag
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
        """Return the share of members whose value the model gives away; 0 where not certain.

        The smaller of the two excesses, where both are above 0 with confidence.
        """
        excesses = [self.beyond_control(confidence), self.beyond_imputation(confidence)]
        if any(excess.low <= 0 for excess in excesses):
            return 0.0
        return min(excess.value for excess in excesses)


def inferred(outcome: Outcome, *, given_away: bool) -> InferredColumn:
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


def control_of(outcome: Outcome) -> Control:
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
