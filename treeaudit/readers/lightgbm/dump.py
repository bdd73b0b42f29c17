"""The JSON form of a LightGBM model, as `Booster.dump_model` gives it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from treeaudit.arrays import Float, Wide
from treeaudit.errors import ReadError
from treeaudit.readers.boosters import check_number, each_tree, whole
from treeaudit.readers.lightgbm.fields import unknown_in_json
from treeaudit.readers.lightgbm.text import Booster
from treeaudit.readers.lightgbm.trees import Grown, RawTree
from treeaudit.readers.limits import Most, clean, show
from treeaudit.readers.residual.extra_content import few

_MISSING = {"None": 0, "Zero": 1, "NaN": 2}
_Object = Mapping[str, Any]


def booster_of(document: object) -> Booster:
    """Return the model in a decoded JSON object."""
    if not isinstance(document, dict) or not isinstance(document.get("tree_info"), list):
        raise ReadError("its tree_info is missing")
    names = document.get("feature_names")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ReadError("its feature_names are missing")
    check_number(len(document["tree_info"]), "LightGBM")
    trees = each_tree(document["tree_info"], _tree)
    version, objective = document.get("version"), document.get("objective", "")
    pandas = document.get("pandas_categorical")
    lists = isinstance(pandas, list) and all(isinstance(column, list) for column in pandas)
    return Booster(
        version=clean(version)[:40] if isinstance(version, str) else None,
        objective=clean(objective)[:200] if isinstance(objective, str) else "",
        n_outputs=whole(document, "num_tree_per_iteration", 1, Most.trees),
        names=[clean(name) for name in names],
        infos=_infos(document.get("feature_infos"), names),
        trees=trees,
        parameters=None,
        pandas=pandas if isinstance(pandas, list) and lists else [],
        averaged=document.get("average_output") is True,
        unknown=few(unknown_in_json(document, len(names))),
    )


def _number(entry: _Object, name: str, absent: float | None = None) -> float:
    stated = entry.get(name, absent)
    if not isinstance(stated, int | float):
        raise ReadError(f"its {name} is {show(stated)}")
    return float(stated)


def _numbers(stated: list[object], name: str) -> Float:
    if not {int, float, bool}.issuperset(map(type, stated)):
        odd = next(one for one in stated if not isinstance(one, int | float))
        raise ReadError(f"its {name} is {show(odd)}")
    return np.asarray(stated, dtype=np.float64)


def _infos(stated: object, names: list[str]) -> list[tuple[float, float] | Wide | None]:
    """Read what the file says of the values of each column."""
    found: list[tuple[float, float] | Wide | None] = []
    for name in names:
        info = stated.get(name) if isinstance(stated, dict) else None
        if not isinstance(info, dict):
            found.append(None)
        elif isinstance(values := info.get("values"), list) and values:
            if not all(isinstance(v, int) and abs(v) <= Most.category for v in values):
                raise ReadError("its feature_infos hold a category that is no whole number")
            found.append(np.asarray(values, dtype=np.int64))
        else:
            found.append((_number(info, "min_value"), _number(info, "max_value")))
    return found


def _tree(entry: object) -> RawTree:
    if not isinstance(entry, dict) or not isinstance(entry.get("tree_structure"), dict):
        raise ReadError("its tree_structure is missing")
    inner, leaves = _nodes(entry["tree_structure"])
    n_leaves = whole(entry, "num_leaves", 1, Most.nodes)
    if len(leaves) != n_leaves or len(inner) != n_leaves - 1:
        raise ReadError(f"it announces {n_leaves:,} leaves and has {len(leaves):,}")
    splits = [inner[i] for i in range(len(inner))]
    ends = [leaves[i] for i in range(len(leaves))]
    categorical = np.asarray([_is_categorical(node) for node in splits], dtype=np.bool_)
    categories = {i: _codes(node) for i, node in enumerate(splits) if categorical[i]}
    linear = any("leaf_coeff" in node or "leaf_const" in node for node in ends)
    counted = all("leaf_count" in node for node in ends)
    return RawTree(
        left=np.asarray([_place(node, "left_child") for node in splits], dtype=np.int64),
        right=np.asarray([_place(node, "right_child") for node in splits], dtype=np.int64),
        feature=_column(splits, "split_feature"),
        threshold=_numbers(
            [0.0 if i in categories else node.get("threshold") for i, node in enumerate(splits)],
            "threshold",
        ),
        categorical=categorical,
        default_left=np.asarray([node.get("default_left") is True for node in splits], np.bool_),
        missing_type=np.asarray([_missing(node) for node in splits], dtype=np.int64),
        categories=categories,
        leaf_value=_numbers([node.get("leaf_value") for node in ends], "leaf_value"),
        inner_value=_numbers(
            [node.get("internal_value", 0.0) for node in splits], "internal_value"
        ),
        leaf_count=_column(ends, "leaf_count") if counted else None,
        inner_count=_column(splits, "internal_count") if counted else None,
        linear=linear,
        grown=_grown(entry, splits, ends),
    )


def _grown(entry: _Object, splits: list[_Object], ends: list[_Object]) -> Grown | None:
    columns = [
        [node.get(name) for node in nodes]
        for nodes, name in (
            (ends, "leaf_weight"),
            (splits, "internal_weight"),
        )
    ]
    shrinkage = entry.get("shrinkage")
    if not isinstance(shrinkage, int | float) or any(None in column for column in columns):
        return None
    leaf, inner = (np.asarray(column, dtype=np.float64) for column in columns)
    return Grown(leaf_weight=leaf, inner_weight=inner, shrinkage=float(shrinkage))


def _nodes(root: _Object) -> tuple[dict[int, _Object], dict[int, _Object]]:
    """Return the inner nodes and the leaves by their numbers."""
    inner: dict[int, _Object] = {}
    leaves: dict[int, _Object] = {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, dict):
            raise ReadError("a child is no object")
        if "split_index" in node:
            found, number = inner, whole(node, "split_index", 0, Most.nodes)
            waiting += [node.get("left_child", {}), node.get("right_child", {})]
        else:
            found = leaves
            number = 0 if node is root else whole(node, "leaf_index", 0, Most.nodes)
        if number in found:
            raise ReadError(f"it has two nodes of the number {number}")
        found[number] = node
    for found in (inner, leaves):
        if found and max(found) != len(found) - 1:
            raise ReadError("the numbers of its nodes have gaps")
    return inner, leaves


def _place(node: _Object, side: str) -> int:
    child = node[side]
    return int(child["split_index"]) if "split_index" in child else -1 - int(child["leaf_index"])


def _column(nodes: list[_Object], name: str) -> Wide:
    stored: list[Any] = [node.get(name) for node in nodes]
    most = 1 << 62
    whole_ones = set(map(type, stored)) <= {int}
    if not whole_ones or not -most <= min(stored, default=0) <= max(stored, default=0) <= most:
        stored = [whole(node, name, -most, most) for node in nodes]
    return np.asarray(stored, dtype=np.int64)


def _is_categorical(node: _Object) -> bool:
    kind = node.get("decision_type")
    if kind not in ("<=", "=="):
        raise ReadError(f"a split has the decision type {show(kind)}")
    return bool(kind == "==")


def _missing(node: _Object) -> int:
    kind = node.get("missing_type", "None")
    if not isinstance(kind, str) or kind not in _MISSING:
        raise ReadError(f"a split has the missing type {show(kind)}")
    return _MISSING[kind]


def _codes(node: _Object) -> Wide:
    stated = str(node.get("threshold"))
    words = stated.split("||") if stated else []
    if not all(word.isascii() and word.isdecimal() and len(word) < 11 for word in words):
        raise ReadError(f"a category set is {show(stated)}")
    return np.unique(np.asarray([int(word) for word in words], dtype=np.int64))
