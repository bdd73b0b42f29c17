"""What TA106 measures."""

from dataclasses import dataclass
from typing import Literal

from treeaudit.findings.details import Details, only_if_given
from treeaudit.findings.numbers import People, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstTrees(Details):
    """What the first trees say together.

    Attributes
    ----------
    trees
        How many.
    groups
        Groups of people who share all their leaves in them.
    alone, below_k
        People who share them with nobody, and in groups below k.
    smallest
        People in the smallest group.
    joint
        Share of the people whose answer they give back; not written where that was not tried.
    """

    trees: int
    groups: People
    alone: People
    below_k: People
    smallest: People
    joint: Share | None = only_if_given()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositionDetails(Details):
    """What all trees say together of the people they were trained on; counted, not sampled.

    Attributes
    ----------
    train
        The people: all that were given.
    by
        What the leaves tell: shares of labels, labels alone, numbers, or the steps of a boosting.
    draws_known
        Whether every tree is known to hold all people.
    joint, own
        Share of the people whose label, or number within ``tolerance``, the attack gives back,
        and the model itself answers.
    excess
        ``joint`` minus ``own``; below 0 where the attack finds less.
    excess_of_one_label
        People called a label rightly less people called it wrongly, beyond those of the model
        (of nobody, where it is more often wrong), of all who have it: of the label of which that
        is most; None for numbers.
    certain
        People whose label is certain to somebody who knows everybody's features, or who are in a
        group below ``k`` of which all labels or the mean of the numbers are; less those whom a
        leaf of one label tells of. 0 where the draws of the trees hide who is in them.
    certain_alone
        Of these, who share all leaves with nobody: their own number or label.
    majority
        Share of the most frequent label; None for numbers.
    rarest_people, rarest_joint, rarest_own
        People of the least frequent label, and the same two shares of them; None for numbers.
    tolerance
        How far a number may be off: 1 % of the standard deviation; None for labels.
    equations
        Leaves that say something of somebody.
    steps, settled
        Steps of the solution, and whether the last 25 changed fewer than one answer in a thousand.
    k
        The smallest acceptable group.
    curve
        The same for the first trees, the last entry for all of them.
    """

    train: People
    by: Literal["shares", "labels", "numbers", "steps"]
    draws_known: bool
    joint: Share
    own: Share
    excess: Share
    excess_of_one_label: Share | None
    certain: People
    certain_alone: People
    majority: Share | None
    rarest_people: People | None
    rarest_joint: Share | None
    rarest_own: Share | None
    tolerance: float | None
    equations: int
    steps: int
    settled: bool
    k: int
    curve: tuple[FirstTrees, ...]
