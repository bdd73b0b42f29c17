"""Homogeneity: leaves whose people all have the same label (TA102).

Size does not protect a group whose members are all alike: knowing the leaf is
knowing the label. With it, the usual measures of how different the labels of a
group are.

References
----------
Wakabayashi et al. (2024), section 3.1, homogeneity attack, and Table 6.
Machanavajjhala et al. (2006), l-diversity. Li et al. (2007), t-closeness.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from treeaudit.attacks.case import Case, Need, first_round, label_of, looked_at
from treeaudit.attacks.control import memory
from treeaudit.attacks.distinct_people import (
    InAnyTree,
    at_most,
    bounds_in_words,
    headline_tree,
    in_any,
    in_any_tree,
    in_worst_tree,
    number_of_tree,
    of_each_tree,
    skipped_rung,
)
from treeaudit.attacks.homogeneous_groups import (
    DIVERSITY,
    Diversity,
    HomogeneousGroups,
    homogeneous_groups,
    measures,
    no_labels,
    summary_of,
)
from treeaudit.attacks.needs import CLASS_COUNTS
from treeaudit.findings.checks import Rule, holds_at_least, least
from treeaudit.findings.details import Details, People, Phrase, Share, say
from treeaudit.findings.findings import (
    About,
    Control,
    Figure,
    Finding,
    Rung,
    Skipped,
    View,
    Words,
    details_of,
)
from treeaudit.findings.report import Report, Show
from treeaudit.model.tree import Tree
from treeaudit.stats import summed


@dataclass(frozen=True, slots=True, kw_only=True)
class HomogeneityDetails(Diversity):
    """How far the labels of each group differ; people are those of the tree that has the most."""

    # Leaves in which a class has at least that share
    dominant_share: float
    dominant_leaves: People
    dominant_people: People
    # Leaves in which a class of the tree is ruled out
    absent_class_leaves: People
    absent_class_people: People
    absent_class_in_any_tree: InAnyTree  # Different people of whom that is true in some tree
    # Fewest people of any class that occurs in a leaf; None: not people
    smallest_cell: People | None
    # Leaves where that is below k
    small_cell_leaves: People
    small_cell_people: People
    measured_on: Literal["people", "draws", "weight"]  # What the class shares are shares of


_KNOWS = "the same, and asks for the label"


def view(result: Finding | Skipped, report: Report) -> View:
    """Return what there is to show of the labels in the groups."""
    if isinstance(result, Skipped):
        return View(reason=say("Labels: {}.", result.reason), rungs=(skipped_rung(_KNOWS, result),))
    details = details_of(result, HomogeneityDetails)
    target, share = report.forest.schema.target[:60], details.certain_share
    many = report.forest.n_trees > 1
    distinct = details.homogeneous_in_any_tree
    # The headline speaks of one tree, which may not be the worst one here.
    people = number_of_tree(result, headline_tree(report), "homogeneous_people", distinct.worst)
    first = len(report.table.first_round) == 1
    worst = " in the worst tree" if many and not first else ""
    least = "at least " if distinct.low and not first else ""
    brief = (
        say("the label of {}{} is certain", least, distinct.low)
        if many
        else say("the label of {} ({}) is certain", People(result.people), share)
    )
    return View(
        brief=brief,
        figure=Figure(
            number=distinct.worst,
            counts=f"whose label is certain{in_worst_tree(report, distinct, labels=True)}",
        ),
        headline=_headline(result, report, people) if people else None,
        too=say(f", and in none of {_whose(report)} has everybody the same {{}}", target),
        reason=_reason(result, report, share, worst),
        rungs=(
            Rung(
                knows=say(_KNOWS),
                number=People(result.people),
                follows=say("whose label is certain{}", in_any(report, distinct, labels=True)),
            ),
        ),
        facts=(
            (
                "Diversity",
                say(
                    f"the least mixed group has {details.distinct_l} "
                    f"{'label' if details.distinct_l == 1 else 'labels'}, as mixed as "
                    f"{details.entropy_l:.2f} equally frequent ones (entropy l-diversity); the "
                    f"labels of a group are up to {details.t_closeness:.2f} from everybody's "
                    "(t-closeness)",
                ),
            ),
        ),
        held=result.controls,
        asks_control=result.status == "found",
    )


def _whose(report: Report) -> str:
    """Say which groups labels are told of: later trees of a boosting hold steps."""
    told = len(report.table.first_round)
    return "those of the first " + ("tree" if told == 1 else "round") if told else "them"


def _headline(finding: Finding, report: Report, people: int) -> Phrase:
    # Of a forest nothing is said: the people of its leaves are counted in every tree.
    known = "test" in report.people and report.forest.n_trees == 1
    return say(
        "knows the {} of {} for certain{}",
        report.forest.schema.target[:60],
        People(people),
        _memory(finding.controls) if known else "",
    )


def _memory(controls: Sequence[Control]) -> Phrase | str:
    """Say how many of the certain labels are beyond what unseen people would show."""
    known = [control.memorised for control in controls if control.memorised is not None]
    open_ = sum(control.claim.n for control in controls if control.excess is None)
    told = [memory(summed(known))] if known else []
    if open_:
        told.append(say("no unseen person like {} of them", People.alone(open_)))
    return say(f" ({', '.join('{}' for _ in told)})", *told) if told else ""


def _reason(finding: Finding, report: Report, share: Share, worst: str) -> Phrase:
    if not finding.leaves:
        whose = " of the first tree" if len(report.table.first_round) == 1 else ""
        return say(f"Every group{whose} holds people with different labels.")
    every = "all " if finding.leaves == len(report.table.leaf) > 1 else ""
    return say(
        "In {}{} everybody has the same label: {} of the people{}.",
        every, People(finding.leaves, "group", "groups"), share, worst,
    )  # fmt: skip


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
        told=bounds_in_words("absent_class_in_any_tree"),
        needless=no_labels,
        rests_on=("unit", "noise"),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Homogeneity:
    """Count people whose label follows from their leaf."""

    id: ClassVar[str] = "TA102"
    title: ClassVar[str] = "Homogeneity"
    words: ClassVar[Words] = Words(
        kinds=("attribute inference",),
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
    dominant: float = 0.9  # A class with at least this share of a leaf dominates it

    def run(self, case: Case) -> Finding | Skipped:
        """Return how far the labels of each group differ."""
        stated, forest = label_of(case), case.forest
        labels, size = stated.labels, stated.size
        found, unseen = homogeneous_groups(case, stated), _without_counts(case)
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


def _per_tree(case: Case, found: HomogeneousGroups) -> tuple[Mapping[str, Any], ...]:
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
