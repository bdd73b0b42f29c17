"""Homogeneous groups: leaves whose people share one value of a column (TA102, TA110).

With them the measures of diversity: l-diversity, t-closeness and others.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Wide
from treeaudit.attacks.case import Case, leaf_evidence, severity_of_share, smallest
from treeaudit.attacks.control import explained, leaf_control
from treeaudit.attacks.distinct_people import InAnyTree, in_any_tree, of_each_tree, worst_share
from treeaudit.attacks.predicted_value import PredictedValue
from treeaudit.findings.details import Details
from treeaudit.findings.findings import Control, Evidence, Severity
from treeaudit.findings.numbers import People, Share
from treeaudit.model.words import in_percent
from treeaudit.table.labels import nearly_certain


@dataclass(frozen=True, slots=True, kw_only=True)
class Diversity(Details):
    """Leaves whose people are alike, and the worst measure of any leaf.

    Attributes
    ----------
    homogeneous_leaves, homogeneous_people
        Leaves whose people all have the same value, over all trees, and their
        people, of the tree that has the most.
    homogeneous_in_any_tree
        Different people of whom that is true in some tree.
    certain_share
        Of people, those in such leaves, in the worst tree.
    nearly_certain_leaves, nearly_certain_people
        Leaves in which one known person discloses the rest, or whose commonest
        value has 95 % or more with fewer than k exceptions.
    nearly_certain_share, nearly_certain_in_any_tree
        Of the people in a tree, in the worst, and different people over all.
    distinct_l, entropy_l
        Distinct and entropy l-diversity.
    recursive_c_for_l_2
        What c must exceed for recursive (c, 2)-diversity; None: unbounded.
    t_closeness, ordered_t_closeness
        Distance from everybody, of values without order and in their order;
        None where they have none.
    delta_disclosure
        The delta of delta-disclosure privacy; None: unbounded.
    beta_likeness
        The beta of basic beta-likeness.
    largest_share
        Of one value in a leaf: the alpha of (alpha, k)-anonymity.
    """

    homogeneous_leaves: People
    homogeneous_people: People
    homogeneous_in_any_tree: InAnyTree
    certain_share: Share
    nearly_certain_leaves: People
    nearly_certain_people: People
    nearly_certain_share: Share
    nearly_certain_in_any_tree: InAnyTree
    distinct_l: int
    entropy_l: float
    recursive_c_for_l_2: float | None
    t_closeness: float
    ordered_t_closeness: float | None
    delta_disclosure: float | None
    beta_likeness: float
    largest_share: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class _NearlyCertain:
    """Leaves that all but give a value away, their share of the worst tree, and their people."""

    leaves: People
    share: Share
    once: InAnyTree


_LEAST = ("distinct_l", "entropy_l")


def _diversity_of(
    told: Wide, stated: PredictedValue, certain: Wide, once: InAnyTree, nearly: _NearlyCertain
) -> Diversity:
    """Put together what the leaves say of a column."""
    labels = stated.labels
    trees = [tree for tree in labels.trees if tree is not None]
    share = Share(float((certain / np.maximum(told, 1)).max()))
    if len(told) == 1:
        share = Share.of(int(certain[0]), int(told[0]))
    return Diversity(
        homogeneous_leaves=People.leaves(int(np.count_nonzero(labels.distinct == 1))),
        homogeneous_people=once.worst,
        homogeneous_in_any_tree=once,
        certain_share=share,
        nearly_certain_leaves=nearly.leaves,
        nearly_certain_people=nearly.once.worst,
        nearly_certain_share=nearly.share,
        nearly_certain_in_any_tree=nearly.once,
        distinct_l=min(tree.distinct_l for tree in trees),
        entropy_l=min(tree.entropy_l for tree in trees),
        recursive_c_for_l_2=_bounded(tree.recursive_c for tree in trees),
        t_closeness=max(tree.t_closeness for tree in trees),
        ordered_t_closeness=(
            max(tree.ordered_t_closeness for tree in trees) if stated.ordered else None
        ),
        delta_disclosure=_bounded(tree.delta_disclosure for tree in trees),
        beta_likeness=max(tree.beta_likeness for tree in trees),
        largest_share=Share(float(labels.share.max())),
    )


def _bounded(measured: Iterable[float]) -> float | None:
    worst = max(measured)
    return worst if math.isfinite(worst) else None


def measures(found: Diversity) -> dict[str, Any]:
    """Return the measures by name, for details that hold more."""
    return {one.name: getattr(found, one.name) for one in fields(Diversity)}


def worst_of(columns: Sequence[Diversity]) -> dict[str, Any]:
    """Return the worst measures of several columns by name; None where one of them has none."""
    found = {}
    for name in measures(columns[0]):
        values = [getattr(column, name) for column in columns]
        pick = min if name in _LEAST else max
        found[name] = None if None in values else pick(values)
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HomogeneousGroups:
    """What follows of one column.

    Attributes
    ----------
    pure
        Shape ``(n_leaves,)``: whether all people of a leaf are alike.
    certain
        Shape ``(n_trees,)``: people in such leaves.
    diversity
        The measures.
    severity
        By the share of people, without those about whom a leaf says what is
        true of anybody.
    evidence
        The smallest such leaves.
    controls
        Small and large leaves beside unseen people.
    """

    pure: Flag
    certain: Wide
    diversity: Diversity
    severity: Severity
    evidence: tuple[Evidence, ...]
    controls: tuple[Control, ...]


def homogeneous_groups(case: Case, stated: PredictedValue) -> HomogeneousGroups:
    """Return whose value of a column follows from their leaf."""
    size, k = stated.size, case.k
    pure = stated.labels.distinct == 1
    held = size * pure
    certain = of_each_tree(case, held, stated.labels, stated.train)
    once = in_any_tree(case, held, stated.labels, stated.train)
    told = of_each_tree(case, size * (stated.labels.distinct > 0))
    labels = stated.labels
    near = (labels.distinct > 0) & nearly_certain(labels.share, labels.others, k)
    nearly = _NearlyCertain(
        leaves=People.leaves(int(np.count_nonzero(near))),
        share=worst_share(case, near),
        once=in_any_tree(case, size * near),
    )
    diversity = _diversity_of(told, stated, certain, once, nearly)
    parts = (
        (pure & (case.table.size < k), f"{stated.leaves} fewer than {k} people"),
        (pure & (case.table.size >= k), f"{stated.leaves} {k} or more people"),
    )
    controls = [
        (int(size[chosen].sum()), leaf_control(case, chosen, of, stated)) for chosen, of in parts
    ]
    return HomogeneousGroups(
        pure=pure,
        certain=certain,
        diversity=diversity,
        severity=_severity(diversity.certain_share, controls),
        evidence=_evidence(case, stated, smallest(size, pure)),
        controls=tuple(control for _, control in controls if control is not None),
    )


def _severity(share: float, controls: Sequence[tuple[int, Control | None]]) -> Severity:
    found = severity_of_share(share)
    if not any(explained(control) for _, control in controls):
        return found
    people = sum(n for n, _ in controls)
    memory = sum(n for n, control in controls if not explained(control))
    left = severity_of_share(share * memory / max(people, 1))
    return "low" if left == "none" and found != "none" else left


def _evidence(
    case: Case, stated: PredictedValue, chosen: npt.NDArray[np.intp]
) -> tuple[Evidence, ...]:
    found = []
    for at in chosen.tolist():
        says = None
        if stated.values is not None:
            says = f"{stated.name} = {stated.values[int(stated.labels.top[at])][:60]}"
        found.append(leaf_evidence(case, at, people=int(stated.size[at]), says=says))
    return tuple(found)


def summary_of(found: Diversity, name: str, different: str, trees: str = "") -> str:
    """Say in one sentence whose value follows."""
    people, leaves, share = found.homogeneous_people, found.homogeneous_leaves, found.certain_share
    if not leaves:
        whose = f" of {trees}" if trees not in ("", "many") else ""
        return f"Every leaf{whose} holds people with different {different}."
    if trees == "many":
        return (
            f"In {leaves:,} leaves everybody has the same {name}; "
            f"in the worst tree that is {in_percent(share)} of the people in it. Different people "
            f"in those of any tree: {found.homogeneous_in_any_tree.told}."
        )
    one = leaves.one if leaves == 1 else leaves.many
    who = people.one if people == 1 else people.many
    whose = f"In {trees} the" if trees else "The"
    told = f"{whose} {name} of {people:,} {who} ({in_percent(share)}) is certain"
    return f"{told}: {leaves:,} {one} of one {name}."
