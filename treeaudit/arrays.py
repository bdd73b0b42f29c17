"""Names of the array types, and what numpy does slowly with many short rows."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "Flag", "Float", "Index", "Int", "Wide", "any_of_row", "sum_of_row"]

_SHORT = 7
"""From eight columns on numpy is fast, and adds in another order."""

Array = npt.NDArray[np.generic]
Flag = npt.NDArray[np.bool_]
Float = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]
Int = npt.NDArray[np.int32]
Wide = npt.NDArray[np.int64]


def sum_of_row(table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the sum of each row, as ``table.sum(axis=-1)`` does, column by column where few.

    Parameters
    ----------
    table
        Shape ``(…, n_columns)``, of numbers.

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
