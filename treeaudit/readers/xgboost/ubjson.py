"""Universal Binary JSON, as XGBoost writes it: bytes in, plain values out.

Nothing is called, and nothing is allocated for a length before the bytes that
it promises are there. Arrays of one number type become numpy views of the file.
"""

import struct
from mmap import mmap
from typing import Any

import numpy as np

from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.readers.limits import LIMITS, Allowance, Deepest, Limits, Most, show

_TYPES = {"i": "i1 b", "U": "u1 B", "I": "i2 h", "l": "i4 i", "L": "i8 q", "d": "f4 f", "D": "f8 d"}
_NUMBERS = {mark: np.dtype(f">{name[:2]}") for mark, name in _TYPES.items()}
_SCALARS = {mark: struct.Struct(f">{name[3:]}") for mark, name in _TYPES.items()}
_WHOLE = "iUIlL"
_CONSTANTS: dict[str, object] = {"Z": None, "T": True, "F": False}
# What Python needs for an object, a list entry included; about the largest of each.
_SCALAR_COST = 64
_CONTAINER_COST = 320


def parse(data: bytes | bytearray | memoryview | mmap, limits: Limits = LIMITS) -> object:
    r"""Return the value that UBJSON bytes hold.

    Objects become dict, arrays of one number type become read-only numpy
    arrays, other arrays become lists. Texts that are no UTF-8 keep their bytes
    as backslash escapes.
    """
    return _Parser(memoryview(data).cast("B").toreadonly(), limits).document()


def shortest(number: int) -> str:
    """Return how XGBoost writes a whole number."""
    bits = (number if number >= 0 else ~number).bit_length()
    return "i" if bits < 8 else "I" if bits < 16 else "l" if bits < 32 else "L"


class _Parser:
    __slots__ = ("_at", "_data", "_forms", "_spend", "_wide")

    def __init__(self, data: memoryview, limits: Limits) -> None:
        self._data = data
        self._at = 0
        # How lengths and whole numbers are written, and whether any could be shorter.
        self._forms: tuple[set[str], set[str]] = (set(), set())
        self._wide = False
        too_much = f"the UBJSON unpacks to too much for its {len(data):,} bytes"
        self._spend = Allowance(limits.objects(len(data)), too_much).take

    def document(self) -> object:
        value = self._value(self._marker(), 0)
        if self._at != len(self._data):
            extra = len(self._data) - self._at
            raise ReadError(f"the UBJSON ends at byte {self._at:,}, but {extra:,} bytes follow")
        lengths, whole = self._forms
        if len(lengths) > 1 or (self._wide and len(whole) > 1):
            raise ReadError("the UBJSON writes numbers of one kind now in one way, now in another")
        return value

    def _damaged(self, what: str) -> ReadError:
        return ReadError(f"the UBJSON is damaged at byte {self._at:,}: {what}")

    def _take(self, size: int) -> memoryview:
        if size > len(self._data) - self._at:
            what = "1 byte is" if size == 1 else f"{size:,} bytes are"
            raise self._damaged(f"{what} announced and the file ends before")
        start = self._at
        self._at += size
        return self._data[start : self._at]

    def _marker(self) -> str:
        if self._at == len(self._data):
            self._take(1)
        code = self._data[self._at]
        self._at += 1
        if code == 0x4E:  # "N": no operation, which no library writes
            raise self._damaged("it is filled up with bytes that say nothing")
        return chr(code)

    def _value(self, marker: str, depth: int) -> object:
        if (kind := _SCALARS.get(marker)) is not None:
            self._spend(_SCALAR_COST)
            found = self._number(kind)
            if marker in _WHOLE:
                self._note_form(marker, found)
            return found
        if marker == "S":
            return self._text(self._marker())
        if marker == "{":
            return self._object(depth + 1)
        if marker == "[":
            return self._array(depth + 1)
        self._spend(_SCALAR_COST)
        if marker in _CONSTANTS:
            return _CONSTANTS[marker]
        if marker == "C":
            return chr(self._take(1)[0])
        raise self._damaged(f"there is no type {marker!a}")

    def _number(self, kind: struct.Struct) -> Any:  # noqa: ANN401  # a number of some type
        end = self._at + kind.size
        if end > len(self._data):
            self._take(kind.size)
        found = kind.unpack_from(self._data, self._at)[0]
        self._at = end
        return found

    def _length(self, marker: str) -> int:
        if marker not in _WHOLE:
            raise self._damaged("a length is no whole number")
        self._forms[0].add(marker)
        size: int = self._number(_SCALARS[marker])
        if size < 0:
            raise self._damaged("a length is negative")
        return size

    def _text(self, marker: str) -> str:
        size = self._length(marker)
        if size > Most.text:
            raise ModelTooLargeError(
                f"the UBJSON holds a text of {size:,} bytes at byte {self._at:,}, "
                f"more than {Most.text:,}"
            )
        self._spend(_SCALAR_COST + 4 * size)
        return bytes(self._take(size)).decode("utf-8", "backslashreplace")

    def _header(self, depth: int) -> tuple[str | None, int | None, str]:
        """Return the common type and the number of entries, where stated, and what follows."""
        if depth > Deepest.ubjson:
            raise ModelTooLargeError(f"the UBJSON is nested more than {Deepest.ubjson} levels deep")
        self._spend(_CONTAINER_COST)
        common = size = None
        marker = self._marker()
        if marker == "$":
            common = chr(self._take(1)[0])
            marker = self._marker()
            if marker != "#":
                raise self._damaged("a typed array does not tell its length")
        if marker == "#":
            size = self._length(self._marker())
        return common, size, marker

    def _array(self, depth: int) -> object:
        common, size, marker = self._header(depth)
        if size is None:
            open_ended = []
            while marker != "]":
                open_ended.append(self._value(marker, depth))
                marker = self._marker()
            return open_ended
        if common is None:
            return [self._value(self._marker(), depth) for _ in self._counted(size)]
        if (dtype := _NUMBERS.get(common)) is not None:
            # No 64-bit length can overflow this product: Python's integers do not wrap.
            return np.frombuffer(self._take(size * dtype.itemsize), dtype=dtype)
        return [self._value(common, depth) for _ in self._counted(size)]

    def _note_form(self, marker: str, number: int) -> None:
        """Remember how a whole number is written."""
        self._forms[1].add(marker)
        # XGBoost takes the largest of a form, and the smallest, for too large.
        away = number + 1 if number >= 0 else number - 1
        self._wide |= marker not in (shortest(number), shortest(away))

    def _counted(self, size: int) -> range:
        """Refuse more entries than bytes: entries of no bytes are bombs."""
        if size > len(self._data) - self._at:
            raise self._damaged(f"{size:,} entries are announced and the file ends before")
        return range(size)

    def _object(self, depth: int) -> dict[str, object]:
        common, size, marker = self._header(depth)
        found: dict[str, object] = {}
        if size is None:
            while marker != "}":
                self._entry(found, marker, None, depth)
                marker = self._marker()
            return found
        for _ in self._counted(size):
            self._entry(found, self._marker(), common, depth)
        return found

    def _entry(self, found: dict[str, object], marker: str, common: str | None, depth: int) -> None:
        """Read a name and its value; refuse a name that is there: readers would disagree."""
        key = self._text(marker)
        if key in found:
            raise self._damaged(f"an object names {show(key)} twice")
        found[key] = self._value(common or self._marker(), depth)
