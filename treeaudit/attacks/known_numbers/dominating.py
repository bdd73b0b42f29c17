"""One person with nine tenths of the total of a leaf, by the people or by the file.

Of shares of a total the largest is ``.9`` or more for certain where the sum of their squares is
``.9^2 + .1^2`` or more, and cannot be where it is less than ``.9^2 + .1^2 / (n - 1)``. A Poisson
deviance tells their entropy, which is as narrow. A median and how far numbers are from it do not
tell: only the people do.

Of numbers on both sides of zero the total is that of the amounts. Who has nine tenths of it has
``.9`` to ``1.125`` of what the numbers add up to, which is ``.8`` of the amounts or more: the
squares are at most ``(.9^2 + .1^2) / .8^2``. Where a file shows that there are such numbers,
nobody knows in which leaves, and nothing is certain but of two people, whom the mean and the
squares tell.

References
----------
Hundepool et al. (2012), Statistical Disclosure Control, section 4.2, the (n, k) rule.
"""

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.attacks.case import Case
from treeaudit.attacks.known_numbers.spreads import Spreads, records_in, records_of_one
from treeaudit.model.tree import Tree
from treeaudit.people.checks.leaf_values import may_be_clipped

_OF_TOTAL = 0.9
"""The share of a total that is one person's from which it tells their number: (1, 90)."""
_REST = 1 - _OF_TOTAL
_OF_BOTH = (_OF_TOTAL**2 + _REST**2) / (_OF_TOTAL - _REST) ** 2
_ENTROPY = -_OF_TOTAL * np.log(_OF_TOTAL) - _REST * np.log(_REST)
_ROUNDING = 1e-9
_OFF = 1e-6
_ZERO = 1e-12
_MOST_DRAWN = 10
"""Draws of one person: of a hundred million people one is drawn more often."""


def dominating(case: Case, known: Spreads) -> tuple[Flag, Flag]:
    """Tell in which leaves one person has nine tenths of the total, and where that may be so."""
    table = case.table
    surely, perhaps = np.zeros((2, len(table)), dtype=np.bool_)
    most, signed = records_of_one(case), not known.changed and _both_sides(case)
    for i, tree in enumerate(case.forest.trees):
        rows, n = table.rows_of(i), records_in(case, i)
        stated = _by_file(case, tree, i, n, most, blind=known.changed)
        surely[rows], perhaps[rows] = _if_sure(*stated, n, signed=signed)
        if not known.by_people[i]:
            continue
        certain, possible = _by_people(case, i, n)
        if known.all_there[i]:
            # Nobody is behind the leaf but who ends there, though perhaps with several records.
            train = case.train
            unnamed = case.most > 1 and train is not None and train.persons is None
            surely[rows], perhaps[rows] = certain, possible & unnamed
        else:
            surely[rows] = certain | (surely[rows] & possible)
            perhaps[rows] &= possible
    return surely, perhaps & ~surely


def _if_sure(surely: Flag, perhaps: Flag, size: Wide, *, signed: bool) -> tuple[Flag, Flag]:
    return (surely & (size == 2), perhaps | surely) if signed else (surely, perhaps)


def _both_sides(case: Case) -> bool:
    """Tell whether a table has numbers above and below zero, by the people or by the file."""
    targets = None if case.train is None else case.train.targets
    if targets is not None and len(targets) and targets.min() < 0 < targets.max():
        return True
    if case.forest.answers == "sum":
        return False
    low = high = 0.0
    for i, tree in enumerate(case.forest.trees):
        if tree.spread is None or tree.value is None:
            continue
        leaf = case.table.leaf[case.table.rows_of(i)]
        mean, spread = tree.value[leaf], tree.spread[leaf]
        told = mean[~np.isnan(mean)]
        low, high = min(low, told.min(initial=0.0)), max(high, told.max(initial=0.0))
        if tree.spread_is == "deviation":
            squares = _squares(spread, mean, records_in(case, i))
            if np.any(squares[~np.isnan(squares)] > 1 + _OFF):
                return True
    return bool(min(-low, high) > _ZERO * max(-low, high))


