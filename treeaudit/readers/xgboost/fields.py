"""The fields that XGBoost writes, of all versions, and what a file holds beyond them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from treeaudit.model.source import Extra
from treeaudit.readers.boosters import known_parameters
from treeaudit.readers.residual.extra_content import (
    ANY,
    ITSELF,
    NOTE,
    SETTING,
    Keys,
    extra,
    is_plain,
    unknown_fields,
)
from treeaudit.readers.xgboost.schema import Booster

_OBJECTIVES = {
    "reg_loss_param": "scale_pos_weight",
    "softmax_multiclass_param": "num_class",
    "quantile_loss_param": "quantile_alpha",
    "expectile_loss_param": "expectile_alpha",
    "lambdarank_param": (
        "lambdarank_bias_norm lambdarank_normalization lambdarank_num_pair_per_sample "
        "lambdarank_pair_method lambdarank_score_normalization lambdarank_unbiased ndcg_exp_gain"
    ),
    "lambda_rank_param": "num_pairsample fix_list_weight",
    "aft_loss_param": "aft_loss_distribution aft_loss_distribution_scale",
    "poisson_regression_param": "max_delta_step",
    "tweedie_regression_param": "tweedie_variance_power",
    "pseudo_huber_param": "huber_slope",
}
_MODEL_PARAM = "base_score boost_from_average num_class num_feature num_target"
_TREES_PARAM = "num_parallel_tree num_trees size_leaf_vector"
_OF_NODES = (
    "base_weights default_left left_children loss_changes parents right_children "
    "split_conditions split_indices split_type sum_hessian leaf_child_counts"
).split()
_OF_SETS = "categories_nodes categories_segments categories_sizes".split()
# The configuration of a pickled Booster: objects, and settings at any depth of it.
_CONFIG_OBJECTS = known_parameters("xgboost-objects")
_CONFIG_SETTINGS = known_parameters("xgboost-settings")
_STATE = 10_000  # characters of the state of a generator of random numbers
_SKLEARN = 8_000  # characters of the parameters of a wrapper, which XGBoost 1 and 2 write
_NUMBERS = re.compile(r"[\[\]()0-9eE+., -]*")


def keys_of(booster: Booster) -> Keys:
    """Return the known fields of the file of a model."""
    most = 26 * (10 + booster.n_features + len(set(booster.outputs)) * booster.leaf_width)

    def setting(part: object) -> bool:
        """Tell whether a value is plain, or a text of a number for each column or output."""
        if isinstance(part, str) and len(part) <= most and _NUMBERS.fullmatch(part):
            return True
        return is_plain(part, SETTING)

    def each(names: str) -> dict[str, Any]:
        return dict.fromkeys(names.split(), setting)

    objective = {name: each(names) for name, names in _OBJECTIVES.items()}
    tree = {
        **dict.fromkeys((*_OF_NODES, *_OF_SETS, "categories", "leaf_weights")),
        "id": SETTING,
        "tree_param": each("num_deleted num_feature num_nodes size_leaf_vector"),
    }
    n_numbers = len(booster.trees) + 2 + booster.n_features
    n_numbers += sum(map(len, booster.categories.values()))

    def few(part: object) -> bool:
        """Tell whether numbers are no more than trees, columns and categories."""
        return isinstance(part, list | np.ndarray) and _are_numbers(part) and len(part) <= n_numbers

    model = {
        "cats": {
            "enc": lambda part: _are_read(part, booster),
            "feature_segments": few,
            "sorted_idx": few,
        },
        "gbtree_model_param": each(_TREES_PARAM),
        "iteration_indptr": few,
        "tree_info": None,
        "trees": tree,
        "weight_drop": few,
    }
    config: dict[Any, Any] = each(" ".join((*_CONFIG_SETTINGS, _MODEL_PARAM, _TREES_PARAM)))
    config[ITSELF] = SETTING
    config |= {**objective, "rng_state": _STATE, "version": few}
    config.update((name, config) for name in _CONFIG_OBJECTS)
    return {
        "version": few,
        "learner": {
            "attributes": {
                **dict.fromkeys("best_iteration best_score best_ntree_limit subsample".split(), 40),
                **dict.fromkeys(("best_msg", "metrics"), SETTING),
                "scikit_learn": _SKLEARN,
                ANY: NOTE,
            },
            **dict.fromkeys(("feature_names", "feature_types"), _are_short),
            "gradient_booster": {
                "name": SETTING,
                "model": model,
                "gbtree": {"name": SETTING, "model": model},
                "weight_drop": few,
            },
            "learner_model_param": each(_MODEL_PARAM),
            "objective": {"name": SETTING, **objective},
        },
        "Config": config,
    }


def _are_read(part: object, booster: Booster) -> bool:
    """Tell whether the names of categories were read, of all columns that have some."""
    if not isinstance(part, list) or len(part) not in (0, booster.n_features):
        return False
    columns = [column for column in part if isinstance(column, dict) and len(column) < 4]
    named = sum(len(column.get("values", ())) > 0 for column in columns)
    return len(columns) == len(part) and named == len(booster.categories)


def _are_short(part: object) -> bool:
    return isinstance(part, list) and all(is_plain(one, SETTING) for one in part)


def unknown_in(document: Mapping[str, object], booster: Booster) -> Iterator[Extra]:
    """Yield the fields of a file that XGBoost does not write, and arrays that fit no tree."""
    yield from unknown_fields(document, keys_of(booster))
    for name, parts in _odd_arrays(booster).items():
        yield extra(f"learner.gradient_booster.model.trees[*].{name}", parts)


def _odd_arrays(booster: Booster) -> dict[str, list[object]]:
    """Return the arrays that have more or fewer entries than their tree has nodes or sets."""
    odd: dict[str, list[object]] = {}
    for raw in booster.trees:
        if not isinstance(raw, dict):
            continue
        n = len(raw["left_children"])
        n_sets = int(np.count_nonzero(raw.get("split_type", ())))
        sizes = dict.fromkeys(_OF_NODES, n) | dict.fromkeys(_OF_SETS, n_sets)
        sizes |= dict.fromkeys(("base_weights", "leaf_weights"), n * booster.leaf_width)
        sizes["categories"] = int(np.sum(raw.get("categories_sizes", 0))) if n_sets else 0
        for name in sizes:
            part = raw.get(name)
            if part is not None and (len(part) > sizes[name] or not _are_numbers(part)):
                odd.setdefault(name, []).append(part)
    return odd


def _are_numbers(part: Any) -> bool:  # noqa: ANN401  # a list or an array
    if isinstance(part, np.ndarray):
        return part.dtype.kind in "iufb"
    return {int, float, bool}.issuperset(map(type, part))
