"""Known people taken out for real: who falls, and by which knowledge.

With the training people the attacker is taken to know the features of all of
them and the labels of the known ones; whoever falls in one tree is taken out in
the others. Without them only the known people can be followed: each tree is
looked at by itself, and what falls are the others in a leaf, whoever they are.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from treeaudit.arrays import Int
from treeaudit.attacks.background.bounds import Bounds, bounds_of, one_left, sees_everybody
from treeaudit.attacks.background.cascade import cascade
from treeaudit.attacks.background.details import FallenPerson, KnownPeople
from treeaudit.attacks.background.falling import (
    LISTED,
    Falling,
    falling_by_leaf,
    falling_controls,
    falling_evidence,
    label_name,
    listed,
    others,
)
from treeaudit.attacks.background.matching import check_fit, matched
from treeaudit.attacks.case import Case
from treeaudit.attacks.control import Score
from treeaudit.errors import DataError
from treeaudit.findings.findings import Control, Evidence
from treeaudit.findings.numbers import People
from treeaudit.model.words import number_of
from treeaudit.people.records import Records

__all__ = ["Fallen", "taken_out"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fallen:
    """What known people disclose.

    Attributes
    ----------
    evidence
        The leaves that disclose most.
    controls
        What follows, beside unseen people.
    label
        Shape ``(n_train,)``: the labels that are known or follow, -1 for the
        others; None without training people.
    """

    details: KnownPeople
    share: float
    summary: str
    evidence: tuple[Evidence, ...] = ()
    controls: tuple[Control, ...] = ()
    label: Int | None = None


def taken_out(case: Case, known: Records) -> Fallen:
    """Take the known people out of the leaves and see who falls.

    Raises
    ------
    DataError
        If they have no labels, or one of them cannot be among the training
        people; names the row.
    """
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
        details=replace(_details(case, known, "leaves", 0, Falling()), reason=reason),
        share=0.0,
        summary=f"The known people disclose nobody: {reason}.",
    )


def _details(
    case: Case, known: Records, followed: Literal["people", "leaves"], used: int, found: Falling
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
        falling=listed(case, found),
    )


def _most_in_a_tree(found: Falling) -> int:
    """Return how many people fall in the tree with the most: summed they would count twice."""
    if not found.tree:
        return 0
    return int(np.bincount(found.tree, weights=found.people).max())


def _leaves(case: Case, known: Records, labels: Int) -> Fallen:
    """Take the known people out of each tree by itself."""
    found, used, total = Falling(), 0, 0
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
    whom = f"{others(people)} in {number_of(len(found.node), 'leaf', 'leaves')}"
    whom += " of one tree or another, each tree by itself" if used > 1 else ""
    summary = (
        f"Taking out {_those(len(known))} leaves one label for {whom if people else 'nobody'}."
    )
    return Fallen(
        details=_details(case, known, "leaves", used, found),
        share=people / max(total, 1),
        summary=summary,
        evidence=falling_evidence(case, found, known.origin, None),
        controls=falling_controls(case, found, None),
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
    found = falling_by_leaf(train, after.tree, falls, rows, after.label)
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
                label=label_name(case, int(after.label[person])),
                round=int(after.round[person]),
                tree=int(after.tree[person]),
                leaf=int(train.node[person, after.tree[person]]),
            )
            for person in falls[np.argsort(after.round[falls], kind="stable")][:LISTED].tolist()
        ),
    )
    return Fallen(
        details=details,
        share=n / max(len(train), 1),
        summary=_summary(details, train.origin),
        evidence=falling_evidence(case, found, known.origin, train),
        controls=falling_controls(case, found, seen),
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
    whom = f"{others(people)} in {origin}" if people else f"nobody else in {origin}"
    text = f"Taking out {_those(details.records)} discloses {whom}"
    text += f", {later:,} of them because of others who fell before" if later else ""
    before = details.people_certain_before
    verb = "is" if before == 1 else "are"
    if details.trees_used > 1:
        # What follows from several trees is searched for: not everybody of whom it does is found.
        verb += " found"
    text += f"; {before:,} {verb} certain before anybody is known"
    return text + (", and some of the others may be." if details.trees_used > 1 else ".")
