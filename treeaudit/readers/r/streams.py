"""The bytes of a serialisation as numbers and texts: XDR, native binary, ascii.

Nothing is taken that is not there: a length is compared with the bytes that are left first.
"""

import re
import struct
from array import array
from collections.abc import Iterator
from itertools import islice
from mmap import mmap
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from treeaudit.errors import ReadError
from treeaudit.readers.r.objects import Short

KINDS = {"logical": "i4", "integer": "i4", "double": "f8", "complex": "c16", "raw": "u1"}
DOUBLE = 14
_WORD = re.compile(rb"\S+")
# A byte of a text in the ascii form, or a backslash and what stands for the byte.
_ESCAPED = re.compile(rb"\\([0-7]{1,3}|.)|[^\\]", re.DOTALL)
_ESCAPES = dict(zip(b"ntvbrfa", b"\n\t\v\b\r\f\a", strict=True))


def refuse(why: str) -> NoReturn:
    """Refuse a file."""
    raise ReadError(f"the R file is damaged: {why}")


class Binary:
    """XDR, which is big-endian, or the order of the machine that wrote the file."""

    def __init__(self, data: bytes | mmap, at: int, order: str = "") -> None:
        self.at = at
        self._data = data
        self._order = order
        self._integer = struct.Struct(f"{order}i").unpack_from
        self._two = struct.Struct(f"{order}2i").unpack_from

    def integer(self) -> int:
        """Return the next whole number of 32 bits."""
        self.fits(1, 4)
        self.at += 4
        number: int = self._integer(self._data, self.at - 4)[0]
        return number

    def text(self, n: int) -> bytes:
        """Return a text of so many bytes."""
        self.fits(n, 1)
        self.at += n
        return self._data[self.at - n : self.at]

    def raw_text(self) -> bytes | None:
        """Return a text whose length is before it; None for NA."""
        n = self.integer()
        if n < -1:
            refuse(f"a text of {n} bytes before byte {self.at:,}")
        return None if n == -1 else self.text(n)

    def texts(self, n: int) -> Iterator[tuple[int, bytes | None]]:
        """Yield so many texts with their flags: as `raw_text`, and faster."""
        data, two, last = self._data, self._two, len(self._data) - 8
        for _ in range(n):
            at = self.at
            flags, size = two(data, at) if at <= last else (0, -2)
            if not 0 <= size <= last - at or flags & 255 != 9:
                yield self.integer(), self.raw_text() if flags & 255 == 9 else None
                continue
            self.at = at + 8 + size
            yield flags, data[at + 8 : self.at]

    def short(self, n: int, most: int) -> Short | None:
        """Return so many vectors of few doubles if nothing else comes; else take nothing."""
        data, at, last = self._data, self.at, len(self._data) - 8
        starts = array("q")
        for _ in range(n):
            flags, size = self._two(data, at) if at <= last else (0, 0)
            if flags != DOUBLE or not 0 <= size < most:
                return None
            starts.append((at - self.at) // 8 + 1)
            at += 8 * (1 + size)
        if at > last + 8:
            return None
        stored = np.frombuffer(data, f"{self._order}f8", (at - self.at) // 8, self.at)
        starts.append(len(stored) + 1)
        self.at = at
        return Short(stored, np.frombuffer(starts, np.int64))

    def vector(self, kind: str, n: int) -> NDArray[Any]:
        """Return so many numbers of a kind."""
        dtype = np.dtype(self._order + KINDS[kind])
        self.fits(n, dtype.itemsize)
        self.at += n * dtype.itemsize
        return np.frombuffer(self._data, dtype, n, self.at - n * dtype.itemsize)

    def fits(self, n: int, least: int) -> None:
        """Refuse so many elements of that many bytes where fewer are left."""
        left = len(self._data) - self.at
        if n * least > left:
            refuse(
                f"it ends too early: {n:,} elements of at least {least} bytes are announced at "
                f"byte {self.at:,}, and {max(left, 0):,} bytes are left"
            )

    def left(self) -> int:
        """Return how many bytes are left."""
        return len(self._data) - self.at


class Ascii(Binary):
    """Words in lines; a missing number is NA, and a text is escaped."""

    def short(self, n: int, most: int) -> Short | None:
        """Return None: the vectors are read one by one."""
        return None

    def integer(self) -> int:
        """Return the next whole number."""
        return int(self.vector("integer", 1)[0])

    def text(self, n: int) -> bytes:
        """Return a text of so many bytes."""
        self.at += 1  # The end of the line of its length
        self.fits(n, 1)
        made = bytearray()
        for found in islice(_ESCAPED.finditer(self._data, self.at), n):
            code = found[1]
            if code is None:
                made += found[0]
            else:
                made.append(
                    int(code, 8) & 255 if code.isdigit() else _ESCAPES.get(code[0], code[0])
                )
            self.at = found.end()
        if len(made) < n:
            refuse(f"it ends within a text of {n:,} bytes")
        return bytes(made)

    def texts(self, n: int) -> Iterator[tuple[int, bytes | None]]:
        """Yield so many texts with their flags."""
        for _ in range(n):
            flags = self.integer()
            yield flags, self.raw_text() if flags & 255 == 9 else None

    def vector(self, kind: str, n: int) -> NDArray[Any]:
        """Return so many numbers of a kind."""
        n_words = 2 * n if kind == "complex" else n
        self.fits(n_words, 1)
        words = []
        for found in islice(_WORD.finditer(self._data, self.at), n_words):
            words.append(found[0])
            self.at = found.end()
        if len(words) < n_words:
            refuse(f"it ends within a vector of {n:,} elements")
        try:
            if kind == "raw":
                return np.array([int(word, 16) for word in words], np.uint8)
            if KINDS[kind] == "i4":
                return np.array([-(2**31) if w == b"NA" else int(w[:12]) for w in words], np.int32)
            return np.array([_real(word) for word in words]).view(KINDS[kind])
        except (ValueError, OverflowError):
            refuse(f"a word before byte {self.at:,} is no number")

    def fits(self, n: int, least: int) -> None:
        """Refuse so many elements where fewer are left: each takes a byte at least."""
        super().fits(n, 1)

    def left(self) -> int:
        """Return how many bytes are left but for the end of the line."""
        return len(self._data[self.at : self.at + 64].strip())


def _real(word: bytes) -> float:
    text = "nan" if word == b"NA" else word[:64].decode("ascii", "replace")
    return float.fromhex(text) if "0x" in text else float(text)
