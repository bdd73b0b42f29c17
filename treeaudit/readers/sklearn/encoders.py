"""Encoders, bins and imputers: what each value was before another took its place."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from treeaudit.arrays import Float
from treeaudit.errors import ReadError
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.sklearn.model_ref import category_names, text_of

OPEN = (-math.inf, math.inf)
Kind = Literal["number", "one-hot", "ordinal", "bins", "made"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column that a step gives out, in terms of an original one."""

    feature: int  # number of the original column
    # ``number``; ``one-hot`` (1 for one category); ``ordinal`` (the code of the category); ``bins``
    # (the number of the bin); ``made`` for what cannot be undone.
    kind: Kind = "number"
    name: str = ""  # its own name, for ``made``
    # ``seen * scale + shift`` is the number, the 0 or 1, the code or the bin.
    scale: float = 1.0
    shift: float = 0.0
    known: tuple[str, ...] = ()  # the categories
    code: int = 0  # the category that makes a 1
    edges: tuple[float, ...] = ()  # the edges of the bins
    # What missing values were replaced with, in units of the number; of an ordinal column that
    # knows a category of missing values: what others were that it does not know.
    fill: float | None = None
    # The same, where it is the name of a category, be it one of missing values.
    instead: str | None = None
    # The code of the last category of an ordinal column where that is not its place: of missing
    # values, not-a-number where they stay missing.
    apart: float | None = None
    # Whether a value that is none of the categories makes no 1 at all, or gets the code of missing
    # values.
    ignores_unknown: bool = False
    ends: tuple[float, float] = OPEN  # what its numbers are cut to: a tree asks for nothing beyond


class CannotUndoError(Exception):
    """A step does not tell how many columns it gives out."""


Attributes = Mapping[str, object]
Undo = Callable[[Attributes, list[Column]], list[Column] | None]


def numbers_of(value: object, n: int, default: float) -> Float:
    """Return one number for each column, as a step stores them."""
    if value is None:
        return np.full(n, default)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiu" or value.ndim != 1:
        raise CannotUndoError
    return value.astype(np.float64)


def switched_on(attributes: Attributes, switch: str, default: bool) -> bool:
    """Tell what scikit-learn, which asks whether it is true, takes a switch for."""
    value = attributes.get(switch, default)
    if value is None or isinstance(value, int | float | str):
        return bool(value)
    raise CannotUndoError


def _affine(columns: list[Column], factor: Float, offset: Float) -> list[Column] | None:
    """Put ``before = after * factor + offset`` behind what was undone already."""
    if len(factor) != len(columns) or len(offset) != len(columns):
        return None
    if not (np.isfinite(factor).all() and np.isfinite(offset).all() and (factor > 0).all()):
        return None
    return [
        replace(
            c,
            scale=c.scale * f,
            shift=c.scale * o + c.shift,
            ends=((c.ends[0] - o) / f, (c.ends[1] - o) / f),
        )
        for c, f, o in zip(columns, factor.tolist(), offset.tolist(), strict=True)
    ]


