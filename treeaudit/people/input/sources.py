"""Tables in files, one or many: their parts are found without reading a row, and read in batches."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from treeaudit.errors import DataError
from treeaudit.input import check_regular
from treeaudit.people.input.columns import (
    ArrowColumn,
    Column,
    SeriesColumn,
    decoded,
    frame_of,
    taken,
    usual,
)
from treeaudit.people.input.files import (
    files_of,
    kind_of,
    readable,
    stored_names,
    tables_among,
    text_table,
)
from treeaudit.people.input.text_table import PACKED, TextTable

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Batch",
    "Part",
    "Source",
    "StoredPart",
    "TextPart",
    "check_same",
    "cut",
    "large_source",
    "of_arrow",
    "of_frame",
    "source_of",
]

ROWS = 16_000
"""Rows that are coded at once: what is worked on stays in the cache of a processor, and a column
takes less than the 128 kB from which on an allocator asks the system for memory."""
_TEXT_ROWS = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Batch:
    """Some rows that follow each other in a file.

    Attributes
    ----------
    n
        How many.
    first
        How many rows of the file stand before them.
    column
        Gives the column at a place of the table.
    rows
        Gives some of the rows, by their places, with the columns that were read: a table of
        pandas, or of Arrow where that reads them.
    """

    n: int
    first: int
    column: Callable[[int], Column]
    rows: Callable[[npt.NDArray[np.intp]], Any]


class Part(Protocol):
    """Rows that can be read by themselves, on any machine: it is sent there."""

    @property
    def file(self) -> int:
        """The number of its file in the table."""

    @property
    def name(self) -> str:
        """What to call it in messages."""

    def batches(
        self, used: Sequence[int], texts: Sequence[int], numbers: Sequence[int]
    ) -> Iterator[Batch]:
        """Give the rows of the columns at some places, ascending."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TextPart:
    """A whole file of text: nobody can tell where a row begins without reading from the start."""

    file: int
    name: str
    table: TextTable
    names: tuple[str, ...]

    def batches(
        self, used: Sequence[int], texts: Sequence[int], numbers: Sequence[int]
    ) -> Iterator[Batch]:
        """Give the rows, as a `Part` does."""
        with readable(self.name):
            names, between = self.table.header()
            check_same(self.names, names, self.name)
            # Another file may have the same columns in another order.
            own = {place: names.index(self.names[place]) for place in used}
            wanted = sorted(own.values())
            at = {place: wanted.index(mine) for place, mine in own.items()}
            text, number = ([own[i] for i in some if i in own] for some in (texts, numbers))
            first = 0
            decimal = self.table.decimal(between)
            for rows in self.table.rows(between, text, number, _TEXT_ROWS, wanted, decimal):
                yield of_frame(rows, first, at)
                first += len(rows)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredPart:
    """Rows of a file of Parquet or Arrow.

    Attributes
    ----------
    path, filesystem
        Where it lies, as pyarrow knows it.
    group
        The row group of a Parquet file, or the number of a batch; None for all.
    first
        How many rows of the file stand before the group.
    start, stop
        Which rows of the group.
    keys
        Columns whose one value the folder names.
    """

    file: int
    name: str
    names: tuple[str, ...]
    path: str
    filesystem: Any
    kind: str
    group: int
    first: int
    start: int
    stop: int
    keys: tuple[tuple[str, Any], ...] = ()

    def batches(
        self, used: Sequence[int], texts: Sequence[int], numbers: Sequence[int]
    ) -> Iterator[Batch]:
        """Give the rows, as a `Part` does."""
        with readable(self.name), self.filesystem.open_input_file(self.path) as file:
            done, keys = 0, dict(self.keys)
            for rows in self._read(file, [self.names[i] for i in used]):
                low, high = max(self.start - done, 0), min(self.stop - done, len(rows))
                for i in range(low, high, ROWS):
                    some = rows.slice(i, min(ROWS, high - i))
                    yield of_arrow(some, self.names, self.first + done + i, used, keys)
                done += len(rows)
                if done >= self.stop:
                    return

    def _read(self, file: Any, wanted: list[str]) -> Iterator[Any]:  # noqa: ANN401  # of pyarrow
        keys = dict(self.keys)
        columns = [name for name in wanted if name not in keys]
        if self.kind == "ipc":
            from pyarrow import ipc

            yield ipc.open_file(file).get_batch(self.group).select(columns)
            return
        from pyarrow import parquet

        stored = parquet.ParquetFile(file)
        if not columns:
            columns = stored.schema_arrow.names[:1]
        yield from stored.iter_batches(
            8 * ROWS, row_groups=[self.group], columns=columns, use_threads=False
        )


