"""Homogeneity: leaves whose people all have the same label (TA102).

Size does not protect a group whose members are all alike: knowing the leaf is
knowing the label. With it, the usual measures of how different the labels of a
group are.

References
----------
Wakabayashi et al. (2024), section 3.1, homogeneity attack, and Table 6.
Machanavajjhala et al. (2006), l-diversity. Li et al. (2007), t-closeness.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from treeaudit.attacks.case import Case, Need, evidence, looked_at, severity_of_share, smallest
from treeaudit.attacks.control import explained, leaf_control
from treeaudit.attacks.homogeneity.view import view
from treeaudit.attacks.needs import CLASS_COUNTS
from treeaudit.attacks.sensitive.checks import DIVERSITY
from treeaudit.findings.checks import Rule, holds_at_least, least, most
from treeaudit.findings.details import Details
from treeaudit.findings.findings import About, Control, Finding, Severity, Skipped, Words
from treeaudit.findings.numbers import Share
from treeaudit.findings.report import Show
from treeaudit.table.labels import Labels

__all__ = ["Homogeneity"]


_CHECKS = (
    *DIVERSITY,
    Rule(
        name="min-cell",
        title="Fewest people of one label in a leaf",
        bound="at least {:,.0f}",
        measure=least("smallest_cell"),
        missing="the class counts of the file are not people",
        holds=holds_at_least,
    ),
    Rule(
        name="max-absent-label-people",
        title="People of whom a label is ruled out",
        bound="at most {:,.0f}",
        measure=most("absent_class_people"),
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
    details: ClassVar[type[Details]] = Details
    dominant: float = 0.9

    def run(self, case: Case) -> Finding | Skipped:
        """Return how far the labels of each group differ.

        ``details``: ``homogeneous_leaves``, ``homogeneous_people``;
        ``certain_share``, of people, in the worst tree; the worst of any leaf:
        ``distinct_l``, ``entropy_l``, ``recursive_c_for_l_2`` (None: unbounded),
        ``t_closeness`` (labels without order), ``ordered_t_closeness`` (None
        where labels are not numbers), ``delta_disclosure`` (None: unbounded),
        ``beta_likeness``, ``largest_share`` (the alpha of (alpha, k)-anonymity);
        ``dominant_share`` with ``dominant_leaves`` and ``dominant_people``;
        ``absent_class_leaves`` and ``absent_class_people``; ``smallest_cell``,
        the fewest people of any class that occurs in a leaf (None: not people),
        ``small_cell_leaves`` and ``small_cell_people`` where that is below k;
        ``measured_on``.

        Skipped where no such leaf was found and not every tree holds class counts.
        """
        table, forest = case.table, case.forest
        size, labels = table.size, table.labels
        pure = labels.distinct == 1
        people = int(size[pure].sum())
        totals = table.per_tree(np.where(labels.distinct > 0, size, 0))
        certain = table.per_tree(np.where(pure, size, 0))
        share = Share(float((certain / np.maximum(totals, 1)).max()))
        if forest.n_trees == 1:
            share = Share.of(people, int(size.sum()))
        dominated = labels.share >= self.dominant
        ruled_out = labels.absent > 0
        many = forest.n_trees > 1
        details = {
            "homogeneous_leaves": int(pure.sum()),
            "homogeneous_people": people,
            "certain_share": share,
            **_worst(labels, case),
            "dominant_share": self.dominant,
            "dominant_leaves": int(dominated.sum()),
            "dominant_people": int(size[dominated].sum()),
            "absent_class_leaves": int(ruled_out.sum()),
            "absent_class_people": int(size[ruled_out].sum()),
            **_cells(labels, case),
            "measured_on": _measured_on(case),
        }
        largest = np.flatnonzero(pure)
        worst = smallest(-size, largest)
        parts = (
            (pure & (size < case.k), f"one-label leaves of fewer than {case.k} people"),
            (pure & (size >= case.k), f"one-label leaves of {case.k} or more people"),
        )
        controls = [(chosen, leaf_control(case, chosen, of)) for chosen, of in parts]
        severity, unseen = _severity(case, share, controls), _without_counts(case)
        if severity == "none" and unseen:
            return Skipped(id=self.id, title=self.title, reason=unseen[0])
        return Finding(
            id=self.id,
            title=self.title,
            severity=severity,
            leaves=int(pure.sum()),
            people=people,
            summary=_summary(people, int(pure.sum()), share, many),
            looked=looked_at("class counts of the leaves", case),
            unseen=unseen,
            details=details,
            evidence=evidence(case, worst),
            per_tree=_per_tree(table.per_tree(pure), certain, labels) if many else None,
            controls=tuple(control for _, control in controls if control is not None),
        )


def _without_counts(case: Case) -> tuple[str, ...]:
    """Say that some trees could not be examined."""
    silent = case.table.n_silent or None in case.table.labels.trees
    return (f"not every tree holds class counts ({case.forest.counts_reason})",) if silent else ()


def _severity(
    case: Case, share: float, controls: Sequence[tuple[npt.NDArray[np.bool_], Control | None]]
) -> Severity:
    """Grade the share of people, without those about whom the leaf says what everybody knows."""
    size = case.table.size
    found = severity_of_share(share)
    if not any(explained(control) for _, control in controls):
        return found
    people = sum(int(size[chosen].sum()) for chosen, _ in controls)
    memory = sum(int(size[chosen].sum()) for chosen, control in controls if not explained(control))
    left = severity_of_share(share * memory / max(people, 1))
    return "low" if left == "none" and found != "none" else left


def _worst(labels: Labels, case: Case) -> dict[str, Any]:
    trees = [tree for tree in labels.trees if tree is not None]
    recursive = max(tree.recursive_c for tree in trees)
    delta = max(tree.delta_disclosure for tree in trees)
    classes = case.forest.schema.classes or ()
    numbers = all(isinstance(c, int | float) and not isinstance(c, bool) for c in classes)
    in_order = numbers and list(classes) == sorted(classes)
    return {
        "distinct_l": min(tree.distinct_l for tree in trees),
        "entropy_l": min(tree.entropy_l for tree in trees),
        "recursive_c_for_l_2": recursive if math.isfinite(recursive) else None,
        "t_closeness": max(tree.t_closeness for tree in trees),
        "ordered_t_closeness": (
            max(tree.ordered_t_closeness for tree in trees) if in_order else None
        ),
        "delta_disclosure": delta if math.isfinite(delta) else None,
        "beta_likeness": max(tree.beta_likeness for tree in trees),
        "largest_share": float(labels.share.max()),
    }


def _cells(labels: Labels, case: Case) -> dict[str, Any]:
    """Look at the people of each label in each leaf: the cells of the table."""
    counted = ~np.isnan(labels.fewest)
    small = counted & (labels.fewest < case.k)
    return {
        "smallest_cell": int(labels.fewest[counted].min()) if counted.all() else None,
        "small_cell_leaves": int(small.sum()),
        "small_cell_people": int(case.table.size[small].sum()),
    }


def _measured_on(case: Case) -> str:
    """Say what the class shares are shares of."""
    if case.forest.counts_are not in ("exact", "likely"):
        return "weight"
    return "draws" if case.forest.records_are == "bootstrap" else "people"


def _summary(people: int, leaves: int, share: float, many: bool) -> str:
    if not leaves:
        return "Every leaf holds people with different labels."
    if many:
        return (
            f"In {leaves:,} leaves everybody has the same label; "
            f"in the worst tree that is {share:.1%} of the people."
        )
    one = "leaf" if leaves == 1 else "leaves"
    who = "person" if people == 1 else "people"
    return f"The label of {people:,} {who} ({share:.1%}) is certain: {leaves:,} {one} of one label."


def _per_tree(
    leaves: npt.NDArray[np.int64], people: npt.NDArray[np.int64], labels: Labels
) -> tuple[Mapping[str, Any], ...]:
    rows = zip(leaves.tolist(), people.tolist(), labels.trees, strict=True)
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
