"""Certified reconstruction: whose records the leaves of all trees give away for certain (TA108).

Every leaf of every tree is one equation on the table that the forest was trained on. However many
people are in each leaf, most such systems have one solution: the table. What is reported follows
from the file; nothing is guessed.

References
----------
Ferry, Fukasawa, Pascal and Vidal (2024), Trained random forests completely reveal your dataset.
Gambs, Gmati and Hurfin (2012), Reconstruction attack through classifier analysis.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from treeaudit.attacks.case import Case, Need, severity_of_share
from treeaudit.attacks.composition.scope import not_applicable
from treeaudit.attacks.reconstruction.boosting import details_of_boosting, evidence_of_boosting
from treeaudit.attacks.reconstruction.checking import checked_on
from treeaudit.attacks.reconstruction.details import AfterTrees, ReconstructionDetails
from treeaudit.attacks.reconstruction.in_order import details_in_order, evidence_in_order
from treeaudit.attacks.reconstruction.view import view
from treeaudit.errors import DataError
from treeaudit.findings.checks import Rule, most
from treeaudit.findings.details import Details
from treeaudit.findings.findings import About, Evidence, Finding, Skipped, Words
from treeaudit.findings.numbers import People, Share
from treeaudit.findings.report import Show
from treeaudit.model.forest import Forest
from treeaudit.model.words import label_text
from treeaudit.reconstruction.answer import Answer, reconstruct
from treeaudit.reconstruction.budget import Budget, OutOfBudgetError
from treeaudit.reconstruction.by_hand import by_hand
from treeaudit.reconstruction.drawn import reconstruct_drawn
from treeaudit.reconstruction.draws import not_drawn, times_of
from treeaudit.reconstruction.scope import not_boosted, not_usable
from treeaudit.reconstruction.words import sentence

__all__ = ["Reconstruction"]

_SHOWN = 5
_CELLS_A_SECOND = 200_000


def _needless(forest: Forest) -> str | None:
    if forest.n_trees == 1:
        return "not applicable: a single tree says no more than its leaves (TA101, TA102)"
    if forest.schema.classes is None:
        return "not applicable: the leaves hold no labels"
    if forest.answers == "sum":
        return not_applicable(forest) if forest.boosting is None else None
    kept = forest.seeds is not None or any(x.kind == "seeds" for x in forest.leftovers)
    if forest.records_are == "bootstrap" and not kept:
        return (
            "not applicable: nobody tells who was drawn for which tree, so that all trees make "
            "nothing certain that one does not (labels they give back: TA106)"
        )
    return None


def _not_run(case: Case) -> str | None:
    forest, drawn = case.forest, case.forest.records_are == "bootstrap"
    if forest.boosting is not None:
        reason = not_boosted(forest)
    else:
        reason = not_drawn(forest) if drawn else not_usable(forest)
    return None if reason is None else f"the people were not reconstructed: {reason}"


_CERTIFIED = Rule(
    name="max-certified-people",
    title="People whom all trees together give away for certain",
    bound="at most {:,.0f}",
    measure=most("given_away"),
    needless=_needless,
    among=True,
    step="release one tree, or train with differential privacy: larger leaves do not help",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconstruction:
    """Solve the equations that the leaves of all trees are: who must have been there."""

    id: ClassVar[str] = "TA108"
    title: ClassVar[str] = "Reconstruction"
    words: ClassVar[Words] = Words(
        attacker="How many people of each label are in each leaf is one equation on the training "
        "table. Whoever reads the file solves those of all trees together and knows for certain "
        "which records were in it.",
        assumes="the attacker has the file, and knows which values the columns can have",
        remedy="release a single tree, or train with differential privacy; larger leaves do not "
        "help",
        limit="what is not certified may still be guessed; not for weights or noise; boosting of "
        "two classes only; for trees of draws only where their seeds are in the file",
        reference="Ferry, Fukasawa, Pascal and Vidal (2024); Gambs, Gmati and Hurfin (2012)",
    )
    about: ClassVar[About] = "table"
    needs: ClassVar[tuple[Need, ...]] = (
        Need(missing=lambda case: _needless(case.forest)),
        Need(missing=_not_run),
    )
    checks: ClassVar[tuple[Rule, ...]] = (_CERTIFIED,)
    details: ClassVar[type[Details]] = ReconstructionDetails
    view: ClassVar[Show] = staticmethod(view)

    def run(self, case: Case) -> Finding | Skipped:
        """Return who is given away for certain within the seconds of the case.

        Skipped where nobody was found and not everything could be tried.
        """
        budget = Budget(
            seconds=case.seconds, cells=int(_CELLS_A_SECOND * min(max(case.seconds, 0.1), 10))
        )
        if case.forest.boosting is not None:
            return self._boosted(case, budget)
        if case.forest.records_are == "bootstrap":
            return self._in_order(case, budget)
        try:
            answer = reconstruct(case.forest, budget=budget, progress=case.progress, curve=True)
        except DataError as error:
            return Skipped(id=self.id, title=self.title, reason=f"not reconstructed: {error}")
        details = _details(case, answer)
        if not budget.over():
            details = replace(details, by_hand=by_hand(case.forest, answer))
        return self._found(details, _evidence(case.forest, answer))

    def _boosted(self, case: Case, budget: Budget) -> Finding | Skipped:
        """Return whom the leaves of boosted trees give away."""
        from treeaudit.reconstruction.boosted import reconstruct_boosted

        try:
            found = reconstruct_boosted(case.forest, budget=budget)
        except DataError as error:
            return Skipped(id=self.id, title=self.title, reason=f"not reconstructed: {error}")
        except OutOfBudgetError as ended:
            return self._out_of(str(ended))
        shown = evidence_of_boosting(case.forest, found, _SHOWN)
        return self._found(details_of_boosting(case, found), shown)

    def _in_order(self, case: Case, budget: Budget) -> Finding | Skipped:
        """Return whom the draws, made again, give away with their rows."""
        try:
            found = reconstruct_drawn(case.forest, times_of(case.forest), budget=budget)
        except DataError as error:
            return Skipped(id=self.id, title=self.title, reason=f"not reconstructed: {error}")
        except OutOfBudgetError as ended:
            return self._out_of(str(ended))
        shown = evidence_in_order(case.forest, found, _SHOWN)
        return self._found(details_in_order(case, found), shown)

    def _out_of(self, budget: str) -> Skipped:
        asks = ("--seconds",) if budget.endswith(" seconds") else ()
        reason = f"nobody is certain so far, but the search ended after {budget}"
        reason += ": more with --seconds" if asks else ""
        return Skipped(id=self.id, title=self.title, reason=reason, asks=asks)

    def _found(
        self, details: ReconstructionDetails, evidence: tuple[Evidence, ...]
    ) -> Finding | Skipped:
        if not details.given_away and details.stopped is not None:
            return self._out_of(details.stopped)
        ended = details.stopped
        n = details.certified.whole or 0
        return Finding(
            id=self.id,
            title=self.title,
            severity=severity_of_share(Share.of(details.given_away, n)),
            leaves=0,
            people=details.given_away,
            summary=_summary(details, n),
            looked=(f"leaves of {details.trees:,} trees together",),
            unseen=() if ended is None else (f"the search ended after {ended}",),
            details=details,
            evidence=evidence,
        )


def _given_away(answer: Answer, k: int) -> int:
    """Count people who are certain with every value or in a small cell."""
    most = np.zeros(len(answer.cells))
    for one in answer.labels:
        np.add.at(most, one.cell, one.bounds.high)
    shows = (answer.cells.n_records == 1) | (most < k)
    return int(sum(one.bounds.low[shows[one.cell]].sum() for one in answer.labels))


def _details(case: Case, answer: Answer) -> ReconstructionDetails:
    n, train = answer.n_people, case.labelled("train")
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
        assumptions=answer.domain.assumptions,
        curve=tuple(
            AfterTrees(trees=trees, certified=Share.of(low, n), exact=Share.of(exact, n))
            for trees, low, exact in answer.curve
        ),
        checked=None
        if train is None
        else checked_on(train, answer.cells, ((one.cell, one.bounds) for one in answer.labels)),
    )


def _evidence(forest: Forest, answer: Answer) -> tuple[Evidence, ...]:
    """Describe some people who are certain: alone and with every value first."""
    size, found = answer.cells.n_records, []
    for label, one in enumerate(answer.labels):
        for at in np.flatnonzero(one.bounds.low > 0).tolist():
            cell, people = int(one.cell[at]), int(one.bounds.low[at])
            found.append((float(size[cell]), people, label, at, cell))
    shown = []
    for _, people, label, at, cell in sorted(found)[:_SHOWN]:
        system = answer.labels[label].system
        tree = int(system.most[system.row[system.start[at] : system.start[at + 1]]].argmin())
        text = label_text((forest.schema.classes or ())[label])
        shown.append(
            Evidence(
                tree=tree,
                leaf=int(answer.cells.leaf[tree, cell]),
                people=people,
                says=f"{forest.schema.target} = {text}",
                rule=sentence(answer.cells, cell),
            )
        )
    return tuple(shown)


def _summary(details: ReconstructionDetails, n: int) -> str:
    if not details.given_away:
        return f"The leaves of all trees give away none of {n:,} people for certain."
    rows = "" if details.in_order is None else ", each with the row of the training table"
    return (
        f"{details.given_away:,} of {n:,} people are given away for certain: {details.exact:.1%} "
        f"with every value that the model asks about{rows}."
    )
