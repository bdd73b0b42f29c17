"""The bytes of a serialisation as numbers and texts: XDR, native binary, ascii.

Nothing is taken that is not there: a length is compared with the bytes that are left first.
"""

import re
import struct
from itertools import islice
from mmap import mmap
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from treeaudit.errors import ReadError

KINDS = {"logical": "i4", "integer": "i4", "double": "f8", "complex": "c16", "raw": "u1"}
_WORD = re.compile(rb"\S+")
# A text of the ascii form: any byte, or a backslash and what it stands for.
_ESCAPED = re.compile(rb"\\([0-7]{1,3}|.)|[^\\]", re.DOTALL)
_ESCAPES = {b"n": 10, b"t": 9, b"v": 11, b"b": 8, b"r": 13, b"f": 12, b"a": 7}
_SPECIAL = {b"NA": "nan", b"NaN": "nan", b"Inf": "inf", b"-Inf": "-inf"}


def damaged(why: str) -> NoReturn:
    """Refuse a file."""
    raise ReadError(f"the R file is damaged: {why}")


class Stream(Protocol):
    """What a reader takes from a file, in any of the three forms."""

    at: int

    def integer(self) -> int:
        """Return the next whole number of 32 bits."""

    def text(self, n: int) -> bytes:
        """Return a text of so many bytes."""

    def vector(self, kind: str, n: int) -> NDArray[Any]:
        """Return so many numbers of a kind."""

    def fits(self, n: int, least: int) -> None:
        """Refuse so many elements of that many bytes, or words, where fewer are left."""

    def left(self) -> int:
        """Return how many bytes are left."""


class Binary:
    """XDR, which is big-endian, or the order of the machine that wrote the file."""

    def __init__(self, data: bytes | mmap, at: int, order: str) -> None:
        self.at = at
        self._data = data
        self._size = len(data)
        self._order = order
        self._integer = struct.Struct(f"{order}i").unpack_from

    def integer(self) -> int:
        at = self.at
        if at + 4 > self._size:
            self.fits(1, 4)
        self.at = at + 4
        number: int = self._integer(self._data, at)[0]
        return number

    def text(self, n: int) -> bytes:
        self.fits(n, 1)
        at, self.at = self.at, self.at + n
        return self._data[at : self.at]

    def vector(self, kind: str, n: int) -> NDArray[Any]:
        dtype = np.dtype(self._order + KINDS[kind])
        self.fits(n, dtype.itemsize)
        at, self.at = self.at, self.at + n * dtype.itemsize
        return np.frombuffer(self._data, dtype, n, at)

    def fits(self, n: int, least: int) -> None:
        if n * least > self._size - self.at:
            _too_long(n, least, self.at, self._size)

    def left(self) -> int:
        return self._size - self.at


class Ascii:
    """Words in lines; a missing number is NA, and a text is escaped."""

    def __init__(self, data: bytes | mmap, at: int) -> None:
        self.at = at
        self._data = data
        self._size = len(data)

    def integer(self) -> int:
        word = self._words(1)[0]
        return _whole(word, self.at)

    def text(self, n: int) -> bytes:
        self.fits(n, 1)
        self.at += 1  # The end of the line of its length
        made = bytearray()
        for found in islice(_ESCAPED.finditer(self._data, self.at), n):
            code = found[1]
            if code is None:
                made += found[0]
            elif code.isdigit():
                made.append(int(code, 8) & 255)
            else:
                made.append(_ESCAPES.get(code, code[0]))
            self.at = found.end()
        if len(made) < n:
            _too_long(n, 1, self.at, self._size)
        return bytes(made)

    def vector(self, kind: str, n: int) -> NDArray[Any]:
        words = self._words(2 * n if kind == "complex" else n)
        try:
            if kind == "raw":
                return np.array([int(word, 16) for word in words], np.uint8)
            if KINDS[kind] == "i4":
                return np.array([_whole(word, self.at) for word in words], np.int32)
            made = np.array([_real(word) for word in words], np.float64)
        except (ValueError, OverflowError):
            damaged(f"a word before byte {self.at:,} is no number")
        return made.view(np.complex128) if kind == "complex" else made

    def fits(self, n: int, least: int) -> None:
        if n > self._size - self.at:
            _too_long(n, least, self.at, self._size)

    def left(self) -> int:
        return len(self._data[self.at : self.at + 64].strip())

    def _words(self, n: int) -> list[bytes]:
        self.fits(n, 1)
        words = []
        for found in islice(_WORD.finditer(self._data, self.at), n):
            words.append(found[0])
            self.at = found.end()
        if len(words) < n:
            _too_long(n, 1, self.at, self._size)
        return words


def _whole(word: bytes, at: int) -> int:
    if word == b"NA":
        return -(2**31)
    try:
        number = int(word[:12])
    except ValueError:
        number = 2**31
    if not -(2**31) <= number < 2**31:
        damaged(f"a word before byte {at:,} is no whole number")
    return number


def _real(word: bytes) -> float:
    text = _SPECIAL.get(word, "") or word[:64].decode("ascii", "replace")
    return float.fromhex(text) if "0x" in text else float(text)


def _too_long(n: int, least: int, at: int, size: int) -> NoReturn:
    damaged(
        f"it ends too early: {n:,} elements of at least {least} bytes are announced at byte "
        f"{at:,}, and {max(size - at, 0):,} bytes are left"
    )
