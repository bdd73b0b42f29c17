"""Columns of a table, held by pandas or by Arrow: their names, numbers and single cells."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.errors import DataError
from treeaudit.model.words import label_text
from treeaudit.people.input.cell_parsing import (
    NO_NAMES,
    in_array,
    no_single,
    numbers_in,
    read_apart,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "SHOWN",
    "ArrowColumn",
    "Column",
    "SeriesColumn",
    "decoded",
    "frame_of",
    "names_of",
    "numbers_of",
    "taken",
    "text_of",
    "usual",
]

SHOWN = 40
"""Characters of a cell that a message tells."""
_NOTHING = ("", "na", "n/a", "nan", "null", "none", "nat")
"""What stands in a column of numbers where there is none."""


class Column(Protocol):
    """A column of some rows, whatever holds it."""

    def distinct(self) -> tuple[Wide, list[str | None]]:
        """Return for each row which name it has, -1 for none, and the names; None for nothing."""

    def numbers(self) -> tuple[Float, npt.NDArray[np.intp]]:
        """Return the number in each row, and the rows with something else than one."""

    def text(self, row: int) -> str:
        """Return what stands in a row."""


@dataclass(frozen=True, slots=True, eq=False)
class SeriesColumn:
    """A `Column` that pandas holds."""

    series: "pd.Series[Any]"

    def distinct(self) -> tuple[Wide, list[str | None]]:  # noqa: D102  # of the protocol
        import pandas as pd

        codes, values = pd.factorize(self.series, use_na_sentinel=True)
        if self.series.dtype == object and not all(isinstance(v, str) for v in values):
            # True, 1 and 1.0 are equal: named by the first of them, a part would differ from all.
            codes, values = pd.factorize(self.series.map(text_of), use_na_sentinel=True)
        return codes, [text_of(v) for v in list(values)]

    def numbers(self) -> tuple[Float, npt.NDArray[np.intp]]:  # noqa: D102  # of the protocol
        values = numbers_in(self.series)
        lost = np.flatnonzero(np.isnan(values))
        if getattr(self.series.dtype, "kind", "O") in "iufb" or not len(lost):
            return values, lost[:0]
        cells = self.series.iloc[lost]
        nothing = cells.isna() | cells.astype(str).str.strip().str.lower().isin(_NOTHING)
        return values, lost[~nothing.to_numpy()]

    def text(self, row: int) -> str:  # noqa: D102  # of the protocol
        return str(self.series.iloc[row])


def text_of(value: object) -> str | None:
    """Return a value as the text that a category is named by; None for what stands for nothing."""
    plain: Any = value.item() if isinstance(value, np.generic) else value
    if plain is None or (isinstance(plain, float) and np.isnan(plain)):
        return None
    return label_text(plain).strip()


def names_of(column: Column, where: str) -> tuple[Wide, list[str | None]]:
    """Return what `Column.distinct` does, or say where a column holds no names."""
    try:
        return column.distinct()
    except NO_NAMES:
        raise no_single(where) from None


def numbers_of(column: Column, where: str, first: int, *, missing: bool = False) -> Float:
    """Return the number in each row, or say where there is none."""
    try:
        values, wrong = column.numbers()
    except NotImplementedError:
        raise DataError(f"{where} holds no numbers that are read; save them as numbers") from None
    if len(wrong):
        row = int(wrong[0])
        raise DataError(
            f"{where}, row {first + row + 1}: {column.text(row)[:SHOWN]!r} is not a number"
            f"{_comma(column.text(row))}"
        )
    if not np.isfinite(values).all():
        bad = np.flatnonzero(np.isinf(values) | (np.isnan(values) & (not missing)))
        if len(bad):
            what = "has no value" if np.isnan(values[bad[0]]) else "is infinite"
            raise DataError(f"{where}, row {first + int(bad[0]) + 1} {what}")
    return values


def _comma(text: str) -> str:
    """Return what helps where a number has a comma for its point, or words around it."""
    if re.fullmatch(r"[-+\d.]*\d,\d+", text):
        return "; write its decimals behind a point"
    return "; write the number alone" if re.search(r"\d", text) else ""


_UNREAD = (ArithmeticError, NotImplementedError, TypeError, ValueError)
_VIEWS = frozenset(("string_view", "binary_view"))
_NAMES = {"double": "float64", "float": "float32", "halffloat": "float16"}


@dataclass(frozen=True, slots=True, eq=False)
class ArrowColumn:
    """A `treeaudit.people.input.columns.Column` of an Arrow array."""

    array: Any

    def distinct(self) -> tuple[Wide, list[str | None]]:  # noqa: D102  # of the protocol
        from pyarrow import types

        kind, array = self.array.type, self.array
        held = kind.value_type if types.is_dictionary(kind) else kind
        if not (
            types.is_string(held)
            or types.is_large_string(held)
            or types.is_boolean(held)
            or types.is_integer(held)
            or types.is_floating(held)
        ):
            return self._series().distinct()
        if not types.is_dictionary(kind):
            array = array.dictionary_encode()
        codes, there = _plain(array.indices)
        codes = codes.astype(np.int64)
        if there is not None:
            codes[~there] = -1
        return codes, [text_of(value) for value in array.dictionary.to_pylist()]

    def numbers(self) -> tuple[Float, npt.NDArray[np.intp]]:  # noqa: D102  # of the protocol
        from pyarrow import types

        kind, array = self.array.type, self.array
        if types.is_boolean(kind):
            array = array.cast("uint8")
        elif not types.is_integer(kind) and not types.is_floating(kind):
            return self._series().numbers()
        numbers, there = _plain(array)
        values = numbers.astype(np.float64, copy=there is not None)
        if there is not None:
            values[~there] = np.nan
        return values, np.zeros(0, dtype=np.intp)

    def text(self, row: int) -> str:  # noqa: D102  # of the protocol
        return self._series().text(row)

    def _series(self) -> SeriesColumn:
        return SeriesColumn(self.array.to_pandas())


def _plain(array: Any) -> tuple[npt.NDArray[Any], Flag | None]:  # noqa: ANN401  # of pyarrow
    """Return numbers without a copy, and which are there unless all; `to_numpy` loads pandas."""
    n, start = len(array), array.offset
    there, held = array.buffers()
    dtype = np.dtype(_NAMES.get(str(array.type), str(array.type)))
    if not n:
        return np.zeros(0, dtype), None
    values = np.frombuffer(held, dtype, n, start * dtype.itemsize)
    if there is None or not array.null_count:
        return values, None
    bits = np.unpackbits(np.frombuffer(there, np.uint8), bitorder="little")
    return values, bits[start : start + n].astype(np.bool_)


def taken(held: Any, rows: npt.NDArray[np.intp]) -> Any:  # noqa: ANN401  # of pyarrow
    """Return some rows of what Arrow holds, by their places."""
    import pyarrow as pa

    places = pa.py_buffer(np.ascontiguousarray(rows, dtype=np.int64))
    return held.take(pa.Array.from_buffers(pa.int64(), len(rows), [None, places]))


def decoded(array: Any) -> Any:  # noqa: ANN401  # of pyarrow
    """Return an array that holds runs of equal values as one that holds each value."""
    if not str(array.type).startswith("run_end_encoded"):
        return array
    from pyarrow import compute

    return compute.run_end_decode(array)


def usual(array: Any) -> Any:  # noqa: ANN401  # of pyarrow
    """Return an array as pyarrow takes rows of it, and pandas reads it.

    Neither does of views of texts, or of names among which one is missing or stands twice, nor of
    runs.
    """
    from pyarrow import types

    array = decoded(array)
    kind = str(array.type)
    if types.is_dictionary(array.type):
        return array.dictionary_decode() if _is_odd(array.dictionary) else array
    return array.cast(kind.removesuffix("_view")) if kind in _VIEWS else array


def _is_odd(names: Any) -> bool:  # noqa: ANN401  # of pyarrow
    return bool(names.null_count) or len(names.unique()) < len(names)


def frame_of(table: Any) -> "pd.DataFrame":  # noqa: ANN401  # of pyarrow
    """Return a table of Arrow as one of pandas, every cell as if it stood alone.

    Whole numbers stay whole beside missing ones: as floats, long ones would be others.

    Examples
    --------
    >>> import pyarrow as pa
    >>> frame_of(pa.table({"code": [9007199254740993, None]}))["code"].iloc[0]
    np.int64(9007199254740993)
    """
    gaps = {column.type for column in table.columns if column.null_count}

    def read(held: Any) -> Any:  # noqa: ANN401  # from pyarrow to pandas
        return held.to_pandas(types_mapper=lambda kind: _whole(kind) if kind in gaps else None)

    try:
        frame: pd.DataFrame = read(table)
    except _UNREAD:
        # One cell that pandas cannot hold must not keep the others from being read.
        return _column_by_column(table, read)
    return frame


def _column_by_column(table: Any, read: Callable[[Any], Any]) -> "pd.DataFrame":  # noqa: ANN401  # of pyarrow
    import pyarrow as pa

    found = table if isinstance(table, pa.Table) else pa.Table.from_batches([table])
    apart: dict[int, list[Any]] = {}
    for i, field in enumerate(found.schema):
        column = _read_by_pandas(found.column(i))
        if isinstance(column, list):
            apart[i], column = column, pa.nulls(len(column))
        found = found.set_column(i, field.name, column)
    # What the file says of types of pandas no longer fits.
    frame: pd.DataFrame = read(found.replace_schema_metadata() if apart else found)
    for i, cells in apart.items():
        frame.isetitem(i, in_array(cells))
    return frame


def _read_by_pandas(column: Any) -> Any:  # noqa: ANN401  # chunks of pyarrow, or a list of cells
    """Return a column as pandas reads it, or its cells one by one where it cannot."""
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    elif types.is_date(kind):
        # Days beyond the calendar of Python too.
        return column.cast("date32").cast("string")
    try:
        pa.table({"": column}).to_pandas()
    except _UNREAD:
        # A type of which pandas holds nothing at all is refused still.
        pa.nulls(0, column.type).to_pandas()
        return read_apart(len(column), lambda first, end: column[first:end].to_pandas())
    return column


def _whole(kind: Any) -> Any:  # noqa: ANN401  # a type of pyarrow, and one of pandas or None
    """Return what pandas calls a kind of whole numbers some of which are missing."""
    import pandas as pd
    from pyarrow import types

    if not types.is_integer(kind):
        return None
    return pd.api.types.pandas_dtype(str(kind).replace("uint", "UInt").replace("int", "Int"))
