"""What a CatBoost model holds beside its trees: every name, with what its values may be."""

import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from treeaudit.model.leftovers import Leftover
from treeaudit.model.schema import Label
from treeaudit.readers.boosters.catboost_columns import ColumnTable, nested
from treeaudit.readers.boosters.catboost_names import (
    are_options,
    are_rounds,
    is_version,
    parameters,
)
from treeaudit.readers.boosters.catboost_rows import EachTree, StoredTrees
from treeaudit.readers.leftovers.booster_parts import is_name, setting
from treeaudit.readers.leftovers.documents import Keys, unexplained
from treeaudit.readers.leftovers.extra import extra, size_of
from treeaudit.readers.leftovers.spare import spare_columns
from treeaudit.readers.limits import Most

__all__ = ["in_catboost"]

_GUID = re.compile(r"[0-9a-f]{1,8}(?:-[0-9a-f]{1,8}){3}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,16}Z?")
_WORD = re.compile(r"[A-Za-z_]{1,32}")
_MOST_ROUNDS = 1_000_000
# Bytes of parameters that every model has; of what metrics were after each tree.
_PARAMETERS, _OPTIONS, _PER_TREE = 5_000, 1_500, 32
_SPLIT: Keys = {
    "split_type": _WORD,
    **dict.fromkeys(
        (
            "border float_feature_index cat_feature_index split_index value ctr_target_border_idx"
        ).split(),
        setting,
    ),
}
_KINDS = frozenset({"FloatFeature", "OneHotFeature", "OnlineCtr"})
_OBLIVIOUS: Keys = {
    "leaf_values": None,
    "leaf_weights": None,
    "splits": lambda part: not part or all(map(_is_split, part)),
}
_ELEMENT: Keys = {
    "combination_element": _WORD,
    **dict.fromkeys("cat_feature_index float_feature_index border value".split(), setting),
}


def in_catboost(
    data: Mapping[str, Any],
    columns: ColumnTable,
    labels: Sequence[Label] | None,
    trees: StoredTrees,
) -> Iterator[Leftover]:
    """Yield what a CatBoost model holds beside its trees.

    Parameters
    ----------
    data
        The object of the file.
    columns
        Its columns, after all trees have asked.
    labels
        Its classes.
    trees
        Its trees.
    """
    n_outputs = trees.n_outputs
    names = {feature.name for feature in columns.features}
    words = {str(label) for label in labels or ()}
    n_labels = len(words)
    rounds = nested(data, "model_info", "params", "boosting_options").get("iterations")
    rounds = min(rounds, _MOST_ROUNDS) if isinstance(rounds, int) else 0
    named = {"feature_name": is_name, "feature_id": is_name}
    placed = dict.fromkeys("feature_index flat_feature_index".split(), _is_place)
    identifiers = {
        ctr.get("identifier")
        for ctr in data["features_info"].get("ctrs") or ()
        if isinstance(ctr, dict)
    }
    stored = nested(data, "ctr_data")
    tables = {name: _table(table) for name, table in stored.items() if name in identifiers}
    oblivious = data.get("oblivious_trees") is not None
    keys: Keys = {
        "ctr_data": tables,
        "oblivious_trees": _OBLIVIOUS if isinstance(trees, EachTree) else None,
        **({} if oblivious else {"trees": None}),
        "scale_and_bias": lambda part: _is_scale(part, n_outputs),
        "features_info": {
            "float_features": {
                **placed,
                **named,
                "borders": None,
                "has_nans": lambda part: isinstance(part, bool),
                "nan_value_treatment": re.compile("AsIs|AsFalse|AsTrue"),
            },
            "categorical_features": {**placed, **named, "values": None},
            **dict.fromkeys(
                "text_features embedding_features estimated_features".split(), operator.not_
            ),
            "cat_features_hash": {"hash": setting, "value": is_name},
            "ctrs": {
                "borders": None,
                "ctr_type": _WORD,
                "elements": _ELEMENT,
                "identifier": lambda part: part in stored,
                **dict.fromkeys(
                    (
                        "prior_denomerator prior_denominator prior_numerator scale shift "
                        "target_border_idx"
                    ).split(),
                    setting,
                ),
            },
        },
        "model_info": {
            "catboost_version_info": is_version,
            "model_guid": _GUID,
            "output_options": are_options,
            "train_finish_time": _DATE,
            "training": lambda part: are_rounds(part, rounds),
            "class_params": {
                "class_label_type": _WORD,
                "class_names": lambda part: isinstance(part, list) and all(map(is_name, part)),
                "class_to_label": lambda part: (
                    isinstance(part, list)
                    and part == list(range(len(part)))
                    and len(part) <= max(n_labels, 2)
                ),
                "classes_count": setting,
            },
            "params": None,
        },
    }
    yield from unexplained(data, keys)
    params = nested(data, "model_info").get("params")
    if isinstance(params, dict):
        yield from parameters("model_info.params", params, names, words)
    elif params is not None:
        yield extra("model_info.params", params)
    if not oblivious:
        for i, tree in enumerate(data["trees"]):
            yield from _nodes(f"trees[{i}]", tree, n_outputs)
    yield from columns.unasked(nested(data, "ctr_data"))
    info, n_texts = data["features_info"], _size_beside(data) - _PER_TREE * len(trees)
    categories = {0: [one.get("value") for one in info.get("cat_features_hash") or ()]}
    each = [feature.name for feature in columns.features]
    yield from spare_columns("features_info", each, categories, columns.tested, max(n_texts, 0))
    if empty := trees.of_nobody():
        says = f"{empty:,} values of leaves that nobody is in, of no other leaf"
        yield Leftover(kind="extra", where="leaf_values", n=8 * empty, says=says)
    scale = data.get("scale_and_bias")
    # True is 1 for us, and not for CatBoost.
    if isinstance(scale, list) and scale and (scale[0] != 1 or isinstance(scale[0], bool)):
        says = "what all answers are multiplied with, which the audit leaves out"
        yield Leftover(kind="unseen", where="scale_and_bias", n=1, says=says)


