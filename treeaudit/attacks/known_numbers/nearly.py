"""Leaves where nearly everybody has one number, by the training people or by the file.

A person of several records has one number for certain if all of theirs in the leaf are equal.
Of trees that were grown by absolute errors or Poisson deviances the file alone is not judged:
whether nearly everybody has one number is left open.
"""

from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.attacks.case import Case
from treeaudit.attacks.known_numbers.exception_bounds import (
    few_others,
    fewest_others,
    single_non_zero,
)
from treeaudit.attacks.known_numbers.spreads import Spreads, records_in, records_of_one
from treeaudit.model.tree import Tree
from treeaudit.table.labels import nearly_certain

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Alike:
    """Per node of a tree: the people who end there, who of them differ, and the largest share.

    * ``people``, ``others``: different people, and how many of them have a number that is not the
      commonest.
    * ``share``: of the people, or of their records where that is more, who have the commonest.
    """

    people: Wide
    others: Wide
    share: Float


def alike_in(
    numbers: Float, node: Int, n_nodes: int, *, tolerance: float, persons: Int | None = None
) -> _Alike:
    """Count the people of each node whose numbers are alike."""
    rising = np.sort(numbers)
    width = 2 * tolerance * (1 + _ROUNDING)
    ones = np.ones(len(numbers))
    same = _most_in_reach(rising, numbers, numbers, node, ones, width, n_nodes)
    records = np.bincount(node, minlength=n_nodes)
    share = same / np.maximum(records, 1)
    if persons is None:
        return _Alike(people=records, others=records - np.rint(same).astype(np.int64), share=share)
    _, pair, held = np.unique(
        node.astype(np.int64) * (int(persons.max(initial=0)) + 1) + persons,
        return_inverse=True,
        return_counts=True,
    )
    pair = pair.reshape(-1)
    low, high = np.full(len(held), np.inf), np.full(len(held), -np.inf)
    np.minimum.at(low, pair, numbers)
    np.maximum.at(high, pair, numbers)
    where = np.zeros(len(held), dtype=np.int64)
    where[pair] = node
    people = np.bincount(where, minlength=n_nodes)
    one = high - low <= width
    only = _most_in_reach(
        rising, low[one], high[one], where[one], np.ones(int(one.sum())), width, n_nodes
    )
    spread = _most_in_reach(rising, numbers, numbers, node, 1 / held[pair], width, n_nodes)
    return _Alike(
        people=people,
        others=people - np.rint(only).astype(np.int64),
        share=np.maximum(share, np.maximum(spread, only) / np.maximum(people, 1)),
    )


def _most_in_reach(
    rising: Float, low: Float, high: Float, node: Int, weight: Float, width: float, n_nodes: int
) -> Float:
    """Return the largest weight of what lies in one window, per node.

    Nothing is wider than the window: whatever begins before it, ends before it ends.
    """
    most = np.zeros(n_nodes)
    if not len(low):
        return most
    own, n = node.astype(np.int64), len(rising) + 1
    begin = own * n + np.searchsorted(rising, low, side="left")
    end = own * n + np.searchsorted(rising, high, side="left")
    reach = own * n + np.searchsorted(rising, low + width, side="right") - 1
    by_begin, by_end = np.argsort(begin, kind="stable"), np.argsort(end, kind="stable")
    ended = np.concatenate([[0.0], np.cumsum(weight[by_end])])
    begun = np.concatenate([[0.0], np.cumsum(weight[by_begin])])
    inside = ended[np.searchsorted(end[by_end], reach, side="right")]
    inside = inside - begun[np.searchsorted(begin[by_begin], begin, side="left")]
    np.maximum.at(most, own, inside)
    return most


_NEVER = 1e-3
"""The chance, in all trees together, that is left out: in one of 1,000 people."""


