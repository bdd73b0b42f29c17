"""A repaired XGBoost model in the document that it was read from: JSON, UBJSON, or in a pickle."""

import json
import struct
from typing import Any

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.model.tree import Tree
from treeaudit.readers.boosters import StoredBooster
from treeaudit.readers.residual.extra_content import known_fields
from treeaudit.readers.sklearn.undo import over_data
from treeaudit.readers.xgboost.fields import keys_of
from treeaudit.readers.xgboost.model import read_trees, to_forest
from treeaudit.readers.xgboost.schema import Booster, read_booster
from treeaudit.readers.xgboost.trees import StoredTree
from treeaudit.readers.xgboost.ubjson import shortest
from treeaudit.writers.canonical_record import is_seed
from treeaudit.writers.node_tables import JSON
from treeaudit.writers.tree_records import Rows, origins, rows_of

_WHOLE = {"i": ">b", "I": ">h", "l": ">i", "L": ">q"}
_MARKS = {"i1": "i", "u1": "U", "i2": "I", "i4": "l", "i8": "L", "f4": "d", "f8": "D"}


def to_ubjson(value: object) -> bytes:
    """Return the UBJSON of objects, lists, numeric arrays, texts and numbers."""
    out: list[bytes] = []
    _put(value, out)
    return b"".join(out)


def _length(n: int) -> bytes:
    return b"L" + struct.pack(">q", n)


def _put(value: object, out: list[bytes]) -> None:
    match value:
        case None | bool():
            out.append({None: b"Z", True: b"T", False: b"F"}[value])
        case str():
            data = value.encode()
            out += [b"S", _length(len(data)), data]
        case int():
            code = shortest(value)
            out.append(code.encode() + struct.pack(_WHOLE[code], value))
        case float():
            # XGBoost knows numbers of 32 bits alone.
            out.append(b"d" + struct.pack(">f", value))
        case np.ndarray():
            kind = value.dtype.str[1:]
            out += [f"[${_MARKS[kind]}#".encode(), _length(len(value))]
            out.append(value.astype(f">{kind}").tobytes())
        case list():
            out.append(b"[")
            for part in value:
                _put(part, out)
            out.append(b"]")
        case dict():
            out.append(b"{")
            for key, part in sorted(value.items()):
                data = str(key).encode()
                out += [_length(len(data)), data]
                _put(part, out)
            out.append(b"}")
        case _:
            raise TypeError(f"{type(value).__name__} has no form in UBJSON")


_NO_PARENT = (1 << 31) - 1
_KINDS = {
    **dict.fromkeys("left_children right_children parents split_indices".split(), "i4"),
    **dict.fromkeys("categories categories_nodes".split(), "i4"),
    **dict.fromkeys("categories_segments categories_sizes".split(), "i8"),
    **dict.fromkeys("default_left split_type".split(), "u1"),
    **dict.fromkeys("base_weights loss_changes split_conditions sum_hessian".split(), "f4"),
}

_SHAPE = frozenset("num_deleted num_feature num_nodes size_leaf_vector".split())
_NUMBERS_FROM = (1, 6)
"""Versions before this one read truth values in ``default_left``; this and later ones both."""
_LEAVES_BELOW = "leaf_child_counts"
"""What versions before `_NO_LEAVES_FROM` ask for: how many children of a node are leaves."""
_NO_LEAVES_FROM = (1, 3)
_WRAPPER = "scikit_learn"
_OF_DRAWS = frozenset({"rng_state", "subsample"})


def to_xgboost_json(forest: Forest) -> bytes:
    """Return the model as XGBoost's own JSON."""
    document = document_of(forest)
    document.pop("Config", None)
    return json_of(document)


def json_of(document: dict[str, Any]) -> bytes:
    """Return a document as JSON without blanks, names sorted."""
    return json.dumps(_listed(document), separators=(",", ":"), sort_keys=True).encode()


def to_xgboost_ubjson(forest: Forest) -> bytes:
    """Return the model as the UBJSON that XGBoost writes."""
    document = document_of(forest)
    document.pop("Config", None)
    outer = document["learner"]["gradient_booster"]
    model = (outer["gbtree"] if outer["name"] == "dart" else outer)["model"]
    # A model that was read from JSON or the binary form has lists, or columns of other types.
    model["trees"] = [
        {name: np.asarray(part).astype(_KINDS[name]) if name in _KINDS else part
         for name, part in tree.items()} for tree in model["trees"]
    ]  # fmt: skip
    return to_ubjson(document)