def scaled(
    spread: str, middle: str, switches: tuple[str, str]
) -> Callable[[Attributes, list[Column]], list[Column] | None]:
    """Undo ``(x - middle) / spread``."""

    def undo(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
        n = len(columns)
        parts = []
        for name, switch, default in ((spread, switches[1], 1.0), (middle, switches[0], 0.0)):
            wanted = bool(name) and switched_on(attributes, switch, True)
            stored = attributes.get(name) if wanted else None
            if wanted and stored is None:
                return None
            parts.append(numbers_of(stored, n, default))
        return _affine(columns, *parts)

    return undo


def min_max(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    """Undo ``x * scale + least``."""
    scale = numbers_of(attributes.get("scale_"), len(columns), 1.0)
    if (scale == 0).any():
        return None
    least = numbers_of(attributes.get("min_"), len(columns), 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        made = _affine(columns, 1 / scale, -least / scale)
    return _cut(made, attributes, attributes.get("feature_range"))


def max_abs(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    """Undo ``x / scale``."""
    made = scaled("scale_", "", ("", ""))(attributes, columns)
    return _cut(made, attributes, (-1, 1))


def _cut(made: list[Column] | None, attributes: Attributes, ends: object) -> list[Column] | None:
    """Cut what a scaler gives out to its ends, where it is asked to."""
    if made is None or not switched_on(attributes, "clip", False):
        return made
    if not isinstance(ends, list | tuple) or len(ends) != 2:
        return None
    low, high = (float(end) if isinstance(end, int | float) else math.nan for end in ends)
    if not low < high:
        return None
    # A column that was cut before is cut to what is left of it.
    both = [(max(low, c.ends[0]), min(high, c.ends[1])) for c in made]
    return [replace(c, ends=each) for c, each in zip(made, both, strict=True)]


def imputed(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    """Undo an imputer: missing values were this one."""
    fill = arrived(attributes.get("statistics_"))
    if not isinstance(fill, np.ndarray) or len(fill) != len(columns):
        return None
    missing = attributes.get("missing_values")
    if isinstance(missing, int | float) and not math.isnan(missing):
        return None
    if switched_on(attributes, "add_indicator", False) or any(c.ends != OPEN for c in columns):
        return None
    both = zip(columns, fill.tolist(), strict=True)
    if fill.dtype.kind != "f":
        return [_codes_filled(c, v) if c.kind == "ordinal" else _filled(c, v) for c, v in both]
    if np.isnan(fill).any():
        return None
    return [
        replace(c, fill=f * c.scale + c.shift) if c.kind == "number" else _codes_filled(c, f)
        for c, f in both
    ]


def _codes_filled(column: Column, value: object) -> Column:
    """Fill the codes of an encoder that are no number still."""
    if column.kind != "ordinal" or not isinstance(value, int | float):
        return column
    made: dict[str, Any] = {}
    code = value * column.scale + column.shift
    if column.fill is None and (column.instead is None or column.ignores_unknown):
        made["fill"] = code
    if column.apart is not None and math.isnan(column.apart):
        made["apart"] = code
    return replace(column, **made)


def _filled(column: Column, value: object) -> Column:
    """Fill a column with what an imputer of mixed columns puts into it."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return replace(column, fill=float(value))
    return replace(column, instead=text_of(value))


def _instead(column: Column) -> str | None:
    return column.instead if column.fill is None else text_of(column.fill)


def _are_plain(columns: Sequence[Column]) -> bool:
    """Tell whether columns are numbers as they came: categories and edges are told in these."""
    return all((c.kind, c.scale, c.shift, c.ends) == ("number", 1, 0, OPEN) for c in columns)


def _categories(attributes: Attributes) -> list[tuple[tuple[str, ...], str | None]]:
    """Return the categories of each column, and which of them is made of missing values."""
    stored = attributes.get("categories_")
    if not isinstance(stored, list):
        raise CannotUndoError
    known = []
    for each in map(arrived, stored):
        if not isinstance(each, np.ndarray) or each.ndim != 1:
            raise CannotUndoError
        known.append(category_names(each.tolist()))
    return known


def one_hot(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    """Undo a column of zeros and ones for each category."""
    told = _categories(attributes)
    known = [names for names, _ in told]
    if len(known) != len(columns) or switched_on(attributes, "_infrequent_enabled", False):
        return None
    if not _are_plain(columns):
        return None
    dropped = arrived(attributes.get("drop_idx_"))
    _check_one_hot(attributes, dropped, known)
    ignores = attributes.get("handle_unknown") in ("ignore", "infrequent_if_exist", "warn")
    out = []
    for i, (column, (names, gap)) in enumerate(zip(columns, told, strict=True)):
        left_out = dropped.tolist()[i] if isinstance(dropped, np.ndarray) else None
        instead = _instead(column)
        out += [
            Column(
                feature=column.feature,
                kind="one-hot",
                known=names,
                code=code,
                instead=gap if instead is None else instead,
                ignores_unknown=ignores,
            )
            for code in range(len(names))
            if code != left_out
        ]
    return out


def _check_one_hot(attributes: Attributes, dropped: object, known: Sequence[Sequence[str]]) -> None:
    """Make sure that an encoder works by the numbers that it states."""
    stated = dropped.tolist() if isinstance(dropped, np.ndarray) else [None] * len(known)
    used = arrived(attributes.get("_drop_idx_after_grouping", dropped))
    widths = [len(names) - (at is not None) for names, at in zip(known, stated, strict=False)]
    if (used.tolist() if isinstance(used, np.ndarray) else [None] * len(known)) != stated or (
        attributes.get("_n_features_outs", widths) != widths
    ):
        raise ReadError("the encoder of the pipeline is inconsistent: it leaves out other columns")


def ordinal(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    """Undo a number for each category."""
    known = _categories(attributes)
    if len(known) != len(columns) or not _are_plain(columns):
        return None
    if switched_on(attributes, "_infrequent_enabled", False):
        return None
    missing = attributes.get("_missing_indices") or {}
    code = attributes.get("encoded_missing_value", math.nan)
    ignores = attributes.get("handle_unknown") == "use_encoded_value"
    # Nothing else than a category has a code where the encoder refuses it.
    other = attributes.get("unknown_value") if ignores else math.nan
    if not isinstance(missing, dict) or not isinstance(code, int | float):
        return None
    if not isinstance(other, int | float) or missing.keys() - set(range(len(known))):
        return None
    out = []
    for i, (c, (names, gap)) in enumerate(zip(columns, known, strict=True)):
        instead, apart, fill = _instead(c), None, other
        if i in missing:
            # Missing values are the last category, and get a number that is not its place.
            if missing[i] != len(names) - 1 or names[-1] != gap:
                raise ReadError("the encoder of the pipeline is inconsistent: no value is missing")
            if instead is not None:
                return None
            if ignores and not _is_same(code, other):
                instead, apart = gap, float(code)
            else:
                names, fill = names[:-1], code
        elif instead is None:
            instead = gap
        out.append(
            Column(
                feature=c.feature,
                kind="ordinal",
                known=names,
                instead=instead,
                apart=apart,
                fill=None if math.isnan(fill) else float(fill),
                ignores_unknown=ignores,
            )
        )
    return out


def _is_same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


def binned(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    """Undo a number for each bin."""
    edges = arrived(attributes.get("bin_edges_"))
    if attributes.get("encode") != "ordinal" or not isinstance(edges, np.ndarray):
        return None
    each = [arrived(e) for e in edges.tolist()] if edges.dtype == object else list(edges)
    if len(each) != len(columns) or not _are_plain(columns):
        return None
    return [
        Column(feature=c.feature, kind="bins", edges=tuple(np.asarray(e, np.float64).tolist()))
        for c, e in zip(columns, each, strict=True)
    ]
