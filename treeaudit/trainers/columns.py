"""Columns of a table as numbers: against the public schema, or as scikit-learn hands them over."""

import warnings
from collections.abc import Sequence
from inspect import signature
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.extensions import ExtensionArray
from sklearn.utils import check_array

from treeaudit.arrays import Float
from treeaudit.errors import DataError
from treeaudit.model.schema import Feature, Schema, category_text
from treeaudit.people.input.cell_parsing import (
    also_as_numbers,
    cells_in,
    code_of,
    in_array,
    lost_in,
    numbers_in,
    read_apart,
    tried,
)
from treeaudit.people.input.columns import frame_of

Outside = Literal["raise", "clip"]
"""What becomes of private values that the public schema does not know."""

Columns = npt.NDArray[Any] | pd.DataFrame

# scikit-learn 1.6 renamed the parameter, 1.8 dropped the old name.
_FINITE = next(p for p in signature(check_array).parameters if p.endswith("all_finite"))

CURATOR = "This is about private data, for the eyes of its curator only"


def names_of(X: object) -> list[str] | None:
    """Return the column names of a DataFrame, or None where there are none of text."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    names = list(columns)
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise DataError(f"two columns are called {twice!r}: give each a name of its own")
    texts = [isinstance(name, str) for name in names]
    if any(texts) and not all(texts):
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your "
            "input has several kinds of names: use X.columns = X.columns.astype(str)"
        )
    return names if names and all(texts) else None


def check_names(seen: Sequence[str] | None, names: Sequence[str] | None, estimator: str) -> None:
    """Hold the column names at prediction against those at fit, as scikit-learn does."""
    if seen is None and names is not None:
        warnings.warn(
            f"X has feature names, but {estimator} was fitted without feature names", stacklevel=4
        )
    if seen is not None and names is None:
        warnings.warn(
            f"X does not have valid feature names, but {estimator} was fitted with feature names",
            stacklevel=4,
        )
    if seen is None or names is None or list(seen) == list(names):
        return
    message = "The feature names should match those that were passed during fit.\n"
    unseen, gone = sorted(set(names) - set(seen)), sorted(set(seen) - set(names))
    if unseen:
        message += "Feature names unseen at fit time:\n" + _listed(unseen)
    if gone:
        message += "Feature names seen at fit time, yet now missing:\n" + _listed(gone)
    if not unseen and not gone:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise DataError(message)


def _listed(names: Sequence[str]) -> str:
    lines = [f"- {name}\n" for name in names[:5]]
    return "".join(lines) + ("- ...\n" if len(names) > 5 else "")


def columns_of(X: object, estimator: str, *, finite: bool = True) -> Columns:
    """Return a two-dimensional table: an array of numbers where that is what it is.

    Infinite numbers are refused where they must be ``finite``; missing ones always pass.
    """
    allowed: dict[str, Any] = {_FINITE: "allow-nan" if finite else False}
    X = in_cells(X)
    if isinstance(X, pd.DataFrame):
        kinds = [getattr(kind, "kind", "O") for kind in X.dtypes]
        if "c" in kinds:
            raise DataError(f"column {X.columns[kinds.index('c')]!r} holds complex numbers")
        if X.empty or all(map(_are_floats, X.dtypes)):
            numbers: Float = check_array(X, dtype=np.float64, estimator=estimator, **allowed)
            return numbers
        return X
    if getattr(getattr(X, "dtype", None), "kind", "") in "OUST":
        # That all cells are numbers must not change how one of them is read.
        allowed = {"dtype": object, _FINITE: False}
    table: npt.NDArray[Any] = check_array(X, estimator=estimator, **allowed)
    return table


def in_cells(told: Any) -> Any:  # noqa: ANN401  # a table, or a column, of any kind
    """Return a table or column in which no value decides how the others are held.

    What has a type of its own keeps it; in a list every cell is what it is.
    """
    if isinstance(told, np.ndarray | pd.DataFrame) or hasattr(told, "toarray"):
        return told
    if isinstance(told, pd.Series | pd.Index | ExtensionArray):
        return _values(pd.Series(told))
    stored = told.to_arrow() if hasattr(told, "to_arrow") else told
    if hasattr(stored, "to_pylist"):
        if hasattr(stored, "schema"):
            return frame_of(stored)
        return in_array(read_apart(len(stored), lambda i, end: stored[i:end].to_pylist()))
    if isinstance(told, list | tuple):
        return _listed_cells(told)
    return np.asarray(told, dtype=None if hasattr(told, "__array__") else object)


def _listed_cells(told: Sequence[Any]) -> npt.NDArray[Any]:
    """Return what a list holds: rows of as many cells each, or else one cell after the other.

    Numpy would take lists in the cells for more dimensions, where all cells are lists.
    """
    rows = [_cells_of(row) for row in told]
    width = {len(row) for row in rows if row is not None}
    if None in rows or len(width) != 1:
        return in_array(told)
    held = [cell for row in rows if row is not None for cell in row]
    return in_array(held).reshape(len(rows), width.pop())


def _cells_of(row: Any) -> Sequence[Any] | None:  # noqa: ANN401  # whatever stands in a list
    """Return the cells of a row; None of what is no row."""
    if isinstance(row, pd.Series):
        row = row.to_numpy()
    if isinstance(row, np.ndarray):
        cells: list[Any] = row.tolist()
        return cells if row.ndim == 1 else None
    return row if isinstance(row, list | tuple) else None


def _values(column: "pd.Series[Any]") -> npt.NDArray[Any]:
    kind: Any = column.dtype
    if isinstance(kind, np.dtype):
        return column.to_numpy()
    if getattr(kind, "kind", "O") == "f" and hasattr(kind, "numpy_dtype"):
        return column.to_numpy(dtype=kind.numpy_dtype, na_value=np.nan)
    return in_array(cells_in(column))


def _are_floats(kind: Any) -> bool:  # noqa: ANN401  # a type of numpy or pandas
    """Tell whether what a type holds is the same number, of the same name, as a float of 64 bits.

    Long whole numbers are not, the name of a Boolean is True and not 1, and that of a float of 32
    bits is shorter.
    """
    held = getattr(kind, "numpy_dtype", getattr(kind, "subtype", kind))
    size, kind = getattr(held, "itemsize", 0), getattr(kind, "kind", "O")
    return (kind == "f" and size == 8) or (kind in "iu" and 0 < size <= 4)


def derive_features(table: Columns, names: Sequence[str] | None) -> tuple[Feature, ...]:
    """Describe columns by their values: for public data, or a model that is not private."""
    called = [f"x{i}" for i in range(table.shape[1])] if names is None else list(names)
    return tuple(_derived(_column(table, i), name) for i, name in enumerate(called))


def _derived(column: Any, name: str) -> Feature:  # noqa: ANN401  # a column of either kind
    numbers = _numbers(column)
    known = numbers[~np.isnan(numbers)]
    if numbers.size and np.array_equal(np.isnan(numbers), lost_in(column)):
        inside = known[np.isfinite(known)]
        if not len(inside):
            return Feature(name=name, low=0.0, high=0.0)
        return Feature(name=name, low=float(inside.min()), high=float(inside.max()))
    texts = {category_text(value) for value in pd.unique(column[~lost_in(column)])}
    return Feature(name=name, categories=tuple(sorted(texts)))


def _column(table: Columns, i: int) -> Any:  # noqa: ANN401  # an array or a Series
    if isinstance(table, pd.DataFrame):
        return table.iloc[:, i].reset_index(drop=True)
    return table[:, i]


def _numbers(column: Any) -> Float:  # noqa: ANN401  # a column of either kind
    """Return a column as numbers, NaN where there is none."""
    return numbers_in(column)


def code_columns(
    table: Columns, schema: Schema, order: Sequence[int] | None, outside: Outside | None
) -> Float:
    """Return numbers for a table: categories as codes, missing values as NaN."""
    features = schema.features
    at = range(len(features)) if order is None else order
    held = table.dtypes if isinstance(table, pd.DataFrame) else [table.dtype]
    plain = all(isinstance(kind, np.dtype) and kind.kind in "iufb" for kind in held)
    if plain and all(feature.categories is None for feature in features):
        values: Float = np.asarray(table, dtype=np.float64)
        if order is not None and list(order) != list(range(table.shape[1])):
            values = values[:, list(order)]
    else:
        coded = [_coded(_column(table, i), f, outside) for i, f in zip(at, features, strict=True)]
        values = np.column_stack(coded)
    return values if outside is None else _within(values, features, outside)


def _coded(column: Any, feature: Feature, outside: Outside | None) -> Float:  # noqa: ANN401
    if feature.categories is None:
        numbers = _numbers(column)
        if outside == "raise":
            lost = np.isnan(numbers) & ~lost_in(column)
            if lost.any():
                raise _unknown(feature, column[int(np.argmax(lost))], "is no number")
        return numbers
    codes, found = pd.factorize(named(column))
    known = also_as_numbers({name: code for code, name in enumerate(feature.categories)})
    # The last entry is for missing values, which factorize numbers -1.
    places = map(code_of(known, category_text), found)
    lookup = np.array([*(np.nan if at is None else at for at in places), np.nan])
    strange = np.flatnonzero(np.isnan(lookup[:-1]))
    if outside == "raise" and len(strange):
        raise _unknown(feature, found[int(strange[0])], "is none of the categories of the schema")
    result: Float = lookup[codes]
    return result


def named(column: Any) -> Any:  # noqa: ANN401  # a column of a table
    """Return a column in which equal values have one name: True, 1 and 1.0 are equal to pandas.

    What has no name, such as a whole number of more digits than Python writes, is missing.
    """
    if isinstance(column, pd.Series) and getattr(column.dtype, "kind", "O") == "f":
        # What pandas finds in a column are floats of 64 bits, which 0.1 of 32 bits is not.
        return _values(column)
    if isinstance(column, pd.Series) and isinstance(column.dtype, pd.CategoricalDtype):
        names = _names(cells_in(pd.Series(column.cat.categories)))
        return np.array([*names, None], dtype=object)[column.cat.codes]
    if _is_plain(column):
        return column
    cells = cells_in(column) if isinstance(column, pd.Series) else column
    return np.array(_names(cells), dtype=object)


def _is_plain(column: Any) -> bool:  # noqa: ANN401  # a column of a table
    """Tell whether all cells are numbers, truth values or texts of one type."""
    if pd.api.types.is_object_dtype(column):
        return bool(pd.api.types.infer_dtype(column) == "string")
    kind = column.dtype
    return kind.kind in "iufbUST" or isinstance(kind, pd.StringDtype)


def _names(cells: Sequence[Any]) -> list[str | None]:
    held = in_array(cells)
    lost = lost_in(held)
    return [None if none else tried(category_text, v) for v, none in zip(held, lost, strict=True)]


def _within(values: Float, features: Sequence[Feature], outside: Outside) -> Float:
    low = np.array([-np.inf if f.low is None else f.low for f in features])
    high = np.array([np.inf if f.high is None else f.high for f in features])
    least, most = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    beyond = (least < low) | (most > high)
    if not beyond.any():
        return values
    if outside == "clip":
        clipped: Float = np.clip(values, low, high)
        return clipped
    i = int(np.argmax(beyond))
    value = least[i] if least[i] < low[i] else most[i]
    raise _unknown(features[i], value, f"is not between {low[i]:g} and {high[i]:g}")


def _unknown(feature: Feature, value: object, what: str) -> DataError:
    shown = repr(value.item() if isinstance(value, np.generic) else value)[:60]
    return DataError(
        f"column {feature.name!r}: {shown} {what}. {CURATOR}: widen the public schema if "
        "that value is public knowledge, or fit with outside='clip'"
    )
