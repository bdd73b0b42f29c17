"""What TA108 reports of people who are certain from all leaves together, and of likely ones.

Where counts are bootstrap samples or noisy, nobody is certain: who is likely is reported beside a
control.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.attacks.case import Case
from treeaudit.attacks.composition.bounds import shared_leaf_groups
from treeaudit.attacks.reconstruction.view import (
    AfterTrees,
    Checked,
    Informed,
    LikelyPeople,
    ReconstructionDetails,
)
from treeaudit.errors import DataError
from treeaudit.findings.details import People, Share
from treeaudit.findings.findings import Evidence
from treeaudit.inference.bootstrap import BootstrapSolution
from treeaudit.inference.bounds import Bounds
from treeaudit.inference.cells import Cells, leaf_keys, people_per_place
from treeaudit.inference.exact import Solution, infer_exact
from treeaudit.inference.explanation import sentence
from treeaudit.inference.likely import LikelyTable, infer_likely, records_of, table_error
from treeaudit.inference.numbers import columns_known
from treeaudit.inference.scope import Budget, OutOfBudgetError, subtract_known, without_labels
from treeaudit.model.forest import Forest
from treeaudit.model.words import in_percent, label_text
from treeaudit.people.records import Records

if TYPE_CHECKING:
    from treeaudit.inference.boosted import BoostedSolution


_MOST_PAIRED, _OFF = 1_000, 1e-5


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


def _checked_numbers(train: Records, found: BootstrapSolution, numbers: Float) -> Checked | None:
    """Return the same of people of one number a leaf, whatever their rows; None of too many."""
    targets, leaf = train.targets, found.cells.leaf
    if targets is None or len(train) > _MOST_PAIRED:
        return None
    off, wrong = _OFF * float(np.abs(numbers).max()), 0
    certain = np.flatnonzero(found.certain)
    for i in certain.tolist():
        there = ((train.node == leaf[:, i]) | (leaf[:, i] < 0)).all(axis=1)
        there &= np.abs(targets - numbers[found.label[i]]) <= off
        wrong += int(there.sum() < found.bounds.low[i])
    held = People(len(certain), "cell", "cells")
    return Checked(cells=held, wrong=People(wrong, "cell", "cells"))


def details_of_people(
    case: Case, found: "Solution | BootstrapSolution | BoostedSolution", train: Records | None
) -> ReconstructionDetails:
    """Return what is measured of people who are certain."""
    n, tables, single = found.n_people, found.tables, found.cells.n_records == 1
    most = np.zeros(len(single))
    for at, bounds in tables:
        np.add.at(most, at, bounds.high)

    def certain(each: Flag | Wide) -> int:
        return int(sum(bounds.low @ each[at] for at, bounds in tables))

    known, columns = columns_known(found.cells)
    certified = Share.of(certain(np.ones(len(single), dtype=np.bool_)), n)
    exact = Share.of(certain(single), n)
    return ReconstructionDetails(
        given_away=People(certain(single | (most < case.k))),
        certified=certified,
        exact=exact,
        numbers=Share.of(certain(known), n * columns) if columns else None,
        k=case.k,
        cells=sum(int((bounds.high > 0).sum()) for _, bounds in tables),
        open_cells=sum(int(bounds.open.sum()) for _, bounds in tables),
        bits=found.bits,
        bits_of_all=n * found.domain.bits,
        trees=found.n_trees,
        of_trees=case.forest.n_trees,
        seconds=case.seconds,
        stopped=found.stopped,
        assumptions=found.domain.assumptions,
        curve=(AfterTrees(trees=found.n_trees, certified=certified, exact=exact),),
        checked=None if train is None else checked_on(train, found.cells, tables),
    )


GAPS = "leaves that hold nobody stand for others that were taken out, and may hold anybody"


def details_certain(case: Case, answer: Solution) -> ReconstructionDetails:
    """Return what is measured of people who are certain."""
    n, train = answer.n_people, case.labelled("train")
    if len(answer.labels) == 1 and case.train is not None:
        # Solved whatever labels people have.
        train = replace(case.train, labels=np.zeros(len(case.train), dtype=np.intp))
    return replace(
        details_of_people(case, answer, train),
        assumptions=answer.domain.assumptions + ((GAPS,) if answer.gaps else ()),
        curve=tuple(
            AfterTrees(trees=trees, certified=Share.of(low, n), exact=Share.of(exact, n))
            for trees, low, exact in answer.curve
        ),
    )


def in_large_cells(case: Case) -> bool:
    """Tell whether each training person is in all trees, and shares all leaves with k - 1 others.

    Nobody is given away then, whoever solves what: the real table holds no smaller group.
    """
    train, trees = case.train, case.forest.trees
    if train is None or not len(train):
        return False
    if any(tree.n_records is None or tree.n_records[0] != len(train) for tree in trees):
        return False
    _, smallest = shared_leaf_groups(train.node, {len(trees)}, train.persons)[len(trees)]
    return bool(smallest.min() >= case.k)


def details_in_large_cells(case: Case, budget: Budget) -> ReconstructionDetails | None:
    """Return what is measured of such people; None if cells of a single record hold some."""
    try:
        answer = infer_exact(without_labels(case.forest), budget=budget)
    except DataError:
        return None
    details, cells = details_certain(case, answer), answer.cells
    single = leaf_keys(cells.leaf[:, cells.n_records == 1].T)
    if answer.stopped is not None or np.isin(leaf_keys(case.people("train").node), single).any():
        return None
    return None if details.given_away or (details.checked and details.checked.wrong) else details


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
    details = details_of_people(case, found, case.labelled("train"))
    if found.numbers is not None and case.train is not None:
        details = replace(details, checked=_checked_numbers(case.train, found, found.numbers))
    rows = bool((found.person >= 0).all())
    return replace(details, in_order=details.given_away if rows else None)


def evidence_in_order(forest: Forest, found: BootstrapSolution, shown: int) -> tuple[Evidence, ...]:
    """Describe the first people who are certain, those with every value before the others."""
    at = np.flatnonzero(found.certain)
    at = at[np.lexsort((found.person[at], ~found.exact[at]))]
    names = forest.schema.classes if found.numbers is None else found.numbers.tolist()
    # Not every tree drew everybody whose number is known.
    tree = (found.cells.leaf >= 0).argmax(axis=0)[found.cell]
    return tuple(
        Evidence(
            tree=int(tree[i]),
            leaf=int(found.cells.leaf[tree[i], found.cell[i]]),
            people=int(found.bounds.low[i]),
            says=f"row {found.person[i] + 1:,}: " * bool(found.person[i] >= 0)
            + f"{forest.schema.target} = {label_text((names or ())[found.label[i]])}",
            rule=sentence(found.cells, int(found.cell[i])),
        )
        for i in at[:shown].tolist()
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


_LEVEL = 0.9
_OF_DRAWS = "every tree drew its people at random, with replacement"
_OF_NOISE = "the noise is what the file says, and as many people as its counts add up to"


def likely_of(case: Case, budget: Budget) -> tuple[LikelyTable, Records | None]:
    """Return who is likely, and the people who are the control of it."""
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
