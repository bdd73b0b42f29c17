"""Columns of tables of records, each on its own."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.readers.types import Table

__all__ = ["Columns", "gathered"]

Columns = Mapping[str, npt.NDArray[Any]]

# Records that fit a fast cache: each is fetched once, whatever its columns.
_BLOCK = 4096


def gathered(records: Table, names: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    """Return those columns of records that there are, each on its own."""
    there = [name for name in names if name in (records.dtype.names or ())]
    columns = {name: np.empty(len(records), records.dtype[name]) for name in there}
    for begin in range(0, len(records), _BLOCK):
        block = records[begin : begin + _BLOCK]
        for name, column in columns.items():
            column[begin : begin + _BLOCK] = block[name]
    return columns
