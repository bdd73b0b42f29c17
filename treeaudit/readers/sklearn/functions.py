"""Steps that compute new numbers from stored ones: bins are undone, others computed again."""

import itertools
import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from treeaudit.arrays import Float
from treeaudit.model.words import number
from treeaudit.readers.limits import Most
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.sklearn.column import OPEN, Apply, Column, derived, first_from, values_of
from treeaudit.readers.sklearn.encoders import Attributes, CannotUndoError

SELECTIONS = (
    "VarianceThreshold RFE RFECV SequentialFeatureSelector SelectKBest SelectPercentile SelectFpr "
    "SelectFdr SelectFwe GenericUnivariateSelect"
).split()
_SUMS = ["PCA", "IncrementalPCA", "TruncatedSVD"]
_ROWS = (
    "FunctionTransformer Normalizer PolynomialFeatures PowerTransformer QuantileTransformer "
    "SplineTransformer"
).split()
COMPUTED = (*_SUMS, *_ROWS)
_PACKAGE = {
    **dict.fromkeys(SELECTIONS, "feature_selection"),
    **dict.fromkeys(_SUMS, "decomposition"),
    **dict.fromkeys([*_ROWS, "StandardScaler"], "preprocessing"),
}
_FUNCTIONS = frozenset(
    "abs absolute arcsinh arctan cbrt ceil cos exp exp2 expm1 fabs floor log log10 log1p log2 "
    "negative reciprocal rint sign sin sinh sqrt square tan tanh trunc".split()
)
"""Functions of numpy that may be called: of one number each."""


def installed(kind: str, attributes: Attributes) -> Any:  # noqa: ANN401  # of scikit-learn
    """Return the step of the installed scikit-learn that has the same plain numbers and texts."""
    from importlib import import_module

    if attributes.get("kw_args"):
        raise CannotUndoError
    cls = getattr(import_module(f"sklearn.{_PACKAGE[kind]}"), kind)
    step = cls()
    for name, value in attributes.items():
        found = _plain(arrived(value))
        if "features" in name and isinstance(found, int) and found > Most.features:
            raise CannotUndoError
        if found is not None:
            setattr(step, name, found)
    return step


def _plain(value: object) -> object:
    """Return a value that holds numbers and texts alone; else None."""
    match value:
        case np.ndarray() if value.dtype.kind in "biuf":
            return value
        case bool() | int() | float() | str():
            return value
        case list() | tuple():
            each = [_plain(one) for one in value]
            return None if any(one is None for one in each) else type(value)(each)
        case Global() if value.module.split(".")[0] == "numpy" and value.name in _FUNCTIONS:
            return getattr(np, value.name)
        case Inert(cls=Global(name="StandardScaler")):
            return installed("StandardScaler", value.attributes)
        case Inert(cls=Global(name="BSpline")):
            from scipy.interpolate import BSpline

            told = {name.lstrip("_"): arrived(one) for name, one in value.attributes.items()}
            return BSpline(told["t"], told["c"], told["k"], extrapolate=told["extrapolate"])
    return None


