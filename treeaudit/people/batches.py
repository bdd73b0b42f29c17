"""Parts of a table that can be read by themselves, batch by batch, on any machine."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from treeaudit.errors import DataError
from treeaudit.people.arrow_columns import ArrowColumn, decoded, taken, usual
from treeaudit.people.input.columns import Column, SeriesColumn
from treeaudit.people.input.files import readable
from treeaudit.people.input.text_table import TextTable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Batch", "Part", "StoredPart", "TextPart", "check_same", "cut", "of_arrow", "of_frame"]

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
