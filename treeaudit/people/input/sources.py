"""Tables in files, one or many: parts are found without reading a row, and read in batches.

No file of a folder is left out or read twice without a word.
"""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np
import numpy.typing as npt

from treeaudit.errors import DataError, MissingFileError
from treeaudit.files import check_regular
from treeaudit.people.input.columns import Column, frame_of
from treeaudit.people.input.text_table import (
    NO_TABLES,
    PACKED,
    TextTable,
    column_names,
    kind_of,
    readable,
    text_table,
)

if TYPE_CHECKING:
    import pandas as pd


ROWS = 16_000
"""Rows of a stored table that are read at once."""
_TEXT_ROWS = 1 << 16
_LARGE_ROWS, _LARGE_TEXT = 250_000, 64 << 20
"""A table of more rows, or bytes of text, is not read into memory as a whole."""
_ANY = 1 << 60


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Batch:
    """Some rows that follow each other in a file."""

    frame: "pd.DataFrame"  # The rows
    first: int  # How many rows of the file come before them
    at: Mapping[int, int]  # By the place of a column in the table, its place in the frame

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.frame)

    def column(self, place: int) -> Column:
        """Return the column at a place of the table."""
        return Column(self.frame.iloc[:, self.at[place]])

    def rows(self, chosen: npt.NDArray[np.intp]) -> "pd.DataFrame":
        """Return some of the rows, with the columns of the table that were read."""
        return self.frame.iloc[chosen, [self.at[place] for place in sorted(self.at)]]