def of_arrow(
    rows: Any,  # noqa: ANN401  # a batch or table of pyarrow
    names: Sequence[str],
    first: int,
    used: Sequence[int],
    keys: Mapping[str, Any] | None = None,
) -> Batch:
    """Return rows that Arrow holds as a batch.

    Parameters
    ----------
    names
        Of the columns of the table.
    first, used
        As of `Batch`, and of `Part.batches`.
    keys
        Columns of one value that the rows do not hold themselves.
    """
    import pyarrow as pa

    def column(place: int) -> ArrowColumn:
        name = names[place]
        if keys is not None and name in keys:
            return ArrowColumn(pa.repeat(keys[name], len(rows)))
        return ArrowColumn(decoded(rows.column(name)))

    def some(chosen: npt.NDArray[np.intp]) -> Any:  # noqa: ANN401  # of pyarrow
        return pa.table({names[i]: taken(usual(column(i).array), chosen) for i in used})

    return Batch(n=len(rows), first=first, column=column, rows=some)


def of_frame(rows: "pd.DataFrame", first: int, at: Mapping[int, int]) -> Batch:
    """Return rows that pandas holds as a batch; ``at`` says where the column at a place stands."""
    return Batch(
        n=len(rows),
        first=first,
        column=lambda place: SeriesColumn(rows.iloc[:, at[place]]),
        rows=lambda chosen: rows.iloc[chosen, [at[place] for place in sorted(at)]],
    )


def cut(part: Part, times: int) -> list[Part]:
    """Return a part in so many pieces, where it can be read from the middle on."""
    if not isinstance(part, StoredPart) or times < 2:
        return [part]
    ends = np.linspace(part.start, part.stop, times + 1).astype(int).tolist()
    return [replace(part, start=a, stop=b) for a, b in pairwise(ends) if a < b]


def check_same(names: Sequence[str], others: Sequence[str], file: str) -> None:
    """Refuse a file with other columns than the first.

    Raises
    ------
    DataError
        Names a column.
    """
    strange = sorted(set(names) ^ set(others))
    if strange:
        raise DataError(f"{file} and the first file of the table differ in column {strange[0]!r}")


