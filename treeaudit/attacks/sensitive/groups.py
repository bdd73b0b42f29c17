"""A sensitive column inside every leaf of every tree, for TA110."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.attacks.case import Case
from treeaudit.attacks.sensitive.column import SensitiveColumn
from treeaudit.table.crosstab import Crosstab, crosstab
from treeaudit.table.dominance import dominated, estimable

__all__ = ["SensitiveGroups", "groups_of"]

Wide = npt.NDArray[np.int64]
Flag = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SensitiveGroups:
    """What the leaves say of one column; arrays have an entry per leaf of the case.

    Attributes
    ----------
    only
        The value of everybody in the leaf, -1 where they differ.
    people
        Training people who fit the leaf.
    measures
        The worst of any leaf, by name.
    """

    only: Wide
    people: Wide
    measures: dict[str, Any]


def groups_of(
    case: Case, column: SensitiveColumn, *, n: int, k: float, p: float
) -> SensitiveGroups:
    """Measure one column inside the leaves of every tree.

    Parameters
    ----------
    case
        With training data.
    column
        The column.
    n, k, p
        Of the dominance rules, as in `treeaudit.table.dominance`.
    """
    size, train = case.table.size, case.people("train")
    only, people = np.full(len(size), -1), np.zeros(len(size), dtype=np.int64)
    trees = []
    for tree in range(case.forest.n_trees):
        position = case.table.positions(tree, train.node[:, tree])
        inside = position >= 0
        if not inside.any():
            continue
        leaf, group = np.unique(position[inside], return_inverse=True)
        table = crosstab(group.reshape(-1), column.code[inside], len(leaf), len(column.names))
        only[leaf], people[leaf] = table.only, table.size
        trees.append(
            _measures(table, column)
            | _dominance(column, inside, group.reshape(-1), table.size, n, k, p)
        )
        case.step("sensitive columns", tree + 1, case.forest.n_trees)
    return SensitiveGroups(only=only, people=people, measures=_worst(trees))


def _measures(table: Crosstab, column: SensitiveColumn) -> dict[str, Any]:
    size, pure = table.size, table.distinct == 1
    return {
        "homogeneous_leaves": int(pure.sum()),
        "homogeneous_people": int(size[pure].sum()),
        "certain_share": float(size[pure].sum() / size.sum()),
        "distinct_l": int(table.distinct.min()),
        "entropy_l": float(table.entropy_l.min()),
        "recursive_c_for_l_2": float(table.recursive_c.max()),
        "delta_disclosure": float(table.delta_disclosure.max()),
        "beta_likeness": round(float(table.beta_likeness.max()), 12),
        "t_closeness": round(float(table.closeness.max()), 12),
        "ordered_t_closeness": (
            round(float(table.ordered_closeness.max()), 12) if column.ordered else None
        ),
        "largest_share": float((table.largest / size).max()),
    }


def _dominance(
    column: SensitiveColumn, inside: Flag, group: Wide, size: Wide, n: int, k: float, p: float
) -> dict[str, Any]:
    names = ("nk_leaves", "nk_people", "p_percent_leaves", "p_percent_people")
    if column.number is None:
        return dict.fromkeys(names)
    number = column.number[inside]
    nk = dominated(number, group, len(size), n=n, k=k)
    close = estimable(number, group, len(size), p=p)
    counts = (nk.sum(), size[nk].sum(), close.sum(), size[close].sum())
    return {name: int(count) for name, count in zip(names, counts, strict=True)}


_SUMS = {
    "homogeneous_leaves",
    "homogeneous_people",
    "nk_leaves",
    "nk_people",
    "p_percent_leaves",
    "p_percent_people",
}
_LEAST = {"distinct_l", "entropy_l"}


def _worst(trees: list[dict[str, Any]]) -> dict[str, Any]:
    """Put the trees together: counts add up, of a measure the worst is kept; None is unbounded."""
    found: dict[str, Any] = {}
    for name in trees[0]:
        values = [tree[name] for tree in trees]
        if any(value is None for value in values):
            found[name] = None
            continue
        value = sum(values) if name in _SUMS else min(values) if name in _LEAST else max(values)
        found[name] = value if math.isfinite(value) else None
    return found
