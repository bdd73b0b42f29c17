"""What all trees together gave back, in the numbers that are told of it."""

from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float
from treeaudit.attacks.case import Case
from treeaudit.attacks.composition.certain import Certain
from treeaudit.attacks.composition.details import CompositionDetails, FirstTrees
from treeaudit.attacks.composition.equations import Said
from treeaudit.attacks.composition.groups import groups_together
from treeaudit.attacks.composition.joint import Solution
from treeaudit.attacks.composition.scope import adds_steps
from treeaudit.attacks.composition.truth import Truth
from treeaudit.findings.numbers import People, Share
from treeaudit.people.records import Records

__all__ = ["beyond", "measured", "weight_of"]

_GROUPED = (1, 2, 5, 10, 20, 50, 100)


def measured(
    case: Case,
    said: Said,
    truth: Truth,
    right: dict[int, Flag],
    found: Solution,
    known: bool,
    certain: Certain,
) -> CompositionDetails:
    """Return everything that is told of what all trees gave back.

    Parameters
    ----------
    right
        Shape ``(n_people,)`` each: whose label or number was found, by how many first trees.
    found
        What all trees gave back.
    known
        Whether what a leaf says is true of exactly those who end in it.
    certain
        Of whom something is certain.
    """
    n_trees, train = case.forest.n_trees, case.people("train")
    joint, own = right[n_trees], truth.right(truth.own)
    weight = weight_of(train)
    n = round(float(weight.sum()))
    labels = said.kind != "numbers"
    of_label = np.zeros(1)
    if labels:
        of_label = np.bincount(train.known_labels, weight).astype(np.float64)
    held = np.flatnonzero(of_label)
    rare = np.zeros(len(train), np.bool_)
    if labels:
        rare = train.known_labels == held[of_label[held].argmin()]
    rarest = _people(weight, rare)
    sizes = groups_together(train.node, {*_GROUPED, n_trees}, train.persons)
    return CompositionDetails(
        train=People(n),
        by="steps" if adds_steps(case.forest) else said.kind,
        draws_known=known,
        joint=Share.of(_people(weight, joint), n),
        own=Share.of(_people(weight, own), n),
        excess=Share(beyond(truth, joint, weight)),
        excess_of_one_label=_of_one_label(truth, found, weight) if labels else None,
        certain=People(certain.people),
        certain_alone=People(certain.alone),
        majority=Share.of(round(float(of_label.max())), n) if labels else None,
        rarest_people=People(rarest) if labels else None,
        rarest_joint=Share.of(_people(weight, joint & rare), rarest) if labels else None,
        rarest_own=Share.of(_people(weight, own & rare), rarest) if labels else None,
        tolerance=None if labels else truth.tolerance,
        equations=found.equations,
        steps=found.steps,
        settled=found.settled,
        k=case.k,
        curve=tuple(
            FirstTrees(
                trees=trees,
                groups=People(groups, "group", "groups"),
                alone=People(int((size == 1).sum())),
                below_k=People(int((size < case.k).sum())),
                smallest=People(int(size.min())),
                joint=Share.of(_people(weight, right[trees]), n) if trees in right else None,
            )
            for trees, (groups, size) in sizes.items()
        ),
    )


def beyond(truth: Truth, joint: Flag, weight: Float) -> float:
    """Return of what share more the answers are right than those of the model itself."""
    more = float(weight @ (joint.astype(np.int64) - truth.right(truth.own)))
    return more / round(float(weight.sum()))


def weight_of(train: Records) -> Float:
    """Return what each record counts: everybody counts once, spread over their records."""
    if train.persons is None:
        return np.ones(len(train))
    return 1.0 / np.bincount(train.persons)[train.persons]


def _people(weight: Float, chosen: Flag) -> int:
    return round(float(weight[chosen].sum()))


def _of_one_label(truth: Truth, found: Solution, weight: Float) -> Share:
    """Return what the attack finds more of the people of a label, less false alarms, at most.

    More than the model itself finds, or than nobody, where the model is more often wrong of a label
    than right.
    """
    n = np.bincount(truth.real, weight)

    def net(answer: npt.NDArray[Any]) -> Float:
        """Return how many are called a label rightly, less how many wrongly, per label."""
        hit = answer == truth.real
        right = np.bincount(answer[hit], weight[hit], len(n))[: len(n)]
        called = np.bincount(answer, weight, len(n))[: len(n)]
        return (2 * right - called).astype(np.float64)

    more = net(found.answer) - np.maximum(net(truth.own), 0.0)
    return Share(float((more[n > 0] / n[n > 0]).max()))
