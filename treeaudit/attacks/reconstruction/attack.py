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
from treeaudit.attacks.composition.equations import is_random_forest
from treeaudit.attacks.reconstruction.people import (
    details_certain,
    details_in_large_cells,
    details_in_order,
    details_likely,
    details_of_people,
    evidence_certain,
    evidence_in_order,
    evidence_likely,
    evidence_of_boosting,
    in_large_cells,
    informed_of,
    informed_of_boosting,
    likely_of,
)
from treeaudit.attacks.reconstruction.view import LikelyPeople, ReconstructionDetails, view
from treeaudit.errors import DataError
from treeaudit.findings.checks import Rule, most
from treeaudit.findings.details import Details, People, Share
from treeaudit.findings.findings import About, Evidence, Finding, Skipped, Words
from treeaudit.findings.report import Show
from treeaudit.inference.bootstrap import check_room, check_seeds, infer_bootstrap, not_reproducible
from treeaudit.inference.exact import infer_exact
from treeaudit.inference.explanation import explain
from treeaudit.inference.likely import not_likely
from treeaudit.inference.numbers import infer_numbers, known_by_one_tree, numbers_of
from treeaudit.inference.scope import (
    Budget,
    OutOfBudgetError,
    certain_if,
    counts_everybody,
    draws_samples,
    maybe_rounded,
    not_boosted,
    not_usable,
    with_gaps,
    without_labels,
)
from treeaudit.model.forest import Forest
from treeaudit.model.words import in_percent

_SHOWN = 5
_WITHIN = "the numbers in people's columns, within 1 % of a column's range"
_CELLS_A_SECOND, _MOST_SECONDS = 200_000, 10


def _needless(forest: Forest) -> str | None:
    if forest.n_trees == 1:
        return "not applicable: a single tree says no more than its leaves (TA101, TA102)"
    steps = forest.answers == "sum" and not is_random_forest(forest)
    kept = forest.seeds is not None or any(x.kind == "seeds" for x in forest.extras)
    if draws_samples(forest) or (forest.records_are == "bootstrap" and not kept and not steps):
        return (
            "not applicable: nobody tells who was drawn for which tree, so that all trees make "
            "nothing certain that one does not (labels they give back: TA106)"
        )
    # Rounded counts tell of everybody, though not how many.
    rounded = forest.counts_are == "noisy" and forest.privacy is None
    if forest.schema.classes is None and not (counts_everybody(forest) or kept or rounded):
        return "not applicable: the leaves hold no labels, and do not count everybody"
    return None


def _only_likely(forest: Forest) -> bool:
    """Tell whether nobody can be certain, but who is likely can be told."""
    nobody = forest.counts_are == "noisy" or _needless(forest) is not None
    return nobody and forest.n_trees > 1 and not_likely(forest) is None


def _not_applicable(case: Case) -> str | None:
    return None if _only_likely(case.forest) else _needless(case.forest)


def _not_run(case: Case) -> str | None:
    # Whom the search would find it need not find where nobody can be found.
    return None if in_large_cells(case) else _not_searched(case)


def _not_searched(case: Case) -> str | None:
    forest, drawn = case.forest, case.forest.records_are == "bootstrap"
    if _only_likely(forest):
        return None
    if (reason := _had_missing(case)) is not None or not_boosted(forest) is None:
        return reason
    if counts_everybody(forest) or numbers_of(forest) is not None:
        return None
    if forest.answers == "sum" and not is_random_forest(forest):
        reason = not_boosted(forest)
    else:
        reason = not_reproducible(forest) if drawn else not_usable(with_gaps(forest))
    # Draws that nobody can repeat tell of nobody for certain.
    step = "; treeaudit release takes out the seeds that repeat the draws" if drawn else ""
    return None if reason is None else f"the people were not reconstructed: {reason}{step}"


def _had_missing(case: Case) -> str | None:
    """Say of which column that a tree asks about a value is missing, where people are at hand."""
    gaps = False if case.train is None else np.isnan(case.train.values).any(axis=0)
    for tree in case.forest.trees if np.any(gaps) else ():
        if (features := np.intersect1d(tree.feature[tree.parent >= 0], np.flatnonzero(gaps))).size:
            name = case.forest.schema.features[int(features[0])].name
            return (
                "the people were not reconstructed: who is certain is worked out only where no "
                f"value was missing in the training data, and some are of column {name!r}"
            )
    return None


