"""Homogeneity: leaves whose people all have the same label (TA102).

Size does not protect a group whose members are all alike: knowing the leaf is
knowing the label. With it, the usual measures of how different the labels of a
group are.

References
----------
Wakabayashi et al. (2024), section 3.1, homogeneity attack, and Table 6.
Machanavajjhala et al. (2006), l-diversity. Li et al. (2007), t-closeness.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from treeaudit.attacks.alike import Alike, alike_in, summary_of
from treeaudit.attacks.case import Case, Need, first_round, looked_at
from treeaudit.attacks.distinct_people import (
    at_most,
    in_any_tree,
    of_each_tree,
    told,
)
from treeaudit.attacks.diversity_details import measures
from treeaudit.attacks.homogeneity.details import HomogeneityDetails
from treeaudit.attacks.homogeneity.view import view
from treeaudit.attacks.needs import CLASS_COUNTS
from treeaudit.attacks.predicted_value import label_of
from treeaudit.attacks.sensitive.checks import DIVERSITY, no_labels
from treeaudit.findings.checks import Rule, holds_at_least, least
from treeaudit.findings.details import Details
from treeaudit.findings.findings import About, Finding, Skipped, Words
from treeaudit.findings.numbers import People
from treeaudit.findings.report import Show
from treeaudit.model.tree import Tree

__all__ = ["Homogeneity"]


_CHECKS = (
    *DIVERSITY,
    Rule(
        name="min-cell",
        title="Fewest people of one label in a leaf",
        bound="at least {:,.0f}",
        tells_of="smallest group",
        measure=least("smallest_cell"),
        missing="the class counts of the file are not people",
        holds=holds_at_least,
        needless=no_labels,
        rests_on=("unit", "counts", "noise"),
    ),
    Rule(
        name="max-absent-label-people",
        title="People of whom a label is ruled out",
        bound="at most {:,.0f}",
        measure=at_most("absent_class_in_any_tree"),
        told=told("absent_class_in_any_tree"),
        needless=no_labels,
        rests_on=("unit", "noise"),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Homogeneity:
    """Count people whose label follows from their leaf.

    Attributes
    ----------
    dominant
        A class with at least this share of a leaf dominates it.
    """

    id: ClassVar[str] = "TA102"
    title: ClassVar[str] = "Homogeneity"
    words: ClassVar[Words] = Words(
        attacker="When everybody in a leaf has the same label, size does not protect them: knowing "
        "the leaf is knowing the label. A class that is absent from a leaf is ruled out for "
        "everybody in it.",
        assumes="the attacker has the file and knows the features on the path",
        remedy="merge leaves until each holds at least two labels (l-diversity)",
        limit="in large leaves this is often a fact of the population that the tree would state "
        "about anybody; only a control on unseen people can tell",
        reference="Wakabayashi et al. (2024), section 3.1; Machanavajjhala et al. (2006)",
    )
    about: ClassVar[About] = "table"
    checks: ClassVar[tuple[Rule, ...]] = _CHECKS
    view: ClassVar[Show] = staticmethod(view)
    needs: ClassVar[tuple[Need, ...]] = (CLASS_COUNTS,)
    details: ClassVar[type[Details]] = HomogeneityDetails
    dominant: float = 0.9

    def run(self, case: Case) -> Finding | Skipped:
        """Return how far the labels of each group differ.

        Skipped where no such leaf was found and not every tree holds class counts.
        """
        stated, forest = label_of(case), case.forest
        labels, size = stated.labels, stated.size
        found, unseen = alike_in(case, stated), _without_counts(case)
        if found.severity == "none" and unseen:
            return Skipped(id=self.id, title=self.title, reason=unseen[0])
        dominated, ruled_out = labels.share >= self.dominant, labels.absent > 0
        told = labels.distinct > 0
        counted = ~np.isnan(labels.fewest)
        lacking = in_any_tree(case, size * ruled_out)
        small = counted & (labels.fewest < case.k)
        leaves, people = found.diversity.homogeneous_leaves, found.diversity.homogeneous_people
        return Finding(
            id=self.id,
            title=self.title,
            severity=found.severity,
            leaves=leaves,
            people=people,
            summary=summary_of(found.diversity, "label", "labels", trees=_trees(case)),
            looked=looked_at("class counts of the leaves", case, labels=True),
            unseen=unseen,
            details=HomogeneityDetails(
                **measures(found.diversity),
                dominant_share=self.dominant,
                dominant_leaves=_leaves(dominated),
                dominant_people=_people(case, dominated),
                absent_class_leaves=_leaves(ruled_out),
                absent_class_people=lacking.worst,
                absent_class_in_any_tree=lacking,
                smallest_cell=(
                    People(int(labels.fewest[told].min())) if counted[told].all() else None
                ),
                small_cell_leaves=_leaves(small),
                small_cell_people=_people(case, small),
                measured_on=_measured_on(case),
            ),
            evidence=found.evidence,
            per_tree=_per_tree(case, found) if forest.n_trees > 1 else None,
            controls=found.controls,
        )


def _trees(case: Case) -> str:
    """Say which trees a number of people is about: nothing for one tree, ``many``, or the first."""
    if case.forest.n_trees == 1:
        return ""
    return first_round(case.table) if len(case.table.first_round) == 1 else "many"


def _leaves(chosen: npt.NDArray[np.bool_]) -> People:
    return People.leaves(int(np.count_nonzero(chosen)))


def _people(case: Case, chosen: npt.NDArray[np.bool_]) -> People:
    """Return the people of some leaves, of the tree that has the most."""
    return People(int(of_each_tree(case, case.table.size * chosen).max()))


def _without_counts(case: Case) -> tuple[str, ...]:
    """Say that some trees could not be examined."""
    table = case.table
    silent = not table.first_round and (table.n_silent or None in table.labels.trees)
    return (f"not every tree holds class counts ({case.forest.counts_reason})",) if silent else ()


def _measured_on(case: Case) -> Literal["people", "draws", "weight"]:
    """Say what the class shares are shares of."""
    forest = case.forest
    if case.table.labels_counted:
        return "people"
    if forest.counts_are not in ("exact", "likely"):
        return "weight"
    drawn = forest.records_are == "bootstrap"
    # Of trees of several kinds some may have seen draws: these are more than the people.
    if forest.records_are == "unknown":
        drawn = any(_draws(tree) for tree in forest.trees)
    return "draws" if drawn else "people"


def _draws(tree: Tree) -> bool:
    if tree.counts is None or tree.n_records is None:
        return False
    leaves = tree.is_leaf
    return bool(tree.counts[leaves].sum() != tree.n_records[leaves].sum())


def _per_tree(case: Case, found: Alike) -> tuple[Mapping[str, Any], ...]:
    leaves = case.table.per_tree(found.pure)
    labels = case.table.labels_of_people
    rows = zip(leaves.tolist(), found.certain.tolist(), labels.trees, strict=True)
    return tuple(
        {
            "tree": i,
            "homogeneous_leaves": n,
            "homogeneous_people": p,
            "distinct_l": worst.distinct_l,
            "entropy_l": worst.entropy_l,
            "t_closeness": worst.t_closeness,
        }
        for i, (n, p, worst) in enumerate(rows)
        if worst is not None
    )
