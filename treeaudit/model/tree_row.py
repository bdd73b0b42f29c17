"""Small trees whose arrays stand behind one another: checked together, cut out one by one."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.errors import DataError
from treeaudit.model.tree import ARRAYS, SpreadIs, Tree

# A tree is frozen: what it holds is put where it stands.
_PUT: dict[str, Callable[[Tree, object], None]] = {
    name: getattr(Tree, name).__set__ for name in (*ARRAYS, "categories")
}
_SPREAD_IS: Callable[[Tree, object], None] = getattr(Tree, "spread_is").__set__  # noqa: B009


class TreeRow:
    """The arrays of some trees, which describe one tree each as `Tree` wants it.

    Examples
    --------
    >>> row = TreeRow(
    ...     {"parent": np.array([-1, -1, 0, 0]), "feature": np.array([-1, -1, 2, 2]),
    ...      "low": np.zeros(4), "high": np.ones(4)},
    ...     [0, 1, 4],
    ... )
    >>> row.tree(0).n_nodes, row.tree(1).parent.tolist()
    (1, [-1, 0, 0])
    """

    __slots__ = ("_arrays", "_ends", "_spread_is")

    def __init__(
        self,
        arrays: Mapping[str, npt.NDArray[Any] | None],
        ends: Sequence[int],
        spread_is: SpreadIs = "deviation",
    ) -> None:
        frozen = {name: _frozen(array, ARRAYS[name]) for name, array in arrays.items()
                  if array is not None}  # fmt: skip
        _check(frozen, np.array(ends))
        self._ends, self._spread_is = ends, spread_is
        self._arrays = [(put, frozen.get(name)) for name, put in _PUT.items()]

    def __len__(self) -> int:
        """How many trees there are."""
        return len(self._ends) - 1

    def tree(self, i: int) -> Tree:
        """Return one of them."""
        part = slice(self._ends[i], self._ends[i + 1])
        tree = object.__new__(Tree)
        for put, array in self._arrays:
            put(tree, None if array is None else array[part])
        _SPREAD_IS(tree, self._spread_is)
        return tree


def cut(arrays: Mapping[str, npt.NDArray[Any] | None], ends: Sequence[int]) -> list[Tree]:
    """Return the trees of which some arrays hold the nodes, tree after tree.

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
    if {"parent", "feature", "low", "high"} <= held.keys() <= ARRAYS.keys():
        try:
            row = TreeRow(held, ends)
        except DataError:
            pass
        else:
            return [row.tree(i) for i in range(len(row))]
    return [
        Tree(**{name: one[begin:end] for name, one in held.items()})  # type: ignore[arg-type]
        for begin, end in pairwise(ends)
    ]


def _frozen(array: npt.NDArray[Any], dtype: type[np.generic]) -> npt.NDArray[Any]:
    frozen = np.ascontiguousarray(array, dtype=dtype).view()
    frozen.flags.writeable = False
    return frozen


def _check(arrays: Mapping[str, npt.NDArray[Any]], ends: npt.NDArray[np.int64]) -> None:
    parent, feature = arrays["parent"], arrays["feature"]
    start, size = ends[:-1], np.diff(ends)
    if len(start) == 0 or ends[0] != 0 or size.min() < 1:
        raise DataError("a tree needs at least a root")
    if any(len(array) != ends[-1] for array in arrays.values()):
        raise DataError("trees in a row: an array is not as long as they are together")
    if np.any(parent[start] != -1) or np.any(feature[start] != -1):
        raise DataError("tree: node 0 must be the root")
    root = np.zeros(len(parent), dtype=np.bool_)
    root[start] = True
    own = np.arange(len(parent)) - np.repeat(start, size)
    if np.any(((parent < 0) | (parent >= own)) & ~root):
        raise DataError("tree: every node but the root needs one parent that comes before it")
    if np.any((feature < 0) & ~root):
        raise DataError("tree: an edge names no feature")
    if np.isnan(arrays["low"]).any() or np.isnan(arrays["high"]).any():
        raise DataError("tree: a threshold is not a number")
