"""Encoders, bins and imputers: what each value was before another took its place."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from treeaudit.errors import ReadError
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.sklearn.column import (
    OPEN,
    Attributes,
    CannotUndoError,
    Column,
    switched_on,
)
from treeaudit.readers.sklearn.labels import category_names, text_of


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
