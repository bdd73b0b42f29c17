"""What the columns that a tree sees were before the steps of its pipeline.

Each stored step is taken at its word: a scaler by its numbers, an encoder by
its categories. What cannot be undone is named after the step that made it.
`treeaudit.readers.undo` applies the result to a tree.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from treeaudit.readers.arrays import arrived
from treeaudit.readers.inert import Inert
from treeaudit.readers.labels import text_of
from treeaudit.schema import Feature

__all__ = ["Column", "Plan", "plan_of"]

Float = npt.NDArray[np.float64]
Kind = Literal["number", "one-hot", "ordinal", "bins", "made"]

_MOST_COLUMNS = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column that a step gives out, in terms of an original one.

    Attributes
    ----------
    feature
        Number of the original column.
    kind
        ``number``; ``one-hot`` (1 for one category); ``ordinal`` (the code of
        the category); ``bins`` (the number of the bin); ``made`` for what
        cannot be undone.
    name
        Its own name, for ``made``.
    scale, shift
        ``seen * scale + shift`` is the number, the 0 or 1, the code or the bin.
    known
        The categories.
    code
        The category that makes a 1.
    edges
        The edges of the bins.
    fill
        What missing values were replaced with, in units of the number.
    """

    feature: int
    kind: Kind = "number"
    name: str = ""
    scale: float = 1.0
    shift: float = 0.0
    known: tuple[str, ...] = ()
    code: int = 0
    edges: tuple[float, ...] = ()
    fill: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How to undo a pipeline.

    Attributes
    ----------
    columns
        One per column that the tree sees.
    features
        The original columns, and those that could not be undone.
    home
        For each of ``columns``, its place in ``features``.
    made
        Kinds of the steps that could not be undone.
    """

    columns: tuple[Column, ...]
    features: tuple[Feature, ...]
    home: tuple[int, ...]
    made: tuple[str, ...]


class _CannotUndoError(Exception):
    """A step does not tell how many columns it gives out."""


def plan_of(
    steps: Sequence[object], n_seen: int, names: Sequence[str] | None = None
) -> Plan | None:
    """Return how to undo some fitted steps, or None where they do not tell.

    Parameters
    ----------
    steps
        The stored steps, first to last.
    n_seen
        How many columns the tree sees.
    names
        The original names, where the pipeline knows them.

    Returns
    -------
    Plan or None
        None if the steps do not lead to ``n_seen`` columns.
    """
    first = next((step for step in steps if isinstance(step, Inert)), None)
    width = _width_in(first, n_seen)
    if width is None or width > _MOST_COLUMNS:
        return None
    names = names or _names_in(first, width) or [f"x{i}" for i in range(width)]
    made: list[str] = []
    try:
        columns = _chain(steps, [Column(feature=i) for i in range(width)], names, made)
    except (_CannotUndoError, TypeError, ValueError, IndexError, KeyError):
        return None
    if len(columns) != n_seen or len(names) != width:
        return None
    features, home = _features(columns, names)
    return Plan(
        columns=tuple(columns), features=features, home=home, made=tuple(dict.fromkeys(made))
    )


def _width_in(step: Inert | None, n_seen: int) -> int | None:
    stated = None if step is None else step.attributes.get("n_features_in_")
    if isinstance(stated, int):
        return stated
    if step is not None and step.kind == "Pipeline":
        inner = [s[1] for s in step.attributes.get("steps", []) if isinstance(s[1], Inert)]  # type: ignore[attr-defined,unused-ignore]
        return _width_in(inner[0], n_seen) if inner else n_seen
    return n_seen


def _names_in(step: Inert | None, width: int) -> list[str] | None:
    stored = None if step is None else arrived(step.attributes.get("feature_names_in_"))
    if not isinstance(stored, np.ndarray) or stored.shape != (width,):
        return None
    return [text_of(name) for name in stored.tolist()]


def _features(
    columns: Sequence[Column], names: Sequence[str]
) -> tuple[tuple[Feature, ...], tuple[int, ...]]:
    """Give every original column, and every made one, one feature."""
    keys: dict[tuple[int, int, tuple[str, ...], str], int] = {}
    for column in columns:
        numeric = column.kind in ("number", "bins")
        keys[(column.feature, 0 if numeric else 1, column.known, column.name)] = 0
    features: list[Feature] = []
    taken: set[str] = set()
    for place, key in enumerate(sorted(keys)):
        feature, _, known, made = key
        name = made or names[feature]
        while name in taken:
            name += " (encoded)"
        taken.add(name)
        features.append(Feature(name=name, categories=known or None))
        keys[key] = place
    home = []
    for c in columns:
        numeric = c.kind in ("number", "bins")
        home.append(keys[(c.feature, 0 if numeric else 1, c.known, c.name)])
    return tuple(features), tuple(home)


def _chain(
    steps: Sequence[object], columns: list[Column], names: Sequence[str], made: list[str]
) -> list[Column]:
    for step in steps:
        if step is None or (isinstance(step, str) and step == "passthrough"):
            continue
        if isinstance(step, str) and step == "drop":
            return []
        if not isinstance(step, Inert):
            raise _CannotUndoError
        columns = _after(step, columns, names, made)
        if len(columns) > _MOST_COLUMNS:
            raise _CannotUndoError
    return columns


def _after(
    step: Inert, columns: list[Column], names: Sequence[str], made: list[str]
) -> list[Column]:
    attributes = {name: arrived(value) for name, value in step.attributes.items()}
    if step.kind == "Pipeline":
        inner = [pair[1] for pair in attributes["steps"]]  # type: ignore[attr-defined]
        return _chain(inner, columns, names, made)
    if step.kind in ("ColumnTransformer", "FeatureUnion"):
        return _side_by_side(step.kind, attributes, columns, names, made)
    undo = _UNDO.get(step.kind)
    if undo is not None:
        undone = undo(attributes, columns)
        if undone is not None:
            return undone
    made.append(step.kind)
    return _made(step.kind, attributes, columns, names)


def _side_by_side(
    kind: str,
    attributes: Mapping[str, object],
    columns: list[Column],
    names: Sequence[str],
    made: list[str],
) -> list[Column]:
    out: list[Column] = []
    if kind == "FeatureUnion":
        for _, step in attributes["transformer_list"]:  # type: ignore[attr-defined]
            out += _chain([step], columns, names, made)
        return out
    for _, step, chosen in attributes["transformers_"]:  # type: ignore[attr-defined]
        places = _places(chosen, columns, names)
        out += _chain([step], [columns[i] for i in places], names, made)
    return out


def _places(chosen: object, columns: Sequence[Column], names: Sequence[str]) -> list[int]:
    """Return the positions that a column selection of scikit-learn means."""
    chosen = arrived(chosen)
    if isinstance(chosen, Inert) and chosen.kind == "slice":
        start, stop, step = chosen.args
        if isinstance(start, str) or isinstance(stop, str):
            own = [names[c.feature] for c in columns]
            start = own.index(start) if isinstance(start, str) else start
            stop = own.index(stop) + 1 if isinstance(stop, str) else stop
        return list(range(len(columns)))[slice(start, stop, step)]  # type: ignore[misc]
    if isinstance(chosen, np.ndarray):
        chosen = chosen.tolist()
    if isinstance(chosen, str | int):
        chosen = [chosen]
    if not isinstance(chosen, list | tuple):
        raise _CannotUndoError
    if chosen and all(isinstance(c, bool) for c in chosen):
        return [i for i, wanted in enumerate(chosen) if wanted]
    own = [names[c.feature] for c in columns]
    return [own.index(c) if isinstance(c, str) else int(c) for c in chosen]


def _made(
    kind: str, attributes: Mapping[str, object], columns: list[Column], names: Sequence[str]
) -> list[Column]:
    """Name the columns that a step made and that cannot be undone."""
    if kind in _ONE_TO_ONE:
        return [
            Column(feature=c.feature, kind="made", name=f"{c.name or names[c.feature]} ({kind})")
            for c in columns
        ]
    width = None
    for name in ("n_components_", "_n_features_out", "n_output_features_"):
        if isinstance(stated := attributes.get(name), int):
            width = stated
    for name in ("components_", "powers_"):
        if isinstance(stored := attributes.get(name), np.ndarray):
            width = stored.shape[0]
    if isinstance(vocabulary := attributes.get("vocabulary_"), dict):
        width = len(vocabulary)
    if width is None:
        raise _CannotUndoError
    home = columns[0].feature if columns else 0
    return [Column(feature=home, kind="made", name=f"{kind} {i}") for i in range(width)]


_ONE_TO_ONE = frozenset(
    "Normalizer PowerTransformer QuantileTransformer FunctionTransformer Binarizer "
    "KBinsDiscretizer TargetEncoder SplineTransformer".split()
)

Attributes = Mapping[str, object]
Undo = Callable[[Attributes, list[Column]], list[Column] | None]


def _affine(columns: list[Column], factor: Float, offset: Float) -> list[Column] | None:
    """Put ``before = after * factor + offset`` behind what was undone already."""
    if len(factor) != len(columns) or len(offset) != len(columns):
        return None
    if not (np.isfinite(factor).all() and np.isfinite(offset).all() and (factor > 0).all()):
        return None
    return [
        replace(c, scale=c.scale * f, shift=c.scale * o + c.shift)
        for c, f, o in zip(columns, factor.tolist(), offset.tolist(), strict=True)
    ]


def _numbers(value: object, n: int, default: float) -> Float:
    if value is None:
        return np.full(n, default)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiu" or value.ndim != 1:
        raise _CannotUndoError
    return value.astype(np.float64)


def _scaled(
    spread: str, middle: str, switches: tuple[str, str]
) -> Callable[[Attributes, list[Column]], list[Column] | None]:
    """Undo ``(x - middle) / spread``."""

    def undo(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
        n = len(columns)
        centred, scaled = (attributes.get(switch, True) for switch in switches)
        factor = _numbers(attributes.get(spread) if scaled else None, n, 1.0)
        offset = _numbers(attributes.get(middle) if centred else None, n, 0.0)
        return _affine(columns, factor, offset)

    return undo


def _min_max(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    scale = _numbers(attributes.get("scale_"), len(columns), 1.0)
    if (scale == 0).any():
        return None
    return _affine(columns, 1 / scale, -_numbers(attributes.get("min_"), len(columns), 0.0) / scale)


def _imputed(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    fill = arrived(attributes.get("statistics_"))
    if not isinstance(fill, np.ndarray) or len(fill) != len(columns):
        return None
    if attributes.get("add_indicator") is True:
        return None
    if fill.dtype.kind != "f":
        return columns
    if np.isnan(fill).any():
        return None
    return [
        replace(c, fill=f * c.scale + c.shift) if c.kind == "number" else c
        for c, f in zip(columns, fill.tolist(), strict=True)
    ]


def _categories(attributes: Attributes) -> list[tuple[str, ...]]:
    stored = attributes.get("categories_")
    if not isinstance(stored, list):
        raise _CannotUndoError
    arrays = [arrived(each) for each in stored]
    if not all(isinstance(each, np.ndarray) and each.ndim == 1 for each in arrays):
        raise _CannotUndoError
    return [tuple(text_of(v) for v in each.tolist()) for each in arrays]  # type: ignore[attr-defined]


def _one_hot(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    known = _categories(attributes)
    if len(known) != len(columns) or attributes.get("_infrequent_enabled") is True:
        return None
    if any(c.kind != "number" for c in columns):
        return None
    dropped = arrived(attributes.get("drop_idx_"))
    out = []
    for i, (column, names) in enumerate(zip(columns, known, strict=True)):
        left_out = dropped.tolist()[i] if isinstance(dropped, np.ndarray) else None
        out += [
            Column(feature=column.feature, kind="one-hot", known=names, code=code)
            for code in range(len(names))
            if code != left_out
        ]
    return out


def _ordinal(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    known = _categories(attributes)
    if len(known) != len(columns) or any(c.kind != "number" for c in columns):
        return None
    return [
        Column(feature=c.feature, kind="ordinal", known=names)
        for c, names in zip(columns, known, strict=True)
    ]


def _binned(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    edges = arrived(attributes.get("bin_edges_"))
    if attributes.get("encode") != "ordinal" or not isinstance(edges, np.ndarray):
        return None
    each = [arrived(e) for e in edges.tolist()] if edges.dtype == object else list(edges)
    if len(each) != len(columns) or any(c.kind != "number" or c.scale != 1 for c in columns):
        return None
    return [
        Column(feature=c.feature, kind="bins", edges=tuple(np.asarray(e, np.float64).tolist()))
        for c, e in zip(columns, each, strict=True)
    ]


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
        raise _CannotUndoError
    return [c for c, kept in zip(columns, mask.tolist(), strict=True) if kept]


_UNDO: Mapping[str, Undo] = {
    "StandardScaler": _scaled("scale_", "mean_", ("with_mean", "with_std")),
    "RobustScaler": _scaled("scale_", "center_", ("with_centering", "with_scaling")),
    "MaxAbsScaler": _scaled("scale_", "", ("", "")),
    "MinMaxScaler": _min_max,
    "SimpleImputer": _imputed,
    "OneHotEncoder": _one_hot,
    "OrdinalEncoder": _ordinal,
    "KBinsDiscretizer": _binned,
    "FunctionTransformer": _identity,
    "VarianceThreshold": _chosen,
    "RFE": _chosen,
    "RFECV": _chosen,
    "SequentialFeatureSelector": _chosen,
}
"""The steps that can be undone."""
