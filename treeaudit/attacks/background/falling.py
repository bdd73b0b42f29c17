"""Leaves in which somebody falls: how they are listed, shown and held against unseen people."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from treeaudit.arrays import Int, Wide
from treeaudit.attacks.background.control import control_of, guess_by_node
from treeaudit.attacks.background.details import FallingLeaf
from treeaudit.attacks.case import Case, leaf_evidence
from treeaudit.attacks.control import Score
from treeaudit.findings.findings import Control, Evidence
from treeaudit.findings.numbers import People
from treeaudit.model.words import label_text, number_of
from treeaudit.people.records import Records

__all__ = [
    "LISTED",
    "Falling",
    "falling_by_leaf",
    "falling_controls",
    "falling_evidence",
    "label_name",
    "listed",
    "others",
]


LISTED = 100
"""How many leaves or people are named one by one."""


@dataclass(slots=True, eq=False)
class Falling:
    """Leaves in which somebody falls, filled in one by one.

    Attributes
    ----------
    label, people
        The label that is left, and how many people it is left for.
    rows
        The known people in the leaf, as rows counted from 1.
    """

    tree: list[int] = field(default_factory=list)
    node: list[int] = field(default_factory=list)
    label: list[int] = field(default_factory=list)
    people: list[int] = field(default_factory=list)
    rows: list[list[int]] = field(default_factory=list)


def falling_by_leaf(train: Records, tree: Int, falls: Wide, rows: Wide, label: Int) -> Falling:
    """Put together whoever falls in the same leaf with the same label, most people first."""
    found = Falling()
    if not len(falls):
        return found
    node = train.node[falls, tree[falls]]
    leaves = np.column_stack([tree[falls], node, label[falls]])
    groups, people = np.unique(leaves, axis=0, return_counts=True)
    for group in np.argsort(-people, kind="stable").tolist():
        i, leaf, left = groups[group].tolist()
        known = rows[train.node[:, i] == leaf] if len(found.node) < LISTED else rows[:0]
        found.tree.append(i)
        found.node.append(leaf)
        found.label.append(left)
        found.people.append(int(people[group]))
        found.rows.append(np.sort(known[known >= 0] + 1).tolist())
    return found


def label_name(case: Case, label: int) -> str:
    """Return a label by its position."""
    return label_text((case.forest.schema.classes or ())[label])


def others(people: int) -> str:
    """Return how many others, in words."""
    return number_of(people, "other person", "others")


def listed(case: Case, found: Falling) -> tuple[FallingLeaf, ...]:
    """Return the leaves as data, most people first."""
    order = sorted(range(len(found.node)), key=lambda i: -found.people[i])[:LISTED]
    return tuple(
        FallingLeaf(
            tree=found.tree[i],
            leaf=found.node[i],
            people=People(found.people[i]),
            label=label_name(case, found.label[i]),
            known_rows=tuple(found.rows[i][:LISTED]),
        )
        for i in order
    )


def falling_evidence(
    case: Case, found: Falling, origin: str, train: Records | None
) -> tuple[Evidence, ...]:
    """Return the leaves in which most people fall, with the reason."""
    order = sorted(range(len(found.node)), key=lambda i: -found.people[i])[:5]
    rows = []
    for i in order:
        left = f"{case.forest.schema.target} = {label_name(case, found.label[i])}"
        says = f"{left} for {others(found.people[i])}" + _because(found.rows[i], origin, train)
        (at,) = case.table.positions(found.tree[i], [found.node[i]]).tolist()
        rows.append(leaf_evidence(case, at, says=says))
    return tuple(rows)


def _because(rows: Sequence[int], origin: str, train: Records | None) -> str:
    if not rows:
        return " once others are taken out who fell before" if train is not None else ""
    named = ", ".join(map(str, rows[:5])) + (", …" if len(rows) > 5 else "")
    row, are = ("row", "is") if len(rows) == 1 else ("rows", "are")
    return f" once {row} {named} of {origin} {are} taken out"


def falling_controls(case: Case, found: Falling, seen: Score | None) -> tuple[Control, ...]:
    """Ask whether unseen people in the same leaves have the label that is left as well."""
    unseen = None
    test = case.labelled("test")
    if test is not None:
        test = test.in_leaves()
        unseen = Score(test)
        tree, node, label = (np.array(a) for a in (found.tree, found.node, found.label))
        for i in np.unique(tree).tolist():
            # Where people of a leaf fall with several labels, the most people count.
            here = np.flatnonzero(tree == i)[::-1]
            unseen.add(guess_by_node(case, i, node[here], label[here])(test))
    of = "the others in leaves where one label is left once the known people are taken out"
    control = control_of(case, of, seen, unseen)
    return () if control is None else (control,)
