"""The types of the columns of node tables, as scikit-learn writes them."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

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


def of_tree(record: np.dtype[Any]) -> dict[str, bool]:
    """Return the columns of the table of a `Tree`: whether each is known, in its place and type.

    Examples
    --------
    >>> of_tree(np.dtype([("feature", "<i8"), ("impurity", "<u4"), ("names", "<i8")]))
    {'feature': True, 'impurity': False, 'names': False}
    >>> of_tree(np.dtype([("right_child", "<i8"), ("left_child", "<i8")]))
    {'right_child': False, 'left_child': False}
    """
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
