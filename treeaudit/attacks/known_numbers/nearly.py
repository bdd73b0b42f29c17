"""Leaves where nearly everybody has one number, by the training people or by the file.

A mean and a spread give counts where numbers can be few. Of numbers that are ``a`` or ``b``
the variance is ``(m - a) (b - m)`` in every node, whatever rows weigh, and the share of
``b`` is ``(m - a) / (b - a)``. Of numbers on a grid of step ``h`` no more than
``n (s^2 + (m - c)^2) / h^2`` differ from ``c``, each by a step at least.
"""

from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.attacks.case import Case
from treeaudit.attacks.known_numbers.spreads import Spreads, records_in, records_of_one
from treeaudit.model.tree import Tree
from treeaudit.table.labels import nearly_certain

__all__ = [
    "DIGITS",
    "ERRORS",
    "WHOLE",
    "Alike",
    "alike_in",
    "are_whole",
    "few_others",
    "fewest_others",
    "nearly_known",
    "single_non_zero",
    "step_of",
]

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Alike:
    """Per node of a tree: the people who end there, who of them differ, and the largest share.

    Attributes
    ----------
    people, others
        Different people, and how many of them have a number that is not the commonest.
    share
        Of the people, or of their records where that is more, who have the commonest.
    """

    people: Wide
    others: Wide
    share: Float


