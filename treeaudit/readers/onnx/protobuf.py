"""The wire format of protocol buffers: fields of a message, as views into the file.

Nothing is copied but the numbers, and nothing is believed: a length may not go
beyond its message, and the fields of one file are counted. Runs of numbers are
read many at a time, whether the writer packed them or not.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.readers.limits import Most
from treeaudit.readers.types import Wide

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

_SIZE = {FIXED64: 8, FIXED32: 4}
_LONGEST = 10
_FIRST_CHUNK, _LAST_CHUNK = 1 << 9, 1 << 21
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
    """A message inside a file.

    Examples
    --------
    >>> message = Message(memoryview(bytes.fromhex("089601")), 0, 3, [100])
    >>> [(field.number, field.value) for field in message.fields()]
    [(1, 150)]
    """

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
        self.spend(_COST_OF_RUN, field.at)
        tag = _tag(field.number << 3 | VARINT)
        parts, end = [_narrow(np.array([signed(field.value)]))], field.end
        size = _FIRST_CHUNK
        while end < self.end:
            part, taken = _unpacked(self.data[end : min(end + size, self.end)], tag)
            parts.append(_narrow(part))
            end += taken
            if taken < size // 2:
                break
            size = min(2 * size, _LAST_CHUNK)
        return np.concatenate(parts), end

    def floats(self, field: Field, wire: int) -> tuple[npt.NDArray[np.floating], int]:
        """Return a run of floats (``FIXED32``) or doubles (``FIXED64``), and where it ends."""
        dtype, width = np.dtype(f"<f{_SIZE[wire]}"), _SIZE[wire]
        if field.wire == BYTES:
            if (field.end - field.at) % width:
                raise ReadError(f"byte {field.at:,}: the file is damaged: a number is cut off")
            return np.frombuffer(self.data[field.at : field.end], dtype), field.end
        self._expect(field, wire)
        self.spend(_COST_OF_RUN, field.at)
        tag = _tag(field.number << 3 | wire)
        begin = field.at - len(tag)
        count = self._repeats(begin, tag, len(tag) + width)
        end = begin + count * (len(tag) + width)
        rows = np.frombuffer(self.data[begin:end], np.uint8).reshape(count, -1)
        return np.ascontiguousarray(rows[:, len(tag) :]).view(dtype)[:, 0], end

    def _repeats(self, begin: int, tag: bytes, width: int) -> int:
        """Count records of one width that begin with the same tag."""
        if bytes(self.data[begin : begin + len(tag)]) != tag:
            raise ReadError(f"byte {begin:,}: the file is damaged: a field has a wasteful tag")
        count, most, step = 0, (self.end - begin) // width, _FIRST_CHUNK
        wanted = np.frombuffer(tag, np.uint8)
        while count < most:
            here = min(step, most - count)
            piece = self.data[begin + count * width : begin + (count + here) * width]
            rows = np.frombuffer(piece, np.uint8).reshape(here, width)
            other = np.flatnonzero((rows[:, : len(tag)] != wanted).any(axis=1))
            if len(other):
                return count + int(other[0])
            count += here
            step = min(2 * step, _LAST_CHUNK)
        return count


def _tag(key: int) -> bytes:
    tag = bytearray()
    while key > 127:
        tag.append(key & 127 | 128)
        key >>= 7
    return bytes([*tag, key])


def signed(value: int) -> int:
    """Return 64 bits as a number with a sign."""
    return value - (1 << 64) if value >= 1 << 63 else value


def varints(packed: memoryview | bytes, at: int = 0) -> Whole:
    """Return packed whole numbers.

    Examples
    --------
    >>> varints(bytes.fromhex("01 9601 ffffffffffffffffff01")).tolist()
    [1, 150, -1]
    """
    parts: list[Whole] = [np.zeros(0, dtype=np.int32)]
    done = 0
    while done < len(packed):
        raw = np.frombuffer(packed[done : done + _LAST_CHUNK], np.uint8)
        part, taken = _decode(raw)
        if not taken:
            raise ReadError(f"byte {at + done:,}: the file is damaged: a number does not end")
        parts.append(_narrow(part))
        done += taken
    return np.concatenate(parts)


def _narrow(numbers: Wide) -> Whole:
    """Halve the memory of numbers that are small, as nearly all are."""
    fits = numbers.view(np.uint64) + np.uint64(1 << 31) < np.uint64(1 << 32)
    return numbers.astype(np.int32) if fits.all() else numbers


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


def _unpacked(piece: memoryview, tag: bytes) -> tuple[Wide, int]:
    """Decode numbers that each carry the same tag of one byte; stop at another tag."""
    if len(tag) != 1 or len(piece) == 0 or piece[0] != tag[0]:
        return np.zeros(0, dtype=np.int64), 0
    raw = np.frombuffer(piece, np.uint8)
    last = np.flatnonzero(raw < 128)
    # Tags and numbers take turns as long as every second number is the tag, in one byte.
    tags, ends = last[0::2], last[1::2]
    tags = tags[: len(ends)]
    expected = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    wrong = np.flatnonzero((tags != expected) | (raw[tags] != tag[0]))
    ends = ends[: wrong[0]] if len(wrong) else ends
    if not len(ends):
        return np.zeros(0, dtype=np.int64), 0
    taken, first = int(ends[-1]) + 1, tags[: len(ends)] + 1
    long = np.flatnonzero(ends - first >= _LONGEST)
    sound = slice(long[0] if len(long) else None)
    found = _numbers(raw, first[sound], ends[sound])
    return (found[:0], 0) if len(long) else (found, taken)
