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
from treeaudit.readers.pickle.arrays import DType, arrived
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.residual.extra_content import is_plain
from treeaudit.writers.attribute_allowlist import ALLOWED
from treeaudit.writers.canonical_record import as_fitted, is_learned
from treeaudit.writers.node_tables import JSON
from treeaudit.writers.pickle_bytes import type_alone

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

_LONGER = frozenset(
    "categories drop dtype feature_range func inverse_func n_bins quantile_range remainder steps "
    "transformer_list transformer_weights transformers".split()
)
"""Parameters that are more than a number or a short text; a function that is none takes no
arguments."""
_OUTPUT = "_sklearn_output_config"

_DEEPEST = 12
_LONGEST = 200
_NUMPY = frozenset("float32 float64 int32 int64 bool_ object_ str_".split())


def live_step(step: object, version: str | None) -> Any:  # noqa: ANN401
    """Return a fitted transformer of the installed scikit-learn."""
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
            return type_alone(value)
        case Global() if value.module == "numpy" and value.name in _NUMPY:
            return getattr(np, value.name)
        case Inert():
            return _object(value, depth)
        case _:
            raise _refused(value)


def _object(value: Inert, depth: int) -> Any:  # noqa: ANN401
    module = value.cls.module.split(".")
    if value.kind == "slice" and module[0] in ("builtins", "__builtin__"):
        if not value.args:
            raise _refused(value.cls)
        return slice(*(_live(part, depth + 1) for part in value.args))
    if value.kind == "_RemainderColsList" and module[0] == "sklearn":
        return _live(value.attributes.get("data"), depth + 1)
    if module[0] != "sklearn" or value.kind not in TRANSFORMERS:
        raise _refused(value.cls)
    offered = import_module(f"sklearn.{TRANSFORMERS[value.kind]}")
    kind = getattr(offered, value.kind)
    made = kind([]) if value.kind in _ASKING else kind()
    parameters = set(made.get_params(deep=False))
    fitted = {name for name in ALLOWED[value.kind] if is_learned(name)} - {"_sklearn_version"}
    for name, each in value.attributes.items():
        setting = name in parameters and (name in _LONGER or is_plain(arrived(each), _LONGEST))
        if not setting and name not in fitted and not (name == _OUTPUT and _is_output(each)):
            continue
        if name in ("func", "inverse_func") and each is not None:
            raise _refused(each)
        if name.endswith("random_state"):
            each = None
        if name == "transformers" and value.kind == "ColumnTransformer":
            each = as_fitted(value, each)
        setattr(made, name, _live(each, depth + 1))
    return made


def _is_output(value: object) -> bool:
    """Tell whether this is what `set_output` stores."""
    return value in [{"transform": form} for form in ("default", "pandas", "polars")]


_ASKING = frozenset({"ColumnTransformer", "FeatureUnion", "Pipeline"})


def _refused(value: object) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"the pipeline holds {show(value)}, which is not rebuilt (known steps: "
        f"{', '.join(TRANSFORMERS)}): {JSON}"
    )
