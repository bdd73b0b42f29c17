"""What an XGBoost file says beside its trees: columns, loss, configuration."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from treeaudit.errors import ModelTooLargeError, ReadError, UnsupportedModelError
from treeaudit.model.schema import Feature, Label, Schema
from treeaudit.readers.boosters import check_number, whole
from treeaudit.readers.limits import Most, clean, show
from treeaudit.readers.xgboost.trees import Loss, StoredTree

_TREE_BOOSTERS = ("gbtree", "dart")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Booster:
    """One stored model, its trees still as they are in the file."""

    trees: Sequence[object]  # The tree objects
    outputs: Sequence[int]  # Which output (class) each tree is for
    scale: Sequence[float]  # What the leaf values of each tree are multiplied with (dart)
    # Columns; numbers per leaf
    n_features: int
    leaf_width: int
    # Feature names and types; empty where the file has none
    names: Sequence[str]
    kinds: Sequence[str]
    # Names of the categories by feature, where the file lists them
    categories: Mapping[int, tuple[str, ...]]
    loss: Loss  # What it was trained for
    version: str | None  # Of the XGBoost that wrote it
    parameters: Mapping[str, Any]  # Plain hyper-parameters
    out_of_turn: bool  # Whether trees and outputs are in an order that XGBoost never writes

    def before(self, version: tuple[int, ...]) -> bool:
        """Tell whether an older version wrote it, or one before 1.0, which states none."""
        return tuple(map(int, (self.version or "0").split("."))) < version


def read_booster(document: Mapping[str, object]) -> Booster:
    """Return the parts of a stored model."""
    learner = _object(document, "learner")
    kind = _object(learner, "gradient_booster").get("name")
    if kind not in _TREE_BOOSTERS:
        raise UnsupportedModelError(
            f"the XGBoost booster is {show(kind)}: it has no trees, only gbtree and dart have"
        )
    outer = _object(learner, "gradient_booster")
    model = _object(_object(outer, "gbtree") if kind == "dart" else outer, "model")
    # Since version 3.4 dart is no booster of its own.
    of_dart = outer if kind == "dart" else model
    dart = kind == "dart" or "weight_drop" in model
    trees = _list(model, "trees")
    check_number(len(trees), "XGBoost")
    stated = _object(model, "gbtree_model_param")
    if whole(stated, "num_trees", 0, Most.trees) != len(trees):
        raise ReadError(f"it announces {show(stated.get('num_trees'))} trees and has {len(trees)}")
    shape = _object(learner, "learner_model_param")
    n_features = whole(shape, "num_feature", 0, Most.features)
    n_outputs = max(
        whole(shape, "num_class", 0, Most.outputs),
        whole(shape, "num_target", 0, Most.outputs, 1),
        1,
    )
    n_parallel = max(whole(stated, "num_parallel_tree", 0, Most.trees, 1), 1)
    outputs = _outputs(model, len(trees), n_outputs)
    leaf_width = _leaf_width(trees[0])
    names, kinds = _names(learner, "feature_names"), _names(learner, "feature_types")
    for what, texts in (("names", names), ("types", kinds)):
        if texts and len(texts) != n_features:
            raise ReadError(f"it has {len(texts)} feature {what} for {n_features} features")
    turns = np.arange(len(trees)) // n_parallel % n_outputs
    one_round = n_parallel if leaf_width > 1 else n_parallel * n_outputs
    return Booster(
        trees=trees,
        outputs=outputs,
        scale=_scale(of_dart, len(trees)) if dart else [1.0] * len(trees),
        n_features=n_features,
        leaf_width=leaf_width,
        names=names,
        kinds=kinds,
        categories=_categories(model, n_features),
        loss=_loss(learner, shape, n_outputs, one_round),
        version=_version(document),
        parameters=_parameters(
            document, learner, shape, "dart" if dart else "gbtree", n_outputs, n_parallel
        ),
        out_of_turn=leaf_width == 1 and outputs != turns.tolist(),
    )


def schema_of(booster: Booster, trees: Iterable[StoredTree]) -> tuple[Schema, dict[int, int]]:
    """Return the columns and how many categories each categorical one has.

    Where the file does not list the categories, all codes above those that
    splits name behave the same: they become one last category. Of the trees
    are needed those that split by categories.
    """
    most: dict[int, int] = {}
    for tree in trees:
        for node, codes in tree.categories.items():
            feature = int(tree.feature[node])
            most[feature] = max(most.get(feature, 0), int(codes.max(initial=-1)))
    named = {f: names for f, names in booster.categories.items() if len(names) > most.get(f, -1)}
    unnamed = [feature for feature in most if feature not in named]
    if sum(most[feature] + 2 for feature in unnamed) > Most.categories:
        raise ModelTooLargeError(f"the model has more than {Most.categories:,} categories")
    for feature in unnamed:
        n = most[feature] + 1
        named[feature] = (*map(str, range(n)), f"{n} and above")
    names = booster.names or [f"x{i}" for i in range(booster.n_features)]
    features = tuple(
        Feature(name=clean(name), categories=named.get(i)) for i, name in enumerate(names)
    )
    classes: tuple[Label, ...] | None = None
    if booster.loss.objective.startswith("multi:"):
        classes = tuple(range(booster.loss.n_outputs))
    elif booster.loss.objective.startswith("binary:"):
        classes = (0, 1)
    schema = Schema(features=features, classes=classes, named=bool(booster.names))
    return schema, {feature: len(codes) for feature, codes in named.items()}


def _object(parent: Mapping[str, object], name: str) -> dict[str, object]:
    found = parent.get(name)
    if not isinstance(found, dict):
        raise ReadError(f"its {name} is missing")
    return found


def _list(parent: Mapping[str, object], name: str) -> list[object]:
    found = parent.get(name)
    if isinstance(found, np.ndarray):
        return list(found.tolist())
    if not isinstance(found, list):
        raise ReadError(f"its {name} is missing")
    return found


def _names(learner: Mapping[str, object], name: str) -> list[str]:
    found = _list(learner, name) if learner.get(name) is not None else []
    if not all(isinstance(text, str) for text in found):
        raise ReadError(f"its {name} are no texts")
    return [clean(text) for text in found]


def _float(value: object) -> float | None:
    try:
        number = float(value) if isinstance(value, str | int | float) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _base_scores(stated: object) -> tuple[float, ...]:
    """Read a number as text, or since 3.1 a list of numbers as text."""
    text = stated.strip() if isinstance(stated, str) else ""
    parts = text[1:-1].split(",") if text.startswith("[") and text.endswith("]") else [stated]
    numbers = [_float(part) for part in parts]
    return tuple(float(n) for n in numbers if n is not None) if None not in numbers else ()


def _outputs(model: Mapping[str, object], n_trees: int, n_outputs: int) -> list[int]:
    found = _list(model, "tree_info")
    if len(found) != n_trees:
        raise ReadError(f"its tree_info has {len(found)} entries for {n_trees} trees")
    outputs = [i for i in found if isinstance(i, int) and 0 <= i < n_outputs]
    if len(outputs) != n_trees:
        raise ReadError(f"its tree_info names outputs outside of {n_outputs}")
    return outputs


def _leaf_width(tree: object) -> int:
    if not isinstance(tree, dict):
        raise ReadError("tree 0: it is no object")
    return max(whole(_object(tree, "tree_param"), "size_leaf_vector", 0, Most.outputs, 1), 1)


def _scale(part: Mapping[str, object], n_trees: int) -> list[float]:
    weights = [_float(weight) for weight in _list(part, "weight_drop")]
    if len(weights) != n_trees or None in weights:
        raise ReadError(f"its weight_drop does not hold a number for each of {n_trees} trees")
    return [weight for weight in weights if weight is not None]


def _categories(model: Mapping[str, object], n_features: int) -> dict[int, tuple[str, ...]]:
    """Return the category names, which files since 3.1 hold."""
    cats = model.get("cats")
    columns = cats.get("enc") if isinstance(cats, dict) else None
    if not isinstance(columns, list) or len(columns) != n_features:
        return {}
    found = {}
    for i, column in enumerate(columns):
        if isinstance(column, dict) and (names := _decoded(column)):
            found[i] = names
    return found


def _decoded(column: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names of one column: texts as bytes with offsets, or plain numbers."""
    values = column.get("values")
    values = values.tolist() if isinstance(values, np.ndarray) else values
    if not isinstance(values, list) or not all(isinstance(v, int | float) for v in values):
        return ()
    if "offsets" not in column:
        return tuple(repr(value) for value in values)
    offsets = np.asarray(_list(column, "offsets"), dtype=np.int64).reshape(-1)
    if len(offsets) < 2 or np.any(np.diff(offsets) < 0):
        return ()
    if offsets[0] != 0 or offsets[-1] != len(values):
        raise ReadError("the names of its categories lie outside their list")
    raw = bytes(int(value) & 0xFF for value in values)
    starts = offsets.tolist()
    return tuple(clean(raw[a:b].decode("utf-8", "backslashreplace")) for a, b in pairwise(starts))


