"""Whose label or number all leaves make certain, to somebody who knows everybody's features.

A leaf that holds everybody who ends in it says what they add up to: its mean times how many they
are. Of people whose sum follows from all leaves nothing was guessed. That is linear algebra
(`rowspace`); for labels, and numbers that are one of few or whole, also what bounds leave open,
leaf by leaf (`bounds`), and where there are not too many leaves of all together (`cone`). All find
only what follows; what follows from counts being whole they may miss.
"""

from dataclasses import dataclass, replace

import numpy as np

from treeaudit.arrays import Flag, Float, Index, Int
from treeaudit.attacks.composition.bounds import tightened
from treeaudit.attacks.composition.cone import MOST_CELLS, fixed
from treeaudit.attacks.composition.equations import Said
from treeaudit.attacks.composition.rowspace import follow
from treeaudit.attacks.composition.sums import Sums
from treeaudit.attacks.composition.truth import Truth

__all__ = ["Certain", "certain_of", "counts_known"]

_HALF, _QUARTER, _CLOSE = 0.5, 0.25, 1e-6
_MOST_OFF = 0.1
"""The share of leaves that may say something else: of more, none is what its people are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certain:
    """Of how many people something is certain.

    Attributes
    ----------
    people
        Whose label is certain, or who are in a group below k of which all labels, or the mean of
        the numbers, are; less those whom a single leaf tells of.
    alone
        Of these, who are in a group of their own: their number or label is certain.
    open
        Of how many groups the solution ended before that was told.
    exact
        Whether the leaves say what the people are who end in them.
    """

    people: int = 0
    alone: int = 0
    open: int = 0
    exact: bool = True


def certain_of(said: Said, truth: Truth, k: int, persons: Int | None = None) -> Certain:
    """Return of whom all leaves make something certain.

    Parameters
    ----------
    said
        What the leaves say of the people who end in them.
    truth
        What these are.
    k
        The smallest acceptable group.
    persons
        Shape ``(n_people,)``: whose record each is; unless told each is of another person.
    """
    if said.kind == "labels" or said.column is not None:
        return Certain()
    each, most = _each(said, truth)
    size, real = _leaves(said, each)
    off = (_scaled(said, truth) - real / size[:, None]) * size[:, None]
    # Of numbers it is the mean that has to be known, of what is counted the sum.
    slack = _QUARTER if most else truth.tolerance * size[:, None]
    exact = said.told & (np.abs(off) <= slack).all(axis=1)
    if (said.told & ~exact).sum() > _MOST_OFF * said.told.sum():
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
    worth &= sums.least(size) > of_group
    if not worth.any():
        return Certain()
    if most:
        known, left = counts_known(sums, real, holds, of_group * most, off)
        known &= ~_told_by_one(sums, real, size * most)
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
    """Return of which groups all counts follow, and of how many that was not told.

    Parameters
    ----------
    sums
        Which groups each leaf adds up.
    total, holds
        Shapes ``(n_leaves, n_labels)`` and ``(n_groups, n_labels)``: what there is of each label.
    most
        Shape ``(n_groups,)``: what there can be at most of a label.
    off
        Shape ``(n_leaves, n_labels)``: how far off it is what a leaf says.
    """
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
        sure = fixed(sums.among(free), sign[free])
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
