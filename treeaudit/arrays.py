"""Names of the array types, and what numpy does slowly with many short rows."""

from typing import Any

import numpy as np
import numpy.typing as npt

_SHORT = 7
"""From eight columns on numpy is fast, and adds in another order."""

Array = npt.NDArray[np.generic]
Flag = npt.NDArray[np.bool_]
Float = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]
Int = npt.NDArray[np.int32]
Table = npt.NDArray[np.void]
Wide = npt.NDArray[np.int64]


def sum_of_row(table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the sum of each row, as ``table.sum(axis=-1)`` does, column by column where few.

    Examples
    --------
    >>> sum_of_row(np.array([[1, 2], [3, 4]])).tolist()
    [3, 7]
    """
    width = table.shape[-1]
    if not 0 < width <= _SHORT:
        return np.asarray(table.sum(axis=-1))
    total: npt.NDArray[Any] = table[..., 0].copy()
    for i in range(1, width):
        total += table[..., i]
    return total


def any_of_row(table: Flag) -> Flag:
    """Return whether anything is true in each row, column by column where these are few.

    Parameters
    ----------
    table
        Shape ``(n_rows, n_columns)``.

    Examples
    --------
    >>> any_of_row(np.array([[True, False], [False, False]])).tolist()
    [True, False]
    """
    if not 0 < table.shape[1] <= _SHORT:
        return np.asarray(table.any(axis=1))
    first, *rest = table.T
    found: Flag = first.copy()
    for column in rest:
        found |= column
    return found


def groups_of(key: Wide) -> tuple[Wide, Index, Index]:
    """Return what ``np.unique`` does, with inverse and counts.

    Returns
    -------
    tuple of numpy.ndarray
        The numbers that there are, ascending; which of them each entry is; how many are.

    Examples
    --------
    >>> [one.tolist() for one in groups_of(np.array([7, 2, 7]))]
    [[2, 7], [1, 0, 1], [1, 2]]
    """
    values, group, counts = np.unique(key, return_inverse=True, return_counts=True)
    return values, group, counts


def occupied_nodes(node: npt.NDArray[np.integer[Any]], n_nodes: int) -> tuple[Wide, Index]:
    """Return the nodes in which somebody ends, and everybody's place among them.

    Examples
    --------
    >>> [one.tolist() for one in occupied_nodes(np.array([4, 1, 4]), 6)]
    [[1, 4], [1, 0, 1]]
    """
    held = np.flatnonzero(np.bincount(node, minlength=n_nodes))
    place = np.empty(n_nodes, dtype=np.intp)
    place[held] = np.arange(len(held))
    return held, place.take(node)


def first_equal(*columns: Array) -> Wide:
    """Return for each row of a table the first row that is the same.

    Examples
    --------
    >>> first_equal(np.array([1, 2, 1, 1]), np.array([0.5, 0.5, 0.5, 0.0])).tolist()
    [0, 1, 0, 3]
    """
    table = np.column_stack(columns)
    _, first, which = np.unique(table, axis=0, return_index=True, return_inverse=True)
    found: Wide = first[which.ravel()]
    return found
