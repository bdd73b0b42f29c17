"""R's serialisation of plain objects: version 2, big-endian, not compressed, in one fixed form.

``readRDS`` reads it from R 2.3 on. The numbers are those of R's ``serialize.c``.
"""

import struct
from collections.abc import Iterable

import numpy as np

from treeaudit.readers.r.objects import NULL, RObject

_HEAD = b"X\n" + struct.pack(">iii", 2, 0x00020300, 0x00020300)
_NUMBERS = {"logical": (10, ">i4"), "integer": (13, ">i4"), "double": (14, ">f8")}
_STRING, _LIST, _CALL, _CELL, _SYMBOL, _CHARS, _REFERENCE = 16, 19, 6, 2, 1, 9, 255
_SINGLE = {"null": 254, "global": 253}
_HAS_CLASS, _HAS_ATTRIBUTES, _HAS_TAG = 1 << 8, 1 << 9, 1 << 10
_UTF8, _ASCII = 1 << 15, 1 << 18

_KINDS = {"b": "logical", "i": "integer", "u": "integer", "f": "double"}


def r(value: object, **attributes: object) -> RObject:
    """Return what a value is in R.

    A dict is a list with names, without those that are None; a list is a vector of texts or
    numbers if it holds nothing else.
    """
    more = {name: r(one) for name, one in attributes.items()}
    match value:
        case RObject():
            return value
        case None:
            return NULL
        case dict():
            parts = {name: r(one) for name, one in value.items() if one is not None}
            return RObject("list", list(parts.values()), {"names": r(list(parts)), **more})
        case np.ndarray() if value.dtype.kind in _KINDS:
            dim = {"dim": r(np.array(value.shape))} if value.ndim > 1 else {}
            return RObject(_KINDS[value.dtype.kind], value.ravel(order="F"), dim | more)
        case list() | tuple() if all(isinstance(one, str) for one in value):
            return RObject("string", list(value), more)
        case list() | tuple() if not all(isinstance(one, int | float) for one in value):
            return RObject("list", [r(one) for one in value], more)
        case str():
            return r([value], **attributes)
    return r(np.atleast_1d(np.asarray(value)), **attributes)


def symbol(name: str) -> RObject:
    """Return a name of R."""
    return RObject("symbol", name)


def call(function: str, *arguments: RObject) -> RObject:
    """Return a call, which nobody makes here."""
    return RObject("language", [symbol(function), *arguments])


def encode(root: RObject) -> bytes:
    """Return the bytes of an ``.rds`` file."""
    encoder = _Encoder()
    encoder.put(root)
    return _HEAD + b"".join(encoder.parts)


class _Encoder:
    """What was written so far, and the symbols in it by number."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._known: dict[str, int] = {}

    def put(self, value: RObject) -> None:
        """Write an object."""
        flags = _HAS_ATTRIBUTES * bool(value.attributes)
        flags |= _HAS_CLASS * ("class" in value.attributes)
        if value.kind in _SINGLE:
            self._integers(_SINGLE[value.kind])
        elif value.kind == "symbol":
            self._symbol(value.values)
        elif value.kind == "language":
            self._integers(_CALL | flags)
            if value.attributes:
                self._cells(value.attributes.items())
            first, *rest = value.values
            self.put(first)
            self._cells((None, one) for one in rest)
        else:
            self._vector(value, flags)
            if value.attributes:
                self._cells(value.attributes.items())

    def _vector(self, value: RObject, flags: int) -> None:
        if value.kind in _NUMBERS:
            code, form = _NUMBERS[value.kind]
            self._integers(code | flags, len(value.values))
            self.parts.append(value.values.astype(form).tobytes())
            return
        self._integers((_STRING if value.kind == "string" else _LIST) | flags, len(value.values))
        for one in value.values:
            if value.kind == "string":
                self._text(one)
            else:
                self.put(one)

    def _cells(self, pairs: Iterable[tuple[str | None, RObject]]) -> None:
        """Write a list of cells, with tags or without, and its end."""
        for tag, value in pairs:
            self._integers(_CELL | (_HAS_TAG if tag is not None else 0))
            if tag is not None:
                self._symbol(tag)
            self.put(value)
        self._integers(_SINGLE["null"])

    def _symbol(self, name: str) -> None:
        if name in self._known:
            self._integers(self._known[name] << 8 | _REFERENCE)
            return
        self._known[name] = len(self._known) + 1
        self._integers(_SYMBOL)
        self._text(name)

    def _text(self, text: str) -> None:
        data = text.encode()
        self._integers(_CHARS | (_ASCII if text.isascii() else _UTF8), len(data))
        self.parts.append(data)

    def _integers(self, *values: int) -> None:
        self.parts.append(struct.pack(f">{len(values)}i", *values))
