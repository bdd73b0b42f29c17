"""Tables as text, compressed or not, and the kinds of files that hold tables.

Compressed text that ends too early is refused, and so is a row with too few fields.
"""

import csv
import io
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from lzma import LZMAError
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, Any
from zipfile import BadZipFile

from treeaudit.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


def unpacked(file: IO[bytes], suffix: str, name: str) -> IO[bytes]:
    """Return what a file holds that is packed as its suffix says."""
    if suffix == ".gz":
        import gzip

        return gzip.open(file)  # type: ignore[return-value]
    if suffix == ".bz2":
        import bz2

        return bz2.open(file)
    if suffix == ".xz":
        import lzma

        return lzma.open(file)
    if suffix == ".zip":
        return _zipped(file, name)
    return file


def _zipped(file: IO[bytes], name: str) -> IO[bytes]:
    import zipfile

    archive = zipfile.ZipFile(file)
    members = [one for one in archive.namelist() if not one.endswith("/")]
    if len(members) != 1:
        raise DataError(f"{name} holds {len(members)} files; one table is read at a time")
    try:
        return archive.open(members[0])
    except RuntimeError as error:
        # NotImplementedError, of a way that zipfile does not know, is one of these.
        how = (
            "in a way that is not read"
            if isinstance(error, NotImplementedError)
            else "with a password"
        )
        raise DataError(f"{name} is packed {how}; unpack it, and give the table itself") from None


def check_full(file: io.RawIOBase, names: Sequence[str], between: str, origin: str) -> None:
    r"""Refuse a table in which a row has fewer fields than there are columns."""
    n = len(names)
    while n and names[n - 1].startswith("Unnamed: "):
        n -= 1
    text = io.TextIOWrapper(io.BufferedReader(file), "utf-8-sig", newline="")
    lines = csv.reader(text, delimiter=between, skipinitialspace=True)
    try:
        for fields in lines:
            if len(fields) < n and (len(fields) > 1 or any(map(str.strip, fields))):
                raise DataError(
                    f"{origin}, line {lines.line_num} has {len(fields)} of {n} fields; write the "
                    "empty ones too"
                )
    except csv.Error:
        # Longer fields than it takes: what pandas made of them is looked at, as in all rows.
        return


