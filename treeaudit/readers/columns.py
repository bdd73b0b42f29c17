"""Columns of tables of records, each on its own."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.readers.types import Table

Columns = Mapping[str, npt.NDArray[Any]]

# Records that fit a fast cache: each is fetched once, whatever its columns.
_BLOCK = 4096
# A large page of memory, and the bytes that a processor fetches at once.
_PAGE, _LINE = 1 << 21, 64
# Of what is smaller too much would be left over in the last page.
_LARGE = 3 << 20
_MOST_KEPT = 31 << 20


def gathered(records: Table, names: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    """Return those columns of records that there are, each on its own."""
    there = [name for name in names if name in (records.dtype.names or ())]
    columns = dict(
        zip(there, unfilled(len(records), [records.dtype[name] for name in there]), strict=True)
    )
    for begin in range(0, len(records), _BLOCK):
        block = records[begin : begin + _BLOCK]
        for name, column in columns.items():
            column[begin : begin + _BLOCK] = block[name]
    return columns


def unfilled(n: int, types: Sequence[npt.DTypeLike]) -> list[npt.NDArray[Any]]:
    """Return columns of so many rows that are to be filled; large ones in one piece of memory.

    A system hands out memory in pages of 4 kB, and the first touch of one costs more than to
    fill it. numpy asks for large pages from 4 MB on; the piece begins where one of them does.

    Examples
    --------
    >>> whole, pairs = unfilled(3, (np.int64, (np.float32, 2)))
    >>> whole.shape, pairs.shape, pairs.dtype
    ((3,), (3, 2), dtype('float32'))
    """
    kinds = [np.dtype(one) for one in types]
    sizes = [-(-n * kind.itemsize // _LINE) * _LINE for kind in kinds]
    if sum(sizes) < _LARGE:
        return [np.empty(n, kind) for kind in kinds]
    n_bytes = -(-sum(sizes) // _PAGE) * _PAGE + _PAGE
    _set_apart(n_bytes)
    memory = np.empty(n_bytes, dtype=np.uint8)
    at, columns = -memory.__array_interface__["data"][0] % _PAGE, []
    for kind, size in zip(kinds, sizes, strict=True):
        column = memory[at : at + n * kind.itemsize].view(kind.base)
        columns.append(column.reshape(n, *kind.shape))
        at += size
    return columns


def _set_apart(n_bytes: int) -> None:
    """Have memory kept at hand for columns of so many bytes, and for what is worked out of them.

    An allocator keeps what it is given back if it was given back as much before. So the first
    piece goes back to the system, and the second stays, with the large pages asked for it.
    """
    for _ in range(2):
        np.empty(min(3 * n_bytes, _MOST_KEPT), dtype=np.uint8)
