"""Encoders, bins and imputers: what each value was before another took its place."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from treeaudit.arrays import Float
from treeaudit.errors import ReadError
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.sklearn.column import OPEN, Column
from treeaudit.readers.sklearn.model_ref import category_names, elements, text_of


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


def affine(columns: list[Column], factor: Float, offset: Float) -> list[Column] | None:
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
        return affine(columns, *parts)

    return undo


def min_max(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    """Undo ``x * scale + least``."""
    scale = numbers_of(attributes.get("scale_"), len(columns), 1.0)
    if (scale == 0).any():
        return None
    least = numbers_of(attributes.get("min_"), len(columns), 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        made = affine(columns, 1 / scale, -least / scale)
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
    if any(c.ends != OPEN for c in columns):
        return None
    both = [(c, v) for c, v in zip(columns, fill.tolist(), strict=True) if not _is_nan(v)]
    if len(both) < len(columns) and attributes.get("keep_empty_features"):
        return None
    if fill.dtype.kind != "f":
        out = [_codes_filled(c, v) if c.kind == "ordinal" else _filled(c, v) for c, v in both]
    else:
        out = [
            replace(c, fill=f * c.scale + c.shift)
            if c.kind in ("number", "made") and c.fill is None
            else _codes_filled(c, f)
            for c, f in both
        ]
    return _with_indicators(attributes, columns, out)


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _with_indicators(
    attributes: Attributes, columns: list[Column], out: list[Column]
) -> list[Column] | None:
    """Add the columns that tell missing values, if an imputer is asked for them."""
    if not switched_on(attributes, "add_indicator", False):
        return out
    indicator = attributes.get("indicator_")
    if not isinstance(indicator, Inert):
        return None
    found = indicators(indicator.attributes, columns)
    return None if found is None else out + found


def indicators(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    """Undo columns that are 1 if a value is missing."""
    places = arrived(attributes.get("features_"))
    missing = attributes.get("missing_values", math.nan)
    if not isinstance(places, np.ndarray) or not _is_nan(missing):
        return None
    some = [columns[i] for i in places.tolist()]
    if not all(c.kind == "number" and c.fill is None and c.derived is None for c in some):
        return None
    return [Column(feature=c.feature, name=c.name, kind="missing") for c in some]


def passed_through(kind: str, attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    """Undo an imputer that guesses from other columns: what is not missing stays."""
    return _with_indicators(attributes, columns, [replace(c, made_by=kind) for c in columns])


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


def _groups(attributes: Attributes, known: list[tuple[str, ...]]) -> list[list[int] | None]:
    """Return the code that an encoder gives each category, if it takes rare ones as one."""
    if not switched_on(attributes, "_infrequent_enabled", False):
        return [None] * len(known)
    stored = elements(attributes.get("_default_to_infrequent_mappings"))
    stated = elements(attributes.get("_infrequent_indices"))
    if len(stored) != len(known) or len(stated) != len(known):
        raise CannotUndoError
    groups: list[list[int] | None] = []
    for names, codes, rare in zip(known, stored, stated, strict=True):
        plain = codes.tolist() if isinstance(codes, np.ndarray) else None
        listed = rare.tolist() if isinstance(rare, np.ndarray) else []
        if plain is not None:
            others = [code for i, code in enumerate(plain) if i not in listed]
            last = [plain[i] for i in listed]
            right = others == list(range(len(others))) and {*last} == {len(others)}
        if (listed and plain is None) or (plain and not (right and len(plain) == len(names))):
            raise ReadError("the encoder of the pipeline is inconsistent: it has other rare values")
        groups.append(plain)
    return groups


def _rare_last(names: tuple[str, ...], group: list[int] | None) -> tuple[tuple[str, ...], int]:
    """Return categories with those last that an encoder takes as one, and how many these are."""
    if group is None:
        return names, 1
    order = sorted(range(len(names)), key=lambda i: group[i])
    return tuple(names[i] for i in order), group.count(max(group))


def one_hot(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    """Undo a column of zeros and ones for each category, or for all rare ones."""
    told = _categories(attributes)
    known = [names for names, _ in told]
    if len(known) != len(columns) or not all(c.is_plain for c in columns):
        return None
    groups = _groups(attributes, known)
    dropped = arrived(attributes.get("drop_idx_"))
    left_out = _left_out(attributes, dropped, known, groups)
    unknown = attributes.get("handle_unknown")
    ignores = unknown in ("ignore", "infrequent_if_exist", "warn")
    out = []
    for column, (names, gap), group, left in zip(columns, told, groups, left_out, strict=True):
        instead = _instead(column)
        ordered, rare = _rare_last(names, group)
        for code in range(len(names) - rare + 1):
            span = rare if code == len(names) - rare else 1
            if code == left:
                continue
            out.append(
                Column(
                    feature=column.feature,
                    name=column.name,
                    kind="one-hot",
                    known=ordered,
                    code=code,
                    span=span,
                    rare=0 if group is None else rare,
                    instead=gap if instead is None else instead,
                    ignores_unknown=ignores,
                    takes_unknown=group is not None
                    and code == max(group)
                    and unknown in ("infrequent_if_exist", "warn"),
                )
            )
    return out


def _left_out(
    attributes: Attributes,
    dropped: object,
    known: Sequence[Sequence[str]],
    groups: Sequence[list[int] | None],
) -> list[int | None]:
    """Return the code that is left out of each column, and check that an encoder works by it."""
    stated = dropped.tolist() if isinstance(dropped, np.ndarray) else [None] * len(known)
    grouped = [
        at if at is None or group is None else group[at]
        for at, group in zip(stated, groups, strict=True)
    ]
    used = arrived(attributes.get("_drop_idx_after_grouping", dropped))
    codes = [
        (len(names) if group is None else max(group) + 1) - (at is not None)
        for names, group, at in zip(known, groups, grouped, strict=True)
    ]
    if (used.tolist() if isinstance(used, np.ndarray) else [None] * len(known)) != grouped or (
        attributes.get("_n_features_outs", codes) != codes
    ):
        raise ReadError("the encoder of the pipeline is inconsistent: it leaves out other columns")
    return grouped


def ordinal(attributes: Attributes, columns: list[Column]) -> list[Column] | None:
    """Undo a number for each category."""
    known = _categories(attributes)
    if len(known) != len(columns) or not all(c.is_plain for c in columns):
        return None
    groups = _groups(attributes, [names for names, _ in known])
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
    for i, (c, (names, gap), group) in enumerate(zip(columns, known, groups, strict=True)):
        instead, apart, fill = _instead(c), None, other
        if i in missing:
            if group is not None:
                return None
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
        ordered, rare = _rare_last(names, group)
        out.append(
            Column(
                feature=c.feature,
                name=c.name,
                kind="ordinal",
                known=ordered,
                span=rare,
                rare=0 if group is None else rare,
                instead=instead,
                apart=apart,
                fill=None if math.isnan(fill) else float(fill),
                ignores_unknown=ignores,
            )
        )
    return out


def _is_same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))
