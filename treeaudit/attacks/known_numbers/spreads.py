"""How far the numbers of the people in a leaf are from what the leaf says."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.attacks.case import Case
from treeaudit.model.tree import Tree
from treeaudit.people.checks.leaf_values import changed_target

_MOST_DRAWN = 3
"""Draws per person of a leaf, as a rule fewer."""
_OF_DEVIATION = 0.01
_LOST = 2.0**-52
"""Of the square of a mean, per number that is added up: what a variance may be off."""
_NOTHING = 1e-6
"""Of the deviation of everybody: a spread that is as good as none."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spreads:
    """What is known of the numbers in each leaf, one entry per leaf; NaN where nothing is.

    * ``spread``: how far numbers are off on average: a standard deviation, of draws where the file
      counts these, or a mean absolute deviation, as in `Tree.spread_is`.
    * ``reach``: no number is further off than that.
    * ``tolerance``, ``scale``: how far a number may be off to be known, and the standard deviation
      of everybody's, of those that the tree predicts.
    * ``untold``, ``lost``: where the file holds a spread and people are not at hand: but not of
      people, or smaller than what rounding leaves of numbers that are far from zero.
    * ``about``: per tree, whether its numbers may be those of the training people.
    * ``by_people``: per tree, whether these tell of its numbers: they do not where another member
      predicts others of the same people, and nothing in its leaves bears them out.
    * ``whole``, ``all_there``: per tree, whether they tell all of it, and whether they are all who
      are counted in its leaves.
    * ``changed``: whether the numbers of the file are in other units than those of a table.
    * ``whose``: where spreads are from: the ``file``, the training ``people``, or ``none``.
    * ``deviation``: the standard deviation of everybody's numbers, the largest where trees predict
      different ones; None where nobody knows it.
    """

    spread: Float
    reach: Float
    tolerance: Float
    scale: Float
    untold: Flag
    lost: Flag
    about: Sequence[bool]
    by_people: Sequence[bool]
    whole: Sequence[bool]
    all_there: Sequence[bool]
    changed: bool
    whose: Literal["file", "people", "none"]
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
        mean = _medians(apart, node, held)
    off = apart - mean[node]
    if tree.spread is None or tree.spread_is == "deviation":
        spread: Float = np.sqrt(np.bincount(node, off**2, n) / people)
    else:
        spread = np.bincount(node, np.abs(off), n) / people
    return np.where(held > 0, spread, np.nan)


def _medians(numbers: Float, node: Int, held: Wide) -> Float:
    rising = numbers[np.lexsort((numbers, node))]
    first = np.cumsum(held) - held
    low = np.minimum(first + np.maximum(held - 1, 0) // 2, len(rising) - 1)
    high = np.minimum(first + held // 2, len(rising) - 1)
    middle: Float = (rising[low] + rising[high]) / 2
    return middle
