"""Leaves where nearly everybody has one number, by the training people or by the file (TA109).

With the people, exceptions are counted: who has another number than most of a leaf. A person of
several records has one number for certain if all of theirs in the leaf are equal.

By the file, a mean ``m`` and a standard deviation ``s`` bound how many exceptions there are. Of
numbers that are ``a`` or ``b`` the variance is ``(m - a) (b - m)`` in every node, whatever rows
weigh, and the share of ``b`` is ``(m - a) / (b - a)``. Of numbers on a grid of step ``h`` no more
than ``n (s^2 + (m - c)^2) / h^2`` differ from ``c``, each by a step at least. Numbers that are none
below zero, ``n`` of them, are at least ``(sum y)^2 / sum y^2`` beside zeros. One alone differs by
``d`` if ``s = d sqrt(n - 1) / n``, and both numbers are on a grid. Of trees that were grown by
absolute errors or Poisson deviances the file alone is not judged: whether nearly everybody has one
number is left open.
"""

from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.attacks.case import Case
from treeaudit.attacks.known_numbers.spreads import Spreads, records_in, records_of_one
from treeaudit.model.tree import Tree
from treeaudit.table.labels import nearly_certain

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Commonest:
    """Per node of a tree: the people who end there, who of them differ, and the largest share."""

    # Different people, and how many of them have a number that is not the commonest
    people: Wide
    others: Wide
    share: Float  # Of the people, or of their records where that is more, who have the commonest


def commonest_number(
    numbers: Float, node: Int, n_nodes: int, *, tolerance: float, persons: Int | None = None
) -> _Commonest:
    """Count the people of each node whose numbers are alike."""
    rising = np.sort(numbers)
    width = 2 * tolerance * (1 + _ROUNDING)
    ones = np.ones(len(numbers))
    same = _most_in_reach(rising, numbers, numbers, node, ones, width, n_nodes)
    records = np.bincount(node, minlength=n_nodes)
    share = same / np.maximum(records, 1)
    if persons is None:
        return _Commonest(
            people=records, others=records - np.rint(same).astype(np.int64), share=share
        )
    _, pair, held = np.unique(
        node.astype(np.int64) * (int(persons.max(initial=0)) + 1) + persons,
        return_inverse=True,
        return_counts=True,
    )
    pair = pair.reshape(-1)
    low, high = np.full(len(held), np.inf), np.full(len(held), -np.inf)
    np.minimum.at(low, pair, numbers)
    np.maximum.at(high, pair, numbers)
    place = np.zeros(len(held), dtype=np.int64)
    place[pair] = node
    people = np.bincount(place, minlength=n_nodes)
    one = high - low <= width
    only = _most_in_reach(
        rising, low[one], high[one], place[one], np.ones(int(one.sum())), width, n_nodes
    )
    spread = _most_in_reach(rising, numbers, numbers, node, 1 / held[pair], width, n_nodes)
    return _Commonest(
        people=people,
        others=people - np.rint(only).astype(np.int64),
        share=np.maximum(share, np.maximum(spread, only) / np.maximum(people, 1)),
    )


def _most_in_reach(
    rising: Float, low: Float, high: Float, node: Int, weight: Float, width: float, n_nodes: int
) -> Float:
    """Return the largest weight of what lies in one window, per node."""
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


