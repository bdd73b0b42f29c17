"""What stands between the columns of tables that a pickle holds: memory of who wrote it."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from treeaudit.readers.types import Array, Flag


def between_columns(tables: Sequence[tuple[int, Array]]) -> Iterator[tuple[int, int]]:
    """Yield where bytes belong to no column and are not zero, which nearly always are none."""
    for at, table in tables:
        if n := gaps(table):
            yield at - n, n


def gaps(table: Array) -> int:
    """Count the bytes that belong to no column and are not zero.

    Examples
    --------
    >>> gaps(np.frombuffer(bytes(8) + b"ab", {"names": ["x"], "formats": ["i8"], "itemsize": 10}))
    2
    """
    free = _free(table.dtype)
    if not table.size or not free.any():
        return 0
    # In the order of the file: of a copy numpy leaves these bytes out.
    axes = sorted(range(table.ndim), key=lambda i: -table.strides[i])
    flat = table.transpose(axes).reshape(-1)
    return int(np.count_nonzero(flat.view(np.uint8).reshape(len(flat), -1)[:, free]))


@lru_cache(64)
def _free(record: np.dtype[Any]) -> Flag:
    """Return which bytes of a record no column takes."""
    free = np.ones(record.itemsize, dtype=np.bool_)
    for column, at, *_ in (record.fields or {}).values():
        free[at : at + column.itemsize] = False
    return free
