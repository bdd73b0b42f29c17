"""A table of people, from a file, a DataFrame, an array or a pair of both."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from treeaudit.errors import DataError
from treeaudit.input import TABLE, check_regular

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Sheet", "read_table"]

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


def read_table(data: object, origin: str = "the data", texts: Sequence[str] = ()) -> Sheet:
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
        others of its column are read.

    Raises
    ------
    DataError
        If the file cannot be read as a table, or holds no rows.
    """
    if isinstance(data, Sheet):
        return data
    paired = isinstance(data, tuple) and len(data) == 2
    try:
        return _sheet(data, origin, texts, paired=paired)
    except (TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"{origin} is a {type(data).__name__} that is no table: give a path, a DataFrame, an "
            "array, or a pair of features and labels"
        ) from None


def _sheet(data: object, origin: str, texts: Sequence[str], *, paired: bool) -> Sheet:
    import pandas as pd

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


def _read_file(path: Path, texts: Sequence[str] = ()) -> "pd.DataFrame":
    import pandas as pd

    suffixes = [suffix.lower() for suffix in path.suffixes]
    if path.is_dir():
        raise DataError(f"{path} is a folder; name the table itself")
    try:
        check_regular(path, TABLE, DataError)
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    if suffixes and suffixes[-1] in _NO_TABLES:
        raise DataError(f"{path.name} is no CSV or Parquet file; save the table as one of them")
    try:
        separator = "" if ".parquet" in suffixes else _separator(path)
        if ".parquet" in suffixes:
            return pd.read_parquet(path)
        # A value that is off by its last digit may end on the other side of a threshold.
        digits: dict[str, Any] = {} if pd.__version__ >= "3" else {"float_precision": "round_trip"}
        # "?" and "NA" may be categories; only an empty cell is certainly nothing.
        frame: pd.DataFrame = pd.read_csv(
            path,
            sep=separator,
            decimal="," if separator != "," and _has_decimal_commas(path, separator) else ".",
            skipinitialspace=True,
            keep_default_na=False,
            na_values=[""],
            low_memory=False,
            dtype=dict.fromkeys(texts, str),
            **digits,
        )
        return frame.set_axis(frame.columns.str.strip(), axis=1)
    except ImportError:
        raise DataError(
            f"{path.name}: reading Parquet needs pyarrow; pip install 'treeaudit[parquet]'"
        ) from None
    except pd.errors.EmptyDataError:
        raise DataError(f"{path.name} is empty") from None
    except UnicodeDecodeError:
        raise DataError(
            f"{path.name} is no text in UTF-8; save the table as CSV (UTF-8) or Parquet"
        ) from None
    except (OSError, ValueError, EOFError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        reason = reason.removeprefix("Error tokenizing data. C error: ")
        raise DataError(f"{path.name} cannot be read as a table: {reason}") from None


_COMMA, _POINT = re.compile(r"[+-]?\d+,\d+"), re.compile(r"[+-]?\d+\.\d+")
_HEAD = 1000


def _has_decimal_commas(path: Path, separator: str) -> bool:
    """Tell whether the first rows have numbers with a comma, and none with a point."""
    import pandas as pd

    head = pd.read_csv(path, sep=separator, nrows=_HEAD, dtype=str, na_filter=False)
    cells = [str(cell).strip() for cell in head.to_numpy().ravel()]
    return any(map(_COMMA.fullmatch, cells)) and not any(map(_POINT.fullmatch, cells))


def _separator(path: Path) -> str:
    """Return what stands most often between the names of the columns."""
    import csv

    import pandas as pd

    head = pd.read_csv(
        path, sep="\x1f", header=None, nrows=1, dtype=str, quoting=csv.QUOTE_NONE, na_filter=False
    )
    return max(",;\t|", key=str(head.iat[0, 0]).count)
