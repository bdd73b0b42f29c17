"""What TA108 says of people who are certain from all leaves together."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.attacks.case import Case
from treeaudit.attacks.reconstruction.details import (
    AfterTrees,
    Checked,
    Informed,
    ReconstructionDetails,
)
from treeaudit.errors import DataError
from treeaudit.findings.findings import Evidence
from treeaudit.findings.numbers import People, Share
from treeaudit.inference.bootstrap import BootstrapSolution
from treeaudit.inference.bounds import Bounds
from treeaudit.inference.budget import Budget, OutOfBudgetError
from treeaudit.inference.cells import Cells, leaf_keys
from treeaudit.inference.exact import Solution
from treeaudit.inference.explanation import sentence
from treeaudit.model.forest import Forest
from treeaudit.model.words import label_text
from treeaudit.people.records import Records

if TYPE_CHECKING:
    from treeaudit.inference.boosted import BoostedSolution


def checked_on(train: Records, cells: Cells, tables: Iterable[tuple[Wide, Bounds]]) -> Checked:
    """Return in how many cells with somebody certain there are as many people as was certain."""
    n_trees = len(cells.leaf)
    person = leaf_keys(train.node[:, :n_trees])
    held = wrong = 0
    for label, (at, bounds) in enumerate(tables):
        low, high = bounds.low, bounds.high
        mine = np.sort(person[train.known_labels == label])
        cell = leaf_keys(cells.leaf[:, at].T)
        there = np.searchsorted(mine, cell, "right") - np.searchsorted(mine, cell, "left")
        held += int((low > 0).sum())
        wrong += int(((there < low) | (there > high)).sum())
    return Checked(cells=People(held, "cell", "cells"), wrong=People(wrong, "cell", "cells"))


GAPS = "leaves that hold nobody stand for others that were taken out, and may hold anybody"


def _given_away(answer: Solution, k: int) -> int:
    """Count people who are certain with every value or in a small cell."""
    most = np.zeros(len(answer.cells))
    for one in answer.labels:
        np.add.at(most, one.cell, one.bounds.high)
    shows = (answer.cells.n_records == 1) | (most < k)
    return int(sum(one.bounds.low[shows[one.cell]].sum() for one in answer.labels))


def details_certain(case: Case, answer: Solution) -> ReconstructionDetails:
    """Return what is measured of people who are certain."""
    n, train = answer.n_people, case.labelled("train")
    if len(answer.labels) == 1 and case.train is not None:
        # Solved whatever labels people have.
        train = replace(case.train, labels=np.zeros(len(case.train), dtype=np.intp))
    return ReconstructionDetails(
        given_away=People(_given_away(answer, case.k)),
        certified=Share.of(answer.certified, n),
        exact=Share.of(answer.exact, n),
        k=case.k,
        cells=sum(len(one.cell) for one in answer.labels),
        open_cells=sum(int(one.bounds.open.sum()) for one in answer.labels),
        bits=answer.bits,
        bits_of_all=n * answer.domain.bits,
        trees=answer.n_trees,
        of_trees=case.forest.n_trees,
        seconds=case.seconds,
        stopped=answer.stopped,
        assumptions=answer.domain.assumptions + ((GAPS,) if answer.gaps else ()),
        curve=tuple(
            AfterTrees(trees=trees, certified=Share.of(low, n), exact=Share.of(exact, n))
            for trees, low, exact in answer.curve
        ),
        checked=None if train is None else checked_on(train, answer.cells, answer.tables),
    )


def evidence_certain(forest: Forest, answer: Solution, shown: int) -> tuple[Evidence, ...]:
    """Describe some people who are certain: alone and with every value first."""
    size, found = answer.cells.n_records, []
    for label, one in enumerate(answer.labels):
        for at in np.flatnonzero(one.bounds.low > 0).tolist():
            cell, people = int(one.cell[at]), int(one.bounds.low[at])
            found.append((float(size[cell]), people, label, at, cell))
    told = []
    for _, people, label, at, cell in sorted(found)[:shown]:
        system = answer.labels[label].system
        tree = int(system.most[system.row[system.start[at] : system.start[at + 1]]].argmin())
        text = label_text((forest.schema.classes or ())[label])
        told.append(
            Evidence(
                tree=tree,
                leaf=int(answer.cells.leaf[tree, cell]),
                people=people,
                says=f"{forest.schema.target} = {text}",
                rule=sentence(answer.cells, cell),
            )
        )
    return tuple(told)


def details_in_order(case: Case, found: BootstrapSolution) -> ReconstructionDetails:
    """Return what is measured: everybody who is certain is certain with the row of the table."""
    n, train = found.n_people, case.labelled("train")
    certified = Share.of(int(found.certain.sum()), n)
    exact = Share.of(int(found.exact.sum()), n)
    most = np.bincount(found.cell, found.bounds.high, len(found.cells))
    shows = found.exact | (found.certain & (most[found.cell] < case.k))
    return ReconstructionDetails(
        given_away=People(int(shows.sum())),
        certified=certified,
        exact=exact,
        in_order=People(int(shows.sum())),
        k=case.k,
        cells=len(found.cell),
        open_cells=int(found.bounds.open.sum()),
        bits=found.bits,
        bits_of_all=n * found.domain.bits,
        trees=found.n_trees,
        of_trees=case.forest.n_trees,
        seconds=case.seconds,
        stopped=found.stopped,
        assumptions=found.domain.assumptions,
        curve=(AfterTrees(trees=found.n_trees, certified=certified, exact=exact),),
        checked=None if train is None else checked_on(train, found.cells, found.tables),
    )


def evidence_in_order(forest: Forest, found: BootstrapSolution, shown: int) -> tuple[Evidence, ...]:
    """Describe the first people who are certain, those with every value before the others."""
    at = np.flatnonzero(found.certain)
    at = at[np.lexsort((found.person[at], ~found.exact[at]))]
    classes = forest.schema.classes or ()
    return tuple(
        Evidence(
            tree=0,
            leaf=int(found.cells.leaf[0, found.cell[i]]),
            people=1,
            says=f"row {found.person[i] + 1:,}: {forest.schema.target} = "
            f"{label_text(classes[found.label[i]])}",
            rule=sentence(found.cells, int(found.cell[i])),
        )
        for i in at[:shown].tolist()
    )


def details_of_boosting(case: Case, found: "BoostedSolution") -> ReconstructionDetails:
    """Return what is measured."""
    n, train, bounds = found.n_people, case.labelled("train"), found.bounds
    certified, exact = Share.of(found.certified, n), Share.of(found.exact, n)
    shows = found.cells.n_records == 1
    shows |= bounds.high.reshape(-1, found.n_classes).sum(axis=1) < case.k
    return ReconstructionDetails(
        given_away=People(int(bounds.low.reshape(-1, found.n_classes)[shows].sum())),
        certified=certified,
        exact=exact,
        k=case.k,
        cells=int((bounds.high > 0).sum()),
        open_cells=int(bounds.open.sum()),
        bits=found.bits,
        bits_of_all=n * found.domain.bits,
        trees=found.n_trees,
        of_trees=case.forest.n_trees,
        seconds=case.seconds,
        stopped=found.stopped,
        assumptions=found.domain.assumptions,
        curve=(AfterTrees(trees=found.n_trees, certified=certified, exact=exact),),
        checked=None if train is None else checked_on(train, found.cells, found.tables),
    )


def informed_of_boosting(case: Case, budget: Budget) -> Informed | None:
    """Return who is certain besides the people who are known; None without any, or without time."""
    from treeaudit.inference.boosted import infer_boosted

    known = case.known
    if known is None or known.labels is None or not len(known):
        return None
    try:
        found = infer_boosted(case.forest, budget=budget, known=known)
    except (DataError, OutOfBudgetError):
        return None
    n = found.n_people
    return Informed(
        known=People(len(known)),
        certified=Share.of(found.certified, n),
        exact=Share.of(found.exact, n),
    )


def evidence_of_boosting(
    forest: Forest, found: "BoostedSolution", shown: int
) -> tuple[Evidence, ...]:
    """Describe some people who are certain: those with every value first, then the fewest."""
    k = found.n_classes
    low, size = found.bounds.low, np.repeat(found.cells.n_records, k)
    held = np.flatnonzero(low > 0)
    held = held[np.lexsort((low[held], size[held]))]
    classes = forest.schema.classes or ()
    return tuple(
        Evidence(
            tree=0,
            leaf=int(found.cells.leaf[0, at // k]),
            people=int(low[at]),
            says=f"{forest.schema.target} = {label_text(classes[at % k])}",
            rule=sentence(found.cells, at // k),
        )
        for at in held[:shown].tolist()
    )
