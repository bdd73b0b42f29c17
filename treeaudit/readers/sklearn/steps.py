"""The preprocessing steps that can be undone, each by what it stores."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from treeaudit.arrays import Float
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


def by_importances(attributes: Attributes, columns: list[Column]) -> list[Column]:
    """Undo a ``SelectFromModel``, which stores the model and a threshold."""
    from sklearn.base import BaseEstimator
    from sklearn.feature_selection import SelectFromModel

    model = arrived(attributes.get("estimator_"))
    order, getter = attributes.get("norm_order", 1), attributes.get("importance_getter", "auto")
    if not isinstance(model, Inert) or getter != "auto" or not isinstance(order, int | float):
        raise CannotUndoError
    asked = attributes.get("threshold")
    ratio = arrived(model.get("l1_ratio_" if model.kind.endswith("CV") else "l1_ratio"))
    lasso = "Lasso" in model.kind or model.get("penalty") == "l1" or ratio is None
    if asked is None and not lasso and np.isclose(np.asarray(ratio, np.float64), 1).any():
        # Versions of scikit-learn differ in what they take by default.
        raise CannotUndoError
    like = type(model.kind, (BaseEstimator,), {"penalty": model.get("penalty")})()
    scores = like.feature_importances_ = _importances(model, order, len(columns))
    most = attributes.get("max_features_", attributes.get("max_features"))
    step = SelectFromModel(like, threshold=asked, max_features=most)
    step.estimator_ = like
    kept, threshold = step.get_support(), float(step.threshold_)
    if not np.isfinite(scores).all() or np.isnan(threshold):
        raise CannotUndoError
    # All are above nothing, however they are rounded.
    exact = threshold <= 0 <= scores.min(initial=0.0)
    ends = [threshold]
    if most is not None and kept.any() and not kept.all():
        ends.append(scores[kept].min())
    for end in [] if exact and len(ends) == 1 else ends:
        close = np.abs(scores - end) <= _CLOSE * abs(end)
        if (end == threshold and close.any()) or (close & ~kept).any():
            raise CannotUndoError
    return [c for c, one in zip(columns, kept.tolist(), strict=True) if one]


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


UNDO: Mapping[str, Undo] = {
    "StandardScaler": scaled("scale_", "mean_", ("with_mean", "with_std")),
    "RobustScaler": scaled("scale_", "center_", ("with_centering", "with_scaling")),
    "MaxAbsScaler": max_abs,
    "MinMaxScaler": min_max,
    "SimpleImputer": imputed,
    **{kind: partial(passed_through, kind) for kind in ("KNNImputer", "IterativeImputer")},
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