def _loss(
    learner: Mapping[str, object], shape: Mapping[str, object], n_outputs: int, one_round: int
) -> Loss:
    objective = learner.get("objective")
    stated = objective if isinstance(objective, dict) else {}
    regression = stated.get("reg_loss_param")
    weight = regression.get("scale_pos_weight") if isinstance(regression, dict) else None
    name, poisson = stated.get("name"), stated.get("poisson_regression_param")
    return Loss(
        objective=clean(name) if isinstance(name, str) and len(name) < 100 else "",
        base_score=_base_scores(shape.get("base_score")),
        scale_pos_weight=_float(weight),
        n_outputs=n_outputs,
        n_first_round=one_round,
        max_delta_step=_float(poisson.get("max_delta_step")) if isinstance(poisson, dict) else None,
    )


def _version(document: Mapping[str, object]) -> str | None:
    numbers = document.get("version")
    numbers = numbers.tolist() if isinstance(numbers, np.ndarray) else numbers
    if not isinstance(numbers, list) or not 0 < len(numbers) <= 4:
        return None
    if not all(isinstance(n, int) and 0 <= n < 10_000 for n in numbers):
        return None
    return ".".join(map(str, numbers))


def _parameters(
    document: Mapping[str, object],
    learner: Mapping[str, object],
    shape: Mapping[str, object],
    kind: str,
    n_outputs: int,
    n_parallel: int,
) -> dict[str, Any]:
    """Return hyper-parameters; of training only where the file holds its configuration."""
    objective = learner.get("objective")
    scores = _base_scores(shape.get("base_score"))
    found: dict[str, Any] = {
        "booster": kind,
        "objective": _plain(objective.get("name")) if isinstance(objective, dict) else None,
        "base_score": scores[0] if len(scores) == 1 else list(scores),
        "n_outputs": n_outputs,
        "num_parallel_tree": n_parallel,
    }
    training = _training(document)
    for name in ("subsample", "eta", "lambda", "alpha", "min_child_weight", "max_depth"):
        if (value := _float(training.get(name))) is not None:
            found[name] = value
    # A repaired model says there that its steps are of draws.
    said = learner.get("attributes")
    if isinstance(said, dict) and (value := _float(said.get("subsample"))) is not None:
        found["subsample"] = value
    return found