class Part(Protocol):
    """Rows that any worker can read by themselves."""

    @property
    def file(self) -> int:
        """The number of its file in the table."""

    @property
    def name(self) -> str:
        """What to call it in messages."""

    def batches(
        self, used: Sequence[int], texts: Sequence[int], numbers: Sequence[int]
    ) -> Iterator[Batch]:
        """Yield the rows of the columns at some places, ascending."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _TextPart:
    """A whole text file: where a row begins is only known from the start on."""

    file: int
    name: str
    table: TextTable
    names: tuple[str, ...]

    def batches(
        self, used: Sequence[int], texts: Sequence[int], numbers: Sequence[int]
    ) -> Iterator[Batch]:
        """Yield the rows, as a `Part` does."""
        with readable(self.name):
            names, between = self.table.header()
            _check_same(self.names, names, self.name)
            # Another file may have the same columns in another order.
            own = {place: names.index(self.names[place]) for place in used}
            wanted = sorted(own.values())
            at = {place: wanted.index(mine) for place, mine in own.items()}
            text, number = ([own[i] for i in some if i in own] for some in (texts, numbers))
            first = 0
            decimal = self.table.decimal(between)
            for rows in self.table.rows(between, text, number, _TEXT_ROWS, wanted, decimal):
                yield Batch(frame=rows, first=first, at=at)
                first += len(rows)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _StoredPart:
    """A row group of a Parquet file, or a whole Arrow file, as a fragment of pyarrow."""

    file: int
    name: str
    names: tuple[str, ...]
    fragment: Any
    first: int
    keys: tuple[tuple[str, Any], ...] = ()

    def batches(
        self, used: Sequence[int], texts: Sequence[int], numbers: Sequence[int]
    ) -> Iterator[Batch]:
        """Yield the rows, as a `Part` does."""
        keys, first = dict(self.keys), self.first
        wanted = [self.names[i] for i in used]
        columns = [name for name in wanted if name not in keys]
        # Rows are only counted by a column that the file itself holds.
        columns = columns or column_names(self.fragment.physical_schema)[:1]
        with readable(self.name):
            for rows in self.fragment.to_batches(
                columns=columns, batch_size=ROWS, batch_readahead=1, use_threads=False
            ):
                frame = frame_of(rows).assign(**keys)
                at = {place: list(frame.columns).index(self.names[place]) for place in used}
                yield Batch(frame=frame, first=first, at=at)
                first += len(frame)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Source:
    """A table in files, its columns known and its rows not read."""

    origin: str
    names: tuple[str, ...]  # Of the columns
    parts: tuple[Part, ...]  # Its rows, each part readable by itself
    rows: int | None  # How many, if that is known without reading
    large: bool  # Whether it has more rows than are read into memory

    def frame(self, texts: Sequence[int], numbers: Sequence[int] = ()) -> "pd.DataFrame":
        """Return the whole table."""
        import pandas as pd

        every = range(len(self.names))
        with readable(self.origin):
            frames = [
                batch.rows(np.arange(len(batch)))
                for part in self.parts
                for batch in part.batches(every, texts, numbers)
            ]
        if not frames:
            return pd.DataFrame(columns=self.names)
        # One type for cells of two types would change cells of both.
        mixed = [name for name in frames[0] if len({some[name].dtype for some in frames}) > 1]
        frames = [some.astype(dict.fromkeys(mixed, object)) for some in frames]
        return pd.concat(frames, ignore_index=True)


def source_of(data: object) -> Source | None:
    """Return the files of a table; None for a table in memory."""
    if hasattr(type(data), "get_fragments"):
        return _dataset_source(data, "the data")
    if not isinstance(data, str | os.PathLike):
        return None
    address = _address(os.fspath(data))
    if address is not None:
        return _remote(address)
    path = Path(data)
    files = files_of(path)
    if not files:
        return None
    for file in files:
        try:
            check_regular(file, _ANY, DataError)
        except FileNotFoundError:
            raise MissingFileError(file) from None
    kinds = {kind_of(file) or "text" for file in files}
    if len(kinds) > 1:
        raise DataError(f"{path} holds tables of several kinds ({', '.join(sorted(kinds))})")
    if kinds == {"text"}:
        return _texts(path.name, [(file.name, text_table(file)) for file in files])
    with readable(path.name):
        from pyarrow import dataset

        root = str(path) if path.is_dir() else None
        tables = dataset.dataset(
            [str(file) for file in files],
            format=kinds.pop(),
            partitioning="hive" if root else None,
            partition_base_dir=root,
        )
        return _dataset_source(tables, path.name)


def large_source(data: object) -> Source | None:
    """Return the files of a table that has more rows than are read into memory; else None."""
    source = source_of(data)
    return source if source is not None and source.large else None


def _address(text: str) -> str | None:
    """Return the address of an object store; a path has lost one of its slashes."""
    scheme, colon, rest = text.partition(":/")
    known = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs")
    return f"{scheme}://{rest.lstrip('/')}" if colon and scheme in known else None


def _remote(address: str) -> Source:
    name = address.rstrip("/").rpartition("/")[2]
    with readable(name):
        from pyarrow import dataset, fs

        filesystem, path = fs.FileSystem.from_uri(address)
        found = filesystem.get_file_info(
            fs.FileSelector(path, recursive=True, allow_not_found=True)
        )
        below = {one.path[len(path) :].lstrip("/"): one for one in found if one.is_file}
        if below:
            wanted = tables_among(list(below), address, lambda one: kind_of(PurePosixPath(one)))
            files = [below[one] for one in wanted]
        else:
            files = [one for one in [filesystem.get_file_info(path)] if one.is_file]
        kinds = {kind_of(PurePosixPath(one.path)) for one in files}
        if len(kinds) != 1 or "" in kinds:
            raise DataError(f"{address} holds no tables, or tables of several kinds")
        if kinds == {"text"}:
            texts = [
                TextTable(
                    name=Path(one.path).name,
                    opened=partial(filesystem.open_input_stream, one.path, compression=None),
                    bytes=one.size,
                    suffix=_packed(one.path),
                )
                for one in files
            ]
            return _texts(name, [(text.name, text) for text in texts])
        tables = dataset.dataset(
            [one.path for one in files], format=kinds.pop(), filesystem=filesystem
        )
        return _dataset_source(tables, name)


def _packed(name: str) -> str:
    suffix = Path(name).suffix.lower()
    return suffix if suffix in PACKED else ""


def _texts(origin: str, files: Sequence[tuple[str, TextTable]]) -> Source:
    with readable(files[0][0]):
        names = tuple(files[0][1].header()[0])
    return Source(
        origin=origin,
        names=names,
        parts=tuple(
            _TextPart(file=i, name=name, table=table, names=names)
            for i, (name, table) in enumerate(files)
        ),
        rows=None,
        large=_is_large([table for _, table in files]),
    )


def _is_large(files: Sequence[TextTable]) -> bool:
    """Tell whether text is too large to be held; compressed text is unpacked as far as needed."""
    left = _LARGE_TEXT - sum(table.bytes for table in files if not table.suffix)
    for table in files:
        if not table.suffix or left < 0:
            continue
        with readable(table.name), table.unpacked() as file:
            while left >= 0 and (piece := file.read(1 << 20)):
                left -= len(piece)
    return left < 0


def _dataset_source(data: Any, origin: str) -> Source:  # noqa: ANN401  # of pyarrow
    """Return the parts of a dataset: a row group of Parquet, or a file of Arrow, each."""
    from pyarrow import dataset

    names = tuple(column_names(data.schema))
    parts: list[Part] = []
    total = 0
    for i, piece in enumerate(data.get_fragments()):
        keys, name = dataset.get_partition_keys(piece.partition_expression), Path(piece.path).name
        _check_same(names, [*column_names(piece.physical_schema), *keys], name)
        parquet, first = isinstance(piece, dataset.ParquetFileFragment), 0
        for group in piece.split_by_row_group() if parquet else [piece]:
            part = _StoredPart(
                file=i, name=name, names=names, fragment=group, first=first, keys=(*keys.items(),)
            )
            parts.append(part)
            # Of a group, count_rows counts those of its file.
            first += group.row_groups[0].num_rows if parquet else group.count_rows()
        total += first
    return Source(
        origin=origin, names=names, parts=tuple(parts), rows=total, large=total > _LARGE_ROWS
    )


def _check_same(names: Sequence[str], others: Sequence[str], file: str) -> None:
    """Refuse a file with other columns than the first."""
    strange = sorted(set(names) ^ set(others))
    if strange:
        raise DataError(f"{file} and the first file of the table differ in column {strange[0]!r}")


_BESIDE = ("readme", "license", "thumbs", "desktop")
_SIGNS = "*?["


def files_of(path: Path) -> list[Path]:
    """Return the files of a table; none where it is said elsewhere what is wrong."""
    if path.is_dir():
        names = list(_below(str(path)))
        return [
            path / name
            for name in tables_among(names, str(path), lambda name: kind_of(path / name))
        ]
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