def nearly_known(case: Case, known: Spreads) -> tuple[Flag, Flag]:
    """Tell of which leaves nearly everybody's number is the same, as of labels, or may be."""
    table, train = case.table, case.train
    found, perhaps = np.zeros((2, len(table)), dtype=np.bool_)
    targets = None if train is None else train.targets
    most = records_of_one(case)
    for i, tree in enumerate(case.forest.trees):
        rows, n = table.rows_of(i), records_in(case, i)
        leaf, size = table.leaf[rows], table.size[rows]
        held = np.flatnonzero(size > 0)
        leaf, size, n = leaf[held], size[held], n[held]
        # Of two people one knows the other: the mean is told.
        found[rows][held] = (size <= 2) | (n <= 2)
        if not known.whole[i]:
            told = (
                held
                if tree.spread is None
                else held[np.isfinite(tree.spread[leaf]) & ~known.lost[rows][held]]
            )
            near, may = _by_file(
                case, tree, table.leaf[rows][told], records_in(case, i)[told], most
            )
            found[rows][told] |= near
            perhaps[rows][told] = may
        if targets is not None and train is not None and known.about[i]:
            tolerance = float(np.nan_to_num(known.tolerance[rows][held].max(initial=0.0)))
            alike = alike_in(
                targets,
                train.node[:, i],
                tree.n_nodes,
                tolerance=tolerance,
                persons=train.persons,
            )
            # Where nobody tells whose records are, as few persons as can have so many.
            each = most if train.persons is None else 1
            others = np.ceil(alike.others[leaf] / each)
            near = nearly_certain(alike.share[leaf], others, case.k)
            found[rows][held] |= (alike.people[leaf] > 0) & near
            if known.all_there[i] and known.by_people[i]:
                perhaps[rows] = False
            elif case.forest.records_are != "all":
                people, never = alike.people[leaf], _NEVER / case.forest.n_trees
                same = people - alike.others[leaf]
                perhaps[rows][held] |= _may_be_drawn(people, same, size, case.k, never)
    return found, perhaps & ~found


def _may_be_drawn(people: Wide, alike: Wide, drawn: Wide, k: int, never: float = _NEVER) -> Flag:
    """Tell where of those who end in a leaf only so many may have been drawn that it is so.

    Nobody tells who was: of others, a draw holds a hypergeometric number.
    """
    people = np.maximum(people, drawn)
    product = np.log(np.arange(1, int(people.max(initial=0)) + 1))
    product = np.concatenate([[0.0], np.cumsum(product)])

    def ways(of: Wide, some: Wide) -> Float:
        there = (some >= 0) & (some <= of)
        some = np.clip(some, 0, of)
        told: Float = product[of] - product[some] - product[of - some]
        return np.where(there, told, -np.inf)

    chance = np.zeros(len(people))
    for other in range(k):
        share = (drawn - other) / np.maximum(drawn, 1)
        near = nearly_certain(share, np.full(len(people), float(other)), k)
        rest = ways(people - alike, np.full_like(people, other))
        told = rest + ways(alike, drawn - other) - ways(people, drawn)
        chance += np.where(near, np.exp(told), 0.0)
    return np.asarray((chance > never) & (drawn > 0))


def _by_file(case: Case, tree: Tree, leaf: Int, n: Wide, most: int) -> tuple[Flag, Flag]:
    """Return where it is so, and where it may be: by records, of which a person has some."""
    nothing = np.zeros(len(leaf), dtype=np.bool_)
    if tree.spread is None or tree.value is None:
        return nothing, nothing
    value, spread = tree.value[leaf], tree.spread[leaf]
    if not len(leaf):
        return nothing, nothing
    drawn, sums = case.forest.records_are != "all", case.forest.answers == "sum"
    fewest, others = np.full(len(leaf), np.inf), n.astype(np.float64)
    if tree.spread_is != "deviation":
        # Absolute errors and Poisson deviances are not followed: one alone may differ.
        fewest = np.where((spread > 0) & (not sums), 1.0, fewest)
    else:
        others = few_others(value, spread, n, drawn=drawn)
    if tree.spread_is == "deviation" and not sums:
        # Trees that add up keep what was left over, in which zero is no number of people.
        fewest = fewest_others(value, spread, n, k=case.k, drawn=drawn)
        if not drawn:
            others = np.where(single_non_zero(value, spread, n), 1.0, others)
    near, perhaps = (
        # As few persons as can have so many records.
        nearly_certain(np.maximum(n - few, 0) / n, np.ceil(few / most), case.k)
        for few in (others, np.minimum(fewest, others))
    )
    return near, perhaps
