"""A sensitive column inside every leaf of every tree, for TA110."""

from collections.abc import Mapping

import numpy as np

from treeaudit.arrays import Float, Int, Wide
from treeaudit.attacks.case import Case
from treeaudit.attacks.predicted_value import PredictedValue
from treeaudit.attacks.sensitive.column import SensitiveColumn, codes_of
from treeaudit.errors import DataError
from treeaudit.findings.numbers import People
from treeaudit.table.dominance import dominated, estimable
from treeaudit.table.labels import Labels, joined
from treeaudit.table.values import values_in

__all__ = ["groups_of"]


_TOTALS = ("nk_leaves", "nk_people", "p_percent_leaves", "p_percent_people")
_ARE_LEAVES = [name.endswith("leaves") for name in _TOTALS]


def groups_of(
    case: Case, column: SensitiveColumn, *, n: int, k: float, p: float
) -> tuple[PredictedValue, Mapping[str, People | None]]:
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
        ``p_percent_people``, people of the tree that has the most: None for text. What a
        person has in several records of a leaf is added up.

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
        persons = None if train.persons is None else train.persons[inside]
        found, people[leaf] = values_in(
            group,
            column.code[inside],
            len(leaf),
            len(column.names),
            persons=persons,
            most=case.most,
        )
        each[tree] = found.placed(leaf - rows.start, rows.stop - rows.start)
        # Leaves add up, people do not: those of the fullest tree.
        number = None if column.number is None else column.number[inside]
        given = _given(number, group, persons)
        here = _totals(given, people[leaf], case.most, n, k, p)
        totals = np.where(_ARE_LEAVES, totals + here, np.maximum(totals, here))
        case.step("sensitive columns", tree + 1, case.forest.n_trees)
    labels = joined(each, np.diff(table.start).tolist())
    if labels is None:
        raise DataError(f"nobody in {train.origin} ends in a leaf of the model")
    test = None if case.test is None else codes_of(column, case.test.frame)
    stated = PredictedValue(
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


def _given(number: Float | None, group: Wide, persons: Int | None) -> tuple[Float, Wide] | None:
    """Return what is given by each person of each leaf, of all their records, and in which leaf.

    Amounts above and below zero do not cancel out: a person gives no less than any of their
    records.
    """
    if number is None:
        return None
    if persons is None:
        return number, group
    n = int(persons.max(initial=0)) + 1
    who, own = np.unique(group * n + persons, return_inverse=True)
    return np.bincount(own.reshape(-1), np.abs(number)).astype(np.float64), who // n


def _totals(
    given: tuple[Float, Wide] | None, size: Wide, most: int, n: int, k: float, p: float
) -> Wide:
    if given is None:
        return np.zeros(len(_TOTALS), dtype=np.int64)
    nk = dominated(*given, len(size), n=n * most, k=k)
    close = estimable(*given, len(size), p=p, most=most)
    return np.array([nk.sum(), size[nk].sum(), close.sum(), size[close].sum()])


def _people(column: SensitiveColumn, name: str, n: int) -> People | None:
    if column.number is None:
        return None
    return People(n, "leaf", "leaves") if name.endswith("leaves") else People(n)
