"""Who shares their leaves with whom in all trees."""

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Index, Int, Wide

__all__ = ["group_of", "groups_together"]

_Key = npt.NDArray[np.uint64]


def groups_together(
    node: Int, after: Collection[int], persons: Int | None = None
) -> dict[int, tuple[int, Wide]]:
    """Return the groups that share all leaves after some trees, and how small those of people are.

    Parameters
    ----------
    node
        Shape ``(n_records, n_trees)``: where each record ends in each tree.
    after
        Numbers of trees, from 1: the first so many.
    persons
        Shape ``(n_records,)``: whose record each is; unless told each is of another person.

    Returns
    -------
    dict
        By number of trees: how many groups there are, and one entry per person, the people of
        the smallest group that a record of theirs is in, in no order.

    Examples
    --------
    >>> node = np.array([[1, 1], [1, 2], [2, 2], [2, 2]], dtype=np.int32)
    >>> {trees: (n, size.tolist()) for trees, (n, size) in groups_together(node, (1, 2)).items()}
    {1: (2, [2, 2, 2, 2]), 2: (3, [1, 1, 2, 2])}
    """
    each = np.arange(len(node)) if persons is None else persons
    there = np.flatnonzero(np.bincount(each))
    apart = np.zeros(int(each.max(initial=0)) + 1, dtype=np.bool_)
    # Whose record shares its leaves with no other never does again.
    left, done = np.arange(len(node)), 0
    key = np.zeros(len(node), dtype=np.uint64)
    found = {}
    for i, ends in enumerate(node.T, start=1):
        # A hash of 64 bits per person: two groups fall together once in 2 ** 64 pairs.
        key = _mixed(key ^ _mixed(ends[left].astype(np.uint64) + np.uint64(i << 32)))
        if i in after:
            _, group, records = np.unique(key, return_inverse=True, return_counts=True)
            group, n_groups = group.reshape(-1), done + len(records)
            found[i] = (n_groups, _smallest(group, each[left], apart)[there])
            shared = records[group] > 1
            apart[each[left[~shared]]] = True
            left, key = left[shared], key[shared]
            done = n_groups - int(np.count_nonzero(records > 1))
    return found


def group_of(ends: Int) -> tuple[Index, Index]:
    """Return the group of each record, those that share all leaves, and the first of each group.

    Parameters
    ----------
    ends
        Shape ``(n_trees, n_records)``: where each record ends in each tree.

    Examples
    --------
    >>> [one.tolist() for one in group_of(np.array([[1, 1, 2, 2], [1, 2, 2, 2]]))]
    [[0, 1, 2, 2], [0, 1, 2]]
    """
    key = np.zeros(ends.shape[1], dtype=np.uint64)
    for i, each in enumerate(ends, start=1):
        key = _mixed(key ^ _mixed(each.astype(np.uint64) + np.uint64(i << 32)))
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    # In the order of the records, whatever their hashes are.
    order = np.argsort(first)
    place = np.empty(len(first), dtype=np.intp)
    place[order] = np.arange(len(first))
    return place[group.reshape(-1)], first[order]


def _smallest(group: Wide, each: Int | Wide, apart: Flag) -> Wide:
    """Return the people of the smallest group of everybody, one entry per person."""
    n = len(apart)
    pair = np.sort(group * n + each)
    held, who = np.divmod(pair[np.diff(pair, prepend=-1) > 0], n)
    smallest = np.where(apart, 1, n + 1)
    np.minimum.at(smallest, who, np.bincount(held)[held])
    return smallest


def _mixed(key: _Key) -> _Key:
    """Return numbers whose bits all depend on all bits (the finalizer of SplitMix64)."""
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: npt.NDArray[Any] = key ^ (key >> np.uint64(31))
    return mixed