def selected(kind: str, attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    """Undo a selection of columns."""
    kept = attributes.get("support_")
    kept = kept if isinstance(kept, np.ndarray) else installed(kind, attributes).get_support()
    return [c for c, one in zip(columns, kept.tolist(), strict=True) if one]


def computed(kind: str, attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    """Compute again what a step of scikit-learn computes; a column alone stays as it is."""
    func = arrived(attributes.get("func"))
    if kind == "FunctionTransformer" and func is None:
        return columns
    if func is not None and _plain(func) is None:
        return None
    if kind == "PolynomialFeatures" and _n_products(attributes, len(columns)) > Most.features:
        return None
    step, labels = installed(kind, attributes), [c.label for c in columns]
    apply = partial(_apply, step)
    width = apply(np.ones((1, len(columns)))).shape[1]
    if isinstance(func, Global):
        names = [f"{func.name}({label})" for label in labels]
    else:
        told = step.get_feature_names_out(np.array(labels, dtype=object)).tolist()
        told = ["constant" if name == "1" else str(name) for name in told]
        alike = kind != "PolynomialFeatures"
        names = [f"{kind}({name})" if alike and name in labels else name for name in told]
    if len(names) != width:
        return None
    alone = dict(zip(labels, columns, strict=True))
    return [alone.get(c.name, c) for c in made("", columns, names, apply)]


def _n_products(attributes: Attributes, n: int) -> float:
    """Bound how many products of powers a step makes of some columns."""
    degree = attributes.get("degree")
    stated = (degree[-1] if isinstance(degree, tuple | list) else degree, attributes["_max_degree"])
    most = [one for one in stated if isinstance(one, int) and 0 <= one <= 64]
    return math.comb(n + max(most), n) if len(most) == 2 else math.inf


def _apply(step: Any, table: Float) -> Float:  # noqa: ANN401  # of scikit-learn
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = step.transform(table)
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found, np.float64)


def made(
    kind: str, columns: Sequence[Column], names: Sequence[str], apply: Apply | None = None
) -> list[Column]:
    """Return the columns that a step makes of others, computed again if that is known."""
    how = [None] * len(names) if apply is None else derived(apply, columns, len(names))
    homes = [c.feature for c in columns] or [0]
    homes = homes if len(names) == len(columns) else homes[:1] * len(names)
    return [
        Column(feature=home, kind="made", name=name, derived=each, made_by=kind)
        for home, name, each in zip(homes, names, how, strict=True)
    ]


def _in_bins(inner: Sequence[Float], table: Float) -> Float:
    """Return the number of the bin of each number, column by column."""
    each = [np.searchsorted(e, x, side="right") for e, x in zip(inner, table.T, strict=True)]
    return np.where(np.isnan(table), np.nan, np.column_stack(each))


def _bin_names(inner: Float) -> tuple[str, ...]:
    ends = [number(edge) for edge in inner.tolist()] or ["any number"]
    between = [f"{low} to below {high}" for low, high in itertools.pairwise(ends)]
    return (f"below {ends[0]}", *between, f"{ends[-1]} and above") if len(inner) else tuple(ends)


def binned(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    """Undo a number for each bin, or a column of zeros and ones."""
    edges = arrived(attributes.get("bin_edges_"))
    if not isinstance(edges, np.ndarray) or len(edges) != len(columns):
        return None
    each = [arrived(e) for e in edges.tolist()] if edges.dtype == object else list(edges)
    inner = [np.asarray(e, np.float64)[1:-1] for e in each]
    if attributes.get("encode") == "ordinal":
        return stepped(inner, columns)
    codes = derived(partial(_in_bins, tuple(inner)), columns, len(columns))
    out = []
    for c, own, code in zip(columns, inner, codes, strict=True):
        known = _bin_names(own if c.derived else first_from(c, own))
        same = Column(feature=c.feature, name=c.name, kind="one-hot", known=known, derived=code)
        out += [replace(same, code=i) for i in range(len(known))]
    return out


def stepped(inner: Sequence[Float], columns: list[Column]) -> list[Column] | None:
    """Undo the number of edges that are not above a value."""
    if any(c.derived is not None or c.kind != "number" or c.ends != OPEN for c in columns):
        return None
    out = []
    for c, edges in zip(columns, inner, strict=True):
        ends = (-math.inf, *first_from(c, edges).tolist(), math.inf)
        gap = float(
            _in_bins([edges], values_of(c, {c.source: np.full(1, np.nan)}, {})[:, None])[0, 0]
        )
        fill = None if math.isnan(gap) else gap
        out.append(Column(feature=c.feature, name=c.name, kind="bins", edges=ends, fill=fill))
    return out


def binary(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    """Undo a 1 for each number above a threshold."""
    threshold = attributes.get("threshold", 0.0)
    if not isinstance(threshold, int | float) or not math.isfinite(threshold):
        raise CannotUndoError
    return stepped([np.array([np.nextafter(threshold, np.inf)])] * len(columns), columns)
