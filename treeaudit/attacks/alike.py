"""People of a leaf who are all alike in one column: the attack behind TA102 and TA110.

Size does not protect a group whose members are all alike: knowing the leaf is
knowing the value.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Wide
from treeaudit.attacks.case import Case, leaf_evidence, severity_of_share, smallest
from treeaudit.attacks.control import explained, leaf_control
from treeaudit.attacks.distinct_people import in_any_tree, of_each_tree, worst_share
from treeaudit.attacks.diversity_details import Diversity, NearlyCertain, diversity_of
from treeaudit.attacks.predicted_value import PredictedValue
from treeaudit.findings.findings import Control, Evidence, Severity
from treeaudit.findings.numbers import People
from treeaudit.model.words import in_percent
from treeaudit.table.labels import nearly_certain

__all__ = ["Alike", "alike_in", "summary_of"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Alike:
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


def alike_in(case: Case, stated: PredictedValue) -> Alike:
    """Return whose value of a column follows from their leaf."""
    size, k = stated.size, case.k
    pure = stated.labels.distinct == 1
    held = size * pure
    certain = of_each_tree(case, held, stated.labels, stated.train)
    once = in_any_tree(case, held, stated.labels, stated.train)
    told = of_each_tree(case, size * (stated.labels.distinct > 0))
    labels = stated.labels
    near = (labels.distinct > 0) & nearly_certain(labels.share, labels.others, k)
    nearly = NearlyCertain(
        leaves=People.leaves(int(np.count_nonzero(near))),
        share=worst_share(case, near),
        once=in_any_tree(case, size * near),
    )
    diversity = diversity_of(told, stated, certain, once, nearly)
    parts = (
        (pure & (case.table.size < k), f"{stated.leaves} fewer than {k} people"),
        (pure & (case.table.size >= k), f"{stated.leaves} {k} or more people"),
    )
    controls = [
        (int(size[chosen].sum()), leaf_control(case, chosen, of, stated)) for chosen, of in parts
    ]
    return Alike(
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
    """Say in one sentence whose value follows.

    Parameters
    ----------
    found
        The measures.
    name
        What the column is called.
    different
        What people of a leaf have where none follows.
    trees
        ``many``, or which of several trees is told of; empty where there is one.
    """
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
