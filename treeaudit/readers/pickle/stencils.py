"""How elements of a list are written that differ in numbers and bytes of arrays alone.

A forest is a list of trees that a pickler writes with the same instructions over and
over. From two of them a `Stencil` is made (`stencil_making`): a pattern for the bytes, in which
what is not the same in both is left open, and the steps that make an element of what stands
there.

The steps make what the interpreter makes and nothing else, each for some elements that stand
behind one another: a call for each object would take longer than to make it. What is checked
of an element follows from the instructions, the names and the keys, which the pattern holds
to be the same, byte by byte; what depends on numbers and bytes (shapes, sizes) is checked for
every element by the same functions. An element that is written in any other way does not
match, and the interpreter reads it.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from treeaudit.errors import ReadError
from treeaudit.readers.pickle.arrays import LateArray, arrived
from treeaudit.readers.pickle.dtypes import DType
from treeaudit.readers.pickle.traces import number
from treeaudit.readers.types import Array

_MOST = 256

SHORT = 4096
"""Fewer bytes than these are copied, more stay a view of the file."""

# What may not be complete when it is recalled.
_INCOMPLETE = frozenset({LateArray, DType})

Column = Sequence[object]
Columns = list[Column]
"""What elements are made of: what is the same in all, what stands in open places, what is made."""
Step = Callable[[Columns, int], None]
"""Makes one thing of what is there, for so many elements."""


class Elements(NamedTuple):
    """Some elements as they were read.

    Attributes
    ----------
    values, ends
        The objects, and where each ends.
    stored
        What they store for later, in order.
    tables
        Where bytes end that stand in front of an array of records, how many instructions behind
        them complete it, and the array.
    cost
        Bytes of the objects that they made, without the charge for instructions.
    """

    values: Column
    ends: Sequence[int]
    stored: Iterable[object]
    tables: Sequence[tuple[int, int, Array]]
    cost: int


@dataclass(slots=True, eq=False)
class Stencil:
    """What elements have in common, and how to make one of what differs.

    Attributes
    ----------
    pieces
        Patterns with open places, in order. All but the last one end in front of the bytes of an
        array, which the last of its open places announces.
    constants, held
        What is the same in all elements; which of it was stored before them, under which number.
    readers
        What reads the open places, but for those of bytes: the place, and the number in it.
    steps
        What makes the objects.
    recalled
        Which of what stands in open places are numbers of stored objects.
    arrays
        Of each array the number of the bytes in front of it, how many instructions behind them
        complete it, and where it is.
    stored, value
        Where the objects are that an element stores, and where it is itself.
    cost, n_instructions
        What the interpreter charges, without the bytes of arrays.
    most
        So many are made at once; fewer once something in one of them was not as it should be.
    """

    pieces: Sequence[re.Pattern[bytes]]
    constants: Column
    held: Sequence[tuple[int, object]]
    readers: Sequence[tuple[int, Callable[[bytes], object]]]
    steps: Sequence[Step]
    recalled: Sequence[int]
    stored: Sequence[int]
    arrays: Sequence[tuple[int, int, int]]
    value: int
    cost: int
    n_instructions: int
    most: int = _MOST

    def read(
        self, view: memoryview, at: int, end: int, memo: Mapping[int, object]
    ) -> Elements | None:
        """Return the elements that begin at a place and end before another; None if none does."""
        if any(memo.get(i) is not value for i, value in self.held):
            return None
        rows, ends, stops, costs = self._matches(view, at, end, self.most)
        opened, n = self._opened(rows, memo)
        # What is matched and not read is matched once more.
        self.most = min(_MOST, 2 * self.most) if n == len(rows) else max(1, n)
        if not n:
            return None
        columns: Columns = [*([same] * n for same in self.constants), *opened]
        try:
            for step in self.steps:
                step(columns, n)
        except (ReadError, IndexError, ValueError, TypeError, OverflowError):
            self.most = max(1, n // 2)
            return self.read(view, at, end, memo) if n > 1 else None
        stored = chain.from_iterable(zip(*(columns[i] for i in self.stored), strict=True))
        tables = [
            (stop[i], n_behind, array)
            for i, n_behind, slot in self.arrays
            for stop, array in zip(stops, map(arrived, columns[slot]))  # noqa: B905  # of a part
            if isinstance(array, np.ndarray) and array.dtype.names
        ]
        return Elements(columns[self.value], ends[:n], stored, tables, sum(costs[:n]))

    def _matches(
        self, view: memoryview, at: int, end: int, most: int
    ) -> tuple[list[list[object]], list[int], list[list[int]], list[int]]:
        """Return what stands in open places, where elements and bytes end, what these cost."""
        rows, ends, stops, costs = list[list[object]](), list[int](), list[list[int]](), list[int]()
        last = len(self.pieces) - 1
        while len(rows) < most:
            row, stop, cost = list[object](), [at], self.cost
            for i, piece in enumerate(self.pieces):
                found = piece.match(view, at, end)
                if found is None:
                    return rows, ends, stops, costs
                at = found.end()
                row += found.groups()
                if i < last:
                    told: bytes = row[-1]  # type: ignore[assignment]
                    n = told[1] if len(told) == 2 else number(told)
                    if n is None or n > end - at:
                        return rows, ends, stops, costs
                    row[-1] = bytes(view[at : at + n]) if n < SHORT else view[at : at + n]
                    cost, at = cost + blob_cost(n), at + n
                    stop.append(at)
            rows.append(row)
            ends.append(at)
            stops.append(stop)
            costs.append(cost)
        return rows, ends, stops, costs

    def _opened(
        self, rows: Sequence[Sequence[object]], memo: Mapping[int, object]
    ) -> tuple[Columns, int]:
        """Return columns of what stands in open places, and of how many elements it is sound."""
        columns: Columns = [*zip(*rows, strict=True)]
        n, first = len(rows), len(self.constants)
        if not n:
            return columns, 0
        for i, reader in self.readers:
            texts: Sequence[bytes] = columns[i - first]  # type: ignore[assignment]
            # Nearly all are of one byte, behind the instruction.
            columns[i - first] = values = [t[1] if len(t) == 2 else reader(t) for t in texts]
            n = values.index(None) if None in values[:n] else n
        for i in self.recalled:
            columns[i - first] = found = [memo.get(index) for index in columns[i - first]]  # type: ignore[call-overload]
            for k, value in enumerate(found[:n]):
                # Only what is complete and the interpreter would hand out.
                if value is None or value.__class__ in _INCOMPLETE:
                    n = k
                    break
        return [column[:n] for column in columns] if n < len(rows) else columns, n


def blob_cost(n: int) -> int:
    """Return what the interpreter charges for so many bytes."""
    return 40 + n if n < SHORT else 240
