"""Columns of a table: their names and numbers, and tables of Arrow as those of pandas."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Wide
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


SHOWN = 40
"""Characters of a cell that a message tells."""
_NOTHING = ("", "na", "n/a", "nan", "null", "none", "nat")
"""Texts for a missing value in a column of numbers."""
_UNREAD = (ArithmeticError, NotImplementedError, TypeError, ValueError)
_VIEWS = frozenset(("string_view", "binary_view"))


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A column of some rows of a table."""

    series: "pd.Series[Any]"

    def distinct(self) -> tuple[Wide, list[str | None]]:
        """Return the number of each row's name, -1 for none, and the names; None for no value."""
        import pandas as pd

        codes, values = pd.factorize(self.series, use_na_sentinel=True)
        if self.series.dtype == object and not all(isinstance(v, str) for v in values):
            # True, 1 and 1.0 are equal: named by the first of them, a part would differ from all.
            codes, values = pd.factorize(self.series.map(text_of), use_na_sentinel=True)
        return codes, [text_of(v) for v in list(values)]

    def numbers(self) -> tuple[Float, npt.NDArray[np.intp]]:
        """Return the number in each row, and the rows that hold something else."""
        values = numbers_in(self.series)
        lost = np.flatnonzero(np.isnan(values))
        if getattr(self.series.dtype, "kind", "O") in "iufb" or not len(lost):
            return values, lost[:0]
        cells = self.series.iloc[lost]
        nothing = cells.isna() | cells.astype(str).str.strip().str.lower().isin(_NOTHING)
        return values, lost[~nothing.to_numpy()]

    def text(self, row: int) -> str:
        """Return the text of a row."""
        return str(self.series.iloc[row])


def text_of(value: object) -> str | None:
    """Return a value as the text that names a category; None for a missing value."""
    plain: Any = value.item() if isinstance(value, np.generic) else value
    if plain is None or (isinstance(plain, float) and np.isnan(plain)):
        return None
    return label_text(plain).strip()


def names_of(column: Column, where: str) -> tuple[Wide, list[str | None]]:
    """Return `Column.distinct`, or refuse a column of lists or structures."""
    try:
        return column.distinct()
    except NO_NAMES:
        raise no_single(where) from None


def numbers_of(
    column: Column, where: str, first: int, *, missing: bool = False, step: str = ""
) -> Float:
    """Return the number in each row, or name the first row without one."""
    try:
        values, wrong = column.numbers()
    except NotImplementedError:
        raise DataError(f"{where} holds no numbers that are read; save them as numbers") from None
    if len(wrong):
        row = int(wrong[0])
        raise DataError(
            f"{where}, row {first + row + 1}: {column.text(row)[:SHOWN]!r} is not a number"
            f"{_comma(column.text(row)) or step}"
        )
    if not np.isfinite(values).all():
        bad = np.flatnonzero(np.isinf(values) | (np.isnan(values) & (not missing)))
        if len(bad):
            what = "has no value" if np.isnan(values[bad[0]]) else "is infinite, or too large"
            raise DataError(f"{where}, row {first + int(bad[0]) + 1} {what}")
    return values


def _comma(text: str) -> str:
    """Return advice on a number with a decimal comma, or with words around it."""
    if re.fullmatch(r"[-+\d.]*\d,\d+", text):
        return "; write its decimals behind a point"
    return "; write the number alone" if re.search(r"\d", text) else ""


def frame_of(table: Any) -> "pd.DataFrame":  # noqa: ANN401  # of pyarrow
    """Return a table of Arrow as one of pandas, every cell as if it stood alone.

    Whole numbers stay whole beside missing ones: as floats, long ones would be others.
    """
    try:
        return _read_at_once(table)
    except _UNREAD:
        # One cell that pandas cannot hold must not keep the others from being read.
        return _read_column_by_column(table)


def _read_at_once(table: Any) -> "pd.DataFrame":  # noqa: ANN401  # of pyarrow
    gaps = {column.type for column in table.columns if column.null_count}
    frame: pd.DataFrame = table.to_pandas(
        types_mapper=lambda kind: _whole(kind) if kind in gaps else None
    )
    return frame


def _read_column_by_column(table: Any) -> "pd.DataFrame":  # noqa: ANN401  # of pyarrow
    import pyarrow as pa

    found = table if isinstance(table, pa.Table) else pa.Table.from_batches([table])
    apart: dict[int, list[Any]] = {}
    for i, field in enumerate(found.schema):
        column = _read_by_pandas(found.column(i))
        if isinstance(column, list):
            apart[i], column = column, pa.nulls(len(column))
        found = found.set_column(i, field.name, column)
    # What the file says of types of pandas no longer fits.
    frame = _read_at_once(found.replace_schema_metadata() if apart else found)
    for i, cells in apart.items():
        frame.isetitem(i, in_array(cells))
    return frame


def _read_by_pandas(column: Any) -> Any:  # noqa: ANN401  # chunks of pyarrow, or a list of cells
    """Return a column as pandas reads it, or its cells one by one where it cannot."""
    import pyarrow as pa
    from pyarrow import compute, types

    kind = column.type
    if types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    elif str(kind) in _VIEWS:
        column = column.cast(str(kind).removesuffix("_view"))
    elif types.is_run_end_encoded(kind):
        column = pa.chunked_array([compute.run_end_decode(one) for one in column.chunks])
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
    """Return the type of pandas for whole numbers of which some are missing."""
    import pandas as pd
    from pyarrow import types

    if not types.is_integer(kind):
        return None
    return pd.api.types.pandas_dtype(str(kind).replace("uint", "UInt").replace("int", "Int"))
