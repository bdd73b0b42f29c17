"""The fields that CatBoost writes, of all versions, and what a file holds beyond them."""

from collections.abc import Iterator, Mapping
from typing import Any

from treeaudit.model.source import Extra
from treeaudit.readers.boosters import known_parameters
from treeaudit.readers.catboost.columns import ColumnTable, nested
from treeaudit.readers.residual.extra_content import (
    ANY,
    ITSELF,
    NOTE,
    SETTING,
    Keys,
    is_plain,
    unknown_fields,
)

_FEW, _PRIOR, _MOST_ROUNDS = 64, 4, 1_000_000
_LOG = 1_000  # characters of the metrics of one round of training
_TEXT = 4_000  # characters of a version, and of the options of output

_PARAMETERS = known_parameters("catboost")
_OF_COLUMNS = (
    "monotone_constraints feature_weights first_feature_use_penalties "
    "per_object_feature_penalties per_float_feature_quantization"
).split()
_SPLIT = (
    "split_type border float_feature_index cat_feature_index split_index value "
    "ctr_target_border_idx"
)


def _each(names: str) -> Keys:
    return dict.fromkeys(names.split(), SETTING)


def unknown_in(data: Mapping[str, Any], columns: ColumnTable, n_trees: int) -> Iterator[Extra]:
    """Yield the fields of a model that CatBoost does not write."""
    names = {feature.name for feature in columns.features}
    info, classes = nested(data, "model_info"), nested(data, "model_info", "class_params")
    class_names = classes.get("class_names")
    most = max(_FEW, len(names), len(class_names) if isinstance(class_names, list) else 0)

    def few(part: object) -> bool:
        """Tell whether a value is plain, or a list of no more than columns and classes."""
        each = part if isinstance(part, list) else [part]
        parts = [one if isinstance(one, list) and len(one) <= _PRIOR else [one] for one in each]
        return len(each) <= most and all(is_plain(one, SETTING) for part in parts for one in part)

    params: dict[Any, Any] = {ITSELF: few}
    params |= dict.fromkeys(_PARAMETERS, params)
    of_columns: dict[Any, Any] = {ITSELF: few} | dict.fromkeys(
        (*names, *map(str, range(len(names)))), SETTING
    )
    params |= dict.fromkeys(_OF_COLUMNS, of_columns) | {"metadata": {ANY: NOTE}}
    rounds = nested(info, "params", "boosting_options").get("iterations")
    rounds = min(rounds, _MOST_ROUNDS) if isinstance(rounds, int) else n_trees
    node: dict[str, Any] = {"split": _each(_SPLIT), "weight": SETTING, "value": None}
    node |= {"left": node, "right": node}
    place = _each("feature_index flat_feature_index feature_name feature_id")
    keys: Keys = {
        "oblivious_trees": {"leaf_values": None, "leaf_weights": None, "splits": _each(_SPLIT)},
        "trees": node,
        "scale_and_bias": lambda part: isinstance(part, list) and all(map(few, part)),
        "ctr_data": {
            ANY: {"hash_map": None, "hash_stride": SETTING, "counter_denominator": SETTING}
        },
        "features_info": {
            "float_features": {
                **place,
                "borders": None,
                **_each("has_nans nan_value_treatment"),
            },
            "categorical_features": {**place, "values": None},
            **dict.fromkeys("text_features embedding_features estimated_features".split(), place),
            "cat_features_hash": _each("hash value"),
            "ctrs": {
                "borders": None,
                "elements": _each(
                    "combination_element cat_feature_index float_feature_index border value"
                ),
                **_each(
                    "ctr_type identifier prior_denomerator prior_denominator prior_numerator "
                    "scale shift target_border_idx"
                ),
            },
        },
        "model_info": {
            "catboost_version_info": _TEXT,
            "output_options": _TEXT,
            "model_guid": SETTING,
            "train_finish_time": SETTING,
            "training": _LOG * (rounds + 2),
            "class_params": {
                **_each("class_label_type classes_count"),
                "class_names": lambda part: isinstance(part, list),
                "class_to_label": few,
            },
            "params": params,
            ANY: NOTE,
        },
    }
    yield from unknown_fields(data, keys)
