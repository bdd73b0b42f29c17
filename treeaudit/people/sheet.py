"""A table of people, from a file, a DataFrame, an array or a pair of both."""

import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from lzma import LZMAError
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from treeaudit.errors import DataError
from treeaudit.input import TABLE, check_regular
from treeaudit.people.text_table import PACKED, TextTable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Plan", "Sheet", "read_table", "readable", "stored_names", "text_table"]

_NO_TABLES = frozenset(
    ".xlsx .xls .ods .json .feather .sav .dta .sas7bdat .rds .html .pdf "
    ".pkl .pickle .joblib .skops .ubj .onnx .pmml".split()
)
"""Files that people take for tables, or give in the place of one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sheet:
    """Rows of data and what to call them.

    Attributes
    ----------
    origin
        Such as ``train.csv``.
    paired
        Whether the last column holds labels that were given beside the rest.
    """

    frame: "pd.DataFrame"
    origin: str
    paired: bool = False


Plan = Callable[[list[str]], tuple[Sequence[int], Sequence[int]]]
"""Looks at the names of the columns before rows are read; raises `DataError` where one is missing.
Returns the places of those that are read as they stand in a file of text, and of those in which
every cell is read as a number by itself."""


def read_table(data: object, origin: str = "the data", texts: Sequence[str] | Plan = ()) -> Sheet:
    """Return data as rows and columns, and what to call them.

    Parameters
    ----------
    data
        A path (text with commas, semicolons or tabs, compressed or not, or
        Parquet), a pandas DataFrame, an array, a pair of features and labels, or
        a `Sheet`, which is returned as it is.
    origin
        What to call it where it has no file name.
    texts
        Columns of a text file that are read as they stand: else one strange cell changes how all
        others of its column are read. Or a `Plan`, which sees the names first.

    Raises
    ------
    DataError
        If the file cannot be read as a table, or holds no rows.
    """
    import pandas as pd

    if isinstance(data, Sheet):
        return data
    paired = isinstance(data, tuple) and len(data) == 2
    if isinstance(data, tuple) and len(data) == 2:
        features, labels = data
        frame = pd.DataFrame(features).reset_index(drop=True)
        series = pd.Series(np.asarray(labels))
        if len(frame) != len(series):
            raise DataError(f"{origin}: {len(frame)} rows, but {len(series)} labels")
        name = getattr(labels, "name", None) or "label"
        frame.insert(len(frame.columns), name if name not in frame else f"{name} ", series)
    elif isinstance(data, str | os.PathLike):
        path = Path(data)
        frame, origin = _read_file(path, texts), path.name
    elif isinstance(data, pd.DataFrame):
        frame = data.reset_index(drop=True)
    else:
        frame = pd.DataFrame(np.asarray(data))
    if not len(frame):
        raise DataError(f"{origin} holds no rows")
    doubled = frame.columns[frame.columns.duplicated()]
    if len(doubled):
        raise DataError(f"{origin} has two columns named {str(doubled[0])!r}")
    return Sheet(frame=frame, origin=origin, paired=paired)


def _read_file(path: Path, texts: Sequence[str] | Plan) -> "pd.DataFrame":
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if path.is_dir():
        raise DataError(f"{path} is a folder; name the table itself")
    try:
        check_regular(path, TABLE, DataError)
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    if suffixes and suffixes[-1] in _NO_TABLES:
        raise DataError(f"{path.name} is no CSV or Parquet file; save the table as one of them")
    with readable(path.name):
        if ".parquet" in suffixes:
            return _read_parquet(path, texts)
        text = text_table(path)
        names, between = text.header()
        if callable(texts):
            return text.read(between, *texts(names))
        return text.read(between, [names.index(name) for name in texts if name in names])


def text_table(path: Path) -> TextTable:
    """Return a file of text, nothing of which is read yet."""
    suffix = path.suffix.lower()
    return TextTable(
        name=path.name,
        opened=partial(open, path, "rb"),
        bytes=path.stat().st_size,
        suffix=suffix if suffix in PACKED else "",
    )


def _read_parquet(path: Path, texts: Sequence[str] | Plan) -> "pd.DataFrame":
    import pandas as pd
    from pyarrow import parquet

    held = parquet.read_metadata(path)
    if callable(texts):
        texts(stored_names(held.schema.to_arrow_schema()))
    if held.num_rows * held.num_columns * 8 > TABLE:
        raise DataError(
            f"{path.name} holds {held.num_rows:,} rows of {held.num_columns:,} columns: more than "
            "is read into memory at once"
        )
    return pd.read_parquet(path)


def stored_names(schema: Any) -> list[str]:  # noqa: ANN401  # of pyarrow
    """Return the columns that pandas makes of a stored table: its index is none of them."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in schema.names if name not in index]


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Say in one sentence why a file cannot be read as a table."""
    import pandas as pd

    try:
        yield
    except DataError:
        raise
    except ImportError:
        raise DataError(
            f"{name}: reading Parquet needs pyarrow; pip install 'treeaudit[parquet]'"
        ) from None
    except pd.errors.EmptyDataError:
        raise DataError(f"{name} is empty") from None
    except UnicodeDecodeError:
        raise DataError(
            f"{name} is no text in UTF-8; save the table as CSV (UTF-8) or Parquet"
        ) from None
    except (OSError, ValueError, EOFError, BadZipFile, LZMAError, zlib.error) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        reason = reason.removeprefix("Error tokenizing data. C error: ")
        raise DataError(f"{name} cannot be read as a table: {reason}") from None
