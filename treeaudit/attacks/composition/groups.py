"""Who shares their leaves with whom in all trees."""

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Int, Wide

__all__ = ["groups_together"]

_Key = npt.NDArray[np.uint64]


def groups_together(node: Int, after: Collection[int]) -> dict[int, Wide]:
    """Return how many people share all leaves, one entry per group, after some trees.

    Parameters
    ----------
    node
        Shape ``(n_people, n_trees)``: where each person ends in each tree.
    after
        Numbers of trees, from 1: the first so many.

    Examples
    --------
    >>> node = np.array([[1, 1], [1, 2], [2, 2], [2, 2]], dtype=np.int32)
    >>> {trees: size.tolist() for trees, size in groups_together(node, (1, 2)).items()}
    {1: [2, 2], 2: [1, 1, 2]}
    """
    key = np.zeros(len(node), dtype=np.uint64)
    found = {}
    for i, ends in enumerate(node.T, start=1):
        # A hash of 64 bits per person: two groups fall together once in 2 ** 64 pairs.
        key = _mixed(key ^ _mixed(ends.astype(np.uint64) + np.uint64(i << 32)))
        if i in after:
            found[i] = np.sort(np.unique(key, return_counts=True)[1])
    return found


def _mixed(key: _Key) -> _Key:
    """Return numbers whose bits all depend on all bits (the finalizer of SplitMix64)."""
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: npt.NDArray[Any] = key ^ (key >> np.uint64(31))
    return mixed