def seeds_of_draws(document: Mapping[str, object]) -> list[str]:
    """Return where the seed is from which the rows of each tree were drawn, a part of all."""
    found = []
    if _float(_training(document).get("subsample", 1)) != 1:
        found.append("Config")
    wrapper = _wrapper(document)
    if wrapper.get("subsample") not in (None, 1) and wrapper.get("random_state") is not None:
        found.append("learner.attributes.scikit_learn")
    return found


def _wrapper(document: Mapping[str, object]) -> Mapping[str, object]:
    """Return the parameters of the wrapper, which versions before 2 write as an attribute."""
    attributes = _object(document, "learner").get("attributes")
    text = attributes.get("scikit_learn") if isinstance(attributes, dict) else None
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _training(document: Mapping[str, object]) -> Mapping[str, object]:
    """Return the settings of training, where the file holds its configuration."""
    at: object = document.get("Config")
    for step in ("learner", "gradient_booster"):
        at = at.get(step) if isinstance(at, dict) else None
    if isinstance(at, dict) and isinstance(at.get("gbtree"), dict):
        at = at["gbtree"]
    settings = at.get("tree_train_param") if isinstance(at, dict) else None
    return settings if isinstance(settings, dict) else {}


def _plain(value: object) -> str | None:
    return clean(value)[:200] if isinstance(value, str) else None