def alike_in(
    numbers: Float, node: Int, n_nodes: int, *, tolerance: float, persons: Int | None = None
) -> Alike:
    """Count the people of each node whose numbers are alike.

    Parameters
    ----------
    numbers, node
        Of each record.
    tolerance
        Numbers are alike that are off the same one by no more.
    persons
        A number from 0 per person, whose record it is; None where a record is a person.

    Examples
    --------
    Three people have 1, one of them three times; a fourth has 5 and 1.

    >>> of = np.array([0, 1, 1, 1, 2, 3, 3])
    >>> told = alike_in(np.array([1.0, 1, 1, 1, 1, 5, 1]), np.zeros(7, int), 1,
    ...                 tolerance=0.0, persons=of)
    >>> told.people.tolist(), told.others.tolist(), told.share.tolist()
    ([4], [1], [0.875])
    """
    rising = np.sort(numbers)
    width = 2 * tolerance * (1 + _ROUNDING)
    ones = np.ones(len(numbers))
    same = _most_in_reach(rising, numbers, numbers, node, ones, width, n_nodes)
    records = np.bincount(node, minlength=n_nodes)
    share = same / np.maximum(records, 1)
    if persons is None:
        return Alike(people=records, others=records - np.rint(same).astype(np.int64), share=share)
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
    return Alike(
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


WHOLE = 1e-3
"""How far a sum may be off a whole number."""

DIGITS = range(-6, 4)
"""Digits behind the point, or noughts before it, of numbers that are looked for as a grid."""

ERRORS = 2.0**-50
"""Of a sum, per root of the numbers that are added up: what rounding may leave of it."""


def are_whole(sums: Float, size: Wide, digits: int) -> Flag:
    """Tell which sums are whole numbers, but for rounding.

    In units of ten or more, of which small numbers have hardly any, but for no more than that.

    Examples
    --------
    >>> are_whole(np.array([52.0, 52.00001, 1e-5]), np.array([9, 9, 9]), 0).tolist()
    [True, True, True]
    >>> are_whole(np.array([52.0, 52.00001, 1e-5]), np.array([9, 9, 9]), -3).tolist()
    [True, False, False]
    """
    near: Float | float = WHOLE
    if digits < 0:
        near = np.minimum(WHOLE, ERRORS * (8 + np.sqrt(size)) * np.abs(sums))
    return np.asarray(np.abs(sums - np.rint(sums)) <= near)


def step_of(total: Wide, square: Wide) -> int:
    """Return the largest step of which all sums are multiples, and all sums of squares of its own.

    Parameters
    ----------
    total, square
        Of the numbers of each leaf: their sum and that of their squares.

    Examples
    --------
    >>> step_of(np.array([15, 40]), np.array([125, 650])), step_of(np.array([15]), np.array([77]))
    (5, 1)
    """
    step = int(np.gcd.reduce(np.abs(total)))
    if step <= 1 or step * step > int(square.max()):
        return 1
    return 1 if np.any(square % (step * step)) else step


_EXACT = 1e-7

_SHARP = 0.1

_MOST_FEW = 4
"""Exceptions that are looked for one by one."""

_NEAR = 1.25
"""Of the square of a step: the variance up to which most numbers are the same."""

_NEAR_MEDIAN = 0.25

_OF_DRAWS = 1.3
"""People beside zeros that a draw with replacement makes of one who was drawn twice."""


def single_non_zero(value: Float, spread: Float, size: Wide, kind: str) -> Flag:
    """Tell in which leaves one person alone has all, if no number is below zero.

    Examples
    --------
    >>> single_non_zero(np.array([0.12, 0.12]), np.array([1.194, 0.3]), np.array([100, 100]),
    ...                 "deviation").tolist()
    [False, False]
    >>> of_one = np.sqrt(100 * 0.12**2 - 0.12**2)
    >>> single_non_zero(np.array([0.12]), np.array([of_one]), np.array([100]), "deviation").tolist()
    [True]
    """
    apart = _beside_zeros(value, spread, size, kind)
    return np.asarray(
        (apart <= 1 + _EXACT) & (kind != "absolute") & (not _below_zero(value, apart))
    )


def fewest_others(
    value: Float, spread: Float, size: Wide, kind: str, *, k: int, drawn: bool
) -> Float:
    """Return how many people, no fewer, have another number than the rest of their leaf.

    As many as there are where nothing is seen of it.

    Parameters
    ----------
    value, spread, size
        Of the leaves of one tree.
    kind
        As `Tree.spread_is`.
    k
        Only fewer than so many are of interest.
    drawn
        Whether they may be of draws with replacement.

    Examples
    --------
    Of a hundred 99 have 36 and one has 45: a mean of 36.09 and a spread of 0.8955.

    >>> mean, spread = np.array([36.09]), np.array([np.sqrt(99) * 9 / 100])
    >>> fewest_others(mean, spread, np.array([100]), "deviation", k=5, drawn=False).tolist()
    [1.0]
    """
    n = size.astype(np.float64)
    fewest: Float = n.copy()
    apart = _beside_zeros(value, spread, size, kind)
    positive = not _below_zero(value, apart)
    if drawn:
        return np.where(positive & (apart <= _OF_DRAWS) & (value > 0), 1.0, fewest)
    if positive:
        some = np.isfinite(apart) & ((value > 0) | (spread > 0))
        fewest = np.where(some, np.minimum(fewest, np.ceil(apart - _EXACT * n)), fewest)
        zeros = np.rint(n - apart)
        equal = some & (np.abs(n - apart - zeros) <= _EXACT * n) & (kind == "deviation")
        fewest = np.where(equal & (zeros > 0), np.minimum(fewest, zeros), fewest)
    if kind == "deviation":
        _by_squares(fewest, value, spread, size, k=k, positive=positive)
    elif kind == "poisson":
        _by_deviance(fewest, value, spread, size, k)
    else:
        _by_medians(fewest, value, spread)
    return fewest


def _below_zero(value: Float, apart: Float) -> bool:
    if len(value) and value.min() < -1e-12 * np.abs(value).max():
        return True
    return bool(np.any(apart[value != 0] < 1 - 1e-6))


def _beside_zeros(value: Float, spread: Float, size: Wide, kind: str) -> Float:
    """Return how many numbers there are at least beside zeros; NaN where there are none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if kind == "absolute":
            # Half of them are zero, and one may have all.
            return np.where((value == 0) & (spread > 0), 1.0, np.nan)
        square = (spread / value) ** 2
        part = 1 / (1 + square) if kind == "deviation" else np.exp(-square / 2)
    return np.where(value == 0, np.nan, size * part)


def _by_squares(
    fewest: Float, value: Float, spread: Float, size: Wide, *, k: int, positive: bool
) -> None:
    """Write down what follows of numbers on a grid by their sums and sums of squares."""
    n = size.astype(np.int64)
    for digits in DIGITS:
        scale = 10.0**digits
        total, square = n * value * scale, n * (spread**2 + value**2) * scale**2
        # Sums may be whole by chance where the numbers are not.
        whole = (size > 2) & (np.abs(total) * 1e-13 <= WHOLE) & are_whole(total, n, digits)
        told = whole & (square * 1e-13 <= WHOLE) & (square * n < 2**53)
        told &= are_whole(square, n, digits)
        far = whole & ~told & _one_far(n, value * scale, spread * scale)
        fewest[far] = np.minimum(fewest[far], 1.0)
        at = np.flatnonzero(told)
        if not len(at):
            continue
        of, s, q = n[at], np.rint(total[at]).astype(np.int64), np.rint(square[at]).astype(np.int64)
        one = _one_other(of, s, q)
        few = np.where(one, 1.0, fewest[at])
        for step in {1, step_of(s, q) if len(s) > 1 else 1}:
            few = np.minimum(few, _few_near(of, s / step, q / step**2, k, positive=positive))
        fewest[at] = np.minimum(fewest[at], few)


def _one_far(n: Wide, mean: Float, spread: Float) -> Flag:
    """Tell the same as `_one_other`, where squares are too large to be told to the unit.

    One who is off the others by d leaves a spread of ``d sqrt(n - 1) / n``, which is sharp.

    Examples
    --------
    >>> n, off = np.array([100, 100]), np.array([6000.0, 6000.4])
    >>> _one_far(n, 52340 + np.rint(off) / 100, off * np.sqrt(99) / 100).tolist()
    [True, False]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        off = n * spread / np.sqrt(n - 1.0)
        error = ERRORS * (8 + np.sqrt(n)) * (spread**2 + mean**2) / spread**2 * off
        step, total = np.rint(off), np.rint(n * mean)
        fits = (error <= _SHARP) & (step > 0) & (np.abs(off - step) <= WHOLE + error)
        one = ((total - step) % n == 0) | ((total + step) % n == 0)
    return np.asarray(fits & one)


def _one_other(n: Wide, total: Wide, square: Wide) -> Flag:
    """Tell whether all numbers but one can be the same whole number."""
    off = n * square - total**2
    step = np.rint(np.sqrt(np.maximum(off // (n - 1), 0))).astype(np.int64)
    fits = (step**2 * (n - 1) == off) & (step > 0)
    return np.asarray(fits & (((total - step) % n == 0) | ((total + step) % n == 0)))


def _few_near(n: Wide, total: Float, square: Float, k: int, *, positive: bool) -> Float:
    """Return the fewest, of two or more, that may be off a number which most have."""
    found = np.full(len(n), np.inf)
    low = np.floor(total / n)
    for most in (low, low + 1):
        off, far = total - n * most, square - 2 * most * total + n * most**2
        near = far <= _NEAR * n
        for few in range(2, min(k, _MOST_FEW + 1)):
            fits = near & (off**2 <= few * far) & (few <= far) & ((off - far) % 2 == 0)
            if positive:
                fits &= far <= (few - 1) * most**2 + (off + (few - 1) * most) ** 2
            found = np.where(fits, np.minimum(found, few), found)
    return found


def _by_deviance(fewest: Float, value: Float, spread: Float, size: Wide, k: int) -> None:
    """Write down the same of numbers on a grid, none below zero, by Poisson deviances."""
    n = size.astype(np.float64)
    for step in _grids(n * value):
        _on_steps(fewest, value, spread, n, step, k)


def _on_steps(fewest: Float, value: Float, spread: Float, n: Float, step: float, k: int) -> None:
    mean, total = value / step, n * value / step
    with np.errstate(divide="ignore", invalid="ignore"):
        deviance = spread**2 / (2 * value) / step
        target = np.where(total > 0, n * deviance + total * np.log(mean), 0.0)
    slack = 1e-9 * (1 + np.abs(target) + total)
    for most in (np.floor(mean), np.floor(mean) + 1):
        near = (spread / step) ** 2 + (mean - most) ** 2 <= _NEAR
        base = np.where(most > 0, most * np.log(np.maximum(most, 1)), 0.0)
        for few in range(1, min(k, _MOST_FEW + 1)):
            rest = total - (n - few) * most
            of_few = target - (n - few) * base
            with np.errstate(divide="ignore", invalid="ignore"):
                least = np.where(rest > 0, rest * np.log(rest / few), 0.0)
                largest = np.where(rest > 0, rest * np.log(rest), 0.0)
            fits = (rest >= -WHOLE) & (of_few >= least - slack) & (of_few <= largest + slack)
            fits &= (deviance > 0) & (near | (few == 1))
            np.minimum(fewest, few, out=fewest, where=fits)


def _by_medians(fewest: Float, value: Float, spread: Float) -> None:
    """Write down where most have the median, and one may have all that is off it."""
    for step in _grids(2 * value):
        near = (spread > 0) & (spread <= _NEAR_MEDIAN * step / 2)
        np.minimum(fewest, 1.0, out=fewest, where=near)


def _grids(numbers: Float) -> set[float]:
    """Return the finest and the coarsest step of which all numbers are multiples, if any."""
    for digits in range(DIGITS.stop):
        whole = numbers * 10.0**digits
        if np.abs(whole).max(initial=0.0) * 1e-13 > WHOLE:
            break
        if np.all(np.abs(whole - np.rint(whole)) <= WHOLE):
            step = int(np.gcd.reduce(np.rint(np.abs(whole)).astype(np.int64)))
            return {1 / 10.0**digits, max(step, 1) / 10.0**digits}
    return set()


"""Counts and sums are whole numbers to within this."""

_SLACK = 1e-13
"""Of the squares of what is added up, what may be lost to rounding."""

_DRAWS = 1.582
"""Draws per person that a draw with replacement chooses, e / (e - 1)."""

_MOST_DRAWN = 3

_NEVER = 1e-3
"""The chance, in all trees together, that is left out: in one of 1,000 people."""

_MANY = 3
"""Leaves of which sums are multiples of ten or more, not by chance."""


def nearly_known(case: Case, known: Spreads) -> tuple[Flag, Flag]:
    """Tell of which leaves nearly everybody's number is the same, as of labels, or may be.

    Parameters
    ----------
    case
        Of a model that predicts a number.
    known
        How far numbers may be off the same one, and of which trees the people tell.
    """
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
                perhaps[rows][held] |= may_be_drawn(people, same, size, case.k, never)
    return found, perhaps & ~found


def may_be_drawn(people: Wide, alike: Wide, drawn: Wide, k: int, never: float = _NEVER) -> Flag:
    """Tell where of those who end in a leaf only so many may have been drawn that it is so.

    Nobody tells who was: of others, a draw holds a hypergeometric number.

    Parameters
    ----------
    people, alike
        Who end there, and how many of them have the commonest number.
    drawn
        How many of them the leaf holds.
    never
        A chance that is too small to count.

    Examples
    --------
    Of eight people four have the same number. Five are drawn, and with 7 % all of these four; of
    fifty out of eighty, forty of whom have it, never so few others.

    >>> people, alike, drawn = np.array([8, 80]), np.array([4, 40]), np.array([5, 50])
    >>> may_be_drawn(people, alike, drawn, 5).tolist()
    [True, False]
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
    value, spread, kind = tree.value[leaf], tree.spread[leaf], tree.spread_is
    if not len(leaf):
        return nothing, nothing
    drawn = case.forest.records_are != "all"
    others = few_others(value, spread, n, kind, drawn=drawn)
    fewest = np.full(len(leaf), np.inf)
    if case.forest.answers != "sum":
        # Trees that add up keep what was left over, in which zero is no number of people.
        fewest = fewest_others(value, spread, n, kind, k=case.k, drawn=drawn)
        if not drawn:
            others = np.where(single_non_zero(value, spread, n, kind), 1.0, others)
    near, perhaps = (
        # As few persons as can have so many records.
        nearly_certain(np.maximum(n - few, 0) / n, np.ceil(few / most), case.k)
        for few in (others, np.minimum(fewest, others))
    )
    return near, perhaps


def few_others(value: Float, spread: Float, size: Wide, kind: str, *, drawn: bool) -> Float:
    """Return how many people, no more, have another number than most of their leaf.

    Everybody where the leaves of the tree do not tell. Of draws it is an estimate, on the
    safe side.

    Parameters
    ----------
    value, spread, size
        Of the leaves of one tree.
    kind
        As `Tree.spread_is`.
    drawn
        Whether they may be of draws with replacement.

    Examples
    --------
    Of a hundred people 99 have 1 and one has 0; of fifty all have 0 but two, who have 1.

    >>> share = np.array([0.99, 0.04])
    >>> few_others(share, np.sqrt(share * (1 - share)), np.array([100, 50]), "deviation",
    ...            drawn=False).tolist()
    [1.0, 2.0]
    """
    found: Float = size.astype(np.float64)
    share = _of_two(value, spread) if kind == "deviation" else None
    if kind == "poisson":
        share = _of_zero_and_one(value, spread)
    if share is not None:
        others: Float = np.multiply(size, np.minimum(share, 1 - share), dtype=np.float64)
        if _whole(others):
            found = np.rint(others)
        elif drawn and len(np.unique(np.round(share, 9))) > 3:
            few: Float = np.ceil(others * _DRAWS / _MOST_DRAWN - WHOLE)
            # Somebody has it where anybody was drawn who has.
            found = np.where(others > WHOLE, np.maximum(few, 1), 0.0)
    return found if kind == "poisson" else np.minimum(found, _on_a_grid(value, spread, size, kind))


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
    inside = share.min() >= -WHOLE and share.max() <= 1 + WHOLE
    return np.clip(share, 0, 1) if inside else None


def _of_zero_and_one(value: Float, spread: Float) -> Float | None:
    """Return the share of those above zero, if these all have one number, by the deviance."""
    some = value > 0
    if not some.any():
        return None
    # Half the deviance of a share p of one number b and zeros is -p b log p.
    half = spread[some] ** 2 / (2 * value[some])
    share = np.zeros(len(value))
    share[some] = np.exp(-half / value[some])
    one = value[some] / share[some]
    return share if np.ptp(one) <= 1e-9 * one.max() else None


def _on_a_grid(value: Float, spread: Float, size: Wide, kind: str) -> Float:
    """Return how many people are off the nearest number of a grid; everybody without one."""
    absolute = kind == "absolute"
    for digits in DIGITS:
        scale = 10.0**digits
        if digits < 0 and len(value) < _MANY:
            continue
        # Of medians twice, as they may stand half way between two numbers.
        total = np.rint(2 * value * scale) if absolute else size * value * scale
        off = size * (spread * scale if absolute else (spread**2 + value**2) * scale**2)
        if max(np.abs(total).max(), off.max()) * 1e-13 > WHOLE:
            break
        sums = (2 * value * scale if absolute else total, off)
        if not all(are_whole(one, size, digits).all() for one in sums):
            continue
        if absolute:
            steps = np.where(total % 2 == 0, off, size)
        else:
            sums_of = np.rint(total).astype(np.int64), np.rint(off).astype(np.int64)
            grid = step_of(*sums_of) / scale
            centre = np.rint(value / grid) * grid
            steps = size * (spread**2 + (value - centre) ** 2) / grid**2
        off_it: Float = np.minimum(np.floor(steps + WHOLE), size)
        return off_it
    return size.astype(np.float64)


def _whole(numbers: Float) -> bool:
    return bool(np.all(np.abs(numbers - np.rint(numbers)) <= WHOLE))
