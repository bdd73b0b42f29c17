"""Homogeneous groups: leaves whose people share one value of a column (TA102, TA110).

With them the measures of diversity, l-diversity, t-closeness and others, and their checks.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Wide
from treeaudit.attacks.case import Case, PredictedValue, leaf_evidence, severity_of_share, smallest
from treeaudit.attacks.composition.equations import is_random_forest
from treeaudit.attacks.control import MEMORY, explained, leaf_control
from treeaudit.attacks.distinct_people import (
    InAnyTree,
    in_any_tree,
    of_each_tree,
    share_at_most,
    share_in_words,
    worst_share,
)
from treeaudit.findings.checks import Measure, Rule, holds_at_least, least, most
from treeaudit.findings.details import Details, People, Phrase, Share, say
from treeaudit.findings.findings import Control, Evidence, Finding, Severity
from treeaudit.model.forest import Forest
from treeaudit.model.words import in_percent
from treeaudit.table.labels import nearly_certain


@dataclass(frozen=True, slots=True, kw_only=True)
class Diversity(Details):
    """Leaves whose people are alike, and the worst measure of any leaf."""

    # Leaves whose people all have the same value, over all trees, and their people, of the tree
    # that has the most
    homogeneous_leaves: People
    homogeneous_people: People
    homogeneous_in_any_tree: InAnyTree  # Different people of whom that is true in some tree
    certain_share: Share  # Of people, those in such leaves, in the worst tree
    # Leaves in which one known person discloses the rest, or whose commonest value has 95 % or
    # more with fewer than k exceptions
    nearly_certain_leaves: People
    nearly_certain_people: People
    # Of the people in a tree, in the worst, and different people over all
    nearly_certain_share: Share
    nearly_certain_in_any_tree: InAnyTree
    # Distinct and entropy l-diversity
    distinct_l: int
    entropy_l: float
    # What c must exceed for recursive (c, 2)-diversity; None: unbounded
    recursive_c_for_l_2: float | None
    # Distance from everybody, of values without order and in their order; None where they have
    # none
    t_closeness: float
    ordered_t_closeness: float | None
    delta_disclosure: float | None  # The delta of delta-disclosure privacy; None: unbounded
    beta_likeness: float  # The beta of basic beta-likeness
    largest_share: Share  # Of one value in a leaf: the alpha of (alpha, k)-anonymity


@dataclass(frozen=True, slots=True, kw_only=True)
class _NearlyCertain:
    """Leaves that all but give a value away, their share of the worst tree, and their people."""

    leaves: People
    share: Share
    distinct: InAnyTree


_LEAST = ("distinct_l", "entropy_l")


def _diversity_of(
    told: Wide, stated: PredictedValue, certain: Wide, distinct: InAnyTree, nearly: _NearlyCertain
) -> Diversity:
    """Put together what the leaves say of a column."""
    labels = stated.labels
    trees = [tree for tree in labels.trees if tree is not None]
    share = Share(float((certain / np.maximum(told, 1)).max()))
    if len(told) == 1:
        share = Share.of(int(certain[0]), int(told[0]))
    return Diversity(
        homogeneous_leaves=People.leaves(int(np.count_nonzero(labels.distinct == 1))),
        homogeneous_people=distinct.worst,
        homogeneous_in_any_tree=distinct,
        certain_share=share,
        nearly_certain_leaves=nearly.leaves,
        nearly_certain_people=nearly.distinct.worst,
        nearly_certain_share=nearly.share,
        nearly_certain_in_any_tree=nearly.distinct,
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
    """What follows of one column."""

    pure: Flag  # Shape `(n_leaves,)`: whether all people of a leaf are alike
    certain: Wide  # Shape `(n_trees,)`: people in such leaves
    diversity: Diversity  # The measures
    # By the share of people, without those about whom a leaf says what is true of anybody
    severity: Severity
    evidence: tuple[Evidence, ...]  # The smallest such leaves
    controls: tuple[Control, ...]  # Small and large leaves beside unseen people


def homogeneous_groups(case: Case, stated: PredictedValue) -> HomogeneousGroups:
    """Return whose value of a column follows from their leaf."""
    size, k = stated.size, case.k
    pure = stated.labels.distinct == 1
    held = size * pure
    certain = of_each_tree(case, held, stated.labels, stated.train)
    distinct = in_any_tree(case, held, stated.labels, stated.train)
    told = of_each_tree(case, size * (stated.labels.distinct > 0))
    labels = stated.labels
    near = (labels.distinct > 0) & nearly_certain(labels.share, labels.others, k)
    nearly = _NearlyCertain(
        leaves=People.leaves(int(np.count_nonzero(near))),
        share=worst_share(case, near),
        distinct=in_any_tree(case, size * near),
    )
    diversity = _diversity_of(told, stated, certain, distinct, nearly)
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
    one = leaves.one if leaves == 1 else leaves.many
    if trees == "many":
        return (
            f"In {leaves:,} {one} everybody has the same {name}; "
            f"in the worst tree that is {in_percent(share)} of the people in it. Different people "
            f"in those of any tree: {found.homogeneous_in_any_tree.text}."
        )
    who = people.one if people == 1 else people.many
    whose = f"In {trees} the" if trees else "The"
    told = f"{whose} {name} of {people:,} {who} ({in_percent(share)}) is certain"
    return f"{told}: {leaves:,} {one} of one {name}."


_DRAWS = "its class counts are draws, in which a person counts as often as they were drawn"


def _with_columns(title: str) -> Callable[[Sequence[Finding]], str]:
    """Return what gives a check a title that tells of columns, where some were named."""

    def wider(findings: Sequence[Finding]) -> str:
        columns = (one for f in findings for one in getattr(f.details, "columns", ()))
        return title if any(getattr(one, "named", False) for one in columns) else ""

    return wider


def no_labels(forest: Forest) -> str | None:
    """Say that a model holds no labels of its people: it predicts a number; None for others."""
    number = forest.answers in ("path", "leaf") or forest.trees[0].value is not None
    if forest.schema.classes is None and number:
        return "not applicable: the model predicts a number and holds no labels"
    asked = forest.extras.looked_for
    # A random forest of a boosting library holds labels in every tree.
    sums = forest.answers == "sum" and not is_random_forest(forest)
    sums = sums and any(tree.n_records is not None for tree in forest.trees)
    if sums and all(tree.counts is None for tree in forest.trees):
        if asked and "first-round-counts" not in asked:
            return None
        return "not applicable: its trees add up numbers and hold no labels"
    return None


def _of_people(measure: Measure) -> Measure:
    """Measure where class counts are people: of draws and weights a pass would not be shown."""

    def measured(findings: Sequence[Finding], forest: Forest) -> float | None:
        of = {getattr(finding.details, "measured_on", "people") for finding in findings}
        return measure(findings, forest) if of == {"people"} else None

    return measured


def _by_weight(findings: Sequence[Finding], forest: Forest) -> str | None:
    """Say that shares by weight do not tell how many people have another label."""
    if all(getattr(one.details, "measured_on", "people") != "weight" for one in findings):
        return None
    # Of noise the ledger tells what it gives away.
    if forest.counts_are != "weighted":
        return None
    return (
        f"how many people of a leaf have another label is not told ({forest.counts_reason}): give "
        "the training data (--train)"
    )


def _predicts_number(forest: Forest) -> bool:
    # A model of several outputs has neither labels nor one number.
    number = forest.schema.classes is None and forest.trees[0].value is not None
    return number and forest.answers not in ("path", "leaf")


def _neither(forest: Forest) -> str | None:
    """Say that a model holds no labels of its people, and predicts no number."""
    return None if _predicts_number(forest) else no_labels(forest)


def _nearly_at_most(findings: Sequence[Finding], forest: Forest) -> tuple[float, str]:
    """Return what share it may be, where numbers that fit the file are nearly certain or not."""
    most = max(getattr(one.details, "nearly_certain_at_most", 0.0) for one in findings)
    return most, (
        f"of {in_percent(most)} of the people the file does not tell how many have another number "
        f"than most of their leaf: {_what_tells(findings, forest)}"
    )


def _what_tells(findings: Sequence[Finding], forest: Forest) -> str:
    """Say what would: of draws nobody does, of however many people."""
    if any(getattr(one.details, "spread_of", "") == "people" for one in findings):
        return "train larger leaves, since nobody knows who was drawn"
    larger = "" if forest.records_are == "all" else ", or, of draws, train larger leaves"
    return f"give the training data (--train){larger}"


_NEARLY = "nearly_certain_share", "nearly_certain_in_any_tree"


def _nearly_in_words(findings: Sequence[Finding]) -> str | Phrase:
    """Say the share, or its bounds if draws or numbers that are not told leave it open."""
    found = [one.details for one in findings]
    share = Share(max(getattr(one, _NEARLY[0]) for one in found))
    in_any = max(getattr(one, _NEARLY[1]).share for one in found)
    most = Share(max(getattr(one, "nearly_certain_at_most", 0.0) for one in found))
    if most > max(share, in_any):
        return say("at least {}, at most {}", share, most)
    told = share_in_words(*_NEARLY)(findings)
    if all(getattr(one, "measured_on", "") != "draws" for one in found):
        return told
    # How often the exceptions were drawn is open: there may be more of them than is taken.
    told = told if isinstance(told, Phrase) else say("{}", share)
    return replace(told, template=f"up to {told.template.replace('up to ', '')}")


NEARLY = Rule(
    name="max-nearly-certain-share",
    title="People whose label or number is nearly certain",
    wider=_with_columns("People whose label, number or sensitive value is nearly certain"),
    bound="at most {:.1%}",
    tells_of="everybody",
    measure=share_at_most(*_NEARLY),
    told=_nearly_in_words,
    share=True,
    unsure=_by_weight,
    perhaps=_nearly_at_most,
    needless=_neither,
    lead=lambda forest: "TA109" if _predicts_number(forest) else "TA102",
    step="merge leaves until two or more people in each have another label, or number",
    # Without the training people a leaf of numbers tells less of how many have another.
    rests_on=(
        *("below_k", "unit", "counts", "spread", "noise", "sensitive", "tolerance", "train"),
    ),
)
"""Of labels (TA102), of numbers where there are no labels (TA109), and of columns (TA110)."""

DIVERSITY: tuple[Rule, ...] = (
    Rule(
        name="max-certain-share",
        needless=no_labels,
        title="People whose label is certain",
        wider=_with_columns("People whose label or sensitive value is certain"),
        bound="at most {:.1%}",
        tells_of="everybody",
        measure=share_at_most("certain_share", "homogeneous_in_any_tree"),
        told=share_in_words("certain_share", "homogeneous_in_any_tree"),
        share=True,
        step="make leaves larger (max_leaf_nodes, a higher min_samples_leaf) until each holds more "
        "than one label; where unseen people (--test) fit as well, it is a fact of the population, "
        "which somebody may accept by name (treeaudit accept)",
        rests_on=("unit", "noise", "sensitive"),
    ),
    NEARLY,
    Rule(
        name="min-distinct-l",
        needless=no_labels,
        title="Different labels in a leaf",
        wider=_with_columns("Different labels or sensitive values in a leaf"),
        bound="at least {:,.0f}",
        measure=least("distinct_l"),
        holds=holds_at_least,
        rests_on=("unit", "noise", "sensitive"),
    ),
    Rule(
        name="min-entropy-l",
        title="Entropy l-diversity",
        bound="at least {:g}",
        measure=_of_people(least("entropy_l")),
        missing=_DRAWS,
        needless=no_labels,
        holds=holds_at_least,
        rests_on=("unit", "counts", "noise", "sensitive"),
    ),
    Rule(
        name="max-t-closeness",
        title="Distance of a leaf from everybody (t-closeness)",
        bound="at most {:g}",
        measure=_of_people(most("t_closeness")),
        missing=_DRAWS,
        needless=no_labels,
        share=True,
        rests_on=("unit", "counts", "noise", "sensitive"),
    ),
    Rule(
        name="max-dominant-share",
        title="Share of one label in a leaf",
        wider=_with_columns("Share of one label or sensitive value in a leaf"),
        bound="at most {:.1%}",
        measure=_of_people(most("largest_share")),
        missing=_DRAWS,
        needless=no_labels,
        share=True,
        rests_on=("unit", "counts", "noise", "sensitive"),
    ),
    MEMORY,
)
"""The first attack that names them has to have run; the other adds its columns."""
