"""Trees that stand behind one another: checked all at once, and cut out one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import pairwise

import numpy as np

from treeaudit.arrays import Array, Flag, Wide
from treeaudit.model.tree import ARRAYS, Tree

__all__ = ["cut"]

_FIELDS = tuple(one.name for one in fields(Tree))


def cut(arrays: Mapping[str, Array | None], ends: Sequence[int]) -> list[Tree]:
    """Return the trees of which some arrays hold the nodes, tree after tree.

    Parameters
    ----------
    arrays
        By the names of `Tree`; parents are counted from the first node of their own tree.
    ends
        Where each tree begins, and where the last one ends.

    Raises
    ------
    DataError
        If one of them is no tree.

    Examples
    --------
    >>> root, yes = [-1, 0, 0], [-1, 7, 7]
    >>> stumps = cut(
    ...     {
    ...         "parent": np.array(root * 2), "feature": np.array(yes * 2),
    ...         "low": np.full(6, -np.inf), "high": np.full(6, np.inf),
    ...     },
    ...     [0, 3, 6],
    ... )
    >>> [one.feature.tolist() for one in stumps]
    [[-1, 7, 7], [-1, 7, 7]]
    """
    held = {name: one for name, one in arrays.items() if one is not None}
    if not _are_trees(held, np.asarray(ends)):
        # Tree by tree, so that the first one that is none is named as it always is.
        return [
            Tree(**{name: one[begin:end] for name, one in held.items()})  # type: ignore[arg-type]
            for begin, end in pairwise(ends)
        ]
    absent = [name for name in _FIELDS if name not in held]
    columns = list(held.items())
    trees = []
    put = object.__setattr__
    for begin, end in pairwise(ends):
        tree = object.__new__(Tree)
        for name, column in columns:
            put(tree, name, column[begin:end])
        for name in absent:
            put(tree, name, None)
        trees.append(tree)
    return trees


def _are_trees(held: Mapping[str, Array], ends: Wide) -> bool:
    """Tell whether every part would come out of `Tree` as it is: the same checks, at once."""
    if not {"parent", "feature", "low", "high"} <= held.keys() <= ARRAYS.keys():
        return False
    n = len(held["parent"])
    size = np.diff(ends)
    if len(size) == 0 or ends[0] != 0 or ends[-1] != n or np.any(size < 1):
        return False
    for name, array in held.items():
        plain = array.flags.c_contiguous and not array.flags.writeable
        if not plain or array.dtype != ARRAYS[name] or len(array) != n:
            return False
    parent, feature = (held[name].astype(np.int32, copy=False) for name in ("parent", "feature"))
    root: Flag = np.zeros(n, dtype=np.bool_)
    root[ends[:-1]] = True
    place = np.arange(n) - np.repeat(ends[:-1], size)
    below = (parent >= 0) & (parent < place) & (feature >= 0)
    hangs = np.where(root, (parent == -1) & (feature == -1), below)
    return bool(hangs.all()) and not (np.isnan(held["low"]).any() or np.isnan(held["high"]).any())
