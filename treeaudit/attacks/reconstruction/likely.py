"""What TA108 says where counts are draws or noisy: who is likely, beside the control."""

import numpy as np

from treeaudit.arrays import Flag
from treeaudit.attacks.case import Case
from treeaudit.attacks.reconstruction.details import (
    AfterTrees,
    Informed,
    LikelyPeople,
    ReconstructionDetails,
)
from treeaudit.errors import DataError
from treeaudit.findings.findings import Evidence
from treeaudit.findings.numbers import People, Share
from treeaudit.inference.budget import Budget
from treeaudit.inference.cells import people_per_place
from treeaudit.inference.exact import infer_exact
from treeaudit.inference.explanation import sentence
from treeaudit.inference.likely import LikelyTable, infer_likely, records_of, table_error
from treeaudit.inference.scope import subtract_known
from treeaudit.model.words import in_percent, label_text
from treeaudit.people.records import Records

_LEVEL = 0.9
_MOST_PAIRED = 1_000
_OF_DRAWS = "every tree drew its people at random, with replacement"
_OF_NOISE = "the noise is what the file says, and as many people as its counts add up to"


def likely_of(case: Case, budget: Budget) -> tuple[LikelyTable, Records | None]:
    """Return who is likely, and the people who are the control of it.

    Every other one of the people who were not in the training data is the public table that
    probabilities start from; the others are the control.
    """
    test = case.labelled("test")
    prior = control = None
    if test is not None and len(test) > 1:
        even = np.arange(len(test)) % 2 == 0
        prior, control = test.only(even), test.only(~even)
    return infer_likely(
        case.forest, budget=budget, known=_known(case), prior=prior, seed=case.seed
    ), control


def details_likely(
    case: Case, answer: LikelyTable, control: Records | None
) -> ReconstructionDetails:
    """Return what is measured; nobody is certain."""
    n, known, found = answer.n_people, _known(case), answer.people
    likely = found.probability >= _LEVEL
    train, others = case.labelled("train"), control
    if others is not None:
        others = None if len(others) < n else others.only(np.arange(len(others)) < n)
    held = People(int(likely.sum()))
    right = None if train is None else _there(answer, train, known)[likely]
    by_chance = None if others is None else _there(answer, others, None)[likely]
    off = _errors(case, answer, others) if known is None else (None, None)
    none = Share.of(0, n)
    return ReconstructionDetails(
        given_away=People(0),
        certified=none,
        exact=none,
        k=case.k,
        cells=len(answer.cell),
        open_cells=len(answer.cell),
        bits=0.0,
        bits_of_all=n * answer.domain.bits,
        trees=case.forest.n_trees,
        of_trees=case.forest.n_trees,
        seconds=case.seconds,
        assumptions=(_OF_NOISE if answer.noise else _OF_DRAWS, *answer.domain.assumptions),
        curve=(AfterTrees(trees=case.forest.n_trees, certified=none, exact=none),),
        likely=LikelyPeople(
            counts_are="noisy" if answer.noise else "draws",
            level=_LEVEL,
            people=Share.of(held, n),
            expected=float(found.probability.sum()),
            known=None if known is None else People(len(known)),
            public=None if control is None else People(len(control)),
            right=None if right is None else Share.of(int(right.sum()), held),
            right_of_others=None if by_chance is None else Share.of(int(by_chance.sum()), held),
            error=off[0],
            error_of_others=off[1],
        ),
    )


def evidence_likely(case: Case, answer: LikelyTable, shown: int) -> tuple[Evidence, ...]:
    """Describe the likeliest people, one of each place."""
    found, classes = answer.people, case.forest.schema.classes or ()
    at = np.flatnonzero((found.nth == 1) & (found.probability >= _LEVEL))[:shown]
    return tuple(
        Evidence(
            tree=0,
            leaf=int(answer.cells.leaf[0, answer.cell[place]]),
            people=1,
            says=f"{case.forest.schema.target} = {label_text(classes[answer.label[place]])}, "
            f"likely: {in_percent(probability, 0)}",
            rule=sentence(answer.cells, int(answer.cell[place])),
        )
        for place, probability in zip(
            found.place[at].tolist(), found.probability[at].tolist(), strict=True
        )
    )


def informed_of(case: Case, budget: Budget) -> Informed | None:
    """Return what exact counts say besides the people who are known; None without any."""
    if (known := _known(case)) is None:
        return None
    try:
        answer = infer_exact(subtract_known(case.forest, known), budget=budget)
    except DataError:
        return None
    n = answer.n_people
    return Informed(
        known=People(len(known)),
        certified=Share.of(answer.certified, n),
        exact=Share.of(answer.exact, n),
    )


def _known(case: Case) -> Records | None:
    known = case.known
    return None if known is None or known.labels is None or not len(known) else known


def _there(answer: LikelyTable, people: Records, known: Records | None) -> Flag:
    """Tell of each likely person whether some people are there, besides those who are known."""
    found = answer.people
    cell, label = answer.cell[found.place], answer.label[found.place]
    n = people_per_place(answer.cells, cell, label, people)
    if known is not None:
        n = n - people_per_place(answer.cells, cell, label, known)
    there: Flag = n >= found.nth
    return there


def _errors(
    case: Case, answer: LikelyTable, others: Records | None
) -> tuple[float | None, float | None]:
    """Return the shares of values that are wrong, in the likeliest table and in one of others."""
    train = case.train
    if train is None or len(train) != answer.n_people or len(train) > _MOST_PAIRED:
        return None, None
    table = records_of(answer, case.forest.schema)
    if table is None or len(table) != len(train):
        return None, None
    people = train.values.astype(np.float64)
    control = None if others is None else table_error(others.values.astype(np.float64), people)
    return table_error(table, people), control
