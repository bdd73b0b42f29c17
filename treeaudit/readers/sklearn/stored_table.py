"""The two tables of one scikit-learn tree as they are stored: checked."""

from functools import lru_cache

import numpy as np

from treeaudit.errors import ReadError, UnsupportedModelError
from treeaudit.readers.columns import of_tree
from treeaudit.readers.limits import Most, listed
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.types import Float, Table

_NEEDED = ("left_child", "right_child", "feature", "threshold", "n_node_samples")
COLUMNS = (*_NEEDED, "weighted_n_node_samples", "missing_go_to_left")


def stored_table(stored: object) -> tuple[Table, Float, int]:
    """Return the nodes and values of a fitted tree, and how many features it has."""
    if not isinstance(stored, Inert) or stored.kind != "Tree":
        raise ReadError("the fitted tree is missing")
    state = stored.state if isinstance(stored.state, dict) else stored.attributes
    nodes, values = arrived(state.get("nodes")), arrived(state.get("values"))
    count = state.get("node_count")
    n_features = arrived(stored.args[0]) if stored.args else None
    if not isinstance(nodes, np.ndarray) or not isinstance(values, np.ndarray):
        raise ReadError("the tree is damaged: its node table is missing")
    _check_columns(nodes.dtype)
    if not isinstance(n_features, int) or not 0 < n_features <= Most.features:
        raise ReadError("the tree is damaged: it does not tell how many features it has")
    if nodes.ndim != 1 or values.ndim != 3 or not _is_double(values.dtype) or not values.shape[2]:
        raise ReadError("the tree is damaged: its tables have the wrong shape")
    if not isinstance(count, int) or not 0 < count == len(nodes) == len(values):
        if len(nodes) == 0:
            raise UnsupportedModelError("the tree was never fitted: call fit before saving it")
        raise ReadError("the tree is damaged: its tables do not have as many rows as it has nodes")
    if values.shape[1] == 0:
        raise ReadError("the tree is damaged: it has no output")
    values = values.astype(np.float64, copy=False)
    # Class numbers that may be written to are no part of the table.
    values.flags.writeable = False
    return nodes, values, n_features


@lru_cache(64)
def _check_columns(table: np.dtype[np.void]) -> None:
    """Refuse a node table whose columns are missing or hold something else."""
    names = table.names or ()
    if lacking := [name for name in _NEEDED if name not in names]:
        raise ReadError(f"the tree is damaged: its node table lacks {', '.join(lacking)}")
    if unknown := set(names) - {*COLUMNS, "impurity"}:
        raise UnsupportedModelError(f"the tree has columns that are not known: {listed(unknown)}")
    for name, fits in of_tree(table).items():
        if not fits:
            raise ReadError(f"the tree is damaged: its column {name} has the wrong type or place")


def _is_double(dtype: np.dtype[np.generic]) -> bool:
    return dtype.kind == "f" and dtype.itemsize == 8
