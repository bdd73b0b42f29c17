"""What an XGBoost file holds beside its trees: every name that XGBoost writes, with its values.

A listed name explains only a value of the right kind, and as many of them as the
trees, columns and outputs of the model need.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from treeaudit.model.leftovers import Leftover
from treeaudit.readers.boosters.xgboost_categories import are_categories
from treeaudit.readers.boosters.xgboost_names import (
    DART,
    GENERIC,
    HIST,
    LEARNER,
    METRIC,
    OBJECTIVE,
    OF_OBJECTIVES,
    TRAINING,
    UPDATERS,
    is_setting,
)
from treeaudit.readers.boosters.xgboost_rows import StoredTrees
from treeaudit.readers.boosters.xgboost_schema import Booster
from treeaudit.readers.boosters.xgboost_trees_beside import (
    OF_NODES,
    OF_SETS,
    are_numbers,
    few_whole,
    in_trees,
)
from treeaudit.readers.leftovers.booster_parts import NUMBER, is_name, setting
from treeaudit.readers.leftovers.documents import Keys, unexplained
from treeaudit.readers.leftovers.spare import spare_columns

__all__ = ["in_xgboost", "keys_of"]

_KINDS = frozenset("int float i q c indicator categorical".split())
_DIRECTIONS = re.compile(r"\(?(?:-?[01](?:, ?-?[01])*,?)?\)?")
_NUMBERS = re.compile(rf"\[?(?:{NUMBER}(?:,{NUMBER})*)?\]?")


def in_xgboost(
    document: Mapping[str, object], booster: Booster, trees: StoredTrees
) -> Iterator[Leftover]:
    """Yield what an XGBoost model holds beside its trees.

    Parameters
    ----------
    document
        The object with ``learner`` and ``version``.
    booster, trees
        The model as it was read from it.
    """
    keys = keys_of(booster)
    yield from unexplained(document, keys)
    yield from in_trees(booster, trees)
    every = (row,) if (row := trees.whole()) is not None else trees
    features = np.concatenate([one.feature[one.links.inner] for one in every])
    tested = np.flatnonzero(np.bincount(features)).tolist()
    yield from spare_columns("learner.feature_names", booster.names, booster.categories, tested)


def keys_of(booster: Booster) -> Keys:
    """Return what the file of this model may hold."""
    n_trees = len(booster.trees)
    model: dict[str, Any] = {
        "tree_info": _numbers(n_trees),
        "iteration_indptr": lambda part: _rounds(part, n_trees),
        "cats": lambda part: are_categories(part, booster),
        "gbtree_model_param": _settings("num_trees num_parallel_tree size_leaf_vector"),
        "trees": {
            **dict.fromkeys((*OF_NODES, *OF_SETS, "base_weights", "leaf_weights")),
            **dict.fromkeys(("id", "tree_param")),
        },
    }
    dart = booster.parameters.get("booster") == "dart"
    gbtree = {"name": lambda part: part == "gbtree", "model": model}
    objective = {
        name: _settings(names, _numbers_of(booster)) for name, names in OF_OBJECTIVES.items()
    }
    learner = _settings("num_class num_target num_feature boost_from_average")
    return {
        "version": lambda part: booster.version is not None,
        "learner": {
            "feature_names": lambda part: all(map(is_name, booster.names)),
            "feature_types": lambda part: _KINDS.issuperset(booster.kinds),
            "attributes": {
                **dict.fromkeys(("best_iteration", "best_score", "best_ntree_limit"), setting),
                "subsample": re.compile(r"0\.\d{1,3}"),
                "scikit_learn": re.compile(r'\{"_estimator_type": "[a-z]{1,20}"\}'),
            },
            "learner_model_param": {**learner, "base_score": _numbers_of(booster)},
            "objective": {"name": OBJECTIVE, **objective},
            "gradient_booster": {
                "name": lambda part: part in ("gbtree", "dart"),
                **(
                    {"weight_drop": _numbers(n_trees), "gbtree": gbtree}
                    if dart
                    else {"model": model}
                ),
            },
        },
        "Config": _configuration(booster, learner, objective),
    }


def _configuration(booster: Booster, learner: Keys, objective: Keys) -> Keys:
    tree = {
        **_settings(TRAINING),
        "interaction_constraints": lambda part: _groups(part, booster.n_features),
        "monotone_constraints": _DIRECTIONS,
    }
    trained = {"train_param": tree, "colmaker_train_param": tree, "name": is_setting}
    hist = dict.fromkeys(
        "cpu_hist_train_param hist_train_param gpu_hist_train_param approx_train_param".split(),
        _settings(HIST),
    )
    # A list of them, or as it was written before: an object.
    updater = {"updater": ({**dict.fromkeys(UPDATERS, trained | hist), **trained, **hist},)}
    grown = {
        "name": is_setting,
        "specified_updater": is_setting,
        "gbtree_model_param": _settings("num_trees num_parallel_tree size_leaf_vector"),
        "gbtree_train_param": _settings("predictor process_type tree_method updater updater_seq"),
        "dart_train_param": _settings(DART),
        "tree_train_param": tree,
        **updater,
    }
    metric = {"name": METRIC, "param": is_setting, **objective}
    return {
        "version": lambda part: few_whole(part, 4),
        "learner": {
            "generic_param": _settings(GENERIC),
            "gradient_booster": {**grown, "gbtree": grown},
            "learner_model_param": {**learner, "base_score": _numbers_of(booster)},
            "learner_train_param": _settings(LEARNER),
            "metrics": (metric,),
            "objective": {"name": OBJECTIVE, **objective},
        },
    }


def _settings(names: str, explained: object = None) -> dict[str, Any]:
    return dict.fromkeys(names.split(), explained or is_setting)


def _numbers_of(booster: Booster) -> Callable[[object], bool]:
    """Return what explains a setting, or a number for each output as one text."""
    most = booster.leaf_width if booster.leaf_width > 1 else len(set(booster.outputs))

    def fits(part: object) -> bool:
        if not isinstance(part, str) or _NUMBERS.fullmatch(part) is None:
            return is_setting(part)
        each = part.strip("[]").split(",")
        return len(each) <= most and all(map(is_setting, each))

    return fits


def _groups(part: object, n_features: int) -> bool:
    most = 10 + 10 * n_features
    return isinstance(part, str) and len(part) <= most and not part.strip("[]()0123456789-, ")


def _numbers(n: int) -> Callable[[object], bool]:
    return lambda part: are_numbers(part, n)


def _rounds(part: object, n_trees: int) -> bool:
    if not few_whole(part, n_trees + 1):
        return False
    bounds = np.asarray(part, dtype=np.int64)
    # All rounds have as many trees.
    steps = set(np.diff(bounds).tolist())
    return not len(bounds) or bool(bounds[0] == 0 and bounds[-1] == n_trees and len(steps) < 2)
