"""How different the people of a leaf are in one column: what TA102 and TA110 have in common."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.attacks.distinct_people import InAnyTree
from treeaudit.attacks.predicted_value import PredictedValue
from treeaudit.findings.details import Details
from treeaudit.findings.numbers import People, Share

__all__ = ["Diversity", "NearlyCertain", "diversity_of", "measures", "worst_of"]


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
class NearlyCertain:
    """Leaves that all but give a value away, their share of the worst tree, and their people."""

    leaves: People
    share: Share
    once: InAnyTree


_LEAST = ("distinct_l", "entropy_l")


def diversity_of(
    told: Wide, stated: PredictedValue, certain: Wide, once: InAnyTree, nearly: NearlyCertain
) -> Diversity:
    """Put together what the leaves say of a column.

    Parameters
    ----------
    told
        Shape ``(n_trees,)``: people in leaves that say something of it.
    stated
        What the leaves say.
    certain
        Shape ``(n_trees,)``: people in leaves of one value.
    once
        The same people over all trees.
    nearly
        Leaves that all but give the value of their people away.
    """
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
