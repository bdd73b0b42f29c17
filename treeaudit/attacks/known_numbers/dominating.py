"""One person with nine tenths of the total of a leaf, by the people or by the file.

Of shares of a total the largest is ``.9`` or more for certain where the sum of their squares is
``.9^2 + .1^2`` or more, and cannot be where it is less than ``.9^2 + .1^2 / (n - 1)``. A Poisson
deviance tells their entropy, which is as narrow. By a median and how far numbers are from it,
only a bound follows. All rests on no number being below zero.

References
----------
Hundepool et al. (2012), Statistical Disclosure Control, section 4.2, the (n, k) rule.
"""

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.attacks.case import Case
from treeaudit.attacks.known_numbers.spreads import Spreads, records_in, records_of_one
from treeaudit.model.tree import Tree

__all__ = ["dominated", "dominating"]

_OF_TOTAL = 0.9
"""The share of a total that is one person's from which it tells their number: (1, 90)."""
_REST = 1 - _OF_TOTAL
_ENTROPY = -_OF_TOTAL * np.log(_OF_TOTAL) - _REST * np.log(_REST)
_ROUNDING = 1e-9
_MOST_DRAWN = 3


def dominating(case: Case, known: Spreads) -> tuple[Flag, Flag]:
    """Tell in which leaves one person has nine tenths of the total, and where that may be so.

    Nobody has where any number is below zero, as far as the people or the file tell.
    """
    table, train = case.table, case.train
    surely, perhaps = np.zeros((2, len(table)), dtype=np.bool_)
    targets = None if train is None else train.targets
    if targets is not None and any(known.by_people) and targets.min(initial=0.0) < 0:
        return surely, perhaps
    most = records_of_one(case)
    for i, tree in enumerate(case.forest.trees):
        rows, n = table.rows_of(i), records_in(case, i)
        told = _by_file(case, tree, i, n, most, blind=known.changed)
        if told is None:
            return np.zeros_like(surely), np.zeros_like(surely)
        surely[rows], perhaps[rows] = told
        if not known.by_people[i]:
            continue
        certain, possible = _by_people(case, i, n)
        if known.all_there[i]:
            # Nobody is behind the leaf but who ends there.
            surely[rows], perhaps[rows] = certain, False
        else:
            surely[rows] = certain | (surely[rows] & possible)
            perhaps[rows] &= possible
    return surely, perhaps & ~surely


def dominated(spread: Float, mean: Float, size: Wide) -> Flag:
    """Tell in which leaves one person's number is nine tenths of the total or more.

    It rests on no number being below zero, and is False everywhere where the means or the
    spreads say otherwise, or tell nothing.

    Examples
    --------
    Of ten people one has 1000 and nine have 1: a mean of 100.9 and a spread of 299.7.

    >>> dominated(np.array([299.7]), np.array([100.9]), np.array([10])).tolist()
    [True]
    """
    told = ~np.isnan(spread)
    squares = _squares(spread, mean, size)
    if not told.any() or _below_zero(mean[told], squares[told]):
        return np.zeros(len(size), dtype=np.bool_)
    return np.asarray((size > 1) & (squares >= _OF_TOTAL**2 + _REST**2))