_LARGE_ROWS, _LARGE_TEXT = 250_000, 64 << 20
"""What has more rows, or bytes of text, is not held in memory."""
_ANY = 1 << 60


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Source:
    """A table in files, its columns known and its rows not read.

    Attributes
    ----------
    names
        Of the columns.
    rows
        How many, where that is known without reading.
    large
        Whether it has more rows than are held in memory.
    """

    origin: str
    names: tuple[str, ...]
    parts: tuple[Part, ...]
    rows: int | None
    large: bool

    def pieces(self, least: int) -> list[Part]:
        """Return the parts, cut where there are too few to share them out."""
        times = -(-least // max(len(self.parts), 1))
        return [piece for part in self.parts for piece in cut(part, times)]

    def frame(self, texts: Sequence[int], numbers: Sequence[int] = ()) -> "pd.DataFrame":
        """Return the whole table."""
        import pandas as pd

        every = range(len(self.names))
        with readable(self.origin):
            rows = [
                batch.rows(np.arange(batch.n))
                for part in self.parts
                for batch in part.batches(every, texts, numbers)
            ]
            frames = [some if isinstance(some, pd.DataFrame) else frame_of(some) for some in rows]
        if not frames:
            return pd.DataFrame(columns=self.names)
        # A kind that holds all of two kinds would change cells of both.
        mixed = [name for name in frames[0] if len({some[name].dtype for some in frames}) > 1]
        frames = [some.astype(dict.fromkeys(mixed, object)) for some in frames]
        return pd.concat(frames, ignore_index=True)


def source_of(data: object) -> Source | None:
    """Return what a table is in, if it is in files; None for what is in memory already.

    Parameters
    ----------
    data
        A file of text, Parquet or Arrow, a folder of such, a pattern such as ``people/*.csv``, an
        address such as ``s3://bucket/people``, or a ``pyarrow.dataset.Dataset``.

    Raises
    ------
    DataError
        If there are no such files, or they are of several kinds.
    """
    if hasattr(type(data), "get_fragments"):
        return _stored(data, "the data")
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
            raise DataError(f"there is no file {file}") from None
    kinds = {kind_of(file) or "text" for file in files}
    if len(kinds) > 1:
        raise DataError(f"{path} holds tables of several kinds ({', '.join(sorted(kinds))})")
    if kinds == {"text"}:
        return _texts(path.name, [(file.name, text_table(file)) for file in files])
    with readable(path.name):
        from pyarrow import dataset

        root = str(path) if path.is_dir() else None
        told = dataset.dataset(
            [str(file) for file in files],
            format=kinds.pop(),
            partitioning="hive" if root else None,
            partition_base_dir=root,
        )
        return _stored(told, path.name)


def large_source(data: object) -> Source | None:
    """Return what a table is in, where it has more rows than are held in memory; else None."""
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
        told = dataset.dataset(
            [one.path for one in files], format=kinds.pop(), filesystem=filesystem
        )
        return _stored(told, name)


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
            TextPart(file=i, name=name, table=table, names=names)
            for i, (name, table) in enumerate(files)
        ),
        rows=None,
        large=_is_large([table for _, table in files]),
    )


def _is_large(files: Sequence[TextTable]) -> bool:
    """Tell whether text is more than is held in memory; what is packed is unpacked so far."""
    left = _LARGE_TEXT - sum(table.bytes for table in files if not table.suffix)
    for table in files:
        if not table.suffix or left < 0:
            continue
        with readable(table.name), table.unpacked() as file:
            while left >= 0 and (piece := file.read(1 << 20)):
                left -= len(piece)
    return left < 0


def _stored(told: Any, origin: str) -> Source:  # noqa: ANN401  # of pyarrow
    from pyarrow import dataset, ipc

    names = tuple(stored_names(told.schema))
    parts: list[Part] = []
    total = 0
    for i, piece in enumerate(told.get_fragments()):
        keys = dataset.get_partition_keys(piece.partition_expression)
        check_same(names, [*stored_names(piece.physical_schema), *keys], Path(piece.path).name)
        if isinstance(piece, dataset.ParquetFileFragment):
            sizes = {group.id: group.num_rows for group in piece.row_groups}
        else:
            with piece.filesystem.open_input_file(piece.path) as file:
                stored = ipc.open_file(file)
                sizes = {
                    number: stored.get_batch(number).num_rows
                    for number in range(stored.num_record_batches)
                }
        first = 0
        for group, size in sizes.items():
            parts.append(
                StoredPart(
                    file=i,
                    name=Path(piece.path).name,
                    names=names,
                    path=piece.path,
                    filesystem=piece.filesystem,
                    kind="parquet" if isinstance(piece, dataset.ParquetFileFragment) else "ipc",
                    group=group,
                    first=first,
                    start=0,
                    stop=size,
                    keys=tuple(keys.items()),
                )
            )
            first += size
        total += first
    return Source(
        origin=origin, names=names, parts=tuple(parts), rows=total, large=total > _LARGE_ROWS
    )
