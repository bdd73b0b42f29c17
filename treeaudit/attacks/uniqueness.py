"""Singling out: leaves that hold one person (TA101).

A leaf with one training record describes one person: whoever knows somebody
who fits the rule knows which record is theirs. Leaves below k are reported
with them, and the re-identification risks that disclosure control uses.

References
----------
Wakabayashi et al. (2024), section 3.1, uniqueness attack.
Sweeney (2002), k-anonymity.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from treeaudit.attacks.case import Case, evidence, silent_trees, smallest
from treeaudit.attacks.contribution import contribution
from treeaudit.attacks.control import leaf_control, lowered
from treeaudit.attacks.population import degrees_of_freedom, population, risks
from treeaudit.findings import Finding, Severity, Skipped, Words

__all__ = ["Uniqueness", "group_sizes"]

_BINS = ((1, 1), (2, 4), (5, 9), (10, 49), (50, None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Uniqueness:
    """Count people in leaves of one person and in leaves below ``k``."""

    id: ClassVar[str] = "TA101"
    title: ClassVar[str] = "Singling out"
    words: ClassVar[Words] = Words(
        attacker="A leaf that holds one training record describes one person. Whoever knows "
        "somebody who fits the description has found their record, and reads the label off it.",
        assumes="the attacker has the file and knows the features on the path",
        remedy="merge leaves until each holds at least k people, or publish the tree without "
        "its counts",
        limit="counts people in the training data; it does not say whether the same description "
        "fits others outside it",
        reference="Wakabayashi et al. (2024), section 3.1; Sweeney (2002), k-anonymity",
    )

    def run(self, case: Case) -> Finding | Skipped:
        """Return what the leaf sizes alone reveal.

        ``details``: ``unique_leaves``, ``unique_people``, ``below_k_leaves``,
        ``below_k_people``; ``below_k_share``, of people, in the worst tree;
        ``k``, ``min_leaf``, ``group_sizes``; ``prosecutor_risk`` (highest),
        ``marketer_risk`` (leaves by people, all trees);
        ``trees_that_do_not_tell``; ``residual_degrees_of_freedom`` (None where
        the people are not told); ``risks`` and ``population`` as in
        `treeaudit.attacks.population`; ``contribution`` as in
        `treeaudit.attacks.contribution`.

        Skipped where the model does not tell how many people are in a leaf.
        """
        size = case.groups.size
        if size is None or not len(size):
            reason = "the model does not tell how many people are in a leaf"
            return Skipped(id=self.id, title=self.title, reason=reason)
        k = case.k
        alone, small = size == 1, size < k
        unique, below = int(alone.sum()), int(small.sum())
        below_people, total = int(size[small].sum()), int(size.sum())
        severity: Severity = "high" if unique else "medium" if below else "none"
        if severity == "none" and case.groups.n_silent:
            return Skipped(id=self.id, title=self.title, reason=silent_trees(case))
        least = int(size.min())
        worst = smallest(size, np.flatnonzero(small))
        details = {
            "unique_leaves": unique,
            "unique_people": unique,
            "below_k_leaves": below,
            "below_k_people": below_people,
            "k": k,
            "min_leaf": least,
            "group_sizes": group_sizes(size),
            "prosecutor_risk": 1 / least,
            "marketer_risk": len(size) / total,
            "trees_that_do_not_tell": case.groups.n_silent,
            "below_k_share": _share(case, small),
            "residual_degrees_of_freedom": degrees_of_freedom(case.forest, case.groups),
            "risks": risks(case),
            "population": population(case),
            "contribution": contribution(case, small),
        }
        many = case.forest.n_trees > 1
        control = leaf_control(case, small, f"leaves of fewer than {k} people")
        return Finding(
            id=self.id,
            title=self.title,
            severity=lowered(severity, [control]),
            leaves=below,
            people=below_people,
            summary=_summary(unique, below_people, below, k, many),
            details=details,
            evidence=evidence(case, worst),
            per_tree=_per_tree(case, alone, small) if many else None,
            controls=() if control is None else (control,),
        )


def group_sizes(size: npt.NDArray[np.int64]) -> list[dict[str, int | None]]:
    """Return leaves and people by size of the group.

    Examples
    --------
    >>> group_sizes(np.array([1, 1, 3, 60]))[0]
    {'from': 1, 'to': 1, 'leaves': 2, 'people': 2}
    """
    bins = []
    for low, high in _BINS:
        inside = (size >= low) & (size <= high) if high is not None else size >= low
        leaves, people = int(inside.sum()), int(size[inside].sum())
        bins.append({"from": low, "to": high, "leaves": leaves, "people": people})
    return bins


def _summary(unique: int, people: int, leaves: int, k: int, many: bool) -> str:
    if not leaves:
        return f"Every leaf holds at least {k} people."
    if many:
        return f"{unique:,} leaves hold one record alone; {leaves:,} hold fewer than {k}."
    alone = {0: "Nobody is", 1: "1 person is"}.get(unique, f"{unique:,} people are")
    return f"{alone} alone in a leaf; {people:,} are in leaves of fewer than {k}."


def _share(case: Case, small: npt.NDArray[np.bool_]) -> float:
    """Return the share of people in small leaves, in the worst tree."""
    size = case.groups.size if case.groups.size is not None else np.empty(0, np.int64)
    people = case.groups.per_tree(np.where(small, size, 0))
    return float((people / np.maximum(case.groups.per_tree(size), 1)).max())


def _per_tree(
    case: Case, alone: npt.NDArray[np.bool_], small: npt.NDArray[np.bool_]
) -> tuple[Mapping[str, Any], ...]:
    groups = case.groups
    size = groups.size if groups.size is not None else np.empty(0, np.int64)
    unique, leaves = groups.per_tree(alone), groups.per_tree(small)
    people = groups.per_tree(np.where(small, size, 0))
    # A tree that does not tell has no leaves here; reduceat would look into the next tree.
    told = np.flatnonzero(np.diff(groups.start))
    least = np.minimum.reduceat(size, groups.start[told])
    columns = (told, unique[told], leaves[told], people[told], least)
    names = ("tree", "unique_leaves", "below_k_leaves", "below_k_people", "min_leaf")
    return tuple(
        dict(zip(names, row, strict=True))
        for row in zip(*(column.tolist() for column in columns), strict=True)
    )
