"""A sensitive column inside every leaf of every tree, for TA110."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Int
from treeaudit.attacks.case import Case
from treeaudit.attacks.sensitive.column import SensitiveColumn, codes_of
from treeaudit.attacks.stated import Stated
from treeaudit.errors import DataError
from treeaudit.findings.numbers import People
from treeaudit.table.diversity import crosstab
from treeaudit.table.dominance import dominated, estimable
from treeaudit.table.labels import Labels, joined, measured

__all__ = ["groups_of"]

Wide = npt.NDArray[np.int64]
Flag = npt.NDArray[np.bool_]

_TOTALS = ("nk_leaves", "nk_people", "p_percent_leaves", "p_percent_people")
_ARE_LEAVES = [name.endswith("leaves") for name in _TOTALS]


def groups_of(
    case: Case, column: SensitiveColumn, *, n: int, k: float, p: float
) -> tuple[Stated, Mapping[str, People | None]]:
    """Count one column inside the leaves of every tree.

    Parameters
    ----------
    case
        With training data.
    column
        The column.
    n, k, p
        Of the dominance rules, as in `treeaudit.table.dominance`.

    Returns
    -------
    tuple
        What the leaves say of it, held against unseen people where they have
        it; and ``nk_leaves``, ``nk_people``, ``p_percent_leaves`` and
        ``p_percent_people``, people of the tree that has the most: None for text.

    Raises
    ------
    DataError
        If nobody in the training data ends in a leaf that holds people.
    """
    table, train = case.table, case.people("train")
    people = np.zeros(len(table), dtype=np.int64)
    totals = np.zeros(len(_TOTALS), dtype=np.int64)
    each: list[Labels | None] = []
    for tree in range(case.forest.n_trees):
        each.append(None)
        rows = table.rows_of(tree)
        position = table.positions(tree, train.node[:, tree])
        inside = position >= 0
        if not inside.any():
            continue
        leaf, group = np.unique(position[inside], return_inverse=True)
        group = group.reshape(-1)
        once = _once(train.persons, group, column.code[inside], inside)
        counts = crosstab(group[once], column.code[inside][once], len(leaf), len(column.names))
        each[tree] = measured(counts, leaf - rows.start, rows.stop - rows.start)
        people[leaf] = counts.size
        # Leaves add up, people do not: those of the fullest tree.
        here = _totals(column, inside, group, people[leaf], n, k, p)
        totals = np.where(_ARE_LEAVES, totals + here, np.maximum(totals, here))
        case.step("sensitive columns", tree + 1, case.forest.n_trees)
    labels = joined(each, np.diff(table.start).tolist())
    if labels is None:
        raise DataError(f"nobody in {train.origin} ends in a leaf of the model")
    test = None if case.test is None else codes_of(column, case.test.frame)
    stated = Stated(
        name=column.name[:60],
        value="value",
        leaves=f"leaves of one {column.name[:60]} and",
        labels=labels,
        size=people,
        ordered=column.ordered,
        # That it is true of those who were counted says nothing by itself.
        train=None if test is None else column.code,
        test=test,
        values=column.names,
    )
    return stated, {
        name: _people(column, name, n) for name, n in zip(_TOTALS, totals.tolist(), strict=True)
    }


def _once(persons: Int | None, group: Wide, code: Wide, inside: Flag) -> Wide | slice:
    """Return one record of each person, leaf and value; all where persons are not known."""
    if persons is None:
        return slice(None)
    which = np.column_stack([persons[inside], group, code])
    return np.unique(which, axis=0, return_index=True)[1]


def _totals(
    column: SensitiveColumn, inside: Flag, group: Wide, size: Wide, n: int, k: float, p: float
) -> Wide:
    if column.number is None:
        return np.zeros(len(_TOTALS), dtype=np.int64)
    number = column.number[inside]
    nk = dominated(number, group, len(size), n=n, k=k)
    close = estimable(number, group, len(size), p=p)
    return np.array([nk.sum(), size[nk].sum(), close.sum(), size[close].sum()])


def _people(column: SensitiveColumn, name: str, n: int) -> People | None:
    if column.number is None:
        return None
    return People(n, "leaf", "leaves") if name.endswith("leaves") else People(n)
