"""What is publicly known of the population before anybody sees the model.

A prior is a small table: one line per kind of people, with the share of each
label among them. Columns named like the labels hold the shares, and one more
column says who is meant::

    native-country, <=50K, >50K
    Japan,          0.61,  0.39
    *,              0.75,  0.25

``*`` stands for everybody who has no line. Ranges of a number are two columns,
``age low`` and ``age high``, for ``low < age <= high``; an empty cell is open.
With the shares alone, one line, everybody has the same prior.
"""

import difflib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeaudit.arrays import Float
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.schema import Schema
from treeaudit.model.words import cell, label_text
from treeaudit.people.input.cell_parsing import check_single, code_of, numbers_spelled, respelled
from treeaudit.people.input.table_input import read_table
from treeaudit.people.records import Records, names_in

if TYPE_CHECKING:
    import pandas as pd


OTHERS = "*"
"""The line for everybody who has no line of their own."""

_ROUNDING = 0.01
"""Published shares are rounded; beyond this they are no shares."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prior:
    """Public shares of the labels, one row per kind of people."""

    column: str | None  # The column that says who is of which kind; None where everybody is
    values: tuple[str, ...]  # The value of each kind, as text; ``*`` for everybody else
    # Shape ``(n_kinds,)``: the range ``low < x <= high`` of each kind; NaN where kinds are single
    # values
    low: Float
    high: Float
    share: Float  # Shape ``(n_kinds, n_classes)``: rows add up to 1
    origin: str = "the prior"  # What to call it in messages, such as ``prior.csv``

    @property
    def others(self) -> int | None:
        """Position of the line for everybody else, or None."""
        return self.values.index(OTHERS) if OTHERS in self.values else None

    def finder(self, called: Sequence[str] | None) -> Callable[[str], int | None]:
        """Return what finds the line of a value."""
        place = {value: i for i, value in enumerate(self.values) if value != OTHERS}
        numeric = called is None or all(
            numbers_spelled(texts) is not None for texts in (called, list(place))
        )
        return code_of(place) if numeric else place.get

    def kind(self, position: int) -> str:
        """Return who is meant, such as ``age > 15, ≤ 24``."""
        value = self.values[position]
        if self.column is None:
            return "everybody"
        if value == OTHERS:
            return f"any other {self.column}"
        ranged = not np.isnan(self.low[position])
        return f"{self.column} {value if ranged else f'= {value}'}"


def read_prior(data: object, forest: Forest, train: Records | None = None) -> Prior:
    """Read a table of public shares."""
    prior = data if isinstance(data, Prior) else prior_table(data, forest)
    if prior.column is not None:
        _check_column(prior.column, forest.schema, train, prior.origin)
    return prior


def prior_table(data: object, forest: Forest) -> Prior:
    """Read a table of public shares, whose column may be one that only the people have."""
    if isinstance(data, Prior):
        return data
    known = {label_text(label).strip() for label in forest.schema.classes or ()}

    def kinds(names: list[str]) -> tuple[list[int], list[int]]:
        told = [i for i, name in enumerate(names) if name.strip() not in known]
        return (told if len(told) == 1 else []), []

    sheet = read_table(data, "the prior", kinds)
    frame, origin = sheet.frame.rename(columns=lambda name: str(name).strip()), sheet.origin
    if forest.schema.classes is None:
        raise DataError(f"{origin}: the model predicts a number, so that labels have no shares")
    labels = [label_text(label).strip() for label in forest.schema.classes]
    missing = [label for label in labels if label not in frame.columns]
    if missing:
        near = difflib.get_close_matches(missing[0], list(frame.columns), 1)
        every = f"; give every label a column ({', '.join(labels[:6])})"
        hint = f"; did you mean {near[0]!r}?" if near else every
        raise DataError(f"{origin} has no column with the shares of the label {missing[0]!r}{hint}")
    for name in frame:
        check_single(frame[name], f"{origin}, column {name!r}")
    share = _shares(frame[labels], origin)
    rest = [name for name in frame.columns if name not in labels]
    numeric = {f.name for f in forest.schema.features if f.categories is None}
    column, values, low, high = _category_columns(frame[rest], origin, numeric)
    return Prior(column=column, values=values, low=low, high=high, share=share, origin=origin)


def _shares(frame: "pd.DataFrame", origin: str) -> Float:
    import pandas as pd

    share = frame.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    wrong = np.flatnonzero(~((share >= 0) & (share <= 1)).all(axis=1))
    if len(wrong):
        percent = share[wrong[0]].sum() > 1.5
        hint = "; write 0.25 for 25 %" if percent else ""
        raise DataError(f"{origin}, row {wrong[0] + 1}: a share is a number from 0 to 1{hint}")
    total = share.sum(axis=1)
    wrong = np.flatnonzero(np.abs(total - 1) > _ROUNDING)
    if len(wrong):
        raise DataError(
            f"{origin}, row {wrong[0] + 1}: the shares of the labels add up to "
            f"{total[wrong[0]]:.4g}, not to 1"
        )
    return np.asarray(share / total[:, None])


def _category_columns(
    frame: "pd.DataFrame", origin: str, numeric: Collection[str]
) -> tuple[str | None, tuple[str, ...], Float, Float]:
    n, names = len(frame), list(frame.columns)
    nothing = np.full(n, np.nan)
    if not names:
        if n > 1:
            raise DataError(f"{origin} has {n} lines, but no column that says who is meant")
        return None, (OTHERS,), nothing, nothing
    if len(names) == 1:
        values = tuple(texts_of(frame[names[0]], nothing=OTHERS))
        if names[0] in numeric:
            values = tuple(map(respelled, values))
        doubled = [value for i, value in enumerate(values) if value in values[:i]]
        if doubled:
            raise DataError(f"{origin} has two lines for {doubled[0]!r} of {names[0]!r}")
        return names[0], values, nothing, nothing
    column = names[0].removesuffix("low").rstrip(" _-")
    if len(names) != 2 or not names[0].endswith("low") or names[1] != names[0][:-3] + "high":
        raise DataError(
            f"{origin} needs one column that says who is meant beside the labels, or two such as "
            f"'age low' and 'age high'; it has {', '.join(names[:4])}"
        )
    return column, *_ranges(frame, origin)


def _ranges(frame: "pd.DataFrame", origin: str) -> tuple[tuple[str, ...], Float, Float]:
    import pandas as pd

    try:
        ends = frame.apply(pd.to_numeric).to_numpy(dtype=np.float64)
    except (ValueError, TypeError):
        raise DataError(f"{origin}: the ends of a range are numbers or empty") from None
    low = np.where(np.isnan(ends[:, 0]), -np.inf, ends[:, 0])
    high = np.where(np.isnan(ends[:, 1]), np.inf, ends[:, 1])
    empty = np.flatnonzero(low >= high)
    if len(empty):
        raise DataError(f"{origin}, row {empty[0] + 1}: no number is in this range")
    order = np.argsort(low, kind="stable")
    overlap = np.flatnonzero(high[order][:-1] > low[order][1:])
    if len(overlap):
        row = order[overlap[0] + 1]
        raise DataError(f"{origin}, row {row + 1}: the range overlaps another one")
    return tuple(cell(a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)), low, high


def _check_column(column: str, schema: Schema, train: Records | None, origin: str) -> None:
    known = [*schema.names, *([] if train is None else map(str, train.frame))]
    if column in known or indicators_of(column, schema):
        return
    near = difflib.get_close_matches(column, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else "give --train if only the people have it"
    raise DataError(f"{origin}: the model has no column {column!r}; {hint}")


def indicators_of(column: str, schema: Schema) -> dict[int, str]:
    """Return the features that are indicators of one value of a column each."""
    plain = [name.removesuffix(" (encoded)") for name in schema.names]
    begin = f"{column}_"
    return {i: n[len(begin) :] for i, n in enumerate(plain) if n.startswith(begin) and n != begin}


def texts_of(series: "pd.Series[Any]", nothing: str = "") -> list[str]:
    """Return the values of a column as the names that a prior calls them by."""
    return [str(name) for name in names_in(series, nothing)]