def _size_beside(data: Mapping[str, Any]) -> int:
    """Return the bytes of parameters and rounds of training, beyond those that there always are."""
    params, rounds = (nested(data, "model_info").get(name) for name in ("params", "training"))
    n_params = max(size_of(params) - _PARAMETERS, 0)
    n_params += len(str(nested(data, "model_info").get("output_options"))) // _OPTIONS * _OPTIONS
    return n_params + 8 * (rounds.count(":") if isinstance(rounds, str) else 0)


def _is_place(part: object) -> bool:
    return type(part) is int and 0 <= part < Most.features


def _table(table: object) -> Keys:
    """Return what a table of statistics may hold: a number of entries that it counts."""
    size = table.get("hash_map") if isinstance(table, dict) else None
    return {
        "hash_map": lambda part: isinstance(part, int),
        "hash_keys": lambda part: isinstance(part, np.ndarray),
        "hash_stride": lambda part: (
            isinstance(part, int) and isinstance(size, int) and part > 0 and size % part == 0
        ),
        "counter_denominator": setting,
    }


def _is_split(part: Mapping[str, object]) -> bool:
    kind = part.get("split_type", "FloatFeature")
    others = [type(value) for name, value in part.items() if name != "split_type"]
    return part.keys() <= _SPLIT.keys() and kind in _KINDS and {int, float}.issuperset(others)


def _is_scale(part: object, n_outputs: int) -> bool:
    if not isinstance(part, list) or len(part) > 2:
        return False
    scale, bias = part[0] if part else 1, part[1] if len(part) > 1 else []
    biases = bias if isinstance(bias, list) else [bias]
    return setting(scale) and len(biases) <= n_outputs and all(map(setting, biases))


def _nodes(where: str, root: Mapping[str, Any], n_outputs: int) -> Iterator[Leftover]:
    """Yield what the nodes of a tree hold that is no question and no answer."""
    inner: Keys = {"split": _SPLIT, "left": None, "right": None}
    leaf: Keys = {"weight": setting, "value": lambda part: _are_numbers(part, n_outputs)}
    todo: list[Any] = [root]
    while todo:
        node = todo.pop()
        yield from unexplained(node, inner if "split" in node else leaf, where)
        if "split" in node:
            todo += [node["left"], node["right"]]


def _are_numbers(part: object, n: int) -> bool:
    each = part if isinstance(part, list) else [part]
    return len(each) == n and all(type(one) in (int, float) for one in each)
