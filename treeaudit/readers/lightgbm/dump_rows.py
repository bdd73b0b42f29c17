"""Trees of the JSON of a LightGBM model whose nodes all have the same names, read in a row.

What is said here of a row is what `lightgbm_dump` says of each of its trees, which looks at
them one by one wherever anything is not as LightGBM writes it for columns of numbers.
"""

from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
from operator import itemgetter
from typing import Any

import numpy as np

from treeaudit.errors import TreeauditError
from treeaudit.readers.boosters.damage import whole
from treeaudit.readers.lightgbm.fields import INNER, LEAF
from treeaudit.readers.lightgbm.tree import Grown, RawTree
from treeaudit.readers.limits import Most
from treeaudit.readers.types import Float, Wide

MISSING = {"None": 0, "Zero": 1, "NaN": 2}
"""What LightGBM calls the ways of missing values, and their numbers."""
_PLAIN = frozenset({int, float, bool})
_MOST = 1 << 62
_APART = frozenset({"decision_type", "missing_type", "left_child", "right_child"})
_LINEAR = frozenset({"leaf_const", "leaf_features", "leaf_coeff"})
_Nodes = list[dict[str, Any]]


def read_row(entries: Sequence[object], first: int) -> list[RawTree] | None:
    """Return the trees of some entries of ``tree_info``; None where each must be looked at."""
    try:
        return _trees(entries, first)
    except (TreeauditError, LookupError, TypeError, ValueError, OverflowError):
        return None


def _trees(entries: Sequence[Any], first: int) -> list[RawTree] | None:
    each = [_nodes(entry["tree_structure"]) for entry in entries]
    for i, (entry, (splits, ends)) in enumerate(zip(entries, each, strict=True), first):
        if not isinstance(entry, dict) or len(splits) != len(ends) - 1:
            return None
        if whole(entry, "num_leaves", 1, Most.nodes) != len(ends):
            return None
        if entry.get("tree_index", i) != i or entry.get("num_cat", 0) != 0:
            return None
    inner = _columns([*chain.from_iterable(splits for splits, _ in each)], INNER)
    leaf = _columns([*chain.from_iterable(ends for _, ends in each)], LEAF - _LINEAR)
    if inner is None or leaf is None or {*inner["decision_type"]} != {"<="}:
        return None
    left, right = (_children(inner[f"{side}_child"]) for side in ("left", "right"))
    n_inner = [len(splits) for splits, _ in each]
    if "leaf_parent" in leaf and not _hang(leaf["leaf_parent"], left, right, n_inner):
        return None
    if not {bool}.issuperset(map(type, inner.get("default_left", ()))):
        return None
    n = len(left)
    counted = "leaf_count" in leaf
    told: dict[str, Any] = {
        "left": left,
        "right": right,
        "feature": _whole(inner["split_feature"]),
        "threshold": _real(inner["threshold"]),
        "categorical": np.zeros(n, dtype=np.bool_),
        "default_left": np.asarray(inner.get("default_left", [False] * n), dtype=np.bool_),
        "missing_type": _missing(inner.get("missing_type", ["None"] * n)),
        "inner_value": _real(inner.get("internal_value", [0.0] * n)),
        "inner_count": _whole(inner["internal_count"]) if counted else None,
    }
    at_ends: dict[str, Any] = {
        "leaf_value": _real(leaf["leaf_value"]),
        "leaf_count": _whole(leaf["leaf_count"]) if counted else None,
    }
    weights = None
    if "leaf_weight" in leaf and "internal_weight" in inner and "split_gain" in inner:
        weights = _real(leaf["leaf_weight"]), _real(inner["internal_weight"])
    trees = []
    bounds = pairwise(np.cumsum([0, *n_inner]).tolist())
    for i, (entry, (begin, end)) in enumerate(zip(entries, bounds, strict=True)):
        above, below = slice(begin, end), slice(begin + i, end + i + 1)
        grown, shrinkage = None, entry.get("shrinkage")
        if weights is not None and isinstance(shrinkage, int | float):
            grown = Grown(
                leaf_weight=weights[0][below],
                inner_weight=weights[1][above],
                shrinkage=float(shrinkage),
            )
        own: dict[str, Any] = {
            **{name: None if one is None else one[above] for name, one in told.items()},
            **{name: None if one is None else one[below] for name, one in at_ends.items()},
        }
        trees.append(RawTree(categories={}, linear=False, grown=grown, **own))
    return trees


def _nodes(root: object) -> tuple[_Nodes, _Nodes]:
    """Return the inner nodes and the leaves of a tree by their numbers, which have no gaps."""
    inner: _Nodes = []
    leaves: _Nodes = []
    waiting: list[Any] = [root]
    while waiting:
        node = waiting.pop()
        if "split_index" in node:
            inner.append(node)
            waiting.append(node["left_child"])
            waiting.append(node["right_child"])
        else:
            leaves.append(node)
    return _in_turn(inner, "split_index"), _in_turn(leaves, "leaf_index")


def _in_turn(nodes: _Nodes, name: str) -> _Nodes:
    numbers = [*map(itemgetter(name), nodes)]
    place = dict(zip(numbers, nodes, strict=True))
    if not {int}.issuperset(map(type, numbers)) or len(place) != len(nodes):
        raise TypeError(name)
    return [place[i] for i in range(len(nodes))]


def _columns(nodes: _Nodes, known: frozenset[str]) -> Mapping[str, list[Any]] | None:
    """Return what nodes hold by name; None where they differ in their names, or hold more."""
    shapes = set(map(tuple, nodes))
    if len(shapes) != 1 or not {dict}.issuperset(map(type, nodes)):
        return None
    (names,) = shapes
    columns = {name: [*map(itemgetter(name), nodes)] for name in names}
    if not columns.keys() <= known:
        return None
    plain = all(
        _PLAIN.issuperset(map(type, column))
        for name, column in columns.items()
        if name not in _APART
    )
    return columns if plain else None


def _children(nodes: _Nodes) -> Wide:
    numbers = [
        one["split_index"] if "split_index" in one else -1 - one["leaf_index"] for one in nodes
    ]
    return np.asarray(numbers, dtype=np.int64)


def _hang(stated: list[Any], left: Wide, right: Wide, n_inner: Sequence[int]) -> bool:
    """Tell whether every leaf says which split is above it."""
    split = np.concatenate([np.arange(n) for n in n_inner])
    begin = np.repeat(np.cumsum([0, *(n + 1 for n in n_inner)])[:-1], n_inner)
    above = np.asarray(stated)
    return all(
        np.array_equal(above[(begin - 1 - side)[side < 0]], split[side < 0])
        for side in (left, right)
    )


def _whole(stated: list[Any]) -> Wide:
    if not {int}.issuperset(map(type, stated)):
        raise TypeError("a number that is not whole")
    if not -_MOST <= min(stated, default=0) <= max(stated, default=0) <= _MOST:
        raise OverflowError
    return np.asarray(stated, dtype=np.int64)


def _real(stated: list[Any]) -> Float:
    return np.asarray(stated, dtype=np.float64)


def _missing(stated: list[Any]) -> Wide:
    return np.asarray([*map(MISSING.__getitem__, stated)], dtype=np.int64)
