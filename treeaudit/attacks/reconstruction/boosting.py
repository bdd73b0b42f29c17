"""What TA108 says of a boosted classifier."""

from typing import TYPE_CHECKING

import numpy as np

from treeaudit.attacks.case import Case
from treeaudit.attacks.reconstruction.checking import checked_on
from treeaudit.attacks.reconstruction.details import AfterTrees, Informed, ReconstructionDetails
from treeaudit.errors import DataError
from treeaudit.findings.findings import Evidence
from treeaudit.findings.numbers import People, Share
from treeaudit.inference.budget import Budget, OutOfBudgetError
from treeaudit.inference.explanation import sentence
from treeaudit.model.forest import Forest
from treeaudit.model.words import label_text

if TYPE_CHECKING:
    from treeaudit.inference.boosted import BoostedSolution

__all__ = ["details_of_boosting", "evidence_of_boosting", "informed_of_boosting"]


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
