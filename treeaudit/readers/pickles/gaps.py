"""What stands between the columns of tables that a pickle holds."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from treeaudit.readers.pickles.inert import Oddity
from treeaudit.readers.together import in_rows
from treeaudit.readers.types import Array, Flag, Wide

__all__ = ["between_columns", "gaps", "with_gaps"]

_WHAT = "bytes between the columns of a table, as numpy leaves them in a copy"


def between_columns(tables: Sequence[tuple[int, Array]]) -> Iterator[Oddity]:
    """Yield the bytes that belong to no column and are not zero, which nearly always are none.

    Parameters
    ----------
    tables
        As of `Unpickled`; small ones are looked at together.
    """
    for some in in_rows([table.size for _, table in tables]):
        places, part = zip(*tables[some], strict=True)
        alike = all(table.ndim == 1 and table.dtype == part[0].dtype for table in part)
        for i, n in with_gaps(part) if alike and len(part) > 1 else enumerate(map(gaps, part)):
            if n:
                yield places[i] - n, n, _WHAT


def gaps(table: Array) -> int:
    """Count the bytes that belong to no column and are not zero.

    Examples
    --------
    >>> gaps(np.frombuffer(bytes(8) + b"ab", {"names": ["x"], "formats": ["i8"], "itemsize": 10}))
    2
    """
    # In the order of the file: of a copy numpy leaves these bytes out.
    axes = sorted(range(table.ndim), key=lambda i: -table.strides[i])
    return int(_odd(table.transpose(axes).reshape(-1))[1].sum())


def with_gaps(tables: Sequence[Array]) -> list[tuple[int, int]]:
    """Return which of some tables of one type, of one axis each, have any, and how many."""
    end, together = np.cumsum([len(table) for table in tables]), b"".join(tables)  # type: ignore[arg-type]
    rows, n = _odd(np.frombuffer(together, tables[0].dtype)) if together else (end[:0], end[:0])
    total = np.bincount(np.searchsorted(end, rows, side="right"), n).astype(np.int64)
    return [(i, int(total[i])) for i in np.flatnonzero(total).tolist()]


def _odd(flat: Array) -> tuple[Wide, Wide]:
    """Return the records of a table that may have such bytes, and how many each has."""
    free = _free(flat.dtype) if len(flat) else np.zeros(0, dtype=np.bool_)
    rows = np.arange(len(flat) if free.any() else 0)
    if len(rows) > flat.itemsize // 8 and flat.itemsize % 8 == 0:
        # Eight bytes of all records at a time, as nearly all tables have none.
        odd = np.zeros(len(flat), dtype=np.bool_)
        for i, mask in _words(flat.dtype):
            every = flat.view(np.uint64)[i :: len(free) // 8]
            if np.bitwise_or.reduce(every) & mask:
                odd |= (every & mask) != 0
        rows = np.flatnonzero(odd)
    if not len(rows):
        return rows, rows
    each = flat.view(np.uint8).reshape(-1, len(free))[rows]
    return rows, np.count_nonzero(each[:, free], axis=1)


@lru_cache(64)
def _free(record: np.dtype[Any]) -> Flag:
    """Return which bytes of a record no column takes."""
    free = np.ones(record.itemsize, dtype=np.bool_)
    for column, at, *_ in (record.fields or {}).values():
        free[at : at + column.itemsize] = False
    return free


@lru_cache(64)
def _words(record: np.dtype[Any]) -> tuple[tuple[int, np.uint64], ...]:
    """Return the words of eight bytes that hold such bytes, with a mask of these."""
    padded = np.zeros(-(-record.itemsize // 8) * 8, dtype=np.uint8)
    padded[: record.itemsize] = _free(record) * np.uint8(255)
    masks = padded.view(np.uint64)
    return tuple((int(i), masks[i]) for i in np.flatnonzero(masks))
