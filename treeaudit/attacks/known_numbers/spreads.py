"""How far the numbers of people in a leaf are from what it says, and who has nearly all of a total.

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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.attacks.case import Case
from treeaudit.model.tree import Tree
from treeaudit.people.checks.leaf_values import changed_target, may_be_clipped, medians_of

_MOST_DRAWN = 3
"""Draws per person of a leaf, as a rule fewer."""
_OF_DEVIATION = 0.01
_LOST = 2.0**-52
"""Of the square of a mean, per number that is added up: what a variance may be off."""
_NOTHING = 1e-6
"""Of the deviation of everybody: a spread that is as good as none."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spreads:
    """What is known of the numbers in each leaf, one entry per leaf; NaN where nothing is."""

    # How far numbers are off on average: a standard deviation, of draws where the file counts
    # these, or a mean absolute deviation, as in `Tree.spread_is`
    spread: Float
    reach: Float  # No number is further off than that
    # How far a number may be off to be known, and the standard deviation of everybody's, of those
    # that the tree predicts
    tolerance: Float
    scale: Float
    # Where the file holds a spread and people are not at hand: but not of people, or smaller than
    # what rounding leaves of numbers that are far from zero
    untold: Flag
    lost: Flag
    about: Sequence[bool]  # Per tree, whether its numbers may be those of the training people
    # Per tree, whether these tell of its numbers: they do not where another member predicts
    # others of the same people, and nothing in its leaves bears them out
    by_people: Sequence[bool]
    # Per tree, whether they tell all of it, and whether they are all who are counted in its
    # leaves
    whole: Sequence[bool]
    all_there: Sequence[bool]
    changed: bool  # Whether the numbers of the file are in other units than those of a table
    # Where spreads are from: the `file`, the training `people`, or `none`
    whose: Literal["file", "people", "none"]
    # The standard deviation of everybody's numbers, the largest where trees predict different
    # ones; None where nobody knows it
    deviation: float | None


def spreads(case: Case) -> Spreads:
    """Return how far numbers are off in the leaves of a model that predicts a number."""
    table, train, trees = case.table, case.train, case.forest.trees
    spread, reach, mean, scale = np.full((4, len(table)), np.nan)
    untold, rounded = np.zeros((2, len(table)), dtype=np.bool_)
    targets = None if train is None else train.targets
    changed = changed_target(case.forest)
    # In which units somebody's tolerance is, the file does not know.
    blind = changed and (targets is not None or case.tolerance is not None)
    roots, about, by_people = list[float](), list[bool](), list[bool]()
    whole, all_there = list[bool](), list[bool]()
    several = len(case.forest.members) > 1
    told = filled = False
    for i, tree in enumerate(trees):
        rows = table.rows_of(i)
        leaf, n = table.leaf[rows], records_in(case, i)
        has = tree.spread is not None and not blind
        file: Float = tree.spread[leaf] if tree.spread is not None and has else (
            np.full(len(leaf), np.nan))  # fmt: skip
        told |= tree.spread is not None
        spread[rows], reach[rows] = file, file * _times(case, tree, n)
        if has and tree.value is not None and tree.spread_is != "absolute":
            mean[rows], rounded[rows] = np.abs(tree.value[leaf]), True
        open_, full, fits, there = np.isnan(file), False, True, False
        shown = not several
        if train is not None and targets is not None:
            people = np.bincount(train.node[:, i], minlength=tree.n_nodes)[leaf]
            each = _of_people(targets, train.node[:, i], tree)[leaf]
            there = case.forest.records_are == "all" and np.array_equal(people, n)
            full = there and (i == 0 or case.forest.answers != "sum")
            fits = not (full and has) or _is_about(tree, targets)
            asked = full and has and not open_.all()
            full = full and fits and _bears_out(tree, leaf, n, each, file)
            shown = shown or (asked and full)
            here = np.ones(len(leaf), dtype=np.bool_) if full else open_
            at = np.arange(len(table))[rows][here]
            spread[at], rounded[at] = each[here], False
            reach[at] = each[here] * np.sqrt(np.maximum(n[here] - 1, 1))
            if full and tree.spread_is != "deviation":
                reach[at] = each[here] * n[here]
        elif tree.spread is not None:
            untold[rows] = open_ & (n > 1)
        filled |= targets is not None and bool(open_.any())
        about.append(targets is not None and fits)
        by_people.append(about[-1] and shown)
        whole.append(full)
        all_there.append(there)
        root = float(targets.std()) if targets is not None and fits and (
            full or blind or not has or tree.spread_is != "deviation") else (
            float(tree.spread[0]) if tree.spread is not None else np.nan)  # fmt: skip
        roots.append(root)
    for rows_of, root in _by_member(case, roots):
        scale[rows_of] = root
    tolerance = np.full(len(table), np.nan) if case.tolerance is None else (
        np.full(len(table), case.tolerance))  # fmt: skip
    tolerance = np.where(np.isnan(tolerance), _OF_DEVIATION * scale, tolerance)
    count = np.maximum(table.size, 0) + 8.0
    enough = np.fmax(np.nan_to_num(tolerance), _NOTHING * np.nan_to_num(scale))
    # Errors of so many sums add up at worst, and as a rule as their root.
    worst, usual = (np.sqrt(_LOST * n) * mean for n in (count, np.sqrt(count)))
    lost = rounded & (table.size > 1) & (spread <= worst) & (worst > enough)
    lost &= (spread > enough) | (usual > enough)
    spread[lost], reach[lost] = np.nan, np.nan
    known = [root for root in roots if not np.isnan(root)]
    whose: Literal["file", "people", "none"] = "file" if told else "none"
    return Spreads(
        spread=spread,
        reach=reach,
        tolerance=tolerance,
        scale=scale,
        untold=untold,
        lost=lost,
        about=about,
        by_people=by_people,
        whole=whole,
        all_there=all_there,
        changed=changed,
        whose="people" if filled else whose,
        deviation=max(known) if known else None if targets is None else float(targets.std()),
    )


