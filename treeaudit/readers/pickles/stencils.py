"""How elements of a list are written that differ in numbers and bytes of arrays alone.

A forest is a list of trees that a pickler writes with the same instructions over and
over. From two of them a `Stencil` is made (`stencil_making`): a pattern for the bytes, in which
what is not the same in both is left open, and the steps that make an element of what stands
there.

The steps make what the interpreter makes, in its order, and nothing else. What it checks
of an element follows from the instructions, the names and the keys, which the pattern holds
to be the same, byte by byte; what depends on numbers and bytes (shapes, sizes) is checked for
every element by the same functions. An element that is written in any other way does not
match, and the interpreter reads it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from treeaudit.dataclass import dataclass
from treeaudit.errors import ReadError
from treeaudit.readers.pickles.arrays import LateArray, arrived
from treeaudit.readers.pickles.dtypes import DType
from treeaudit.readers.types import Array

__all__ = ["SHORT", "Element", "Slots", "Stencil", "Step", "blob_cost"]

SHORT = 4096
"""Fewer bytes than these are copied, more stay a view of the file."""

# What may not be complete when it is recalled.
_INCOMPLETE = frozenset({LateArray, DType})

Slots = list[object]
"""What an element is made of: what is the same in all, what stands in open places, what is made."""

Step = Callable[[Slots], None]
"""Makes one thing of what is there."""


class Element(NamedTuple):
    """One element as it was read.

    Attributes
    ----------
    value
        The object.
    end
        Where it ends.
    stored
        What it stores for later, in order.
    tables
        Its arrays of records, with the number of the instruction that completes each.
    cost
        Bytes of the objects that it made, without the charge for instructions.
    """

    value: object
    end: int
    stored: Sequence[object]
    tables: Sequence[tuple[int, Array]]
    cost: int


@dataclass(frozen=True, slots=True, eq=False)
class Stencil:
    """What elements have in common, and how to make one of what differs.

    Attributes
    ----------
    pieces
        Patterns, each with what reads its open places, in order. All but the last one end in
        front of the bytes of an array.
    constants
        What is the same in all elements.
    steps
        What makes the objects.
    recalled
        Which of what stands in open places are numbers of stored objects.
    stored
        Where the objects are that an element stores.
    arrays
        Which instructions complete an array, and where that is.
    value
        Where the element itself is.
    cost, n_instructions
        What the interpreter charges, without the bytes of arrays.
    """

    pieces: Sequence[tuple[re.Pattern[bytes], Sequence[Callable[[bytes], object]], bool]]
    constants: Slots
    steps: Sequence[Step]
    recalled: Sequence[int]
    stored: Sequence[int]
    arrays: Sequence[tuple[int, int]]
    value: int
    cost: int
    n_instructions: int

    def read(
        self, view: memoryview, at: int, end: int, memo: Mapping[int, object]
    ) -> Element | None:
        """Return the element that begins at a place and ends before another; None if none does."""
        slots, cost = self.constants.copy(), self.cost
        for piece, readers, is_blob in self.pieces:
            found = piece.match(view, at, end)
            if found is None:
                return None
            at = found.end()
            for reader, text in zip(readers, found.groups()):  # noqa: B905  # one for each group
                value = reader(text)
                if value is None:
                    return None
                slots.append(value)
            if is_blob:
                n: int = slots[-1]  # type: ignore[assignment]
                if n > end - at:
                    return None
                slots[-1] = bytes(view[at : at + n]) if n < SHORT else view[at : at + n]
                cost += 40 + n if n < SHORT else 240
                at += n
        for i in self.recalled:
            value = memo.get(slots[i])  # type: ignore[call-overload]
            # Only what is complete and the interpreter would hand out.
            if value is None or value.__class__ in _INCOMPLETE:
                return None
            slots[i] = value
        try:
            for step in self.steps:
                step(slots)
        except (ReadError, IndexError, ValueError, TypeError, OverflowError):
            return None
        stored = [slots[i] for i in self.stored]
        return Element(slots[self.value], at, stored, _tables(slots, self.arrays), cost)


def blob_cost(n: int) -> int:
    """Return what the interpreter charges for so many bytes."""
    return 40 + n if n < SHORT else 240


def _tables(slots: Slots, arrays: Sequence[tuple[int, int]]) -> list[tuple[int, Array]]:
    found = []
    for i, slot in arrays:
        array = arrived(slots[slot])
        if isinstance(array, np.ndarray) and array.dtype.names:
            found.append((i, array))
    return found
