"""What the knowledge of others claims, beside the truth and beside unseen people.

A guess is made of whoever ends in a certain node of a certain tree. Training
people tell whether it is true, unseen people whether it would have been true of
anybody.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from treeaudit.arrays import Index, Int, Wide
from treeaudit.attacks.case import Case
from treeaudit.attacks.control import Score, beside, conclusion, leaf_guesses
from treeaudit.attacks.predicted_value import Codes
from treeaudit.findings.findings import Control
from treeaudit.model.words import estimated, in_percent, number_of
from treeaudit.people.records import Records
from treeaudit.stats import Estimate, fact


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
    found = beside(of, fact(told.of(told.chance), told.n), seen, unseen, sampled=sampled)
    if found.control is not None:
        found = replace(found, baselines=baselines or {})
    return replace(found, sentence=_sentence(case, found))


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


def _sentence(case: Case, found: Control) -> str:
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
