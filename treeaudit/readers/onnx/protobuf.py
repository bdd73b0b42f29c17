"""The wire format of protocol buffers: fields of a message, as views into the file.

Nothing is copied but the numbers, and nothing is believed: a length may not go
beyond its message, and the fields of one file are counted. Runs of numbers are
read many at a time, whether the writer packed them or not.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Wide
from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.readers.limits import Most

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

_SIZE = {FIXED64: 8, FIXED32: 4}
_LONGEST = 10
_CHUNK = 1 << 21
_MOST_NUMBER = 1 << 29
_COST_OF_RUN, _COST_OF_MESSAGE, _COST_OF_TEXT = 100, 10, 2
_WASTEFUL = "the file is damaged: a number is longer than it needs to be"

Whole = npt.NDArray[np.signedinteger]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message: its number, its wire type, and where its value lies in the file.

    ``value`` is the number of a ``VARINT`` before its sign is known; 0 otherwise.
    """

    number: int
    wire: int
    value: int
    at: int
    end: int


class Message:
    """A message inside a file."""

    __slots__ = ("at", "budget", "data", "end")

    def __init__(self, data: memoryview, at: int, end: int, budget: list[int]) -> None:
        self.data = data
        self.at = at
        self.end = end
        self.budget = budget

    def fields(self) -> Iterator[Field]:
        """Yield the fields in order."""
        at = self.at
        while at < self.end:
            field = self.field(at)
            yield field
            at = field.end

    def field(self, at: int) -> Field:
        """Return the field that begins at one place in the file."""
        self.spend(1, at)
        key, begin = self._varint(at)
        number, wire = key >> 3, key & 7
        if not 0 < number < _MOST_NUMBER:
            raise ReadError(f"byte {at:,}: the file is damaged: no field has the number {number}")
        if wire == VARINT:
            value, end = self._varint(begin)
            return Field(number, wire, value, begin, end)
        if wire == BYTES:
            length, begin = self._varint(begin)
        elif wire in _SIZE:
            length = _SIZE[wire]
        else:
            raise ReadError(f"byte {at:,}: the file is damaged: field type {wire} does not exist")
        if length > self.end - begin:
            raise ReadError(f"byte {at:,}: the file is damaged: a field is longer than its message")
        return Field(number, wire, 0, begin, begin + length)

    def spend(self, cost: int, at: int) -> None:
        """Take from the budget of the file; runs and texts cost more than other fields."""
        self.budget[0] -= cost
        if self.budget[0] < 0:
            raise ModelTooLargeError(f"byte {at:,}: the file has more fields than treeaudit reads")

    def _varint(self, at: int) -> tuple[int, int]:
        value = 0
        for i in range(_LONGEST):
            if at + i >= self.end:
                break
            byte = self.data[at + i]
            value |= (byte & 127) << (7 * i)
            if byte < 128:
                if i and not byte:
                    raise ReadError(f"byte {at:,}: {_WASTEFUL}")
                return value & ((1 << 64) - 1), at + i + 1
        raise ReadError(f"byte {at:,}: the file is damaged: a number does not end")

    def message(self, field: Field) -> "Message":
        """Return the message that a field holds."""
        self._expect(field, BYTES)
        self.spend(_COST_OF_MESSAGE, field.at)
        return Message(self.data, field.at, field.end, self.budget)

    def bytes_of(self, field: Field) -> memoryview:
        """Return the bytes that a field holds."""
        self._expect(field, BYTES)
        return self.data[field.at : field.end]

    def text(self, field: Field) -> str:
        """Return the text that a field holds; bytes that are no text are escaped."""
        raw = self.bytes_of(field)
        if len(raw) > Most.title:
            raise ModelTooLargeError(
                f"byte {field.at:,}: a text of {len(raw):,} bytes, more than {Most.title:,}"
            )
        self.spend(_COST_OF_TEXT + len(raw) // 64, field.at)
        return str(raw, "utf-8", "backslashreplace")

    def integer(self, field: Field) -> int:
        """Return the whole number that a field holds, as 64 bits with a sign."""
        self._expect(field, VARINT)
        return signed(field.value)

    def _expect(self, field: Field, wire: int) -> None:
        if field.wire != wire:
            raise ReadError(
                f"byte {field.at:,}: the file is damaged: field {field.number} has the wrong type"
            )

    def integers(self, field: Field) -> tuple[Whole, int]:
        """Return a run of whole numbers that begins with a field, and where it ends.

        The run may be packed into one field, or be one field per number.
        """
        if field.wire == BYTES:
            return varints(self.bytes_of(field), field.at), field.end
        self._expect(field, VARINT)
        run, end = self._run(field, rb"[\x80-\xff]{0,9}[\x00-\x7f]")
        return varints(run, field.at, tagged=True), end

    def floats(self, field: Field, wire: int) -> tuple[npt.NDArray[np.floating], int]:
        """Return a run of floats (``FIXED32``) or doubles (``FIXED64``), and where it ends."""
        dtype, width = np.dtype(f"<f{_SIZE[wire]}"), _SIZE[wire]
        if field.wire == BYTES:
            if (field.end - field.at) % width:
                raise ReadError(f"byte {field.at:,}: the file is damaged: a number is cut off")
            return np.frombuffer(self.data[field.at : field.end], dtype), field.end
        self._expect(field, wire)
        run, end = self._run(field, rb".{%d}" % width)
        rows = np.frombuffer(run, np.uint8).reshape(-1, len(_tag(field)) + width)
        return np.ascontiguousarray(rows[:, -width:]).view(dtype)[:, 0], end

    def _run(self, field: Field, value: bytes) -> tuple[memoryview, int]:
        """Return the bytes of a field and of those like it behind it, with tags, and their end."""
        self.spend(_COST_OF_RUN, field.at)
        tag = _tag(field)
        begin = field.at - len(tag)
        run = re.compile(b"(?:%b%b)++" % (re.escape(tag), value), re.DOTALL)
        found = run.match(self.data, begin, self.end)
        end = field.end if found is None else found.end()
        return self.data[begin:end], end


def _tag(field: Field) -> bytes:
    key, tag = field.number << 3 | field.wire, bytearray()
    while key > 127:
        tag.append(key & 127 | 128)
        key >>= 7
    return bytes([*tag, key])


def signed(value: int) -> int:
    """Return 64 bits as a number with a sign."""
    return value - (1 << 64) if value >= 1 << 63 else value


def varints(packed: memoryview | bytes, at: int = 0, *, tagged: bool = False) -> Whole:
    """Return packed whole numbers; if each has a tag, which is a number too, every second one."""
    parts: list[Whole] = [np.zeros(0, dtype=np.int32)]
    done = n = 0
    while done < len(packed):
        raw = np.frombuffer(packed[done : done + _CHUNK], np.uint8)
        part, taken = _decode(raw)
        if not taken:
            raise ReadError(f"byte {at + done:,}: the file is damaged: a number does not end")
        parts.append(_narrow(part[(n + 1) % 2 :: 2] if tagged else part))
        done, n = done + taken, n + len(part)
    return np.concatenate(parts)


def _narrow(numbers: Wide) -> Whole:
    """Halve the memory of numbers that are small, as nearly all are."""
    fits = np.all((numbers >= -(1 << 31)) & (numbers < 1 << 31))
    return numbers.astype(np.int32) if fits else numbers


def _decode(raw: npt.NDArray[np.uint8]) -> tuple[Wide, int]:
    """Decode the numbers that end in these bytes, up to one that is too long."""
    last = np.flatnonzero(raw < 128)
    if not len(last):
        return np.zeros(0, dtype=np.int64), 0
    first = np.concatenate([[0], last[:-1] + 1])
    length = last - first + 1
    long = np.flatnonzero(length > _LONGEST)
    if len(long):
        first, last, length = first[: long[0]], last[: long[0]], length[: long[0]]
        if not len(last):
            return np.zeros(0, dtype=np.int64), 0
    return _numbers(raw, first, last), int(last[-1]) + 1


def _numbers(raw: npt.NDArray[np.uint8], first: Wide, last: Wide) -> Wide:
    """Return the numbers that begin and end at these bytes."""
    length = last - first + 1
    if np.any((raw[last] == 0) & (length > 1)):
        raise ReadError(_WASTEFUL)
    value = (raw[first] & 127).astype(np.uint64)
    for i in range(1, int(length.max(initial=0))):
        more = np.flatnonzero(length > i)
        seven = (raw[first[more] + i] & 127).astype(np.uint64)
        value[more] |= seven << np.uint64(7 * i)
    return value.view(np.int64)
