"""What an XGBoost file holds beside its trees: every name that XGBoost writes, with its values.

A listed name explains only a value of the right kind, and as many of them as the
trees, columns and outputs of the model need.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from treeaudit.model.leftovers import Leftover
from treeaudit.readers.boosters.xgboost_names import (
    DART,
    GENERIC,
    HIST,
    LEARNER,
    METRIC,
    OBJECTIVE,
    OF_OBJECTIVES,
    TRAINING,
    is_setting,
)
from treeaudit.readers.boosters.xgboost_schema import Booster
from treeaudit.readers.boosters.xgboost_tree import StoredTree
from treeaudit.readers.leftovers.booster_parts import NUMBER, is_name, setting
from treeaudit.readers.leftovers.documents import ANY, Keys, unexplained
from treeaudit.readers.leftovers.unexplained import not_explained
from treeaudit.readers.limits import Most

__all__ = ["in_xgboost", "keys_of"]

_KINDS = frozenset("int float i q c indicator categorical".split())
_NUMBERS = re.compile(rf"\[?(?:{NUMBER}(?:,{NUMBER})*)?\]?")
_NO_PARENT = (1 << 31) - 1
# Arrays of a tree with an entry for each node, and those of its categories.
_OF_NODES = (
    "default_left left_children loss_changes parents right_children split_conditions "
    "split_indices split_type sum_hessian"
).split()
_OF_SETS = "categories categories_nodes categories_segments categories_sizes".split()
_READ = frozenset(
    "default_left left_children right_children split_conditions split_indices split_type".split()
)
_NODE_BYTES = 8 * len(_OF_NODES)


def in_xgboost(
    document: Mapping[str, object], booster: Booster, trees: Sequence[StoredTree]
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
    yield from _trees(booster, trees)


def keys_of(booster: Booster) -> Keys:
    """Return what the file of this model may hold."""
    n_features, n_trees = booster.n_features, len(booster.trees)
    model: dict[str, Any] = {
        "tree_info": _numbers(n_trees),
        "iteration_indptr": lambda part: _rounds(part, n_trees),
        "cats": {
            "enc": lambda part: _categories(part, booster),
            "feature_segments": lambda part: _few_whole(part, n_features + 1),
            "sorted_idx": lambda part: _few_whole(
                part, sum(len(names) for names in booster.categories.values())
            ),
        },
        "gbtree_model_param": _settings("num_trees num_parallel_tree size_leaf_vector"),
        "trees": {
            **dict.fromkeys((*_OF_NODES, *_OF_SETS, "base_weights", "leaf_weights")),
            "id": lambda part: isinstance(part, int) and 0 <= part < n_trees,
            "tree_param": _settings("num_deleted num_feature num_nodes size_leaf_vector"),
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
        "monotone_constraints": lambda part: _groups(part, booster.n_features),
    }
    trained = {"train_param": tree, "colmaker_train_param": tree, "name": is_setting}
    hist = dict.fromkeys(
        "cpu_hist_train_param hist_train_param gpu_hist_train_param approx_train_param".split(),
        _settings(HIST),
    )
    updater = {"updater": {**trained, **hist, ANY: {**trained, **hist}}}
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
        "version": lambda part: _few_whole(part, 4),
        "learner": {
            "generic_param": _settings(GENERIC),
            "gradient_booster": {**grown, "gbtree": grown},
            "learner_model_param": {**learner, "base_score": _numbers_of(booster)},
            "learner_train_param": _settings(LEARNER),
            "metrics": metric,
            "objective": {"name": OBJECTIVE, **objective},
        },
    }


def _settings(names: str, explained: object = None) -> dict[str, Any]:
    return dict.fromkeys(names.split(), explained or is_setting)


def _numbers_of(booster: Booster) -> Callable[[object], bool]:
    """Return what explains a setting, or a number for each output as one text."""
    most = 26 * max(booster.loss.n_outputs, 1) + 2
    return lambda part: (
        is_setting(part)
        or (isinstance(part, str) and len(part) <= most and _NUMBERS.fullmatch(part) is not None)
    )


def _groups(part: object, n_features: int) -> bool:
    most = 10 + 10 * n_features
    return isinstance(part, str) and len(part) <= most and not part.strip("[]()0123456789-, ")


def _numbers(n: int) -> Callable[[object], bool]:
    return lambda part: _are_numbers(part, n)


def _are_numbers(part: object, n: int, most_bytes: int = 8) -> bool:
    """Tell whether a list or array holds so many numbers, and nothing else."""
    if isinstance(part, np.ndarray):
        fits = part.dtype.kind in "iu" or part.dtype.itemsize <= most_bytes
        return part.shape == (n,) and part.dtype.kind in "iuf" and fits
    return isinstance(part, list) and len(part) == n and set(map(type, part)) <= {int, float, bool}


def _few_whole(part: object, most: int) -> bool:
    """Tell whether a list holds whole numbers, and not more of them than there is use for."""
    if isinstance(part, np.ndarray):
        return part.dtype.kind in "iu" and part.ndim == 1 and len(part) <= most
    return isinstance(part, list) and len(part) <= most and set(map(type, part)) <= {int}


def _rounds(part: object, n_trees: int) -> bool:
    if not _few_whole(part, n_trees + 1):
        return False
    bounds = np.asarray(part, dtype=np.int64)
    return not len(bounds) or bool(
        bounds[0] == 0 and bounds[-1] == n_trees and np.all(np.diff(bounds) >= 0)
    )


def _categories(part: object, booster: Booster) -> bool:
    """Tell whether the names of categories are those of columns that have some."""
    if not isinstance(part, list) or len(part) not in (0, booster.n_features):
        return False
    for i, column in enumerate(part):
        if not isinstance(column, dict) or not column.keys() <= {"offsets", "values", "type"}:
            return False
        named = booster.categories.get(i, ())
        stated = column.get("values")
        told = isinstance(stated, list | np.ndarray) and len(stated) > 0
        if told != bool(named) or (named and (booster.kinds or [""] * (i + 1))[i] != "c"):
            return False
        if not all(map(is_name, named)) or not isinstance(column.get("type", 0), int):
            return False
        if told and "offsets" in column and not _are_bytes(stated):
            return False
    return True


def _are_bytes(part: Any) -> bool:  # noqa: ANN401  # a list or an array
    values = np.asarray(part)
    return values.dtype.kind in "iu" and bool(np.all((values >= -128) & (values <= 255)))


def _trees(booster: Booster, trees: Sequence[StoredTree]) -> Iterator[Leftover]:
    """Yield the arrays that do not fit their tree, and the entries that no prediction needs."""
    loose = spare = 0
    for i, (raw, tree) in enumerate(zip(booster.trees, trees, strict=True)):
        if not isinstance(raw, dict):
            continue
        where, n = f"trees[{i}]", len(raw["left_children"])
        loose += tree.links.cut_off
        n_leaves, width = int(np.count_nonzero(tree.links.is_leaf)), booster.leaf_width
        sizes = dict.fromkeys(_OF_NODES, (n,)) | {
            "base_weights": (n, n * width),
            "leaf_weights": (0, n_leaves * width),
        }
        known: dict[str, Any] = {}
        for name, fits in sizes.items():
            part = raw.get(name)
            # The reader of the tree has looked at its own lists.
            read = name in _READ and isinstance(part, list)
            if part is not None and (read or any(_are_numbers(part, n, 4) for n in fits)):
                known[name] = part
            elif part is not None:
                yield not_explained(f"{where}.{name}", part)
        spare += _spare(known, tree, n)
        yield from _sets(raw, tree, where)
    if loose:
        says = f"{loose:,} nodes that were pruned are still stored, with thresholds and covers"
        n = loose * _NODE_BYTES
        yield Leftover(kind="unexplained", where="trees[*]", n=n, says=says)
    if spare:
        says = f"{spare:,} numbers of leaves that only a question could need"
        yield Leftover(kind="unexplained", where="trees[*]", n=8 * spare, says=says)


def _spare(columns: Mapping[str, Any], tree: StoredTree, n_nodes: int) -> int:
    """Count the entries of leaves that stand where only inner nodes need one."""
    links, n = tree.links, 0
    at = links.order
    leaves = itemgetter(*at[links.is_leaf].tolist(), 0)
    for name in ("loss_changes", "split_indices", "default_left", "split_type"):
        if name in columns and any(found := leaves(columns[name])[:-1]):
            n += sum(map(bool, found))
    if "parents" in columns:
        above = np.full(n_nodes, _NO_PARENT)
        above[at[1:]] = at[links.parent[1:]]
        stated = columns["parents"]
        wanted = above.tolist()
        told = stated if isinstance(stated, list) else stated.tolist()
        if told != wanted and told != [-1, *wanted[1:]]:
            n += sum(told[i] not in (wanted[i], -1 if i == 0 else wanted[i]) for i in at.tolist())
    return n


def _sets(raw: Mapping[str, Any], tree: StoredTree, where: str) -> Iterator[Leftover]:
    """Yield the lists of categories that are not those of the questions."""
    parts = [raw.get(name) for name in _OF_SETS]
    if all(part is None or len(part) == 0 for part in parts):
        return
    if not all(_few_whole(part, Most.codes) for part in parts):
        yield not_explained(f"{where}.categories", parts)
        return
    codes, nodes, starts, sizes = (np.asarray(part, dtype=np.int64) for part in parts)
    asked = np.sort(tree.links.order[sorted(tree.categories)])
    in_turn = np.concatenate([[0], np.cumsum(sizes)])
    needed = sum(map(len, tree.categories.values()))
    fits = np.array_equal(np.sort(nodes), asked) and np.array_equal(starts, in_turn[:-1])
    if not fits or not len(codes) == in_turn[-1] == needed:
        yield not_explained(f"{where}.categories", parts)
