"""What TA108 says of people who are certain from all leaves together."""

from dataclasses import replace

import numpy as np

from treeaudit.attacks.case import Case
from treeaudit.attacks.reconstruction.checking import checked_on
from treeaudit.attacks.reconstruction.details import AfterTrees, ReconstructionDetails
from treeaudit.findings.findings import Evidence
from treeaudit.findings.numbers import People, Share
from treeaudit.inference.exact import Solution
from treeaudit.inference.explanation import sentence
from treeaudit.model.forest import Forest
from treeaudit.model.words import label_text

__all__ = ["GAPS", "details_certain", "evidence_certain"]

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
