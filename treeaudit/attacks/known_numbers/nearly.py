"""Leaves where nearly everybody has one number, by the training people or by the file.

A mean and a spread give counts where numbers can be few. Of numbers that are ``a`` or ``b``
the variance is ``(m - a) (b - m)`` in every node, whatever rows weigh, and the share of
``b`` is ``(m - a) / (b - a)``. Of numbers on a grid of step ``h`` no more than
``n (s^2 + (m - c)^2) / h^2`` differ from ``c``, each by a step at least.
"""

import numpy as np

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.attacks.case import Case
from treeaudit.attacks.known_numbers.alike import alike_in
from treeaudit.attacks.known_numbers.fewest import fewest_others, single_non_zero
from treeaudit.attacks.known_numbers.grid import DIGITS, WHOLE, are_whole, step_of
from treeaudit.attacks.known_numbers.spreads import Spreads, records_in, records_of_one
from treeaudit.model.tree import Tree
from treeaudit.table.labels import nearly_certain

__all__ = ["few_others", "nearly_known"]

"""Counts and sums are whole numbers to within this."""
_ROUNDING = 1e-13
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
    noise = _ROUNDING * float(np.max(value**2 + spread**2))
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