def document_of(forest: Forest) -> dict[str, Any]:
    """Return the document of a model with its repaired trees, and nothing that is not explained."""
    stored = forest.source.stored
    if not isinstance(stored, StoredBooster) or not isinstance(stored.document, dict):
        raise TypeError("no document to write into")
    booster = read_booster(stored.document)
    trees = read_trees(booster)
    whole = to_forest(stored.document, Source())
    if stored.found is not None:
        whole = over_data(whole, stored.found)
    origin = origins(forest, whole, range(forest.n_trees))
    one_round = booster.loss.n_first_round
    if origin != list(range(len(origin))) or len(origin) % one_round:
        raise UnsupportedModelError(
            f"an XGBoost model keeps the first of its rounds, {one_round} trees each: {JSON}"
        )
    exact = stored.found is None or not stored.found.before
    document: dict[str, Any] = known_fields(stored.document, keys_of(booster))
    outer = document["learner"]["gradient_booster"]
    inner = outer["gbtree"] if outer["name"] == "dart" else outer
    model, n = inner["model"], len(origin)
    model["trees"] = [
        _tree(booster, trees[i], i, forest.trees[i], whole.trees[i], exact=exact) for i in origin
    ]
    model["gbtree_model_param"]["num_trees"] = str(n)
    model["tree_info"] = _as_stored(model["tree_info"], list(booster.outputs[:n]))
    if "iteration_indptr" in model:
        ends = [end for end in np.asarray(model["iteration_indptr"]).tolist() if end <= n]
        model["iteration_indptr"] = _as_stored(model["iteration_indptr"], ends)
    for part in (outer, model):
        if "weight_drop" in part:
            part["weight_drop"] = _as_stored(part["weight_drop"], list(booster.scale[:n]))
    _without_seeds(document.get("Config"))
    if booster.before((1,)):
        # Newer versions ask for what the binary form of older ones does not hold.
        kind, settings = booster.loss.objective.partition(":")[0], document["learner"]["objective"]
        name = {"multi": "softmax_multiclass_param"}.get(kind, "reg_loss_param")
        n_classes = str(booster.loss.n_outputs)
        stated = {"num_class": n_classes} if kind == "multi" else {"scale_pos_weight": "1"}
        if kind in ("binary", "multi", "reg"):
            settings.setdefault(name, stated)
    attributes = document["learner"].get("attributes") or {}
    if isinstance(of_wrapper := attributes.get(_WRAPPER), str):
        attributes[_WRAPPER] = _settings(of_wrapper)
    share = forest.source.parameters.get("subsample", 1.0)
    if forest.trees is not whole.trees and share < 1:
        # Steps that were computed anew are of draws: only here a model says so.
        document["learner"].setdefault("attributes", {})["subsample"] = f"{share:.3g}"
    return document