def nearly_certain_leaves(case: Case, known: Spreads) -> tuple[Flag, Flag]:
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
            alike = commonest_number(
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
    """Tell where of those who end in a leaf only so many may have been drawn that it is so."""
    people = np.maximum(people, drawn)
    product = np.log(np.arange(1, int(people.max(initial=0)) + 1))
    product = np.concatenate([[0.0], np.cumsum(product)])

    def log_choose(of: Wide, some: Wide) -> Float:
        there = (some >= 0) & (some <= of)
        some = np.clip(some, 0, of)
        told: Float = product[of] - product[some] - product[of - some]
        return np.where(there, told, -np.inf)

    chance = np.zeros(len(people))
    for other in range(k):
        share = (drawn - other) / np.maximum(drawn, 1)
        near = nearly_certain(share, np.full(len(people), float(other)), k)
        rest = log_choose(people - alike, np.full_like(people, other))
        told = rest + log_choose(alike, drawn - other) - log_choose(people, drawn)
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
        others = most_exceptions(value, spread, n, drawn=drawn)
    if tree.spread_is == "deviation" and not sums:
        # Trees that add up keep what was left over, in which zero is no number of people.
        fewest = fewest_exceptions(value, spread, n, drawn=drawn)
        if not drawn:
            others = np.where(single_non_zero(value, spread, n), 1.0, others)
    near, perhaps = (
        # As few persons as can have so many records.
        nearly_certain(np.maximum(n - few, 0) / n, np.ceil(few / most), case.k)
        for few in (others, np.minimum(fewest, others))
    )
    return near, perhaps


_WHOLE, _CLOSE = 1e-3, 1e-7
"""How far a sum, and the one who differs, may be off a whole number."""

_DIGITS = range(-6, 4)
"""Digits behind the point, or noughts before it, of numbers that are looked for as a grid."""

_ERRORS = 2.0**-50
"""Of a sum, per root of the numbers that are added up: what rounding may leave of it."""


def _are_whole(sums: Float, size: Wide, digits: int) -> Flag:
    """Tell which sums are whole numbers, but for rounding."""
    near: Float | float = _WHOLE
    if digits < 0:
        near = np.minimum(_WHOLE, _ERRORS * (8 + np.sqrt(size)) * np.abs(sums))
    return np.asarray(np.abs(sums - np.rint(sums)) <= near)


def _step_of(total: Wide, square: Wide) -> int:
    """Return the largest step that divides all sums, and whose square divides those of squares."""
    step = int(np.gcd.reduce(np.abs(total)))
    if step <= 1 or step * step > int(square.max()):
        return 1
    return 1 if np.any(square % (step * step)) else step


_SLACK = 1e-13
"""Of the squares of what is added up, what may be lost to rounding."""

_DRAWS = 1.582
"""Draws per person in a bootstrap sample, e / (e - 1)."""

_MOST_DRAWN = 3

_MANY = 3
"""Leaves of which sums are multiples of ten or more, not by chance."""

_EXACT = 1e-7

_SHARP = 0.1

_OF_DRAWS = 1.3
"""People beside zeros that a draw with replacement makes of one who was drawn twice."""


def single_non_zero(value: Float, spread: Float, size: Wide) -> Flag:
    """Tell in which leaves one person alone has all, if no number is below zero."""
    apart = _non_zero(value, spread, size)
    return np.asarray((apart <= 1 + _EXACT) & (not _below_zero(value, apart)))


def fewest_exceptions(value: Float, spread: Float, size: Wide, *, drawn: bool) -> Float:
    """Return a lower bound of the people who have another number than the rest of their leaf."""
    n = size.astype(np.float64)
    fewest: Float = n.copy()
    apart = _non_zero(value, spread, size)
    positive = not _below_zero(value, apart)
    if drawn:
        return np.where(positive & (apart <= _OF_DRAWS) & (value > 0), 1.0, fewest)
    if positive:
        some = np.isfinite(apart) & ((value > 0) | (spread > 0))
        fewest = np.where(some, np.minimum(fewest, np.ceil(apart - _EXACT * n)), fewest)
        zeros = np.rint(n - apart)
        equal = some & (np.abs(n - apart - zeros) <= _EXACT * n)
        fewest = np.where(equal & (zeros > 0), np.minimum(fewest, zeros), fewest)
    for digits in _DIGITS:
        scale = 10.0**digits
        one = _one_exception(size.astype(np.int64), value * scale, spread * scale)
        fewest = np.where(one, np.minimum(fewest, 1.0), fewest)
    return fewest


def _below_zero(value: Float, apart: Float) -> bool:
    if len(value) and value.min() < -1e-12 * np.abs(value).max():
        return True
    return bool(np.any(apart[value != 0] < 1 - 1e-6))


def _non_zero(value: Float, spread: Float, size: Wide) -> Float:
    """Return how many numbers there are at least beside zeros; NaN where there are none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(value == 0, np.nan, size / (1 + (spread / value) ** 2))


def _one_exception(n: Wide, mean: Float, spread: Float) -> Flag:
    """Tell if all numbers but one can be the same whole number, and that one another.

    One who is off the others by d leaves a spread of ``d sqrt(n - 1) / n``, which is sharp.
    """
    rounding = _ERRORS * (8 + np.sqrt(n))
    with np.errstate(divide="ignore", invalid="ignore"):
        off = n * spread / np.sqrt(n - 1.0)
        error = rounding * (spread**2 + mean**2) / spread**2 * off
        step, total = np.rint(off), np.rint(n * mean)
        whole = np.abs(n * mean - total) <= _CLOSE + np.minimum(_WHOLE, rounding * np.abs(n * mean))
        sharp = (error <= _SHARP) & (step > 0) & (np.abs(off - step) <= _CLOSE + error)
        one = ((total - step) % n == 0) | ((total + step) % n == 0)
    return np.asarray((n > 2) & whole & sharp & one)


def most_exceptions(value: Float, spread: Float, size: Wide, *, drawn: bool) -> Float:
    """Return an upper bound of the people who have another number than most of their leaf."""
    found: Float = size.astype(np.float64)
    share = _of_two(value, spread)
    if share is not None:
        others: Float = np.multiply(size, np.minimum(share, 1 - share), dtype=np.float64)
        if _whole(others):
            found = np.rint(others)
        elif drawn and len(np.unique(np.round(share, 9))) > 3:
            few: Float = np.ceil(others * _DRAWS / _MOST_DRAWN - _WHOLE)
            # Somebody has it where anybody was drawn who has.
            found = np.where(others > _WHOLE, np.maximum(few, 1), 0.0)
    return np.minimum(found, _on_a_grid(value, spread, size))


def _of_two(value: Float, spread: Float) -> Float | None:
    """Return the share of the larger of two numbers in each leaf; None where there are more."""
    x = value - value.mean()
    square: Float = spread**2 + x**2
    if np.ptp(x) == 0:
        return None
    slope, level = np.polyfit(x, square, 1)
    noise = _SLACK * float(np.max(value**2 + spread**2))
    if np.abs(square - slope * x - level).max() > noise + 1e-10 * square.max():
        return None
    apart = slope**2 / 4 + level
    if apart <= 0 or noise > 1e-7 * apart:
        return None
    share: Float = (x - slope / 2) / (2 * np.sqrt(apart)) + 0.5
    inside = share.min() >= -_WHOLE and share.max() <= 1 + _WHOLE
    return np.clip(share, 0, 1) if inside else None


def _on_a_grid(value: Float, spread: Float, size: Wide) -> Float:
    """Return how many people are off the nearest number of a grid; everybody without one.

    Numbers whose sums and sums of squares are whole in all leaves are taken for whole.
    """
    for digits in _DIGITS:
        scale = 10.0**digits
        if digits < 0 and len(value) < _MANY:
            continue
        total, square = size * value * scale, size * (spread**2 + value**2) * scale**2
        if max(np.abs(total).max(), square.max()) * 1e-13 > _WHOLE:
            break
        if not all(_are_whole(one, size, digits).all() for one in (total, square)):
            continue
        sums, squares = (np.rint(one).astype(np.int64) for one in (total, square))
        if np.any((sums - squares) % 2):
            continue  # a whole number and its square are both even or both odd
        grid = _step_of(sums, squares) / scale
        centre = np.rint(value / grid) * grid
        steps = size * (spread**2 + (value - centre) ** 2) / grid**2
        off_it: Float = np.minimum(np.floor(steps + _WHOLE), size)
        return off_it
    return size.astype(np.float64)


def _whole(numbers: Float) -> bool:
    return bool(np.all(np.abs(numbers - np.rint(numbers)) <= _WHOLE))
