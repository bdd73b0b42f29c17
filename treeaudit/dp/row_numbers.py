"""Whether the rows of a ledger have numbers that no trainer writes, which tell something else.

Nobody reads a ledger of thousands of rows. What follows from other rows has to follow, and what
costs nothing was not asked.
"""

import re
from collections.abc import Sequence

from treeaudit.dp.ledger import Query

__all__ = ["left_tell_more", "tell_more"]

_TREE = re.compile(r"\A(?:leaf counts of )?tree (\d+)", re.ASCII)
_LEVEL = re.compile(r"(?<=level )\d+$", re.ASCII)
_COLUMN = re.compile(r"\A(values(?: and classes)? of \w+) (\d+)", re.ASCII)
_POINTS = re.compile(r"\Apoints of .*(?=, level \d+$)", re.ASCII | re.DOTALL)
_DRAWN = re.compile(r"(?:tree \d+: )?splits of level \d+", re.ASCII)
_STEP = re.compile(r"specialization (\d+)", re.ASCII)
_COUNTED = ("discrete Laplace", "discrete Gaussian")
_MOST_TREES, _MOST_LEVELS, _MOST_STEPS = 10_000, 65, 1000
_MOST_ASKED = 1 << 34
"""Nodes of all trees of a forest, more than memory holds."""
_UNIT, _MOST_UNITS = 1 << 20, 1 << 48
"""Scores are whole numbers of such parts of a person."""


def tell_more(rows: Sequence[Query], units: int, n_trees: int | None) -> bool:
    """Tell whether rows of one fit have names or numbers that no trainer writes there.

    Each is there once, asks of a tree and a level that can be, costs something, unless it is
    of splits that are drawn, and costs what the same question costs in other trees and columns.

    Parameters
    ----------
    rows
        Of one fit.
    units
        In how many records neighbours differ.
    n_trees
        Trees of the model; None where those of a fit may be others, as in a search.

    Examples
    --------
    >>> from fractions import Fraction
    >>> row = Query(name="tree 2: splits of level 1", mechanism="permute-and-flip",
    ...             epsilon=Fraction(1), sensitivity=Fraction(2))
    >>> tell_more([row], 1, 2), tell_more([row], 1, 1), tell_more([row, row], 1, 2)
    (False, True, True)
    """
    if len({row.name for row in rows}) < len(rows):
        return True
    most = _MOST_TREES if n_trees is None else n_trees
    told: dict[str, set[tuple[object, ...]]] = {}
    for row in rows:
        if _is_beyond(row.name, most) or row.asked > _MOST_ASKED:
            return True
        if not (row.epsilon or row.rho or _DRAWN.fullmatch(row.name)):
            return True
        if not _is_moved(row, units):
            return True
        same = _POINTS.sub("points", _COLUMN.sub(r"\1", _TREE.sub("tree", row.name)))
        cost = (row.mechanism, row.composition, row.epsilon, row.rho, row.used, row.sensitivity)
        told.setdefault(same, set()).add(cost)
    return any(len(costs) > 1 for costs in told.values())


def left_tell_more(rows: Sequence[Query], n_fits: int) -> bool:
    """Tell whether rows for what was not asked are more than what is left of each fit.

    Examples
    --------
    >>> from fractions import Fraction
    >>> left = Query(name="left", mechanism="none", epsilon=Fraction(1), sensitivity=Fraction(0),
    ...              used=Fraction(0))
    >>> left_tell_more([left], 1), left_tell_more([left, left], 1)
    (False, True)
    """
    plain = all(
        row.asked == 1 and not row.sensitivity and (row.epsilon or row.rho) and not row.as_used.cost
        for row in rows
    )
    return len(rows) > n_fits or not plain


def _is_beyond(name: str, n_trees: int) -> bool:
    """Tell whether a question is about a tree, a level or a step that there is not."""
    tree, level, step = _TREE.match(name), _LEVEL.search(name), _STEP.fullmatch(name)
    column = _COLUMN.match(name)
    if column is not None and column[2][0] == "0":
        return True
    if tree is not None and not _counts(tree[1], n_trees):
        return True
    if level is not None and not _counts(level[0], _MOST_LEVELS):
        return True
    return step is not None and not _counts(step[1], _MOST_STEPS)


def _counts(number: str, most: int) -> bool:
    """Tell whether a number is one of 1, 2, and so on, as they are written."""
    return number[0] != "0" and int(number) <= most


def _is_moved(row: Query, units: int) -> bool:
    """Tell whether neighbours can move an answer so far: a count by one for each record."""
    if row.mechanism in _COUNTED:
        return row.sensitivity == units
    scores = row.sensitivity / units * _UNIT
    return scores.denominator == 1 and scores <= _MOST_UNITS