_CERTIFIED = Rule(
    name="max-certified-people",
    title="People whom all trees together give away for certain",
    bound="at most {:,.0f}",
    measure=most("given_away"),
    needless=_needless,
    among=True,
    step="release one tree, or train with differential privacy: larger leaves do not help",
    rests_on=("below_k", "unit", "noise", "train", "seconds"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconstruction:
    """Solve the equations that the leaves of all trees are: who must have been there."""

    id: ClassVar[str] = "TA108"
    title: ClassVar[str] = "Reconstruction"
    words: ClassVar[Words] = Words(
        kinds=("reconstruction", "membership inference"),
        attacker="How many people of each label are in each leaf is one equation on the training "
        "table. Whoever reads the file solves those of all trees together and knows for certain "
        "which records were in it.",
        assumes="the attacker has the file, and knows which values the columns can have",
        remedy="release a single tree, or train with differential privacy; larger leaves do not "
        "help; of a boosting, defend --train computes the steps anew on draws",
        limit="people who are not certain may still be guessed. With weights, and for regressors "
        "whose leaves mix numbers, people come back without their labels. With noisy counts, or "
        "draws without their seeds, people are likely at most. A file can lie about how a boosting "
        "drew its people; --train checks it",
        reference="Ferry, Fukasawa, Pascal and Vidal (2024); Gambs, Gmati and Hurfin (2012)",
    )
    about: ClassVar[About] = "table"
    needs: ClassVar[tuple[Need, ...]] = (
        Need(missing=_not_applicable),
        Need(missing=_not_run),
    )
    checks: ClassVar[tuple[Rule, ...]] = (_CERTIFIED,)
    details: ClassVar[type[Details]] = ReconstructionDetails
    view: ClassVar[Show] = staticmethod(view)

    def run(self, case: Case) -> Finding | Skipped:
        """Return who is given away for certain within the seconds of the case."""
        budget = Budget(
            seconds=case.seconds,
            cells=int(_CELLS_A_SECOND * min(max(case.seconds, 0.1), _MOST_SECONDS)),
        )
        try:
            with budget.spent():
                found = self._searched(case, budget)
                if isinstance(found, Finding) or not in_large_cells(case):
                    return found
                nobody = details_in_large_cells(case, budget.anew())
                return found if nobody is None else self._found(case, nobody, ())
        except OutOfBudgetError as ended:
            return self._out_of(case, str(ended))

    def _searched(self, case: Case, budget: Budget) -> Finding | Skipped:
        """Return whom the search finds."""
        if (reason := _not_searched(case)) is not None:
            return Skipped(id=self.id, title=self.title, reason=reason)
        if not_boosted(case.forest) is None:
            return self._boosted(case, budget)
        if _only_likely(case.forest):
            return self._likely(case, budget)
        if case.forest.records_are == "bootstrap":
            return self._in_order(case, budget)
        if numbers_of(case.forest) is None:
            return self._certain(case, budget)
        found = self._in_order(case, budget.anew(0.8))
        if isinstance(found, Finding) and 2 * found.people > (case.forest.n_records or 0):
            return found
        # If many people share a number, sizes of leaves alone may give more of them away.
        other = self._certain(case, budget)
        return max(found, other, key=lambda one: one.people if isinstance(one, Finding) else -1)

    def _certain(self, case: Case, budget: Budget) -> Finding | Skipped:
        """Return whom the counts of the leaves give away, with labels where there are any."""
        alone = not_usable(with_gaps(case.forest)) is not None
        try:
            forest = without_labels(case.forest) if alone else with_gaps(case.forest)
            answer = infer_exact(forest, budget=budget, progress=case.progress, curve=True)
        except DataError as error:
            return Skipped(id=self.id, title=self.title, reason=f"not reconstructed: {error}")
        details = details_certain(case, answer)
        if not budget.over():
            details = replace(details, by_hand=explain(forest, answer))
            boosted = not_boosted(case.forest) is None
            if boosted or not alone:
                informed = (informed_of_boosting if boosted else informed_of)(case, budget)
                details = replace(details, informed=informed)
        # Leaves that tell one label each are no equations on labels.
        unsolved = case.forest.schema.classes is not None and case.forest.counts_are != "label-only"
        if alone and unsolved and not details.given_away:
            reason = "nobody is certain by the counts of all leaves alone: labels were not solved"
            return Skipped(id=self.id, title=self.title, reason=reason)
        return self._found(case, details, evidence_certain(forest, answer, _SHOWN))

    def _boosted(self, case: Case, budget: Budget) -> Finding | Skipped:
        """Return whom the leaves of boosted trees give away."""
        from treeaudit.inference.boosted import infer_boosted

        boosting, counted = case.forest.boosting, counts_everybody(case.forest)
        # Of several classes there are many unknowns: who is certain without labels is sought, too.
        both = counted and boosting is not None and len(boosting.start) > 1
        try:
            found = infer_boosted(case.forest, budget=budget.anew(0.5) if both else budget)
        except (DataError, OutOfBudgetError) as error:
            if both:
                return self._certain(case, budget.anew(0.5))
            if isinstance(error, OutOfBudgetError):
                return self._out_of(case, str(error))
            if counted:
                return self._certain(case, budget)
            return Skipped(id=self.id, title=self.title, reason=f"not reconstructed: {error}")
        details = details_of_people(case, found, case.labelled("train"))
        if not budget.over():
            details = replace(details, informed=informed_of_boosting(case, budget))
        return self._found(case, details, evidence_of_boosting(case.forest, found, _SHOWN))

    def _in_order(self, case: Case, budget: Budget) -> Finding | Skipped:
        """Return whom the draws, made again, give away with their rows; or numbers, alone."""
        numbers = numbers_of(case.forest)
        try:
            if numbers is not None:
                found = infer_numbers(case.forest, numbers, budget)
            else:
                # Before everybody's draws are made again, which takes longer.
                check_seeds(case.forest)
                check_room(case.forest, case.forest.n_records or 0, budget)
                found = infer_bootstrap(case.forest, case.times().astype(np.int64), budget=budget)
        except DataError as error:
            return Skipped(id=self.id, title=self.title, reason=f"not reconstructed: {error}")
        except OutOfBudgetError as ended:
            return self._out_of(case, str(ended))
        shown = evidence_in_order(case.forest, found, _SHOWN)
        return self._found(case, details_in_order(case, found), shown)

    def _likely(self, case: Case, budget: Budget) -> Finding | Skipped:
        """Return who is likely; skipped as without the attempt where that is not known in time."""
        needless = _needless(case.forest)
        try:
            answer, control = likely_of(case, budget)
        except DataError as error:
            reason = needless or f"not reconstructed: {error}"
            return Skipped(id=self.id, title=self.title, reason=reason)
        except OutOfBudgetError as ended:
            late = f"who is likely was not settled after {ended}; --seconds raises the limit"
            reason = needless or late
            return Skipped(id=self.id, title=self.title, reason=reason)
        details = details_likely(case, answer, control)
        return self._found(case, details, evidence_likely(case, answer, _SHOWN))

    def _out_of(self, case: Case, budget: str) -> Skipped:
        reason = f"the search ended after {budget} and identified nobody so far"
        limit = budget[:1].isdigit()  # and no Ctrl-C
        more = limit and (budget.endswith(" seconds") or case.seconds < _MOST_SECONDS)
        reason += "; --seconds raises the limit" if more else ""
        if (known := known_by_one_tree(case.forest)) is not None:
            reason += f"; one tree alone gives away {in_percent(known)} of {_WITHIN}"
        return Skipped(id=self.id, title=self.title, reason=reason)

    def _found(
        self, case: Case, details: ReconstructionDetails, evidence: tuple[Evidence, ...]
    ) -> Finding | Skipped:
        if not details.given_away and details.stopped is not None:
            return self._out_of(case, details.stopped)
        unsure = maybe_rounded(case.forest) and case.train is None
        if not details.given_away and details.likely is None and unsure:
            reason = "nobody is certain if no count was rounded, and one number divides all of them"
            return Skipped(id=self.id, title=self.title, reason=reason)
        if details.checked is not None and details.checked.wrong:
            reason = "what was certain is not true of the training people, so that something taken "
            reason += f"for granted is not: {'; '.join(details.assumptions)}"
            return Skipped(id=self.id, title=self.title, reason=reason)
        ended = details.stopped
        n = details.certified.whole or 0
        people = details.given_away if details.likely is None else _excess(details.likely)
        return Finding(
            id=self.id,
            title=self.title,
            severity=severity_of_share(Share.of(people, n)),
            leaves=0,
            people=people,
            summary=_summary(details, n, certain_if(case.forest)),
            looked=(f"leaves of {details.trees:,} trees together",),
            unseen=() if ended is None else (f"the search ended after {ended}",),
            details=details,
            evidence=evidence,
        )


def _excess(likely: LikelyPeople) -> People:
    """Count likely people, where data tell no more than are there and others would not show."""
    people = likely.people.part or 0
    if likely.right is not None:
        by_chance = likely.right_of_others
        people = (likely.right.part or 0) - (0 if by_chance is None else by_chance.part or 0)
    return People(max(people, 0))


def _summary(details: ReconstructionDetails, n: int, needs: tuple[str, ...]) -> str:
    if (likely := details.likely) is not None:
        why = "counts are noisy" if likely.counts_are == "noisy" else "nobody tells who was drawn"
        return (
            f"Nobody is certain, since {why}; {likely.people.part:,} of {n:,} people are likely, "
            f"with a probability of {in_percent(likely.level, 0)} or more each."
        )
    if not details.given_away:
        return f"The leaves of all trees give away none of {n:,} people for certain."
    rows = "" if details.in_order is None else ", each with the row of the training table"
    from treeaudit.attacks.reconstruction.people import GAPS

    least = "at least " if GAPS in details.assumptions else ""
    where = f" if {' and '.join(needs)}" if needs else ""
    numbers = f" So are {in_percent(details.numbers)} of {_WITHIN}." if details.numbers else ""
    whole = in_percent(details.exact) if details.exact else "none"
    return (
        f"{details.given_away:,} of {least}{n:,} people are given away for certain{where}, "
        f"{whole} with every value that the model asks about{rows}.{numbers}"
    )