PACKED = (".gz", ".bz2", ".xz", ".zip")
"""Suffixes of compressed text that can be read."""
_HEADER = 1 << 20
_COMMA, _POINT = re.compile(r"[+-]?\d+,\d+"), re.compile(r"[+-]?\d+\.\d+")
_BEYOND, _TIMES = 1 << 29, 64
"""A packed table may hold so many bytes, and so many times its own more. Tables of people
were seen at 5 to 30 to one; deflate reaches 1,032."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """A file of text, with its columns known and its rows not yet read."""

    name: str  # What to call it in messages
    opened: Callable[[], IO[bytes]]  # Opens its bytes, packed as they are
    bytes: int  # How many these are
    suffix: str = ""  # What it is packed with, such as ``.gz``; empty for text

    @property
    def most(self) -> int:
        """How many bytes it may unpack to."""
        return self.bytes + 1 if not self.suffix else _BEYOND + _TIMES * self.bytes

    def unpacked(self) -> "_Bounded":
        """Return its bytes, unpacked while they are read."""
        return _Bounded(self.opened(), self)

    def header(self) -> tuple[list[str], str]:
        """Return the names of its columns and what stands between them: all that is read."""
        import pandas as pd

        with self.unpacked() as file:
            head = file.read(_HEADER)
        text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        line, newline, _ = text.replace(b"\r", b"\n").partition(b"\n")
        if not newline and len(head) == _HEADER:
            raise DataError(f"{self.name}: its first line is longer than {_HEADER:,} bytes")
        if b"\0" in line:
            # Of two or four bytes a letter, without the mark that would say so.
            raise DataError(
                f"{self.name} is no text in UTF-8; save the table as CSV (UTF-8) or Parquet"
            )
        between = max(",;\t|", key=line.decode(errors="replace").count)
        # What is cut off inside a letter would be no text.
        whole = head[: head.rfind(b"\n") + 1] or head
        told: dict[str, Any] = {"sep": between, "skipinitialspace": True}
        frame = pd.read_csv(io.BytesIO(whole), nrows=0, index_col=False, **told)
        try:
            told |= {"nrows": 2, "header": None, "dtype": str, "keep_default_na": False}
            first = pd.read_csv(io.BytesIO(whole), **told).iloc[0]
        except pd.errors.ParserError:
            raise DataError(
                f"{self.name}: its rows have more fields than the first line has names; "
                "give every column a name"
            ) from None
        # Two names that are the same are other ones in the columns of pandas.
        given = Counter(name for name in map(str.strip, first) if name)
        doubled = next((name for name, times in given.items() if times > 1), None)
        if doubled is not None:
            raise DataError(f"{self.name} has two columns named {doubled!r}: rename one")
        return [str(name).strip() for name in frame.columns], between

    def read(
        self, between: str, texts: Sequence[int] = (), numbers: Sequence[int] = ()
    ) -> "pd.DataFrame":
        """Return all rows; `rows` says how they are read."""
        # Where every cell is read by itself, none decides how others are read.
        decimal = "." if numbers else self.decimal(between)
        try:
            return next(self.rows(between, texts, numbers, None, decimal=decimal))
        except StopIteration:
            raise DataError(f"{self.name} holds no rows") from None

    def rows(
        self,
        between: str,
        texts: Sequence[int],
        numbers: Sequence[int],
        size: int | None,
        used: Sequence[int] | None = None,
        decimal: str = ".",
    ) -> "Iterator[pd.DataFrame]":
        """Give the rows, so many at a time."""
        import pandas as pd

        names, _ = self.header()
        told = {"sep": between, "decimal": decimal}
        # All columns are parsed: pandas counts the fields of a row only where none is left out.
        unused = set() if used is None else set(range(len(names))) - set(used)
        kinds: dict[Any, Any] = dict.fromkeys(texts, str) | dict.fromkeys(unused, object)
        done = 0
        try:
            for frame in self._parsed(
                names, size, used, dtype=kinds | dict.fromkeys(numbers, "float64"), **told
            ):
                yield frame
                done += len(frame)
        except (ValueError, OverflowError) as error:
            if not numbers or isinstance(error, pd.errors.ParserError | UnicodeError | DataError):
                raise
            # Some cell is no number: then all of these columns are read cell by cell.
            plain = kinds | dict.fromkeys(numbers, str)
            for frame in self._parsed(names, size, used, dtype=plain, **told):
                if done < len(frame):
                    yield frame[done:] if done else frame
                done = max(done - len(frame), 0)

    def _parsed(
        self,
        names: Sequence[str],
        size: int | None,
        used: Sequence[int] | None,
        **told: Any,  # noqa: ANN401  # of pandas
    ) -> "Iterator[pd.DataFrame]":
        import pandas as pd

        # A value that is off by its last digit may end on the other side of a threshold.
        digits: dict[str, Any] = {} if pd.__version__ >= "3" else {"float_precision": "round_trip"}
        # "?" and "NA" may be categories; only an empty cell is certainly nothing.
        nothing: dict[str, Any] = {"keep_default_na": False, "na_values": [""]}
        with self.unpacked() as file:
            read: Any = pd.read_csv(
                file,
                chunksize=size,
                header=0,
                names=range(len(names)),
                index_col=False,
                skipinitialspace=True,
                low_memory=False,
                **told,
                **nothing,
                **digits,
            )
            full = False
            for frame in [read] if size is None else read:
                if not full and frame[len(names) - 1].isna().any():
                    with self.unpacked() as again:
                        check_full(again, names, told["sep"], self.name)
                    full = True
                named = frame.set_axis(list(names), axis=1)
                yield named if used is None else named.iloc[:, list(used)]

    def decimal(self, between: str) -> str:
        """Return what stands before decimals in the first rows."""
        if between == ",":
            return "."
        with self.unpacked() as file:
            head = file.read(_HEADER).decode(errors="replace")
        cells = [
            cell.strip().strip('"') for line in head.splitlines() for cell in line.split(between)
        ]
        commas = any(map(_COMMA.fullmatch, cells)) and not any(map(_POINT.fullmatch, cells))
        return "," if commas else "."


class _Bounded(io.RawIOBase):
    """Bytes that end with an error where there are more than there may be."""

    def __init__(self, packed: IO[bytes], table: TextTable) -> None:
        super().__init__()
        self._packed, self._left, self._name = packed, table.most, table.name
        try:
            self._file = unpacked(packed, table.suffix, table.name)
        except BaseException:
            packed.close()
            raise

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # any writable buffer
        data = self._file.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise DataError(
                f"{self._name} unpacks to more than it may; unpack it first if that is meant"
            )
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        for file in (self._file, self._packed):
            file.close()
        super().close()


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
