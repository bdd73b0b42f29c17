"""Rows that a ledger must have beside others: what was asked of the same nodes, or of the draws."""

import math
import re
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from treeaudit.dp.ledger import Query
from treeaudit.dp.sampling import BOOTSTRAP
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree, depths_of

__all__ = [
    *("all_points", "all_ranks", "counted_all", "counted_first", "fewer_below", "pays_for_draws"),
]

_RANKED = re.compile(
    r"(values and classes|values) of (column|attribute) (\d{1,6}) of level (\d{1,3})", re.ASCII
)
_LEVELS = re.compile(
    r"(tree \d{1,6}: )?(?:(splits|people|midpoints) of|(points) of .*,) level (\d{1,3})",
    re.ASCII | re.DOTALL,
)
_NEARLY = 1 + 1e-9
_LARGEST = 600
"""The exponential of more is no number."""


def pays_for_draws(rows: Sequence[Query], units: int) -> bool:
    """Tell whether all trees, each on its own draws, cost no more than the rows together.

    A tree of cost c for a record costs ``exp(c) - 1`` where that is drawn as by Poisson(1).

    Parameters
    ----------
    rows
        Of one fit.
    units
        In how many records neighbours differ.

    Examples
    --------
    >>> asked = Query(name="tree 1: leaf counts", mechanism="discrete Laplace",
    ...               epsilon=Fraction(1), sensitivity=Fraction(1))
    >>> beyond = Query(name="records drawn again", mechanism=BOOTSTRAP,
    ...                epsilon=Fraction(3, 4), sensitivity=Fraction(1))
    >>> pays_for_draws([asked], 1), pays_for_draws([asked, beyond], 1)
    (False, True)
    """
    costs: dict[str, Fraction] = {}
    for row in rows:
        if row.rho:
            return False
        if row.mechanism != BOOTSTRAP:
            tree = row.name.partition(":")[0]
            costs[tree] = costs.get(tree, Fraction(0)) + row.cost / units
    if any(cost > _LARGEST for cost in costs.values()):
        return False
    needed = units * sum(math.expm1(float(cost)) for cost in costs.values())
    return needed <= float(sum((row.cost for row in rows), Fraction(0))) * _NEARLY


def all_ranks(rows: Sequence[Query], schema: Schema) -> bool:
    """Tell whether each column that a path has left was asked about, level by level."""
    asked: dict[tuple[str, str, int], dict[int, int]] = {}
    for row in rows:
        if found := _RANKED.fullmatch(row.name):
            asked.setdefault((found[1], found[2], int(found[4])), {})[int(found[3])] = row.asked
    useful = sum(
        len(f.categories) > 1 if f.categories is not None else (f.low or 0.0) < (f.high or 0.0)
        for f in schema.features
    )
    for (_, _, level), ranks in asked.items():
        if sorted(ranks) != list(range(1, useful - level + 2)):
            return False
        if len(set(ranks.values())) > 1:
            return False
    both = {(of, level) for what, of, level in asked if what == "values and classes"}
    values = {(of, level) for what, of, level in asked if what == "values"}
    # Who asks for the values of attributes asks for both.
    return values == {(of, level) for of, level in both if of == "attribute"}


def counted_first(rows: Sequence[Query]) -> bool:
    """Tell whether the people of nodes were asked before their splits."""
    asked = _by_level(rows)
    return all((tree, "people", level) in asked for tree, what, level in asked if what == "splits")


def counted_all(rows: Sequence[Query], trees: Sequence[Tree]) -> bool:
    """Tell whether the people of all nodes were asked, those of leaves too."""
    asked = _by_level(rows)
    levels = [np.bincount(depths_of(tree.parent)) for tree in trees]
    return all(
        n <= asked.get(("", "people", level), 0)
        for tree in levels
        for level, n in enumerate(tree.tolist(), start=1)
    )


def all_points(rows: Sequence[Query], schema: Schema, *, ranges: bool) -> bool:
    """Tell whether the root was asked where to cut each number, if any was.

    Parameters
    ----------
    ranges
        Whether that is asked where columns are not asked about one by one.
    """
    first = [row for row in rows if row.name.endswith(", level 1")]
    chosen = any(row.name == "splits of level 1" for row in rows)
    numbers = sum(
        f.categories is None and (f.low or 0.0) < (f.high or 0.0) for f in schema.features
    )
    return len(first) == (numbers if chosen and (first or ranges) else 0)


def fewer_below(rows: Sequence[Query]) -> bool:
    """Tell whether no more nodes are split than were counted, and no more are cut than split."""
    asked = _by_level(rows)
    above = {"splits": "people", "points": "splits", "midpoints": "splits"}
    for (tree, what, level), n in asked.items():
        if what == "people":
            continue
        most = asked.get((tree, above[what], level), n if what == "splits" else 0)
        if n > most:
            return False
    return True


def _by_level(rows: Sequence[Query]) -> dict[tuple[str, str, int], int]:
    """Return how many nodes the questions of a level are about, those of a column at most."""
    asked: dict[tuple[str, str, int], int] = {}
    for row in rows:
        if found := _LEVELS.fullmatch(row.name):
            key = found[1] or "", found[2] or found[3], int(found[4])
            asked[key] = max(asked.get(key, 0), row.asked)
    return asked
