"""The preprocessing steps that can be undone, each by what it stores."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from treeaudit.arrays import Flag, Float
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.column import Column
from treeaudit.readers.sklearn.encoders import (
    Attributes,
    CannotUndoError,
    Undo,
    imputed,
    indicators,
    max_abs,
    min_max,
    numbers_of,
    one_hot,
    ordinal,
    passed_through,
    scaled,
)
from treeaudit.readers.sklearn.ensembles import FORESTS
from treeaudit.readers.sklearn.functions import (
    COMPUTED,
    SELECTIONS,
    binary,
    binned,
    computed,
    selected,
)
from treeaudit.readers.sklearn.model_ref import elements, is_tree

_CLOSE = 1e-9
"""Importances this close to the threshold, as a share of it, may be kept or not, by rounding."""
_LASSO = 1e-5


def by_importances(attributes: Attributes, columns: list[Column]) -> list[Column]:
    """Undo a ``SelectFromModel``, which stores the model and a threshold."""
    model = arrived(attributes.get("estimator_"))
    order, getter = attributes.get("norm_order", 1), attributes.get("importance_getter", "auto")
    if not isinstance(model, Inert) or getter != "auto" or not isinstance(order, int | float):
        raise CannotUndoError
    scores = _importances(model, order, len(columns))
    threshold = _threshold(model, attributes.get("threshold"), scores)
    if not np.isfinite(scores).all() or np.isnan(threshold):
        raise CannotUndoError
    # All are above nothing, however they are rounded.
    exact = threshold <= 0 <= scores.min(initial=0.0)
    if not exact and (np.abs(scores - threshold) <= _CLOSE * abs(threshold)).any():
        raise CannotUndoError
    kept = scores >= threshold
    most = attributes.get("max_features")
    if most is not None:
        most = attributes.get("max_features_", most)
        if not isinstance(most, int) or most < 0:
            raise CannotUndoError
        kept &= _first(scores, most, threshold)
    return [c for c, one in zip(columns, kept.tolist(), strict=True) if one]


def _first(scores: Float, most: int, threshold: float) -> Flag:
    """Tell which columns are the most important ones, as many as are asked for."""
    order = np.argsort(-scores, kind="stable")
    if 0 < most < len(scores):
        last, next_one = scores[order[most - 1]], scores[order[most]]
        if last > threshold and last - next_one <= _CLOSE * abs(last):
            raise CannotUndoError
    kept = np.zeros(len(scores), np.bool_)
    kept[order[:most]] = True
    return kept


def _importances(model: Inert, order: float, n: int) -> Float:
    """Return the importance of each column, as ``importance_getter="auto"`` takes it."""
    stored = arrived(model.get("coef_"))
    if isinstance(stored, np.ndarray) and stored.dtype.kind in "iuf" and stored.shape[-1:] == (n,):
        table = stored.astype(np.float64)
        one = np.abs(table) if table.ndim == 1 else np.linalg.norm(table, axis=0, ord=order)
        return np.asarray(one, dtype=np.float64)
    if is_tree(model):
        return _of_tree(model, n, shares=True)
    boosted = model.kind.startswith("GradientBoosting")
    if model.kind not in FORESTS and not boosted:
        raise CannotUndoError
    trees = [one for one in elements(model.get("estimators_")) if is_tree(one)]
    each = [_of_tree(one, n, shares=not boosted) for one in trees if isinstance(one, Inert)]
    each = [one for one in each if one.any()]
    mean: Float = np.mean(each, axis=0) if each else np.zeros(n)
    return mean / mean.sum() if mean.any() else mean


def _of_tree(model: Inert, n: int, *, shares: bool) -> Float:
    """Return by how much the splits on each column lower the impurity."""
    tree = arrived(model.get("tree_"))
    nodes = arrived(tree.get("nodes")) if isinstance(tree, Inert) else None
    needed = {"left_child", "right_child", "feature", "impurity", "weighted_n_node_samples"}
    if not isinstance(nodes, np.ndarray) or not needed <= {*(nodes.dtype.names or ())}:
        raise CannotUndoError
    inner = np.flatnonzero(nodes["left_child"] >= 0)
    feature, sides = nodes["feature"][inner], (nodes["left_child"], nodes["right_child"])
    below = [side[inner] for side in sides]
    within = all(((part >= 0) & (part < len(nodes))).all() for part in below)
    if not within or ((feature < 0) | (feature >= n)).any():
        raise CannotUndoError
    whole = nodes["weighted_n_node_samples"] * nodes["impurity"]
    gain = whole[inner] - whole[below[0]] - whole[below[1]]
    found: Float = np.bincount(feature, weights=gain, minlength=n).astype(np.float64)
    found /= max(float(nodes["weighted_n_node_samples"][0]), 1e-300) if len(nodes) else 1.0
    return found / found.sum() if shares and found.sum() > 0 else found


def _threshold(model: Inert, asked: object, scores: Float) -> float:
    """Return the number that importances are held against."""
    if asked is None:
        if model.get("penalty") == "l1" or "Lasso" in model.kind:
            return _LASSO
        ratio = arrived(model.get("l1_ratio_" if model.kind.endswith("CV") else "l1_ratio"))
        if (
            ratio is not None
            and np.isclose(numbers_of(np.atleast_1d(np.asarray(ratio)), 1, 0), 1).any()
        ):
            # Versions of scikit-learn differ in what they take by default.
            raise CannotUndoError
        return float(scores.mean())
    if isinstance(asked, str):
        times, _, what = asked.rpartition("*")
        try:
            scale = float(times) if times else 1.0
        except ValueError:
            raise CannotUndoError from None
        if what.strip() not in ("mean", "median"):
            raise CannotUndoError
        return scale * float(scores.mean() if what.strip() == "mean" else np.median(scores))
    if not isinstance(asked, int | float):
        raise CannotUndoError
    return float(asked)


UNDO: Mapping[str, Undo] = {
    "StandardScaler": scaled("scale_", "mean_", ("with_mean", "with_std")),
    "RobustScaler": scaled("scale_", "center_", ("with_centering", "with_scaling")),
    "MaxAbsScaler": max_abs,
    "MinMaxScaler": min_max,
    "SimpleImputer": imputed,
    "KNNImputer": passed_through,
    "IterativeImputer": passed_through,
    "MissingIndicator": indicators,
    "OneHotEncoder": one_hot,
    "OrdinalEncoder": ordinal,
    "KBinsDiscretizer": binned,
    "Binarizer": binary,
    "SelectFromModel": by_importances,
    **{kind: partial(selected, kind) for kind in SELECTIONS},
    **{kind: partial(computed, kind) for kind in COMPUTED},
}
"""The steps that can be undone, or computed again."""