def _squares(spread: Float, mean: Float, size: Wide) -> Float:
    """Return the sum of the squares of what each has of the total."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shares: Float = (1 + (spread / mean) ** 2) / size
    return shares


def by_squares(squares: Float, size: Float, most: int, *, drawn: bool) -> tuple[Flag, Flag]:
    """Tell it by the sum of squares, where a person has so many of the records."""
    items = size + (most - 1 if drawn else 0)
    rest = np.maximum(items - most, 1.0)
    least = (_OF_TOTAL**2 / most + _REST**2 / rest) * (1 - _ROUNDING)
    two = (size == 2) & (most == 1) & (not drawn)
    # What one person has in several records, or is drawn of others below zero, may cancel out.
    high = np.inf if drawn or most > 1 else _OF_BOTH + _OFF
    with np.errstate(invalid="ignore"):
        possible = squares <= high
        surely = squares >= (_OF_TOTAL if drawn else _OF_TOTAL**2 + _REST**2)
        perhaps = squares * size / items >= least
    return surely & possible & (two | (squares <= 1 + _OFF)), perhaps & possible


def _by_file(
    case: Case, tree: Tree, index: int, n: Wide, most: int, *, blind: bool
) -> tuple[Flag, Flag]:
    """Return what the leaves of a tree say."""
    nowhere = np.zeros(len(n), dtype=np.bool_)
    silent = blind or case.forest.answers == "sum" or may_be_clipped(case.forest, tree)
    kind = tree.spread_is
    if tree.spread is None or tree.value is None or silent or kind == "absolute":
        # Nor is the mean told by trees that add up, or whose numbers were clipped.
        return nowhere, n > 1
    leaf = case.table.leaf[case.table.rows_of(index)]
    mean, spread, size = np.abs(tree.value[leaf]), tree.spread[leaf], n.astype(np.float64)
    told = ~np.isnan(spread)
    drawn = case.forest.records_are != "all"
    # Each of so many records of one person may have their part.
    most = most * _MOST_DRAWN if drawn else most
    items = size + (most - 1 if drawn else 0)
    rest = np.maximum(items - most, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        if kind == "deviation":
            squares = _squares(spread, mean, n)
            surely, perhaps = by_squares(squares, size, most, drawn=drawn)
        else:
            entropy = np.log(items) - spread**2 / (2 * mean**2)
            surely = (entropy <= _ENTROPY) & (not drawn)
            bound = _ENTROPY + _OF_TOTAL * np.log(most) + _REST * np.log(rest)
            perhaps = entropy <= bound + _ROUNDING * size
    known, several = told & (mean > 0), n > 1
    return surely & known & several, several & ((perhaps & known) | ~told)


def _by_people(case: Case, index: int, n: Wide) -> tuple[Flag, Flag]:
    """Return where one of those who end in a leaf has it, and where of some of them one may."""
    train, table = case.people("train"), case.table
    if train.targets is None:
        raise RuntimeError("numbers of people are asked for that nobody gave")
    place = table.positions(index, train.node[:, index]) - int(table.start[index])
    inside = (place >= 0) & (place < len(n))
    place, number = place[inside], np.abs(train.targets[inside])
    if train.persons is None and case.most > 1:
        return _by_records(place, number, n, case.most)
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


def _by_records(place: Wide, number: Float, n: Wide, most: int) -> tuple[Flag, Flag]:
    """Return the same where a person may have any so many of the records."""
    order = np.lexsort((-number, place))
    leaf, number = place[order], number[order]
    first = np.searchsorted(leaf, np.arange(len(n)))
    rank = np.arange(len(leaf)) - first[leaf]
    total = np.bincount(leaf, number, len(n))
    one, several = (
        np.bincount(leaf[rank < k], number[rank < k], len(n)) >= _OF_TOTAL * total * (1 - 1e-12)
        for k in (1, most)
    )
    some = (n > 1) & (total > 0)
    # Of those who are not at hand nothing is known, nor who of these was drawn.
    return some & one, (some & several) | (np.bincount(leaf, minlength=len(n)) != n)