def records_in(case: Case, index: int) -> Wide:
    """Return how many records are in each leaf of a tree, also where persons are counted."""
    rows = case.table.rows_of(index)
    size, counted = case.table.size[rows], case.forest.trees[index].n_records
    if not case.table.in_persons or counted is None:
        return size
    return np.maximum(counted[case.table.leaf[rows]].astype(np.int64), size)


def records_of_one(case: Case) -> int:
    """Return the most records that one person has."""
    if not case.table.in_persons:
        return 1
    if case.train is not None and case.train.persons is not None:
        return int(np.bincount(case.train.persons).max(initial=1))
    records = np.concatenate([records_in(case, i) for i in range(case.forest.n_trees)])
    size = case.table.size
    several = size > 1
    if not several.any():
        return int(records.max(initial=1))
    # The most by which every leaf would hold as many persons as it does.
    return max(1, int((-(-records[several] // (size[several] - 1)) - 1).min()))


def _by_member(case: Case, roots: Sequence[float]) -> list[tuple[slice, float]]:
    """Return the leaves of each member, and the largest deviation that its roots tell."""
    found, start, table = [], 0, case.table
    sizes = [member.n_trees for member in case.forest.members]
    if sum(sizes) != len(roots):
        sizes = [len(roots)]
    for n in sizes:
        told = [root for root in roots[start : start + n] if not np.isnan(root)]
        rows = slice(int(table.start[start]), int(table.start[start + n]))
        found.append((rows, max(told) if told else np.nan))
        start += n
    return found


def _times(case: Case, tree: Tree, size: Wide) -> Float:
    """Return how many times the spread of a leaf one number in it can be off."""
    # Of draws one may stand for a person, and all others for those at the other side.
    n = np.maximum(size, 2) * (1 if case.forest.records_are == "all" else _MOST_DRAWN)
    times: Float = np.sqrt(n - 1.0) if tree.spread_is == "deviation" else n * 1.0
    return times


def _is_about(tree: Tree, numbers: Float) -> bool:
    """Tell whether a tree predicts these numbers, and not others of the same people."""
    if tree.value is None or tree.spread is None or np.isnan(tree.spread[0]):
        return True
    middle, spread = float(numbers.mean()), float(numbers.std())
    slack = 0.01 * spread + _NOTHING * abs(middle)
    if tree.spread_is == "absolute":
        middle = float(np.median(numbers))
        spread = float(np.abs(numbers - middle).mean())
    alike = tree.spread_is == "poisson" or abs(spread - float(tree.spread[0])) <= slack
    # Boosting keeps what was left over from a first guess.
    return alike and (abs(middle - float(tree.value[0])) <= slack or abs(tree.value[0]) <= slack)


def _bears_out(tree: Tree, leaf: Int, n: Wide, people: Float, file: Float) -> bool:
    """Tell whether the people of a tree have the spreads that its leaves state."""
    told = ~np.isnan(file)
    if not told.any() or tree.value is None:
        return True
    one, other, size = people[told], file[told], np.abs(tree.value[leaf][told])
    rounding = 4 * _LOST * (n[told] + 8) * size**2
    if tree.spread_is == "poisson":
        # A bound of theirs.
        return bool(np.all(one**2 <= other**2 * (1 + _NOTHING) + rounding))
    slack = _NOTHING * np.maximum(one, other) ** 2 + rounding
    return bool(np.all(np.abs(one**2 - other**2) <= slack))


def _of_people(numbers: Float, node: Int, tree: Tree) -> Float:
    """Return the spread of the numbers of whoever ends in each node, as its trees keep it."""
    n, held = tree.n_nodes, np.bincount(node, minlength=tree.n_nodes)
    people = np.maximum(held, 1)
    # About one of them, so that nothing is lost to the size of the numbers.
    apart = numbers - np.median(numbers)
    mean = np.bincount(node, apart, n) / people
    if tree.spread is not None and tree.spread_is == "absolute":
        mean = medians_of(apart, node, n)[0]
    off = apart - mean[node]
    if tree.spread is None or tree.spread_is == "deviation":
        spread: Float = np.sqrt(np.bincount(node, off**2, n) / people)
    else:
        spread = np.bincount(node, np.abs(off), n) / people
    return np.where(held > 0, spread, np.nan)


_OF_TOTAL = 0.9
"""The share of a total that is one person's from which it tells their number: (1, 90)."""
_REST = 1 - _OF_TOTAL
_OF_BOTH = (_OF_TOTAL**2 + _REST**2) / (_OF_TOTAL - _REST) ** 2
_ENTROPY = -_OF_TOTAL * np.log(_OF_TOTAL) - _REST * np.log(_REST)
_ROUNDING = 1e-9
_OFF = 1e-6
_ZERO = 1e-12
_DRAWS_OF_ONE = 10
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
    most = most * _DRAWS_OF_ONE if drawn else most
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
        # Any so many of the records may be one person's.
        return np.zeros(len(n), dtype=np.bool_), n > 1
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
