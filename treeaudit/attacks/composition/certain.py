"""Whose label or number all leaves make certain, to somebody who knows everybody's features.

A leaf that holds everybody who ends in it says what they add up to: its mean times how many they
are. Of people whose sum follows from all leaves nothing was guessed. That is linear algebra
(`follow`); for labels, and numbers that are one of few or whole, also what bounds leave open,
leaf by leaf (`bounds`), and where there are not too many leaves of all together (`cone`). All find
only what follows; what follows from counts being whole they may miss.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Index, Int
from treeaudit.attacks.case import Case
from treeaudit.attacks.composition.bounds import MOST_CELLS, Sums, determined, follow, tightened
from treeaudit.attacks.composition.equations import (
    Said,
    adds_steps,
    reweighs,
    said_by,
    said_by_people,
)
from treeaudit.inference.scope import draws_samples
from treeaudit.model.forest import Forest
from treeaudit.people.predict.newton_steps import means_from_steps
from treeaudit.people.predict.predictions import (
    Answers,
    called,
    class_shares,
    column_of_each_tree,
    scores_of,
    target_values,
)
from treeaudit.people.records import Records

_TOLERANCE, _GRADES, _WHOLE = 0.01, 20, 1_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Truth:
    """What people really are, and what the model answers; a tolerance of 0 for labels."""

    real: npt.NDArray[Any]
    own: npt.NDArray[Any]
    tolerance: float = 0.0
    grades: Float | None = None

    def right(self, answer: npt.NDArray[Any]) -> Flag:
        """Tell of whom some answers are right."""
        if self.grades is not None:
            between = (self.grades[1:] + self.grades[:-1]) / 2
            answer = self.grades[np.searchsorted(between, answer)]
        right: Flag = np.abs(answer - self.real) <= self.tolerance
        return right


def truth_of(
    people: Records,
    forest: Forest,
    said: Said,
    answers: Answers | None = None,
    train: Records | None = None,
) -> Truth:
    """Return what people are, of the kind that the trees speak of; ``train`` if they are others."""
    if adds_steps(forest) and (scores := scores_of(forest, people, train)) is not None:
        if people.targets is None:
            return Truth(real=people.known_labels, own=called(scores))
        return _of_numbers(people.targets, scores[:, 0])
    if forest.answers == "sum":
        own = _added(people, forest) > 0
        return Truth(real=people.known_labels, own=own.astype(np.intp))
    if said.kind != "numbers":
        shares, _ = class_shares(forest, people) if answers is None else answers.shares()
        return Truth(real=people.known_labels, own=shares.argmax(axis=1))
    real = np.zeros(0) if people.targets is None else people.targets
    numbers = np.zeros(len(people))
    for first, ends in zip(said.start, said.node.T, strict=False):
        numbers += said.mean[first + ends, 0] / forest.n_trees
    return _of_numbers(real, numbers)


def _of_numbers(real: Float, own: Float) -> Truth:
    tolerance = _TOLERANCE * float(real.std())
    return Truth(real=real, own=own, tolerance=tolerance, grades=_grades(real))


def _grades(real: Float) -> Float | None:
    """Return the values that numbers can have, ascending, where these are few or whole."""
    values = np.unique(real)
    if len(values) <= _GRADES:
        return values if len(values) else None
    whole = bool((values == np.rint(values)).all()) and values[-1] - values[0] <= _WHOLE
    return np.arange(values[0], values[-1] + 1) if whole else None


def _added(train: Records, forest: Forest) -> Float:
    """Return the log-odds that trees grown at once add up to, for two classes."""
    base = forest.source.parameters.get("base_score")
    p = base if isinstance(base, float) and 0 < base < 1 else 0.5
    total = np.full(len(train), np.log(p / (1 - p)))
    for i, tree in enumerate(forest.trees):
        total += 0.0 if tree.value is None else tree.value[train.node[:, i]]
    return total


_HALF, _QUARTER, _CLOSE = 0.5, 0.25, 1e-6

_MOST_OFF = 0.1
"""The share of leaves that may say something else: of more, none is what its people are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certain:
    """Of how many people something is certain."""

    # Whose label is certain, or who are in a group below k of which all labels, or the mean of
    # the numbers, are; less those whom a single leaf tells of
    people: int = 0
    alone: int = 0  # Of these, who are in a group of their own: their number or label is certain
    open: int = 0  # Of how many groups the solution ended before that was told
    exact: bool = True  # Whether the leaves say what the people are who end in them