def _tree(
    booster: Booster, stored: StoredTree, i: int, tree: Tree, whole: Tree, *, exact: bool
) -> dict[str, Any]:
    if stored.value is None or tree.value is None:
        raise UnsupportedModelError(f"leaves of several numbers are not written back: {JSON}")
    raw = booster.trees[i]
    if not isinstance(raw, dict):
        raise TypeError("a tree that was read is an object")
    links, n = stored.links, tree.n_nodes
    left = np.full(links.n_nodes, -1, dtype=np.int64)
    left[links.inner] = links.left
    rows = rows_of(tree, whole, left, exact=exact)
    place, at = rows.place, rows.inner
    columns = {name: np.zeros(n) for name, kind in _KINDS.items() if "categories" not in name}
    for name in ("left_children", "right_children"):
        columns[name][:] = -1
    columns["left_children"][at], columns["right_children"][at] = rows.left, rows.right
    columns["parents"][:] = np.where(tree.parent < 0, _NO_PARENT, tree.parent)
    columns["split_indices"][at] = stored.feature[place[at]]
    columns["split_conditions"][:] = tree.value / booster.scale[i]
    columns["split_conditions"][at] = _thresholds(stored, rows)
    columns["default_left"][at] = stored.default_left[place[at]]
    codes = {node: stored.categories[p] for node, p in zip(at.tolist(), place[at].tolist(),
             strict=True) if p in stored.categories}  # fmt: skip
    columns["split_type"][list(codes)] = 1
    kept, cover = _covers(stored, tree, whole, place)
    leaf = tree.is_leaf & whole.is_leaf[place]
    as_before = whole.value is not None and np.array_equal(
        tree.value[leaf], whole.value[place][leaf]
    )
    # Of leaves that answer something else, what they answered is in covers and weights too: in
    # the covers of all trees that follow.
    columns["sum_hessian"][:] = cover if as_before else 0.0
    if stored.weight is not None:
        merged = tree.is_leaf & ~whole.is_leaf[place]
        told = kept & as_before & ~merged
        columns["base_weights"][:] = np.where(told, stored.weight[place], 0.0)
    sizes = np.array([len(one) for one in codes.values()], dtype=np.int64)
    columns["categories"] = np.concatenate([np.empty(0), *codes.values()])
    columns["categories_nodes"] = np.array(list(codes), dtype=np.float64)
    columns["categories_sizes"] = sizes.astype(np.float64)
    columns["categories_segments"] = (np.cumsum(sizes) - sizes).astype(np.float64)
    shape = {**raw["tree_param"], "num_nodes": str(n), "num_deleted": "0"}
    shape = {name: shape[name] for name in raw["tree_param"]}
    made: dict[str, Any] = {"id": i, "tree_param": known_fields(shape, dict.fromkeys(_SHAPE, 40))}
    for name in raw:
        if name in columns:
            made[name] = _as_stored(raw[name], columns[name].astype(_KINDS[name]))
    if booster.before(_NUMBERS_FROM):
        made["default_left"] = (columns["default_left"] == 1).tolist()
    if booster.before(_NO_LEAVES_FROM):
        below = np.zeros(n, dtype=np.int64)
        below[at] = tree.is_leaf[rows.left].astype(np.int64) + tree.is_leaf[rows.right]
        made[_LEAVES_BELOW] = below.tolist()
    return made


def _thresholds(stored: StoredTree, rows: Rows) -> Float:
    """Return the smallest 32-bit numbers that go right."""
    kept = stored.threshold[rows.place[rows.inner]]
    if rows.threshold is None:
        return kept
    near = rows.threshold.astype(np.float32)
    above = np.where(near > rows.threshold, near, np.nextafter(near, np.float32(np.inf)))
    return np.where(np.isfinite(rows.threshold), above.astype(np.float64), kept)


def _covers(stored: StoredTree, tree: Tree, whole: Tree, place: Wide) -> tuple[Flag, Float]:
    """Return which nodes are of the same people as before, and the covers of all."""
    none = np.zeros(tree.n_nodes)
    inner = ~tree.is_leaf
    stripped = tree.value is not None and not tree.value[inner].any()
    stripped &= whole.value is not None and bool(whole.value[place[inner]].any())
    if stored.cover is None or stripped or (tree.n_records is None) != (whole.n_records is None):
        return none > 0, none
    cover = stored.cover[place]
    if tree.n_records is None or whole.n_records is None:
        return none == 0, cover
    before = whole.n_records[place]
    return tree.n_records == before, cover * (tree.n_records / np.maximum(before, 1))


def _as_stored(before: object, now: Any) -> Any:  # noqa: ANN401  # a list or an array
    """Return numbers as a list or an array of the type that they had."""
    if isinstance(before, np.ndarray):
        return np.asarray(now).astype(before.dtype.newbyteorder("="))
    return _listed(now)


def _without_seeds(part: object) -> None:
    if isinstance(part, dict):
        # With the share of rows that each tree drew, the seed is one of draws.
        for name in [name for name in part if is_seed(name) or name in _OF_DRAWS]:
            del part[name]
        for inside in part.values():
            _without_seeds(inside)


def _settings(text: str) -> str:
    """Return the settings of a wrapper, as versions before 3 note them in JSON, without seeds."""
    try:
        stated = json.loads(text)
    except (ValueError, RecursionError):
        stated = {}
    settings = stated if isinstance(stated, dict) else {}
    kept = {name: part for name, part in settings.items() if not is_seed(name)}
    return json.dumps(kept, sort_keys=True)


def _listed(part: object) -> object:
    """Return the document without arrays; 32-bit numbers by their shortest text."""
    match part:
        case np.ndarray() if part.dtype == np.float32:
            return [float(str(number)) for number in part]
        case np.ndarray():
            return part.tolist()
        case dict():
            return {name: _listed(inside) for name, inside in part.items()}
        case list():
            return [_listed(inside) for inside in part]
    return part
