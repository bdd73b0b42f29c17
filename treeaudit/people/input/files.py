"""Files of tables: what they are called, and how it is said that one cannot be read."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from lzma import LZMAError
from pathlib import Path, PurePath
from typing import IO, Any
from zipfile import BadZipFile

from treeaudit.errors import DataError
from treeaudit.people.input.text_table import PACKED, TextTable

__all__ = ["NO_TABLES", "kind_of", "readable", "stored_names", "text_table"]

PARQUET, ARROW = (".parquet", ".pq"), (".arrow", ".ipc", ".feather")
TEXTS = (".csv", ".tsv", ".txt")
NO_TABLES = frozenset(
    ".xlsx .xls .ods .json .sav .dta .sas7bdat .rds .html .pdf "
    ".pkl .pickle .joblib .skops .ubj .onnx .pmml".split()
)
"""Files that people take for tables, or give in the place of one."""
_KINDS = {
    **dict.fromkeys(PARQUET, "parquet"),
    **dict.fromkeys(ARROW, "ipc"),
    **dict.fromkeys(TEXTS, "text"),
}
_UNREADABLE = (
    *(OSError, ValueError, EOFError, BadZipFile, LZMAError, zlib.error),
    NotImplementedError,  # of pyarrow, and of pandas about what pyarrow read
)
_BEGINS = {b"PAR1": "parquet", b"ARRO": "ipc"}


def text_table(path: Path) -> TextTable:
    """Return a file of text, nothing of which is read yet."""
    suffix = path.suffix.lower()
    return TextTable(
        name=path.name,
        opened=partial(_opened, path),
        bytes=path.stat().st_size,
        suffix=suffix if suffix in PACKED else "",
    )


def kind_of(path: PurePath) -> str:
    """Return ``text``, or the name that Arrow has for a kind of table; empty for others.

    Told by the name, packed or not, else by how a file begins.

    Examples
    --------
    >>> kind_of(Path("people.csv.gz")), kind_of(Path("people.feather")), kind_of(Path("a.csv.bak"))
    ('text', 'ipc', '')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if len(suffixes) > 1 and suffixes[-1] in PACKED:
        suffixes.pop()
    last = suffixes[-1] if suffixes else ""
    if last in _KINDS or last in NO_TABLES or not isinstance(path, Path) or not path.is_file():
        return _KINDS.get(last, "")
    with path.open("rb") as file:
        return _BEGINS.get(file.read(4), "")


def stored_names(schema: Any) -> list[str]:  # noqa: ANN401  # of pyarrow
    """Return the columns that pandas makes of a stored table: its index is none of them."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in schema.names if name not in index]


def _opened(path: Path) -> IO[bytes]:
    return path.open("rb")


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Say in one sentence why a file cannot be read as a table."""
    try:
        yield
    except DataError:
        raise
    except ImportError:
        raise DataError(
            f"{name}: reading Parquet needs pyarrow; pip install 'treeaudit[parquet]'"
        ) from None
    except UnicodeDecodeError:
        raise DataError(
            f"{name} is no text in UTF-8; save the table as CSV (UTF-8) or Parquet"
        ) from None
    except _UNREADABLE as error:
        # One of pandas, which workers that read no text never import.
        if type(error).__name__ == "EmptyDataError":
            raise DataError(f"{name} is empty") from None
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        reason = reason.removeprefix("Error tokenizing data. C error: ")
        reason = f"{reason[:120]}{'…' * (len(reason) > 120)}".rstrip(".")
        raise DataError(
            f"{name} cannot be read as a table: {reason}; save it anew as CSV (UTF-8) or Parquet"
        ) from None
