"""Tables in files, one or many: where their parts lie, found without reading a row."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np

from treeaudit.errors import DataError
from treeaudit.files import check_regular
from treeaudit.people.arrow_columns import frame_of
from treeaudit.people.batches import Part, StoredPart, TextPart, check_same, cut
from treeaudit.people.files import kind_of, readable, stored_names, text_table
from treeaudit.people.folders import files_of, tables_among
from treeaudit.people.text_table import PACKED, TextTable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Source", "large_source", "source_of"]

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
