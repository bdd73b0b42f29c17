"""A table of people, from a file, a DataFrame, an array or a pair of both."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from treeaudit.errors import DataError, MissingFileError
from treeaudit.files import TABLE, check_regular
from treeaudit.people.input.columns import frame_of
from treeaudit.people.input.sources import Source, source_of
from treeaudit.people.input.text_table import NO_TABLES, column_names, kind_of, readable, text_table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InputTable:
    """Rows of data and what to call them."""

    frame: "pd.DataFrame"
    origin: str  # Such as ``train.csv``
    paired: bool = False  # Whether the last column holds labels that were given beside the rest


Plan = Callable[[list[str]], tuple[Sequence[int], Sequence[int]]]
"""Looks at the names of the columns before rows are read; raises `DataError` where one is missing.
Returns the places of those that are read as they stand in a file of text, and of those in which
every cell is read as a number by itself."""


def read_table(
    data: object, origin: str = "the data", texts: Sequence[str] | Plan = ()
) -> InputTable:
    """Return data as rows and columns, and what to call them."""
    if isinstance(data, InputTable):
        return data
    paired = isinstance(data, tuple) and len(data) == 2
    try:
        return _frame_of(data, origin, texts, paired=paired)
    except (TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"{origin} is a {type(data).__name__} that is no table: give a path, a DataFrame, an "
            "array, or a tuple of features and labels"
        ) from None


def _frame_of(
    data: object, origin: str, texts: Sequence[str] | Plan, *, paired: bool
) -> InputTable:
    import pandas as pd

    if isinstance(data, tuple) and len(data) == 2:
        features, labels = data
        held = _of_arrow(features, origin)
        frame = pd.DataFrame(features if held is None else held).reset_index(drop=True)
        series = pd.Series(np.asarray(labels))
        if len(frame) != len(series):
            raise DataError(f"{origin}: {len(frame)} rows, but {len(series)} labels")
        name = getattr(labels, "name", None) or "label"
        frame.insert(len(frame.columns), name if name not in frame else f"{name} ", series)
    elif isinstance(data, str | os.PathLike):
        path = Path(data)
        frame, origin = _read_file(path, texts), path.name
    elif (stored := source_of(data)) is not None:
        frame = _read_frame(stored, texts)
    elif isinstance(data, pd.DataFrame):
        frame = data.reset_index(drop=True)
    elif (held := _of_arrow(data, origin)) is not None:
        frame = held.reset_index(drop=True)
    else:
        frame = pd.DataFrame(np.asarray(data))
    if not len(frame):
        raise DataError(f"{origin} holds no rows")
    doubled = frame.columns[frame.columns.duplicated()]
    if len(doubled):
        raise DataError(f"{origin} has two columns named {str(doubled[0])!r}: rename one")
    return InputTable(frame=frame, origin=origin, paired=paired)


def _of_arrow(data: object, origin: str) -> "pd.DataFrame | None":
    """Return a table that is handed over as Arrow does, of pyarrow or polars; None for others."""
    if not hasattr(data, "__arrow_c_stream__") or hasattr(data, "iloc"):
        return None
    with readable(origin):
        import pyarrow as pa

        return frame_of(pa.table(data))


def _read_file(path: Path, texts: Sequence[str] | Plan) -> "pd.DataFrame":
    kind = kind_of(path)
    several = source_of(path) if not path.is_file() or kind == "ipc" else None
    if several is not None:
        return _read_frame(several, texts)
    try:
        check_regular(path, TABLE, DataError)
    except FileNotFoundError:
        raise MissingFileError(path) from None
    if path.suffix.lower() in NO_TABLES:
        raise DataError(f"{path.name} is no CSV or Parquet file; save the table as one of them")
    with readable(path.name):
        if kind == "parquet":
            return _read_parquet(path, texts)
        text = text_table(path)
        names, between = text.header()
        if callable(texts):
            return text.read(between, *texts(names))
        return text.read(between, [names.index(name) for name in texts if name in names])


def _read_frame(source: Source, texts: Sequence[str] | Plan) -> "pd.DataFrame":
    plan = texts(list(source.names)) if callable(texts) else ((), ())
    named = [] if callable(texts) else texts
    _check_room(source.origin, source.rows or 0, len(source.names))
    return source.frame([*plan[0], *(source.names.index(one) for one in named)], plan[1])


def _read_parquet(path: Path, texts: Sequence[str] | Plan) -> "pd.DataFrame":
    from pyarrow import parquet

    with parquet.ParquetFile(path) as stored:
        held = stored.metadata
        if callable(texts):
            texts(column_names(stored.schema_arrow))
        _check_room(path.name, held.num_rows, held.num_columns)
        return frame_of(stored.read())


def _check_room(name: str, rows: int, columns: int) -> None:
    if rows * columns * 8 > TABLE:
        raise DataError(
            f"{name} holds {rows:,} rows of {columns:,} columns: more than is read into memory"
        )
