"""Preprocessing steps, rebuilt from what an inert reader holds.

Only transformers of scikit-learn's public interface, only plain values and
arrays; anything else is refused. Nothing is unpickled.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from treeaudit.errors import UnsupportedModelError
from treeaudit.readers.limits import show
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.dtypes import DType
from treeaudit.readers.pickles.inert import Global, Inert
from treeaudit.writers.binary import JSON

__all__ = ["TRANSFORMERS", "live_step"]

TRANSFORMERS: Mapping[str, str] = {
    "ColumnTransformer": "compose",
    "FeatureUnion": "pipeline",
    "FunctionTransformer": "preprocessing",
    "KBinsDiscretizer": "preprocessing",
    "MaxAbsScaler": "preprocessing",
    "MinMaxScaler": "preprocessing",
    "OneHotEncoder": "preprocessing",
    "OrdinalEncoder": "preprocessing",
    "Pipeline": "pipeline",
    "RobustScaler": "preprocessing",
    "SimpleImputer": "impute",
    "StandardScaler": "preprocessing",
    "VarianceThreshold": "feature_selection",
}
"""Steps that are rebuilt, and the module of scikit-learn that offers them."""

_DEEPEST = 12
_NUMPY = frozenset("float32 float64 int32 int64 bool_ object_ str_".split())


def live_step(step: object, version: str | None) -> Any:  # noqa: ANN401
    """Return a fitted transformer of the installed scikit-learn.

    Parameters
    ----------
    step
        Its inert record, or ``passthrough``.
    version
        Of the scikit-learn that fitted it.

    Raises
    ------
    UnsupportedModelError
        If the version differs, or the step holds anything but plain values.
    """
    import sklearn

    if version is not None and version.split(".")[:2] != sklearn.__version__.split(".")[:2]:
        raise UnsupportedModelError(
            f"the steps before the tree were fitted by scikit-learn {version}, installed is "
            f"{sklearn.__version__}: install scikit-learn {version}, or {JSON}"
        )
    return _live(step, 0)


def _live(value: object, depth: int) -> Any:  # noqa: ANN401
    value = arrived(value)
    if depth > _DEEPEST:
        raise UnsupportedModelError(f"a step of the pipeline is nested too deeply: {JSON}")
    match value:
        case None | bool() | int() | float() | str() | np.generic():
            return value
        case list():
            return [_live(each, depth + 1) for each in value]
        case tuple():
            return tuple(_live(each, depth + 1) for each in value)
        case dict():
            return {_live(k, depth + 1): _live(v, depth + 1) for k, v in value.items()}
        case np.ndarray() if value.dtype != object:
            return np.array(value)
        case np.ndarray():
            flat = [_live(each, depth + 1) for each in value.ravel().tolist()]
            made = np.empty(len(flat), dtype=object)
            made[:] = flat
            return made.reshape(value.shape)
        case DType():
            return value.build()
        case Global() if value.module == "numpy" and value.name in _NUMPY:
            return getattr(np, value.name)
        case Inert():
            return _object(value, depth)
        case _:
            raise _refused(value)


def _object(value: Inert, depth: int) -> Any:  # noqa: ANN401
    module = value.cls.module.split(".")
    if value.kind == "slice" and module[0] in ("builtins", "__builtin__"):
        return slice(*(_live(part, depth + 1) for part in value.args))
    if value.kind == "_RemainderColsList" and module[0] == "sklearn":
        return _live(value.attributes.get("data"), depth + 1)
    if module[0] != "sklearn" or value.kind not in TRANSFORMERS:
        raise _refused(value.cls)
    offered = import_module(f"sklearn.{TRANSFORMERS[value.kind]}")
    kind = getattr(offered, value.kind)
    made = kind([]) if value.kind in _ASKING else kind()
    for name, each in value.attributes.items():
        if name == "_sklearn_version":
            continue
        if name in ("func", "inverse_func") and each is not None:
            raise _refused(each)
        if name.endswith("random_state"):
            each = None
        if name == "transformers" and value.kind == "ColumnTransformer":
            each = _as_fitted(value, each)
        setattr(made, name, _live(each, depth + 1))
    return made


_ASKING = frozenset({"ColumnTransformer", "FeatureUnion", "Pipeline"})


def _as_fitted(columns: Inert, stated: object) -> object:
    """Name the columns that were chosen instead of the function that chose them."""
    chosen = columns.get("_columns")
    if not isinstance(stated, list) or not isinstance(chosen, list) or len(chosen) != len(stated):
        return stated
    pairs = zip(stated, chosen, strict=True)
    return [(*one[:2], where) if isinstance(one, tuple) else one for one, where in pairs]


def _refused(value: object) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"the pipeline holds {show(value)}, which is not rebuilt (known steps: "
        f"{', '.join(TRANSFORMERS)}): {JSON}"
    )
