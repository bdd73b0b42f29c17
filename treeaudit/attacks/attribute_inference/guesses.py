"""Guesses of a hidden value from the leaves that it may lead to (TA104).

`fredrikson` is the published rule for one tree or several: the value that most people in the leaf
may have. It infers what is frequent, not what was memorised: a baseline to be above.

References
----------
Fredrikson, Jha and Ristenpart (2015), Model inversion attacks that exploit
confidence information and basic countermeasures, section 4, "white-box with
counts".
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Int
from treeaudit.attacks.attribute_inference.candidates import Column
from treeaudit.attacks.attribute_inference.what_if import Paths
from treeaudit.attacks.case import Case
from treeaudit.attacks.groups import Groups, leaf_scores
from treeaudit.people.predict.imputation import guess
from treeaudit.people.records import Records


def fredrikson(people: npt.ArrayLike, prior: npt.ArrayLike, phi: npt.ArrayLike) -> Float:
    """Return the probability of each candidate value."""
    prior, phi = np.asarray(prior, dtype=np.float64), np.asarray(phi, dtype=np.float64)
    weight = np.asarray(people) * np.divide(prior, phi, out=np.zeros_like(prior), where=phi > 0)
    total = weight.sum(axis=1, keepdims=True)
    share = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    return np.asarray(np.where(total > 0, share, prior / prior.sum()))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asked:
    """The people one of whose values is to be inferred, members first.

    Attributes
    ----------
    values, node, labels
        As in `treeaudit.people.records.Records`.
    known
        Shape ``(n,)``: the label or the number to predict, which the attacker
        knows too.
    is_member
        Shape ``(n,)``.
    """

    values: npt.NDArray[np.floating[Any]]
    node: Int
    labels: Int | None
    known: Float
    is_member: Flag


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weighed:
    """What the trees say for each candidate of one column.

    Attributes
    ----------
    score
        Shape ``(n, n_candidates)``: log likelihood ratio of the counts, summed
        over the trees; minus infinity where somebody with that value is
        certainly not in the training data.
    people
        Shape ``(n, n_candidates)``: people in the leaves, summed over the trees.
    phi
        Shape ``(n_candidates,)``: people in all leaves the candidate can reach.
    """

    score: Float
    people: Float
    phi: Float


def people_asked(people: Groups) -> Asked:
    """Return members and control people as one table."""
    parts = ((people.train, people.members), (people.test, people.control))
    labelled = people.train.labels is not None and people.test.labels is not None
    return Asked(
        values=np.concatenate([records.values[rows] for records, rows in parts]),
        node=np.concatenate([records.node[rows] for records, rows in parts]),
        labels=np.concatenate([r.labels[rows] for r, rows in parts if r.labels is not None])
        if labelled
        else None,
        known=np.concatenate([_answer(records)[rows] for records, rows in parts]),
        is_member=np.repeat([True, False], [len(people.members), len(people.control)]),
    )


def _answer(records: Records) -> Float:
    """Return the label or the number to predict; nothing where there is neither."""
    given = records.labels if records.labels is not None else records.targets
    if given is None:
        return np.full(len(records), np.nan)
    return np.asarray(given, dtype=np.float64)


def weigh(case: Case, people: Groups, asked: Asked, columns: Sequence[Column]) -> list[Weighed]:
    """Ask every tree about every candidate of every column.

    Trees come one after another, so that a large forest is read once and
    never held as a whole.
    """
    shape = len(asked.values), sum(len(column.says) for column in columns)
    score, met, phi = np.zeros(shape), np.zeros(shape), np.zeros(shape[1])
    hidden = [(column.features, column.values) for column in columns]
    population = people.population(case)
    for i, tree in enumerate(case.forest.trees):
        table = leaf_scores(case.forest, i, tree, population)
        if table is None or tree.n_records is None:
            continue
        paths, width = Paths(tree, case.forest.schema, hidden), table.shape[1]
        every = paths.what_if(asked.values, asked.node[:, i]).astype(np.intp)
        met += tree.n_records.take(every)
        phi += paths.people_with()
        if width > 1:
            every *= width
            if asked.labels is not None:
                every += (asked.labels % width)[:, None]
        score += table.take(every)
        case.step("attribute inference", i + 1, case.forest.n_trees)
    ends = np.cumsum([len(column.says) for column in columns])
    parts = (np.split(one, ends, axis=-1)[:-1] for one in (score, met, phi))
    return [Weighed(score=s, people=p, phi=f) for s, p, f in zip(*parts, strict=True)]


def guesses(case: Case, people: Groups, asked: Asked, column: Column) -> Float:
    """Return the probability of each candidate without the model, learnt on unseen people.

    Shape ``(n, n_candidates)``. Everything but the column is known, the label
    or the number to predict included.
    """
    values = people.test.values[people.reference].astype(np.float64)
    truth = column.truth(values)
    labels = _answer(people.test)[people.reference]
    hidden = list(column.features)

    def known(table: Float, answer: Float) -> Float:
        return np.column_stack([np.delete(table, hidden, axis=1), answer])

    there = np.flatnonzero(truth >= 0)
    return guess(
        known(values, labels)[there],
        truth[there],
        len(column.says),
        known(asked.values.astype(np.float64), asked.known),
        seed=case.seed,
    )


def tempering(n_trees: int) -> float:
    """Return how much the score of a forest counts beside the guess.

    The trees share their people, so that their scores are not independent and
    their sum is too sure of itself: it is divided by the root of their number,
    at most by ten. A single tree counts in full.
    """
    return max(0.1, 1 / math.sqrt(n_trees))


def answers(score: Float, probability: Float, alpha: float) -> Int:
    """Return the most likely candidate of each person.

    ``alpha * score + log(probability)``. Where the counts exclude all
    candidates they say nothing, and the guess decides.
    """
    chance = np.log(probability)
    total = alpha * score + chance
    nothing = score.max(axis=1, keepdims=True) == -np.inf
    return np.asarray(np.where(nothing, chance, total).argmax(axis=1), dtype=np.int32)
