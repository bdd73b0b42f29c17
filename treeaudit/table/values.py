"""A column of the training data inside the leaves of a tree, in records or in persons."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Wide
from treeaudit.table.diversity import crosstab
from treeaudit.table.labels import Labels, measured
from treeaudit.table.persons import bounded_by, worse

__all__ = ["values_in"]

Codes = npt.NDArray[np.integer[Any]]


def values_in(
    group: Wide,
    code: Wide,
    n_groups: int,
    n_values: int,
    *,
    persons: Codes | None = None,
    most: int = 1,
) -> tuple[Labels, Wide]:
    """Return what the leaves of a tree say of a column, and how many people are in each.

    In persons it is never milder than in records: see `treeaudit.table.persons`.

    Parameters
    ----------
    group, code
        Shape ``(n_records,)``: the leaf and the value of each record, from 0; no leaf is empty.
    persons
        Shape ``(n_records,)``: whose each record is, a number from 0; None where that is not
        told.
    most
        The most records of one person, where it is not.

    Examples
    --------
    Of four people one has three other values in as many records:

    >>> group, code = np.zeros(6, dtype=np.int64), np.array([0, 0, 0, 1, 2, 3])
    >>> labels, size = values_in(group, code, 1, 4, persons=np.array([0, 1, 2, 3, 3, 3]))
    >>> size.tolist(), labels.majority.tolist(), labels.others.tolist()
    ([4], [3.0], [1.0])
    """
    counts = crosstab(group, code, n_groups, n_values)
    labels = measured(counts, np.arange(n_groups), n_groups)
    size = np.bincount(group, minlength=n_groups).astype(np.int64)
    if persons is not None:
        return _in_persons(labels, group, code, n_values, persons)
    if most == 1:
        return labels, size
    fewest = -(-size // most)
    return bounded_by(labels, size, fewest, np.full(n_groups, most, dtype=np.int64)), fewest


def _in_persons(
    labels: Labels, group: Wide, code: Wide, n_values: int, persons: Codes
) -> tuple[Labels, Wide]:
    """Count persons per leaf and value, of the values that occur: a column may have very many."""
    n_groups = len(labels.share)
    n_persons = int(persons.max(initial=0)) + 1
    who, own, records = np.unique(
        group.astype(np.int64) * n_persons + persons, return_inverse=True, return_counts=True
    )
    leaf = who // n_persons
    size = np.bincount(leaf, minlength=n_groups).astype(np.int64)
    key, times = np.unique(own.reshape(-1) * n_values + code, return_counts=True)
    pair, value = np.divmod(key, n_values)
    single = np.bincount(pair, minlength=len(who))[pair] == 1
    have = crosstab(leaf[pair], value, n_groups, n_values)
    cell = np.unique(leaf[pair] * n_values + value, return_inverse=True)[1].reshape(-1)
    only = np.bincount(cell, single)
    majority = np.maximum.reduceat(only, have.start[:-1])
    first = np.flatnonzero(only == np.repeat(majority, have.distinct))
    spread = crosstab(leaf[pair], value, n_groups, n_values, times / records[pair])
    tree = worse(labels.trees[0], spread.worst())
    return replace(
        labels,
        majority=majority,
        fewest=have.least,
        others=np.asarray(size - majority, dtype=np.float64),
        share=np.maximum(labels.share, spread.dominance),
        top=have.value[first[np.searchsorted(first, have.start[:-1])]].astype(np.int32),
        trees=(tree,),
    ), size
