"""Cells that cannot be read, beside others that can: a column never fails as a whole.

A library that reads a column at once fails at one cell of it. Where a promise is about single
records, such a cell is missing, and all others are what they are without it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["cells_in", "in_array", "lost_in", "read_apart", "tried"]


def tried(read: Callable[[Any], Any], cell: object) -> Any:  # noqa: ANN401  # what is read
    """Return what is read of a cell; None where that fails, whatever stands in its way.

    Examples
    --------
    >>> tried(str, 7), tried(str, 10**5000)
    ('7', None)
    """
    try:
        return read(cell)
    except Exception:  # noqa: BLE001  # cells may be objects of any class
        return None


def read_apart(n: int, read: Callable[[int, int], Iterable[Any]]) -> list[Any]:
    """Return n cells of which parts are read at once; None for one that cannot be read.

    Parameters
    ----------
    n
        How many there are.
    read
        Reads those from a place up to another.

    Examples
    --------
    >>> cells = [4, 2, 0, 1]
    >>> read_apart(4, lambda first, end: [4 // cell for cell in cells[first:end]])
    [1, 2, None, 4]
    """
    return [cell for part in _parts(0, n, read) for cell in part]


def _parts(
    first: int, end: int, read: Callable[[int, int], Iterable[Any]]
) -> Iterator[Iterable[Any]]:
    """Yield what is read, by halves where that fails."""
    if first == end:
        return
    try:
        yield list(read(first, end))
    except Exception:  # noqa: BLE001  # of whatever library holds the column
        if end - first == 1:
            yield (None,)
            return
        middle = (first + end) // 2
        yield from _parts(first, middle, read)
        yield from _parts(middle, end, read)


def in_array(cells: Sequence[Any]) -> npt.NDArray[Any]:
    """Return an array of one dimension that holds each cell as it is, lists too.

    Examples
    --------
    >>> in_array([[1, 2], [3, 4]]).shape
    (2,)
    """
    held = np.empty(len(cells), dtype=object)
    for i, cell in enumerate(cells):
        held[i] = cell
    return held


def cells_in(column: "pd.Series[Any]") -> list[Any]:
    """Return the cells of a column of any type, each as if it stood alone.

    Examples
    --------
    >>> import pandas as pd
    >>> cells_in(pd.Series([True, None], dtype="boolean"))
    [True, <NA>]
    """
    return read_apart(len(column), lambda first, end: column.iloc[first:end].astype(object))


def lost_in(column: Any) -> Flag:  # noqa: ANN401  # an array or a Series
    """Tell which cells are missing, as pandas does: to it a Decimal that signals is an error.

    Examples
    --------
    >>> from decimal import Decimal
    >>> lost_in(np.array([None, 1.0, float("nan"), Decimal("sNaN")], dtype=object)).tolist()
    [True, False, True, True]
    """
    import pandas as pd

    def read(first: int, end: int) -> npt.NDArray[np.bool_]:
        return np.asarray(pd.isna(column[first:end]), dtype=np.bool_)

    try:
        return read(0, len(column))
    except ArithmeticError:
        found = read_apart(len(column), read)
    return np.array([True if one is None else one for one in found], dtype=np.bool_)
