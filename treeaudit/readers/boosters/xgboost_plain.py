"""The trees of an XGBoost file whose arrays all fit them: looked at together.

What is said of single trees is said by `xgboost_trees_beside`, of all of them where these are not
plain: there must be nothing to say of any one.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from treeaudit.readers.boosters.xgboost_rows import StoredRow
from treeaudit.readers.boosters.xgboost_schema import Booster
from treeaudit.readers.boosters.xgboost_tree import KINDS
from treeaudit.readers.links import Links
from treeaudit.readers.types import Array, Wide

__all__ = ["NO_PARENT", "OF_NODES", "OF_SETS", "OF_THE_READER", "WHOLE", "spare_of"]

NO_PARENT = (1 << 31) - 1
# Arrays of a tree with an entry for each node, and those of its categories.
OF_NODES = (
    "default_left left_children loss_changes parents right_children split_conditions "
    "split_indices split_type sum_hessian"
).split()
OF_SETS = "categories categories_nodes categories_segments categories_sizes".split()
WHOLE = frozenset(OF_NODES) - {"loss_changes", "split_conditions", "sum_hessian"}
OF_THE_READER = WHOLE - {"parents"}
_Raw = Mapping[str, Any]


def spare_of(booster: Booster, trees: StoredRow) -> tuple[int, list[Array]] | None:
    """Return how many numbers of leaves only a question could need, of trees that are plain.

    Returns
    -------
    tuple or None
        Their number, and all numbers that are written as text and no whole ones. None where
        a tree has something else than it needs.
    """
    raws: list[Any] = [*booster.trees]
    if not _are_bare(raws):
        return None
    sizes = np.diff(trees.start, append=trees.links.n_nodes).tolist()
    if not all(
        _is_stated(raw, i, n, booster) for i, (raw, n) in enumerate(zip(raws, sizes, strict=True))
    ):
        return None
    texts: list[Array] = []
    held: dict[str, Array] = {}
    for name in (*OF_NODES, "base_weights"):
        parts = [raw.get(name) for raw in raws]
        kinds = {*map(type, parts)}
        if kinds == {type(None)} or (name in OF_THE_READER and kinds == {list}):
            continue
        if kinds == {np.ndarray}:
            if not _fit(parts, sizes):
                return None
            if name in ("loss_changes", "parents"):
                held[name] = np.concatenate(parts)
            continue
        column = _column(parts, sizes) if kinds == {list} else None
        if column is None:
            return None
        held[name] = column
        if name not in WHOLE:
            texts.append(column)
    return int(trees.spare.sum()) + _out_of_place(held, trees.links, trees.start), texts


def _out_of_place(held: Mapping[str, Array], row: Links, start: Wide) -> int:
    """Count the gains of leaves, and the parents that are others."""
    n = 0
    if "loss_changes" in held:
        n += int(np.count_nonzero(held["loss_changes"][row.is_leaf]))
    if "parents" in held:
        told = held["parents"]
        above = row.parent - np.repeat(start, np.diff(start, append=row.n_nodes))
        above[start] = np.where(told[start] == NO_PARENT, NO_PARENT, -1)
        n += int(np.count_nonzero(told != above))
    return n


def _are_bare(raws: Sequence[_Raw]) -> bool:
    """Tell whether no tree has categories, or vectors in its leaves."""
    for name in (*OF_SETS, "leaf_weights"):
        parts = [part for raw in raws if (part := raw.get(name)) is not None]
        if not {list, np.ndarray}.issuperset(map(type, parts)) or any(map(len, parts)):
            return False
    return True


def _is_stated(raw: _Raw, i: int, n: int, booster: Booster) -> bool:
    """Tell whether a tree says its number and its size as they are, or not."""
    stated, number = raw.get("tree_param", {}), raw.get("id", i)
    if not isinstance(stated, dict) or type(number) is not int or number != i:
        return False
    wanted = {
        "num_nodes": str(n),
        "num_feature": str(booster.n_features),
        "size_leaf_vector": "1",
        "num_deleted": "0",
    }
    return stated == wanted or all(
        name in wanted and isinstance(part, str) and part in (wanted[name], "0")
        for name, part in stated.items()
    )


def _fit(parts: Sequence[Array], sizes: Sequence[int]) -> bool:
    """Tell whether arrays hold a number of up to 32 bits, or a whole one, for each node."""
    dtype = parts[0].dtype
    if [part.dtype for part in parts].count(dtype) < len(parts):
        return False
    if [part.shape for part in parts] != [(n,) for n in sizes]:
        return False
    return dtype.kind in "iu" or (dtype.kind == "f" and dtype.itemsize <= 4)


def _column(parts: Sequence[list[Any]], sizes: Sequence[int]) -> Array | None:
    """Return the numbers of all trees, None where they do not fit them or differ in kind."""
    flat = [*chain.from_iterable(parts)]
    types = {*map(type, flat)}
    if [*map(len, parts)] != [*sizes] or types not in ({int}, {float}):
        return None
    try:
        return np.fromiter(flat, KINDS[types.pop()], len(flat))
    except OverflowError:
        return None
