"""What the knowledge of others claims, beside the truth and beside unseen people.

A guess is made of whoever ends in a certain node of a certain tree. Training
people tell whether it is true, unseen people whether it would have been true of
anybody.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from treeaudit.attacks.case import Case
from treeaudit.attacks.control import explained
from treeaudit.findings.findings import Control
from treeaudit.people.records import Records
from treeaudit.stats import Estimate, difference, fact, wilson

__all__ = ["Score", "control_of", "guess_by_node", "one_known"]

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int32]
Wide = npt.NDArray[np.int64]


@dataclass(slots=True, eq=False)
class Score:
    """How often guesses about some people are right; filled in tree by tree.

    In a forest each person counts once, with the share of their guesses that
    are right.

    Attributes
    ----------
    records
        The people, with labels.
    """

    records: Records
    made: Float = field(init=False)
    right: Float = field(init=False)
    chance: Float = field(init=False)

    def __post_init__(self) -> None:
        self.made, self.right, self.chance = np.zeros((3, len(self.records)))

    def add(self, guess: Int, chance: Float | float = 1.0) -> None:
        """Take in one guess per person, -1 for none, and how certain it is said to be."""
        made = guess >= 0
        self.made += made
        self.right += made & (guess == self.records.labels)
        self.chance += np.where(made, chance, 0.0)

    @property
    def n(self) -> int:
        """About how many people there is a guess."""
        return int((self.made > 0).sum())

    def of(self, right: Float) -> float:
        """Return the mean over people of some sum over their guesses."""
        asked = self.made > 0
        return float(np.clip((right[asked] / self.made[asked]).mean(), 0, 1))


def guess_by_node(case: Case, tree: int, node: Int, label: Int) -> Callable[[Records], Int]:
    """Return a guess about whoever ends in some nodes of a tree."""
    table = np.full(case.forest.trees[tree].n_nodes, -1, np.int32)
    table[node] = label

    def guess(records: Records) -> Int:
        found: Int = table[records.node[:, tree]]
        return found

    return guess


def control_of(
    case: Case,
    of: str,
    seen: Score | None,
    unseen: Score | None,
    *,
    baselines: dict[str, Estimate] | None = None,
    sampled: bool = False,
) -> Control | None:
    """Put a claim beside its truth and beside the same claim on unseen people.

    Parameters
    ----------
    case
        The model under audit.
    of
        Whom the claim is about.
    seen, unseen
        Guesses about training people and about others, or None.
    baselines
        How well the same unseen people are guessed in other ways.
    sampled
        Whether the guesses may be wrong, so that their truth has an interval.
    """
    told = next((score for score in (seen, unseen) if score is not None and score.n), None)
    if told is None:
        return None
    verified = control = excess = None
    claim = fact(told.of(told.chance), told.n)
    if seen is not None and seen.n:
        share = seen.of(seen.right)
        verified = wilson(share * seen.n, seen.n) if sampled else fact(share, seen.n)
    if unseen is not None and unseen.n:
        control = wilson(unseen.of(unseen.right) * unseen.n, unseen.n)
        excess = difference(verified or claim, control)
    found = Control(
        of=of,
        claim=claim,
        verified=verified,
        control=control,
        baselines={} if control is None else (baselines or {}),
        excess=excess,
    )
    return replace(found, sentence=_sentence(case, found))


def one_known(case: Case, positions: npt.NDArray[np.intp]) -> Control | None:
    """Ask whether unseen people have the label that one known person leaves over."""
    labels, many = case.table.labels, case.forest.tree_classes is not None
    if many or not len(positions) or (case.train is None and case.test is None):
        return None
    scores: list[Score | None] = []
    for records in (case.labelled("train"), case.labelled("test")):
        if records is None:
            scores.append(None)
            continue
        score = Score(records)
        for tree in np.unique(case.table.tree_of(positions)).tolist():
            at = case.table.positions(tree, records.node[:, tree])
            inside = (at >= 0) & np.isin(at, positions)
            guess = np.where(inside, labels.top[at], -1).astype(np.int32)
            score.add(_without_one(guess, at, records) if records is case.train else guess)
        scores.append(score)
    of = "the others in leaves where one known person is enough"
    return control_of(case, of, scores[0], scores[1])


def _without_one(guess: Int, leaf: Wide, train: Records) -> Int:
    """Make no guess about the one in each leaf who is known: somebody of another label."""
    others = np.flatnonzero((guess >= 0) & (guess != train.labels))
    _, first = np.unique(leaf[others], return_index=True)
    guess = guess.copy()
    guess[others[first]] = -1
    return guess


def _sentence(case: Case, found: Control) -> str:
    said = f"What follows about {found.of} is "
    said += "certain" if found.claim.value == 1 else f"said to be right for {found.claim.value:.0%}"
    if found.verified is not None:
        n = found.verified.n
        said += f"; it is true of {found.verified.value:.0%} of the {n:,} training "
        said += "person" if n == 1 else "people"
    if found.control is None:
        if case.test is None:
            return said + ". Without unseen people (--test) nobody can say whether that is memory."
        return said + ". No unseen person fits, so nothing speaks for a fact of the population."
    low, high, n = found.control.low, found.control.high, found.control.n
    who = "person who fits" if n == 1 else "people who fit"
    said += f"; of the {n:,} unseen {who} it is true of {found.control.value:.0%} "
    said += f"({low:.0%}–{high:.0%}): "
    if explained(found):
        return said + "mostly a fact of the population, not memory."
    if found.excess is not None and found.excess.low > 0:
        return said + "the difference was memorised."
    return said + "too few unseen people fit to tell memory from fact."
