"""Singling out: leaves that hold one person (TA101).

A leaf with one training record describes one person: whoever knows somebody
who fits the rule knows which record is theirs. Leaves below k are reported
with them, and the re-identification risks that disclosure control uses.

References
----------
Wakabayashi et al. (2024), section 3.1, uniqueness attack.
Sweeney (2002), k-anonymity.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treeaudit.arrays import Flag
from treeaudit.attacks.case import Case, Need, evidence, looked_at, smallest, unseen_trees
from treeaudit.attacks.control import MEMORY, leaf_control, lowered
from treeaudit.attacks.distinct_people import (
    at_most,
    bounds_in_words,
    in_any_tree,
    of_each_tree,
    share_at_most,
    share_in_words,
    worst_share,
)
from treeaudit.attacks.needs import PEOPLE
from treeaudit.attacks.singling_out.population import (
    Population,
    degrees_of_freedom,
    population,
    risks,
)
from treeaudit.attacks.singling_out.view import UniquenessDetails, contribution, group_sizes, view
from treeaudit.findings.checks import Rule, holds_at_least, least
from treeaudit.findings.details import Details, People, Share
from treeaudit.findings.findings import About, Finding, Severity, Skipped, Words, details_of
from treeaudit.findings.report import Show
from treeaudit.model.forest import Forest
from treeaudit.model.words import number_of


def _marketer_risk(findings: Sequence[Finding], _: Forest) -> float:
    """Measure the average chance to find a person, in the worst tree."""
    return float(details_of(findings[0], UniquenessDetails).risks.prosecutor.average)


def _population_uniques(findings: Sequence[Finding], _: Forest) -> float | None:
    """Measure the people who are alone in the data and in the population."""
    found: Population | None = details_of(findings[0], UniquenessDetails).population
    if found is None:
        return None
    if not found.alone_in_data:
        return 0.0
    counted = found.alone_in_both.counted
    return found.alone_in_both.pitman if counted is None else counted.high


_STEP = "train again with larger leaves (a higher min_samples_leaf)"

_CHECKS = (
    Rule(
        name="min-leaf",
        title="Smallest group",
        bound="at least {:,.0f} people",
        tells_of="smallest group",
        measure=least("min_leaf"),
        holds=holds_at_least,
        step=_STEP,
        rests_on=("unit", "noise"),
    ),
    Rule(
        name="max-unique-people",
        title="People alone in a leaf",
        bound="at most {:,.0f}",
        tells_of="small groups",
        measure=at_most("unique_in_any_tree"),
        told=bounds_in_words("unique_in_any_tree"),
        among=True,
        step=_STEP,
        rests_on=("unit", "noise"),
    ),
    Rule(
        name="max-small-leaf-people",
        title="People in leaves below k",
        bound="at most {:,.0f}",
        tells_of="small groups",
        measure=at_most("below_k_in_any_tree"),
        told=bounds_in_words("below_k_in_any_tree"),
        among=True,
        step=_STEP,
        rests_on=("below_k", "unit", "noise"),
    ),
    Rule(
        name="max-small-leaf-share",
        title="Share of people in leaves below k",
        bound="at most {:.1%}",
        tells_of="small groups",
        measure=share_at_most("below_k_share", "below_k_in_any_tree"),
        told=share_in_words("below_k_share", "below_k_in_any_tree"),
        share=True,
        rests_on=("below_k", "unit", "noise"),
    ),
    Rule(
        name="max-marketer-risk",
        title="Average chance to find a person",
        bound="at most {:.1%}",
        measure=_marketer_risk,
        share=True,
        rests_on=("unit", "noise"),
    ),
    Rule(
        name="max-population-uniques",
        title="People alone in the population too (estimate)",
        bound="at most {:,.0f}",
        measure=_population_uniques,
        missing="needs a share of the population that can be modelled (--sampling-fraction)",
        rests_on=("unit", "noise", "fraction", "test"),
    ),
    Rule(
        name="min-degrees-of-freedom",
        title="Residual degrees of freedom",
        bound="at least {:,.0f}",
        measure=least("residual_degrees_of_freedom"),
        missing="the file does not tell how many people there are",
        holds=holds_at_least,
        rests_on=("unit", "noise"),
    ),
    MEMORY,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Uniqueness:
    """Count people in leaves of one person and in leaves below ``k``."""

    id: ClassVar[str] = "TA101"
    title: ClassVar[str] = "Singling out"
    words: ClassVar[Words] = Words(
        kinds=("singling out", "regurgitation", "reconstruction"),
        attacker="A leaf that holds one training record describes one person. Whoever knows "
        "somebody who fits the description has found their record, and reads the label off it.",
        assumes="the attacker has the file and knows the features on the path",
        remedy="merge leaves until each holds at least k people, or publish the tree without "
        "its counts",
        limit="counts people in the training data; it does not say whether the same description "
        "fits others outside it",
        reference="Wakabayashi et al. (2024), section 3.1; Sweeney (2002), k-anonymity",
    )
    about: ClassVar[About] = "table"
    checks: ClassVar[tuple[Rule, ...]] = _CHECKS
    view: ClassVar[Show] = staticmethod(view)
    needs: ClassVar[tuple[Need, ...]] = (PEOPLE,)
    details: ClassVar[type[Details]] = UniquenessDetails

    def run(self, case: Case) -> Finding | Skipped:
        """Return what the leaf sizes alone reveal."""
        size = case.table.size
        k = case.k
        alone, small = size == 1, size < k
        unique, below = int(np.count_nonzero(alone)), int(np.count_nonzero(small))
        total = int(size.sum())
        alone_once = in_any_tree(case, size * alone)
        small_once = in_any_tree(case, size * small)
        severity: Severity = "high" if unique else "medium" if below else "none"
        least = int(size.min())
        worst = smallest(size, small)
        details = UniquenessDetails(
            unique_leaves=People.leaves(unique),
            unique_people=alone_once.worst,
            below_k_leaves=People.leaves(below),
            below_k_people=small_once.worst,
            unique_in_any_tree=alone_once,
            below_k_in_any_tree=small_once,
            k=k,
            min_leaf=People(least),
            group_sizes=group_sizes(size, case.table.per_tree),
            prosecutor_risk=Share(1 / least),
            marketer_risk=Share(len(size) / total),
            trees_that_do_not_tell=case.table.n_silent,
            below_k_share=worst_share(case, small),
            residual_degrees_of_freedom=degrees_of_freedom(case.forest, case.table),
            risks=risks(case),
            population=population(case),
            contribution=contribution(case, small),
        )
        many = case.forest.n_trees > 1
        control = leaf_control(case, small, f"leaves of fewer than {k} people")
        severity, unseen = lowered(severity, [control]), unseen_trees(case)
        if severity == "none" and unseen:
            return Skipped(id=self.id, title=self.title, reason=unseen[0])
        return Finding(
            id=self.id,
            title=self.title,
            severity=severity,
            leaves=below,
            people=small_once.worst,
            summary=_summary(case, details, many),
            looked=looked_at("leaf sizes", case),
            unseen=unseen,
            details=details,
            evidence=evidence(case, worst),
            per_tree=_per_tree(case, alone, small) if many else None,
            controls=() if control is None else (control,),
        )


def _summary(case: Case, details: UniquenessDetails, many: bool) -> str:
    unique, leaves, k = details.unique_leaves, details.below_k_leaves, details.k
    people = details.below_k_people
    if not leaves:
        which, gone = "leaf", ""
        if nobody := case.table.n_leaves - len(case.table):
            which, stand = "leaf that tells of anybody", number_of(nobody, "leaf", "leaves")
            gone = f"; {stand} of nobody may stand for others that were taken out"
        if not many:
            return f"Every {which} holds at least {k} people{gone}."
        rest = (
            "TA106 is about all trees"
            if case.train is not None
            else "give --train to judge all trees"
        )
        return f"Each tree alone: every {which} holds at least {k} people{gone}; {rest} together."
    if many:
        one = "person" if case.table.in_persons else "record"
        return (
            f"{unique:,} leaves hold one {one} alone; {leaves:,} hold fewer than {k}. Different "
            f"people in those of any tree: {details.below_k_in_any_tree.text}."
        )
    alone = {0: "Nobody is", 1: "1 person is"}.get(unique, f"{unique:,} people are")
    return f"{alone} alone in a leaf; {people:,} are in leaves of fewer than {k}."


def _per_tree(case: Case, alone: Flag, small: Flag) -> tuple[Mapping[str, Any], ...]:
    table = case.table
    unique, leaves = table.per_tree(alone), table.per_tree(small)
    people = of_each_tree(case, table.size * small)
    single = of_each_tree(case, table.size * alone)
    # A tree that does not tell has no leaves here; reduceat would look into the next tree.
    told = np.flatnonzero(np.diff(table.start))
    least = np.minimum.reduceat(table.size, table.start[told])
    columns = (told, unique[told], single[told], leaves[told], people[told], least)
    names = (
        *("tree", "unique_leaves", "unique_people", "below_k_leaves", "below_k_people"),
        "min_leaf",
    )
    return tuple(
        dict(zip(names, row, strict=True))
        for row in zip(*(column.tolist() for column in columns), strict=True)
    )
