"""Known people taken out for real: who falls, and by which knowledge.

With the training people the attacker is taken to know the features of all of
them and the labels of the known ones; whoever falls in one tree is taken out in
the others. Without them only the known people can be followed: each tree is
looked at by itself, and what falls are the others in a leaf, whoever they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from treeaudit.arrays import Int, Wide
from treeaudit.attacks.background.bounds import (
    Bounds,
    bounds_of,
    cascade,
    check_fit,
    matched,
    one_left,
    sees_everybody,
)
from treeaudit.attacks.background.view import FallenPerson, FallingLeaf, KnownPeople
from treeaudit.attacks.case import Case, leaf_evidence
from treeaudit.attacks.control import Score, control_of, guess_by_node
from treeaudit.errors import DataError
from treeaudit.findings.details import People
from treeaudit.findings.findings import Control, Evidence
from treeaudit.model.words import label_text, number_of
from treeaudit.people.records import Records

_LISTED = 100
"""How many leaves or people are named one by one."""


@dataclass(slots=True, eq=False)
class _Falling:
    """Leaves in which somebody falls, filled in one by one."""

    tree: list[int] = field(default_factory=list)
    node: list[int] = field(default_factory=list)
    # The label that is left, and how many people it is left for
    label: list[int] = field(default_factory=list)
    people: list[int] = field(default_factory=list)
    # The known people in the leaf, as rows counted from 1
    rows: list[list[int]] = field(default_factory=list)


def _falling_by_leaf(train: Records, tree: Int, falls: Wide, rows: Wide, label: Int) -> _Falling:
    """Put together whoever falls in the same leaf with the same label, most people first."""
    found = _Falling()
    if not len(falls):
        return found
    node = train.node[falls, tree[falls]]
    leaves = np.column_stack([tree[falls], node, label[falls]])
    groups, people = np.unique(leaves, axis=0, return_counts=True)
    for group in np.argsort(-people, kind="stable").tolist():
        i, leaf, left = groups[group].tolist()
        known = rows[train.node[:, i] == leaf] if len(found.node) < _LISTED else rows[:0]
        found.tree.append(i)
        found.node.append(leaf)
        found.label.append(left)
        found.people.append(int(people[group]))
        found.rows.append(np.sort(known[known >= 0] + 1).tolist())
    return found


def _label_name(case: Case, label: int) -> str:
    """Return a label by its position."""
    return label_text((case.forest.schema.classes or ())[label])


def _others(people: int) -> str:
    """Return how many others, in words."""
    return number_of(people, "other person", "others")


def _listed(case: Case, found: _Falling) -> tuple[FallingLeaf, ...]:
    """Return the leaves as data, most people first."""
    order = sorted(range(len(found.node)), key=lambda i: -found.people[i])[:_LISTED]
    return tuple(
        FallingLeaf(
            tree=found.tree[i],
            leaf=found.node[i],
            people=People(found.people[i]),
            label=_label_name(case, found.label[i]),
            known_rows=tuple(found.rows[i][:_LISTED]),
        )
        for i in order
    )


def _falling_evidence(
    case: Case, found: _Falling, origin: str, train: Records | None
) -> tuple[Evidence, ...]:
    """Return the leaves in which most people fall, with the reason."""
    order = sorted(range(len(found.node)), key=lambda i: -found.people[i])[:5]
    rows = []
    for i in order:
        left = f"{case.forest.schema.target} = {_label_name(case, found.label[i])}"
        says = f"{left} for {_others(found.people[i])}" + _because(found.rows[i], origin, train)
        (at,) = case.table.positions(found.tree[i], [found.node[i]]).tolist()
        rows.append(leaf_evidence(case, at, says=says))
    return tuple(rows)


def _because(rows: Sequence[int], origin: str, train: Records | None) -> str:
    if not rows:
        return " once others are taken out who fell before" if train is not None else ""
    named = ", ".join(map(str, rows[:5])) + (", …" if len(rows) > 5 else "")
    row, are = ("row", "is") if len(rows) == 1 else ("rows", "are")
    return f" once {row} {named} of {origin} {are} taken out"


def _falling_controls(case: Case, found: _Falling, seen: Score | None) -> tuple[Control, ...]:
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fallen:
    """What known people disclose."""

    details: KnownPeople
    share: float
    summary: str
    evidence: tuple[Evidence, ...] = ()  # The leaves that disclose most
    controls: tuple[Control, ...] = ()  # What follows, beside unseen people
    # Shape `(n_train,)`: the labels that are known or follow, -1 for the others; None without
    # training people
    label: Int | None = None


def taken_out(case: Case, known: Records) -> Fallen:
    """Take the known people out of the leaves and see who falls."""
    labels = known.labels
    if labels is None and known.members is None:
        raise DataError(
            f"{known.origin} does not tell the labels of the known people; "
            "add the column, or name it with --target"
        )
    if labels is None or case.forest.tree_classes is not None:
        reason = "every tree counts labels of its own, so that known people cannot be taken out"
        return _nobody(case, known, reason)
    train = case.labelled("train")
    if train is not None:
        return _people(case, known, labels, train)
    return _leaves(case, known, labels)


def _nobody(case: Case, known: Records, reason: str) -> Fallen:
    return Fallen(
        details=replace(_details(case, known, "leaves", 0, _Falling()), reason=reason),
        share=0.0,
        summary=f"The known people disclose nobody: {reason}.",
    )


def _details(
    case: Case, known: Records, followed: Literal["people", "leaves"], used: int, found: _Falling
) -> KnownPeople:
    return KnownPeople(
        origin=known.origin,
        records=People(len(known)),
        followed=followed,
        trees_used=used,
        trees=case.forest.n_trees,
        people_falling=People(
            sum(found.people) if followed == "people" else _most_in_a_tree(found)
        ),
        leaves_falling=People.leaves(len(found.node)),
        falling=_listed(case, found),
    )


def _most_in_a_tree(found: _Falling) -> int:
    """Return how many people fall in the tree with the most: summed they would count twice."""
    if not found.tree:
        return 0
    return int(np.bincount(found.tree, weights=found.people).max())


def _leaves(case: Case, known: Records, labels: Int) -> Fallen:
    """Take the known people out of each tree by itself."""
    found, used, total = _Falling(), 0, 0
    for i, tree in enumerate(case.forest.trees):
        case.step("taking out known people", i + 1, case.forest.n_trees)
        bounds = bounds_of(tree, case.forest.counts_are)
        if bounds is None or not sees_everybody(case.forest, tree):
            continue
        used += 1
        total = max(total, int(bounds.size.sum()))
        check_fit(case.forest, i, bounds, known)
        node = known.node[:, i].astype(np.int64)
        shape = bounds.low.shape
        taken = np.bincount(node * shape[1] + labels, minlength=shape[0] * shape[1])
        left = bounds.without(taken.reshape(shape))
        label = one_left(left)
        for leaf in np.flatnonzero((label >= 0) & (one_left(bounds) < 0)).tolist():
            found.tree.append(i)
            found.node.append(leaf)
            found.label.append(int(label[leaf]))
            found.people.append(int(left.size[leaf]))
            found.rows.append((np.flatnonzero(node == leaf) + 1).tolist())
    if not used:
        return _nobody(case, known, _unprovable(case))
    people = _most_in_a_tree(found)
    whom = f"{_others(people)} in {number_of(len(found.node), 'leaf', 'leaves')}"
    whom += " of one tree or another, each tree by itself" if used > 1 else ""
    summary = (
        f"Taking out {_those(len(known))} leaves one label for {whom if people else 'nobody'}."
    )
    return Fallen(
        details=_details(case, known, "leaves", used, found),
        share=people / max(total, 1),
        summary=summary,
        evidence=_falling_evidence(case, found, known.origin, None),
        controls=_falling_controls(case, found, None),
    )


def _people(case: Case, known: Records, labels: Int, train: Records) -> Fallen:
    """Follow everybody through all trees, and whoever falls as well."""
    row = matched(known, train)
    trees: list[Bounds | None] = []
    for i, tree in enumerate(case.forest.trees):
        case.step("taking out known people", i + 1, case.forest.n_trees)
        routed = np.bincount(train.node[:, i], minlength=tree.n_nodes)
        holds = None if tree.n_records is None else routed == tree.n_records
        trees.append(bounds_of(tree, case.forest.counts_are, holds))
    used = sum(tree is not None and bool(tree.holds.any()) for tree in trees)
    if not used:
        return _nobody(case, known, _unprovable(case))

    def step(done: int) -> None:
        case.step("following who falls", done, done + 1)

    before = cascade(trees, train.node, np.full(len(train), -1, np.int32), step)
    given = before.label.copy()
    given[row] = labels
    after = cascade(trees, train.node, given, step)
    falls = np.flatnonzero(after.round > 0)
    rows = np.full(len(train), -1, np.int64)
    rows[row] = np.arange(len(known))
    found = _falling_by_leaf(train, after.tree, falls, rows, after.label)
    seen = Score(train)
    seen.add(np.where(after.round > 0, after.label, -1))
    direct, n = int((after.round == 1).sum()), len(falls)
    details = replace(
        _details(case, known, "people", used, found),
        people_certain_before=People(int((before.label >= 0).sum())),
        people_falling_at_once=People(direct),
        people_falling_as_a_consequence=People(n - direct),
        rounds=after.n_rounds,
        people=tuple(
            FallenPerson(
                row=int(person) + 1,
                label=_label_name(case, int(after.label[person])),
                round=int(after.round[person]),
                tree=int(after.tree[person]),
                leaf=int(train.node[person, after.tree[person]]),
            )
            for person in falls[np.argsort(after.round[falls], kind="stable")][:_LISTED].tolist()
        ),
    )
    return Fallen(
        details=details,
        share=n / max(len(train), 1),
        summary=_summary(details, train.origin),
        evidence=_falling_evidence(case, found, known.origin, train),
        controls=_falling_controls(case, found, seen),
        label=after.label,
    )


def _unprovable(case: Case) -> str:
    forest = case.forest
    if forest.counts_are == "noisy":
        return "noise was added to the counts"
    if forest.records_are != "all":
        return "no tree tells whether it was trained on a known person"
    return forest.counts_reason or "the file does not tell how many people are in its leaves"


def _those(known: int) -> str:
    return "the known person" if known == 1 else f"the {known:,} known people"


def _summary(details: KnownPeople, origin: str) -> str:
    people, later = details.people_falling, details.people_falling_as_a_consequence
    whom = f"{_others(people)} in {origin}" if people else f"nobody else in {origin}"
    text = f"Taking out {_those(details.records)} discloses {whom}"
    text += f", {later:,} of them because of others who fell before" if later else ""
    before = details.people_certain_before
    verb = "is" if before == 1 else "are"
    if details.trees_used > 1:
        # What follows from several trees is searched for: not everybody of whom it does is found.
        verb += " found"
    text += f"; {before:,} {verb} certain before anybody is known"
    return text + (", and some of the others may be." if details.trees_used > 1 else ".")
