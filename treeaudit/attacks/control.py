"""The claim of some leaves beside the same claim on training and on unseen people.

In small leaves a model often remembers; in large leaves of one label it often
states a fact of the population. Only people who were not in the training data
can tell one from the other.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from treeaudit.arrays import Flag, Float, Index, Int, Wide
from treeaudit.attacks.case import Case, PredictedValue, label_of
from treeaudit.findings.checks import Rule
from treeaudit.findings.details import People, Phrase, say
from treeaudit.findings.findings import Control, Finding, Severity
from treeaudit.model.forest import Forest
from treeaudit.model.words import estimated, in_percent, number_of
from treeaudit.people.records import Records
from treeaudit.stats import Estimate, difference, fact, residual, wilson
from treeaudit.table.labels import Labels
from treeaudit.table.persons import Codes


@dataclass(slots=True, eq=False)
class Score:
    """How often guesses about some people are right; filled in tree by tree."""

    records: Records  # The people
    code: Codes | None = None  # What is guessed of each: their labels unless told
    times: Float = field(init=False)
    made: Float = field(init=False)
    right: Float = field(init=False)
    chance: Float = field(init=False)

    def __post_init__(self) -> None:
        self.made, self.right, self.chance = np.zeros((3, len(self.records)))
        times = self.records.times
        self.times = np.ones(len(self.records)) if times is None else times.astype(np.float64)
        if self.code is None:
            self.code = self.records.labels

    def add(self, guess: Codes, chance: Float | float = 1.0) -> None:
        """Take in one guess per person, -1 for none, and how certain it is said to be."""
        made = guess >= 0
        self.made += made
        self.right += made & (guess == self.code)
        self.chance += made * chance if isinstance(chance, float) else np.where(made, chance, 0.0)

    @property
    def n(self) -> int:
        """About how many people there is a guess."""
        return int(self.times[self.made > 0].sum())

    def of(self, right: Float) -> float:
        """Return the mean over people of some sum over their guesses."""
        asked = self.made > 0
        share, times = right[asked] / self.made[asked], self.times[asked]
        return float(np.clip((share * times).sum() / times.sum(), 0, 1))


def leaf_guesses(
    case: Case, records: Records, chosen: Flag, labels: Labels
) -> Iterator[tuple[Wide, Codes]]:
    """Guess what some leaves say of whoever fits them, tree by tree."""
    # Whoever fits no leaf has position -1: the last entry.
    says = np.append(np.where(chosen, labels.top, -1), -1)
    for tree in range(case.forest.n_trees):
        if chosen[case.table.rows_of(tree)].any():
            at = case.table.positions(tree, records.node[:, tree])
            yield at, says.take(at)


_SMALL_EXCESS = 0.1
"""An excess that is certainly below this is no memory worth the name."""


def leaf_control(
    case: Case, chosen: Flag, of: str, stated: PredictedValue | None = None
) -> Control | None:
    """Test what some leaves say of the people in them."""
    if stated is None:
        if not case.table.tells_labels:
            return None
        stated = label_of(case)
    if (stated.train is None and stated.test is None) or not chosen.any():
        return None
    size, labels = stated.size[chosen], stated.labels
    right = np.round(labels.share * stated.size, 9)
    seen = _scored(case, case.train, stated.train, chosen, stated)
    unseen = some = _scored(case, case.test, stated.test, chosen, stated)
    if case.test is not None and stated.test is case.test.labels:
        # Of too many people to hold, all are counted, and some are guessed.
        every = case.test.in_leaves()
        unseen = some if every is case.test else _scored(case, every, every.labels, chosen, stated)
    claim = fact(float(right[chosen].sum() / size.sum()), int(size.sum()))
    control = compare_to_control(of, claim, seen, unseen)
    if control.verified is None and case.forest.n_trees > 1:
        # Without the training people a person counts in every tree.
        control = replace(control, memorised=None)
    if unseen is not None and unseen.n and some is not None:
        control = replace(control, baselines=_baselines(stated, unseen, some))
    return replace(control, sentence=_sentence(stated, control))


def compare_to_control(
    of: str, claim: Estimate, seen: Score | None, unseen: Score | None, *, sampled: bool = False
) -> Control:
    """Put a claim beside its truth and beside the same claim on unseen people."""
    verified = control = excess = None
    if seen is not None and seen.n:
        share = seen.of(seen.right)
        verified = wilson(share * seen.n, seen.n) if sampled else fact(share, seen.n)
    if unseen is not None and unseen.n:
        control = wilson(unseen.of(unseen.right) * unseen.n, unseen.n)
        excess = difference(verified or claim, control)
    if excess is None or control is None:
        return Control(of=of, claim=claim, verified=verified, control=control)
    told = verified or claim
    return Control(
        of=of,
        claim=claim,
        verified=verified,
        control=control,
        excess=excess,
        memorised=_of_people(excess, told.n),
        residual=residual(told, control),
    )


def _of_people(excess: Estimate, n: int) -> Estimate:
    """Return an excess in people: nobody where it is below 0."""
    value, low, high = (max(0.0, n * end) for end in (excess.value, excess.low, excess.high))
    return Estimate(value=value, low=low, high=high, n=n)


def _scored(
    case: Case, records: Records | None, code: Codes | None, chosen: Flag, stated: PredictedValue
) -> Score | None:
    if records is None or code is None:
        return None
    score = Score(records, code)
    for _, guess in leaf_guesses(case, records, chosen, stated.labels):
        score.add(guess)
    return score


def _baselines(stated: PredictedValue, unseen: Score, some: Score) -> dict[str, Estimate]:
    """Return how well the same unseen people, or some of them, are guessed without the model."""
    code, people = np.asarray(unseen.code), unseen.made > 0
    answer, times, n = code[people], unseen.times, unseen.n
    common = int(np.bincount(code[code >= 0], times[code >= 0], minlength=1).argmax())
    fit = int(times[people][answer == common].sum())
    found = {f"most frequent {stated.value}": wilson(fit, n)}
    if stated.guess is not None and some.n:
        asked = some.made > 0
        right = stated.guess(asked) == np.asarray(some.code)[asked]
        found["guess without the model"] = wilson(int(right.sum()), some.n)
    return found


def explained(control: Control | None) -> bool:
    """Tell whether unseen people fit as well, so that the claim is no memory."""
    return (
        control is not None and control.excess is not None and control.excess.high < _SMALL_EXCESS
    )


def lowered(severity: Severity, controls: Sequence[Control | None]) -> Severity:
    """Return the severity, one step lower where every claim holds for unseen people as well."""
    if controls and all(explained(control) for control in controls):
        steps: dict[Severity, Severity] = {"high": "medium", "medium": "low"}
        return steps.get(severity, severity)
    return severity


def _sentence(stated: PredictedValue, control: Control) -> str:
    of, value = control.of, stated.value
    if stated.test is None:
        if control.verified is None:
            return ""
        true = in_percent(control.verified.value)
        return (
            f"Verified: in {of}, {true} of the {control.verified.n:,} "
            f"training people who fit have the {value} that their leaf states. Without unseen "
            "people (--test) nobody can say whether that is memory."
        )
    if control.control is None:
        return (
            f"None of the {len(stated.test):,} unseen people fits {of}: nothing speaks for "
            "a fact of the population."
        )
    unseen, seen = control.control, control.verified or control.claim
    who = "person who fits has" if unseen.n == 1 else "people who fit have"
    return (
        f"In {of}, {estimated(unseen, 0)} of {unseen.n:,} unseen {who} the {value} that the leaf "
        f"states, against {in_percent(seen.value, 0)} of the training people: {conclusion(control)}"
    )


def memory(found: Estimate) -> Phrase:
    """Say of how many people a claim holds that would not hold of others like them."""
    return say(
        "about {} of {} ({}–{}) beyond what unseen people would show",
        *(People.alone(round(n)) for n in (found.value, found.n, found.low, found.high)),
    )


def conclusion(control: Control) -> str:
    """Say what unseen people tell of a claim that they were held against: a number, no label."""
    if control.memorised is not None:
        said = memory(control.memorised)
        told = said.template.format(*(f"{n:,}" for n in said.parts))
        return told + (of_what_fails(control.residual) or ".")
    if control.excess is None:
        return "no unseen person fits."
    found = control.excess
    value, low, high = (max(x, 0.0) for x in (found.value, found.low, found.high))
    more = estimated(replace(found, value=value, low=low, high=high))
    return f"{more} of them beyond what unseen people would show."


def of_what_fails(found: Estimate | None) -> str:
    """Say the residual risk; nothing where there is none, or all that can be is true."""
    if found is None or found.low >= 1:
        return ""
    return (
        f"; residual risk {estimated(found, 0)}: so much of what "
        "fails for unseen people is right for the others."
    )


def _memorised_excess(findings: Sequence[Finding], _: Forest) -> float | None:
    """Measure the largest excess of a claim over its control; every claim needs one."""
    claims = [finding for finding in findings if finding.status == "found"]
    controls = [control for finding in claims for control in finding.controls]
    if any(not finding.controls for finding in claims):
        return None
    excesses = [control.excess for control in controls]
    known = [excess.high for excess in excesses if excess is not None]
    return max(known, default=0.0) if len(known) == len(excesses) else None


MEMORY = Rule(
    name="max-memorised-excess",
    title="Claims that hold less for unseen people (upper bound)",
    bound="at most {:.1%}",
    measure=_memorised_excess,
    missing="needs unseen people for every claim (--test)",
    share=True,
    rests_on=("k", "unit", "counts", "noise", "sensitive", "train", "test", "seed"),
)
"""The check of every attack whose claims are held against unseen people."""


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
    """Put a claim beside its truth and beside the same claim on unseen people."""
    told = next((score for score in (seen, unseen) if score is not None and score.n), None)
    if told is None:
        return None
    found = compare_to_control(
        of, fact(told.of(told.chance), told.n), seen, unseen, sampled=sampled
    )
    if found.control is not None:
        found = replace(found, baselines=baselines or {})
    return replace(found, sentence=_knowledge_sentence(case, found))


def one_known(case: Case, positions: Index) -> Control | None:
    """Ask whether unseen people have the label that one known person leaves over."""
    labels, many = case.table.labels, case.forest.tree_classes is not None
    if many or not len(positions) or (case.train is None and case.test is None):
        return None
    chosen = np.zeros(len(case.table), dtype=np.bool_)
    chosen[positions] = True
    scores: list[Score | None] = []
    for one in (case.labelled("train"), case.labelled("test")):
        if one is None:
            scores.append(None)
            continue
        records = one.in_leaves()
        score = Score(records)
        for at, guess in leaf_guesses(case, records, chosen, labels):
            score.add(_without_one(guess, at, records) if records is case.train else guess)
        scores.append(score)
    of = "the others in leaves where one known person is enough"
    return control_of(case, of, scores[0], scores[1])


def _without_one(guess: Codes, leaf: Wide, train: Records) -> Codes:
    """Make no guess about the one in each leaf who is known: somebody of another label."""
    others = np.flatnonzero((guess >= 0) & (guess != train.labels))
    _, first = np.unique(leaf[others], return_index=True)
    guess = guess.copy()
    guess[others[first]] = -1
    return guess


def _knowledge_sentence(case: Case, found: Control) -> str:
    said = f"What follows about {found.of} is "
    said += (
        "certain"
        if found.claim.value == 1
        else f"said to be right for {in_percent(found.claim.value, 0)}"
    )
    if found.verified is not None:
        people = number_of(found.verified.n, "training person", "training people")
        said += f"; it is true of {in_percent(found.verified.value, 0)} of the {people}"
    if found.control is None:
        if case.test is None:
            return said + ". Without unseen people (--test) nobody can say whether that is memory."
        return said + ". No unseen person fits, so nothing speaks for a fact of the population."
    who = number_of(found.control.n, "unseen person who fits", "unseen people who fit")
    said += f"; of the {who} it is true of {estimated(found.control, 0)}: "
    return said + conclusion(found)