def certain_of(
    said: Said, truth: Truth, k: int, persons: Int | None = None, plain: Said | None = None
) -> Certain:
    """Return of whom all leaves make something certain.

    ``plain``: the leaves themselves, if what is said of them is more than one of them tells.
    """
    if said.kind == "labels" or said.column is not None:
        return Certain()
    each, most = _each(said, truth)
    size, real = _leaves(said, each)
    off = (_scaled(said, truth) - real / size[:, None]) * size[:, None]
    # Of numbers it is the mean that has to be known, of what is counted the sum.
    slack = _QUARTER if most else truth.tolerance * size[:, None]
    exact = said.informative & (np.abs(off) <= slack).all(axis=1)
    if (said.informative & ~exact).sum() > _MOST_OFF * said.informative.sum():
        if most and said.kind == "numbers":
            # Not exact enough to be counted, but perhaps to be averaged.
            return certain_of(said, replace(truth, grades=None), k, persons)
        return Certain(exact=False)
    sums, group = Sums.of(said.start, said.node, exact)
    n_groups = sums.leaf.shape[1]
    of_group = np.bincount(group).astype(np.float64)
    below = _persons_in(group, persons) < max(k, 2)
    holds = np.column_stack([np.bincount(group, one, n_groups) for one in each.T]).astype(float)
    pure = (np.abs(holds - most * of_group[:, None]) < _CLOSE).any(axis=1)
    pure |= (holds < _CLOSE).all(axis=1) if most and each.shape[1] == 1 else False
    worth = below | pure if most else below
    # What one leaf tells needs no other tree: it holds nobody else.
    one, one_size, one_real = sums, size, real
    if plain is not None:
        one, _ = Sums.of(plain.start, plain.node, plain.informative)
        one_size, one_real = _leaves(plain, each)
    worth &= one.least(one_size) > of_group
    if not worth.any():
        return Certain()
    if most:
        known, left = counts_known(sums, real, holds, of_group * most, off)
        known &= ~_told_by_one(one, one_real, one_size * most)
    else:
        found = follow(sums, off[:, 0])
        known = found.known & (np.abs(found.off) <= truth.tolerance * of_group)
        left = found.open
    known &= worth
    return Certain(
        people=_people(known[group], persons),
        alone=_people((known & (_persons_in(group, persons) == 1))[group], persons),
        open=left,
    )


def _each(said: Said, truth: Truth) -> tuple[Float, float]:
    """Return what each person adds to a leaf, column by column, and at most; 0: no bound."""
    if said.kind == "numbers":
        if truth.grades is None or len(truth.grades) < 2:
            return truth.real.astype(np.float64)[:, None], 0.0
        first, gap = truth.grades[0], np.diff(truth.grades).min()
        return ((truth.real - first) / gap)[:, None], float((truth.grades[-1] - first) / gap)
    labels = np.arange(said.mean.shape[1]) if said.mean.shape[1] > 1 else np.array([1])
    return (truth.real[:, None] == labels).astype(np.float64), 1.0


def _scaled(said: Said, truth: Truth) -> Float:
    """Return what the leaves say in the same units."""
    mean = said.mean.astype(np.float64)
    if said.kind == "numbers" and truth.grades is not None and len(truth.grades) > 1:
        return np.asarray((mean - truth.grades[0]) / np.diff(truth.grades).min())
    return mean


def _leaves(said: Said, each: Float) -> tuple[Float, Float]:
    """Return how many people end in each leaf, and what they add up to."""
    size, real = np.zeros(len(said.mean)), np.zeros((len(said.mean), each.shape[1]))
    for t, (begin, end) in enumerate(zip(said.start[:-1], said.start[1:], strict=True)):
        at = said.node[:, t].astype(np.intp)
        size[begin:end] = np.bincount(at, minlength=end - begin)
        for c, column in enumerate(each.T):
            real[begin:end, c] = np.bincount(at, column, end - begin)
    return size, real


def counts_known(
    sums: Sums, total: Float, holds: Float, most: Float, off: Float
) -> tuple[Flag, int]:
    """Return of which groups all counts follow, and of how many that was not told."""
    low, high = np.zeros_like(holds), np.repeat(most[:, None], holds.shape[1], axis=1)
    all_of = most if holds.shape[1] > 1 else None
    # What is known of a group takes it out of all leaves, and others may follow then.
    while True:
        low, high = tightened(sums, total, low, high, all_of)
        left, before = 0, np.count_nonzero(high - low > _CLOSE)
        for c in range(holds.shape[1]):
            free = high[:, c] - low[:, c] > _CLOSE
            free, more = _column(sums, holds[:, c], most, off[:, c], free)
            low[~free, c] = high[~free, c] = holds[~free, c]
            left += more
        if np.count_nonzero(high - low > _CLOSE) == before:
            return np.asarray((high - low <= _CLOSE).all(axis=1)), left


