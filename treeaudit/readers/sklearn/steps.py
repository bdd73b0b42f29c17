"""The preprocessing steps that can be undone, each by what it stores."""

from collections.abc import Mapping

import numpy as np

from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.sklearn.column import (
    Attributes,
    CannotUndoError,
    Column,
    Undo,
    numbers_of,
)
from treeaudit.readers.sklearn.encoders import binned, imputed, one_hot, ordinal
from treeaudit.readers.sklearn.importances import by_importances
from treeaudit.readers.sklearn.scalers import max_abs, min_max, scaled
from treeaudit.readers.sklearn.selections import kept_by_scores


def _identity(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    return columns if attributes.get("func") is None else None


def _chosen(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    """Undo a selection that stores which columns it keeps."""
    mask = arrived(attributes.get("support_"))
    variances = arrived(attributes.get("variances_"))
    if isinstance(variances, np.ndarray):
        threshold = attributes.get("threshold", 0.0)
        mask = variances > (threshold if isinstance(threshold, int | float) else 0.0)
    if not isinstance(mask, np.ndarray) or mask.shape != (len(columns),):
        raise CannotUndoError
    return [c for c, kept in zip(columns, mask.tolist(), strict=True) if kept]


def _by_score(kind: str, parameter: str) -> Undo:
    """Undo a selection by scores, which it works out anew each time that it is asked."""

    def undo(attributes: Attributes, columns: list[Column]) -> list[Column]:
        mode, asked = kind or str(attributes.get("mode")), attributes.get(parameter)
        told = attributes.get("scores_" if mode in ("k_best", "percentile") else "pvalues_")
        if told is None or len(scores := numbers_of(told, len(columns), 0.0)) != len(columns):
            raise CannotUndoError
        kept = kept_by_scores(mode, asked, scores).tolist()
        return [c for c, one in zip(columns, kept, strict=True) if one]

    return undo


UNDO: Mapping[str, Undo] = {
    "StandardScaler": scaled("scale_", "mean_", ("with_mean", "with_std")),
    "RobustScaler": scaled("scale_", "center_", ("with_centering", "with_scaling")),
    "MaxAbsScaler": max_abs,
    "MinMaxScaler": min_max,
    "SimpleImputer": imputed,
    "OneHotEncoder": one_hot,
    "OrdinalEncoder": ordinal,
    "KBinsDiscretizer": binned,
    "FunctionTransformer": _identity,
    "VarianceThreshold": _chosen,
    "RFE": _chosen,
    "RFECV": _chosen,
    "SequentialFeatureSelector": _chosen,
    "SelectFromModel": by_importances,
    "SelectKBest": _by_score("k_best", "k"),
    "SelectPercentile": _by_score("percentile", "percentile"),
    "SelectFpr": _by_score("fpr", "alpha"),
    "SelectFdr": _by_score("fdr", "alpha"),
    "SelectFwe": _by_score("fwe", "alpha"),
    "GenericUnivariateSelect": _by_score("", "param"),
}
"""The steps that can be undone."""
