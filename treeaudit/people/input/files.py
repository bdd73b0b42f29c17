"""Files of tables: their kinds, which of a folder are the table, and why one cannot be read.

No file is left out or read twice without a word.
"""

import os
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from lzma import LZMAError
from pathlib import Path, PurePath
from typing import IO, Any, NoReturn
from zipfile import BadZipFile

from treeaudit.errors import DataError
from treeaudit.people.input.text_table import PACKED, TextTable

PARQUET, ARROW = (".parquet", ".pq"), (".arrow", ".ipc", ".feather")
TEXTS = (".csv", ".tsv", ".txt")
NO_TABLES = frozenset(
    ".xlsx .xls .ods .json .sav .dta .sas7bdat .rds .html .pdf "
    ".pkl .pickle .joblib .skops .ubj .onnx .pmml .zst".split()
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
    """Return ``text``, or the name that Arrow has for a kind of table; empty for others."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if len(suffixes) > 1 and suffixes[-1] in PACKED:
        suffixes.pop()
    last = suffixes[-1] if suffixes else ""
    if last in _KINDS or last in NO_TABLES or not isinstance(path, Path) or not path.is_file():
        return _KINDS.get(last, "")
    with path.open("rb") as file:
        return _BEGINS.get(file.read(4), "")


def column_names(schema: Any) -> list[str]:  # noqa: ANN401  # of pyarrow
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
        # An error of pandas, which this module does not import.
        if type(error).__name__ == "EmptyDataError":
            raise DataError(f"{name} is empty") from None
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        reason = reason.removeprefix("Error tokenizing data. C error: ")
        reason = f"{reason[:120]}{'…' * (len(reason) > 120)}".rstrip(".")
        raise DataError(
            f"{name} cannot be read as a table: {reason}; save it anew as CSV (UTF-8) or Parquet"
        ) from None


_BESIDE = ("readme", "license", "thumbs", "desktop")
_SIGNS = "*?["


def files_of(path: Path) -> list[Path]:
    """Return the files of a table; none where it is said elsewhere what is wrong."""
    if path.is_dir():
        names = list(_below(str(path)))
        return [path / name for name in tables_among(names, str(path), _kind_in(path))]
    if path.exists():
        return [] if path.suffix.lower() in NO_TABLES else [path]
    return _matching(path) if any(sign in str(path) for sign in _SIGNS) else []


def tables_among(names: Sequence[str], folder: str, kind: Callable[[str], str]) -> list[str]:
    """Return the files of a folder that are its table, in their order."""
    seen = [name for name in sorted(names, key=PurePath) if not _is_beside(PurePath(name).parts)]
    found = [name for name in seen if kind(name)]
    if not found:
        raise DataError(
            f"{folder} is a folder without tables (CSV, Parquet, Arrow): name the table itself"
        )
    strange = next((name for name in seen if name not in set(found)), None)
    if strange is not None:
        suffix = PurePath(found[0]).suffix
        raise DataError(
            f"{folder} holds tables and {strange!r}, which is none of CSV, Parquet and Arrow: "
            f"take it out, or give a pattern such as '{folder}/*{suffix}'"
        )
    return found


def _is_beside(parts: Sequence[str], meant: Collection[str] = ()) -> bool:
    """Tell whether a file is one that programs and people lay beside the parts of a table."""
    last = parts[-1].lower()
    beside = last.split(".")[0] in _BESIDE and parts[-1][0] not in meant
    return (
        beside or last.endswith(".crc") or any(_is_hidden(p) and p[0] not in meant for p in parts)
    )


def _is_hidden(part: str) -> bool:
    # A folder of a partition names a column and its value.
    return part[0] == "." or (part[0] == "_" and "=" not in part)


def _below(folder: str) -> Iterator[str]:
    """Give all files below a folder, through links too, each once."""
    seen: set[str] = set()
    for root, folders, files in os.walk(folder, onerror=_refuse, followlinks=True):
        inside = [name for name in sorted(folders) if not _is_hidden(name)]
        folders[:] = []
        real = os.path.realpath(root)
        if real in seen:
            continue
        seen.add(real)
        folders += inside
        for name in sorted(files):
            path = Path(root) / name
            if (real := os.path.realpath(path)) not in seen:
                seen.add(real)
                yield path.relative_to(folder).as_posix()


def _refuse(error: OSError) -> NoReturn:
    raise DataError(f"{error.filename} cannot be read: {error.strerror}") from None


def _kind_in(folder: Path) -> Callable[[str], str]:
    return lambda name: kind_of(folder / name)


def _matching(path: Path) -> list[Path]:
    """Return the files that a pattern names; hidden ones where it names these."""
    fixed = next(i for i, part in enumerate(path.parts) if any(sign in part for sign in _SIGNS))
    meant = {part[0] for part in path.parts[fixed:]}
    start = Path(path.anchor)
    every = sorted(start.glob(str(path.relative_to(start))))
    found = [file for file in every if not _is_beside(file.parts[fixed:], meant)]
    # A link and what it leads to are one.
    found = list({file.resolve(): file for file in reversed(found)}.values())[::-1]
    if not found:
        raise DataError(f"no file is named like {path}")
    strange = next((file for file in found if file.suffix.lower() in NO_TABLES), None)
    if strange is not None:
        raise DataError(
            f"{strange.name} is no table (CSV, Parquet, Arrow), and is named like {path}"
        )
    return found