def _squares(spread: Float, mean: Float, size: Wide) -> Float:
    """Return the sum of the squares of what each has of the total."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shares: Float = (1 + (spread / mean) ** 2) / size
    return shares


def _below_zero(mean: Float, squares: Float | None) -> bool:
    """Tell whether means, or squares of shares, say that some number is below zero."""
    if len(mean) and mean.min() < -1e-12 * np.abs(mean).max():
        return True
    return squares is not None and bool(np.any(squares[~np.isnan(squares)] > 1 + 1e-6))


def _by_file(
    case: Case, tree: Tree, index: int, n: Wide, most: int, *, blind: bool
) -> tuple[Flag, Flag] | None:
    """Return what the leaves of a tree say; None where numbers are below zero."""
    nowhere = np.zeros(len(n), dtype=np.bool_)
    if tree.spread is None or tree.value is None or blind or case.forest.answers == "sum":
        # Nor is the mean told by trees that add up.
        return nowhere, n > 1
    leaf = case.table.leaf[case.table.rows_of(index)]
    mean, spread, size = tree.value[leaf], tree.spread[leaf], n.astype(np.float64)
    told, kind = ~np.isnan(spread), tree.spread_is
    squares = _squares(spread, mean, n) if kind == "deviation" else None
    if _below_zero(mean[told], None if squares is None else squares[told]):
        return None
    drawn = case.forest.records_are != "all"
    # Each of so many records of one person may have their part.
    most = most * _MOST_DRAWN if drawn else most
    items = size + (most - 1 if drawn else 0)
    rest = np.maximum(items - most, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        if squares is not None:
            scaled = squares * size / items
            surely = squares >= (_OF_TOTAL if drawn else _OF_TOTAL**2 + _REST**2)
            perhaps = scaled >= (_OF_TOTAL**2 / most + _REST**2 / rest) * (1 - _ROUNDING)
        elif kind == "poisson":
            entropy = np.log(items) - spread**2 / (2 * mean**2)
            surely = (entropy <= _ENTROPY) & (not drawn)
            bound = _ENTROPY + _OF_TOTAL * np.log(most) + _REST * np.log(rest)
            perhaps = entropy <= bound + _ROUNDING * size
        else:
            surely, perhaps = _by_median(mean, spread, items, most)
            surely &= not drawn
    some, several = mean > 0, n > 1
    if kind == "absolute":
        some = (mean > 0) | (spread > 0)
    surely, perhaps = surely & some & told & several, perhaps & some & told & several
    return surely, perhaps | (several & ~told)


def _by_median(middle: Float, off: Float, n: Float, most: int) -> tuple[Flag, Flag]:
    """Return the same by medians and mean absolute deviations."""
    # All that is above is one person's, and as much as can be is below.
    below = np.minimum(n * off, np.floor(n / 2) * middle)
    above = n * off - below
    share = (most * middle + above) / (n * middle + above - below)
    two = n == 2
    surely: Flag = two & ((middle + off) >= _OF_TOTAL * 2 * middle)
    perhaps: Flag = np.where(two & (most == 1), surely, ~(share < _OF_TOTAL * (1 - _ROUNDING)))
    return surely, perhaps


def _by_people(case: Case, index: int, n: Wide) -> tuple[Flag, Flag]:
    """Return where one of those who end in a leaf has it, and where of some of them one may."""
    train, table = case.people("train"), case.table
    if train.targets is None:
        raise RuntimeError("numbers of people are asked for that nobody gave")
    place = table.positions(index, train.node[:, index]) - int(table.start[index])
    inside = (place >= 0) & (place < len(n))
    place, number = place[inside], train.targets[inside]
    who = np.flatnonzero(inside) if train.persons is None else train.persons[inside]
    key, pair = np.unique(place * (int(who.max(initial=0)) + 1) + who, return_inverse=True)
    pair = pair.reshape(-1)
    leaf = np.zeros(len(key), dtype=np.int64)
    leaf[pair] = place
    each, held = np.bincount(pair, number, len(key)), np.bincount(pair, minlength=len(key))
    largest, records = np.zeros(len(n)), np.ones(len(n), dtype=np.int64)
    np.maximum.at(largest, leaf, each)
    np.maximum.at(records, leaf, held)
    people = np.bincount(leaf, minlength=len(n))
    total = np.bincount(place, number, len(n))
    certain = (people > 1) & (total > 0) & (largest >= _OF_TOTAL * total * (1 - 1e-12))
    # Of as many as the leaf counts, the others have the least.
    order = np.lexsort((number, place))
    sums = np.concatenate([[0.0], np.cumsum(number[order])])
    first = np.searchsorted(place[order], np.arange(len(n)))
    ends = np.bincount(place, minlength=len(n))
    others = np.clip(n - records, 0, np.maximum(ends - records, 0))
    least = sums[first + others] - sums[first]
    possible = (n > 1) & (largest > 0) & (largest >= _OF_TOTAL * (largest + least) * (1 - 1e-9))
    # Of those who are not at hand nothing is known.
    return certain, possible | certain | (ends < n)
