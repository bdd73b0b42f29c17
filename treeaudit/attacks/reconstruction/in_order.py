"""What TA108 says of a forest whose draws can be made again: people, row by row."""

import numpy as np

from treeaudit.attacks.case import Case
from treeaudit.attacks.reconstruction.checking import checked_on
from treeaudit.attacks.reconstruction.details import AfterTrees, ReconstructionDetails
from treeaudit.findings.findings import Evidence
from treeaudit.findings.numbers import People, Share
from treeaudit.inference.bootstrap import BootstrapSolution
from treeaudit.inference.explanation import sentence
from treeaudit.model.forest import Forest
from treeaudit.model.words import label_text

__all__ = ["details_in_order", "evidence_in_order"]


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