def _column(sums: Sums, holds: Float, most: Float, off: Float, free: Flag) -> tuple[Flag, int]:
    """Return which groups are still open of one label, and of how many that was not told."""
    free, left = free.copy(), 0
    for _ in range(2):
        told = follow(sums.among(free), off)
        free[np.flatnonzero(free)[told.known & (np.abs(told.off) < _HALF)]] = False
        left = told.open
        if not free.any() or free.sum() * len(sums.leaf) > MOST_CELLS:
            break
        sign = np.where(holds < _CLOSE, 1.0, np.where(most - holds < _CLOSE, -1.0, 0.0))
        sure = determined(sums.among(free), sign[free])
        if not sure.any():
            break
        free[np.flatnonzero(free)[sure]] = False
    return free, left


def _told_by_one(sums: Sums, total: Float, most: Float) -> Flag:
    """Return which groups are in a leaf that holds one label only: that needs no other tree."""
    one = (np.abs(total - most[:, None]) < _CLOSE).any(axis=1)
    if total.shape[1] == 1:
        one |= np.abs(total[:, 0]) < _CLOSE
    alone: Flag = sums.least(np.where(one, 0.0, 1.0)) == 0
    return alone


def _persons_in(group: Index, persons: Int | None) -> Index:
    """Return how many people each group holds."""
    if persons is None:
        return np.bincount(group)
    n = int(persons.max(initial=0)) + 1
    return np.bincount(np.unique(group * n + persons) // n)


def _people(chosen: Flag, persons: Int | None) -> int:
    """Return how many people some records are of."""
    return int(chosen.sum()) if persons is None else len(np.unique(persons[chosen]))


def draws_known(forest: Forest, train: Records) -> bool:
    """Tell whether what a leaf says is true of exactly the people who end in it.

    Where the file does not tell who is in a tree, since leaves were taken out of it, the others
    do: each holds as many people as end in it.
    """
    counted = forest.counts_are in ("exact", "likely") or forest.schema.classes is None
    if forest.records_are != "unknown" or not counted:
        return forest.records_are == "all" and counted
    for i, tree in enumerate(forest.trees):
        if tree.n_records is None:
            return False
        told = tree.is_leaf & (tree.n_records > 0)
        ends = np.bincount(train.node[:, i], minlength=tree.n_nodes)
        if (ends != tree.n_records)[told].any():
            return False
    return True


def certain_people(case: Case, said: Said, truth: Truth) -> Certain:
    """Return of whom the leaves make something certain, where a tree may hold everybody."""
    forest, train = case.forest, case.people("train")
    if forest.records_are in ("bootstrap", "disjoint") or forest.privacy is not None:
        return Certain()
    if adds_steps(forest):
        return _certain_by_steps(case, said, truth)
    if reweighs(forest):
        return certain_of(said, truth, case.k, train.persons, said_by(forest, train.node))
    if said.kind != "numbers" and forest.counts_are == "noisy":
        return Certain()
    found = certain_of(said, truth, case.k, train.persons)
    if found.exact or said.kind == "numbers" or draws_known(forest, train):
        return found
    # Where labels were weighed against how frequent they are: they may be plain shares.
    return certain_of(said_by(forest, train.node), truth, case.k, train.persons)


def _certain_by_steps(case: Case, said: Said, truth: Truth) -> Certain:
    """Return the same of a boosting of one score, by what its steps themselves say."""
    forest, train = case.forest, case.people("train")
    column = column_of_each_tree(forest)
    if column is None or said.column is not None or draws_samples(forest):
        return Certain()
    told = means_from_steps(forest, train.node, target_values(train))
    if told is None:
        return Certain()
    return certain_of(said_by_people(forest, train, column, told), truth, case.k, train.persons)


def frequent(forest: Forest, train: Records) -> Float | None:
    """Return how frequent each label is, which is public; None where that is not asked for."""
    classes = forest.schema.classes
    if classes is None or forest.counts_are == "noisy":
        return None
    return np.bincount(train.known_labels, minlength=len(classes)) / len(train)
