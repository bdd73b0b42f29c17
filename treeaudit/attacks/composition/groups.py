"""Who shares their leaves with whom in all trees."""

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Int, Wide

__all__ = ["groups_together"]

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
    key = np.zeros(len(node), dtype=np.uint64)
    found = {}
    for i, ends in enumerate(node.T, start=1):
        # A hash of 64 bits per person: two groups fall together once in 2 ** 64 pairs.
        key = _mixed(key ^ _mixed(ends.astype(np.uint64) + np.uint64(i << 32)))
        if i in after:
            group = np.unique(key, return_inverse=True)[1].reshape(-1)
            found[i] = (int(group.max()) + 1, _smallest(group, persons))
    return found


def _smallest(group: Wide, persons: Int | None) -> Wide:
    if persons is None:
        size: Wide = np.bincount(group)[group]
        return size
    n = int(persons.max()) + 1
    held, who = np.divmod(np.unique(group * n + persons), n)
    smallest = np.full(n, len(group) + 1)
    np.minimum.at(smallest, who, np.bincount(held)[held])
    each: Wide = smallest[np.unique(who)]
    return each


def _mixed(key: _Key) -> _Key:
    """Return numbers whose bits all depend on all bits (the finalizer of SplitMix64)."""
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: npt.NDArray[Any] = key ^ (key >> np.uint64(31))
    return mixed
