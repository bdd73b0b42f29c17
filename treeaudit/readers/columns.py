"""Columns of node tables: gathered out of the records, and the types scikit-learn gives them."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.readers.types import Table

Columns = Mapping[str, npt.NDArray[Any]]

# Records that fit a fast cache: each is fetched once, whatever its columns.
_BLOCK = 4096
# Indices are as wide as an address; the byte order is that of the system.
_INDEX, _DOUBLE, _FLAG, _COUNT = ("i8", "i4"), ("f8",), ("u1",), ("u4",)
_TREE = {
    "left_child": _INDEX,
    "right_child": _INDEX,
    "feature": _INDEX,
    "threshold": _DOUBLE,
    "impurity": _DOUBLE,
    "n_node_samples": _INDEX,
    "weighted_n_node_samples": _DOUBLE,
    "missing_go_to_left": _FLAG,
}
_BOOSTING = {
    "value": _DOUBLE,
    "count": _COUNT,
    # Unsigned before 1.0.
    "feature_idx": (*_INDEX, *_COUNT),
    "threshold": _DOUBLE,
    "num_threshold": _DOUBLE,
    "missing_go_to_left": _FLAG,
    "left": _COUNT,
    "right": _COUNT,
    "gain": _DOUBLE,
    "depth": _COUNT,
    "is_leaf": _FLAG,
    "bin_threshold": _FLAG,
    "is_categorical": _FLAG,
    "bitset_idx": _COUNT,
}


def gathered(records: Table, names: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    """Return those columns of records that there are, each on its own."""
    there = [name for name in names if name in (records.dtype.names or ())]
    columns = {name: np.empty(len(records), records.dtype[name]) for name in there}
    for begin in range(0, len(records), _BLOCK):
        block = records[begin : begin + _BLOCK]
        for name, column in columns.items():
            column[begin : begin + _BLOCK] = block[name]
    return columns


def unfilled(n: int, types: Sequence[npt.DTypeLike]) -> list[npt.NDArray[Any]]:
    """Return columns of so many rows that are to be filled."""
    return [np.empty(n, kind) for kind in types]


def of_tree(record: np.dtype[Any]) -> dict[str, bool]:
    """Return the columns of the table of a `Tree`: whether each is known, in its place and type."""
    return _fit(record, "tree")


def of_boosting(record: np.dtype[Any]) -> dict[str, bool]:
    """Return the same of a tree of histogram boosting."""
    return _fit(record, "boosting")


@lru_cache(64)
def _fit(record: np.dtype[Any], kind: str) -> dict[str, bool]:
    types: Mapping[str, tuple[str, ...]] = _TREE if kind == "tree" else _BOOSTING
    names = record.names or ()
    # A loader that converts records takes their columns by place, whatever they are called.
    known = [name for name in types if name in names]
    in_order = known == [name for name in names if name in types]
    return {name: in_order and record[name].str[1:] in types.get(name, ()) for name in names}
