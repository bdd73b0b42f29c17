"""Inert data as the one pickle for it: what `treeaudit.writers.canonical` compares files with.

Nothing is imported and nothing is looked up: a class is two texts. numpy's arrays are written as
every numpy since 1.0 reads them. The encoding stays the same within a major release:

- *Protocol* 4, without frames, and no bytes after the full stop.
- *Numbers*: whole ones by the shortest of ``K``, ``M``, ``J`` and ``LONG1``, others by ``G``; a
  number that is none is the quiet one without a payload.
- *Memo*: a text, a name and a type of numbers are stored once and recalled by their value; an
  object is recalled only if the record that is given here refers to one and the same `Inert`.
  Lists, dictionaries, tuples, bytes and arrays are never shared: which of them a file shared
  depends on the program that wrote it.
- *Order*: the attributes of an object and the entries of a dictionary stand as in the record, and
  `treeaudit.writers.canonical_record` sorts them.
- *Arrays*: row by row, lowest byte first, logical values as 0 and 1, texts in a type of the
  length of the longest.
"""

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from treeaudit.arrays import Array
from treeaudit.errors import UnsupportedModelError
from treeaudit.readers.limits import show
from treeaudit.readers.pickle.arrays import DType, arrived
from treeaudit.readers.pickle.inert import Global, Inert

HEAD = b"\x80\x04"
"""The first two bytes; the third begins no frame, as that of a pickle by Python does."""

_ARRAY = ("numpy.core.multiarray", "_reconstruct")
_TUPLES = {0: b")", 1: b"\x85", 2: b"\x86", 3: b"\x87"}
_MOST_PARTS = 50_000_000
"""So many values are written: a list of lists that share one another says more than it holds."""


def dumps(root: object) -> bytes:
    """Return the pickle of inert data."""
    writer = _Writer()
    writer.save(root)
    return HEAD + b"".join(writer.out) + b"."


def type_alone(kind: DType) -> np.dtype[np.generic]:
    """Return the numpy dtype of a stored type alone: that of objects holds no array."""
    return np.dtype(object) if kind.is_object else kind.build()


def in_order(array: Array) -> Array:
    """Return an array in the one form that its values have."""
    kind = array.dtype.kind
    if kind in "SU":
        array = np.array(array.tolist(), dtype=kind).reshape(array.shape)
    elif kind == "b":
        array = array.view(np.uint8) != 0
    elif kind in "fc" and np.isnan(array).any():
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)


class _Writer:
    """Writes instructions, and remembers what was written under which number."""

    def __init__(self) -> None:
        self.out: list[bytes] = []
        # Texts, names and types by their values, objects by identity.
        self._shared: dict[object, int] = {}
        self._alive: list[object] = []
        self._parts = _MOST_PARTS

    def save(self, value: object) -> None:
        value = arrived(value)
        self._parts -= 1
        if self._parts < 0:
            raise UnsupportedModelError("the model refers to the same parts too often to write it")
        match value:
            case None | bool():
                self.out.append({None: b"N", True: b"\x88", False: b"\x89"}[value])
            case int():
                self._whole(value)
            case float():
                number = math.nan if math.isnan(value) else value
                self.out.append(b"G" + struct.pack(">d", number))
            case str():
                self._text(str(value))
            case Global():
                self._named(value.module, value.name)
            case tuple():
                self._tuple(value)
            case bytes() | memoryview() | bytearray():
                self._bytes(bytes(value))
            case list():
                self.out.append(b"]")
                self._several(value, b"e")
            case dict():
                self.out.append(b"}")
                self._several([part for pair in value.items() for part in pair], b"u")
            case np.ndarray():
                self._array(value)
            case DType():
                self._type(type_alone(value))
            case Inert():
                if not self._recall(id(value)):
                    self._object(value)
            case _:
                raise UnsupportedModelError(f"{show(value)} cannot be written in a pickle")

    def _recall(self, key: object) -> bool:
        """Refer to what was stored; tell whether it was."""
        number = self._shared.get(key)
        if number is None:
            return False
        short = number < 256
        self.out.append(b"h" + bytes([number]) if short else b"j" + struct.pack("<I", number))
        return True

    def _store(self, key: object) -> None:
        self.out.append(b"\x94")
        self._shared[key] = len(self._shared)

    def _whole(self, value: int) -> None:
        """Write a whole number by its shortest instruction."""
        if 0 <= value < 1 << 8:
            self.out.append(b"K" + bytes([value]))
        elif 0 <= value < 1 << 16:
            self.out.append(b"M" + struct.pack("<H", value))
        elif -(1 << 31) <= value < 1 << 31:
            self.out.append(b"J" + struct.pack("<i", value))
        else:
            n = value.bit_length() // 8 + 1
            if value < 0 and n > 1 and value >= -(1 << (8 * n - 9)):
                n -= 1
            self.out.append(b"\x8a" + bytes([n]) + value.to_bytes(n, "little", signed=True))

    def _text(self, value: str) -> None:
        if self._recall(value):
            return
        data = value.encode("utf-8", "surrogatepass")
        short = len(data) < 256
        self.out.append(
            b"\x8c" + bytes([len(data)]) if short else b"X" + struct.pack("<I", len(data))
        )
        self.out.append(data)
        self._store(value)

    def _bytes(self, data: bytes) -> None:
        if len(data) < 256:
            self.out.append(b"C" + bytes([len(data)]))
        elif len(data) < 1 << 32:
            self.out.append(b"B" + struct.pack("<I", len(data)))
        else:
            self.out.append(b"\x8e" + struct.pack("<Q", len(data)))
        self.out.append(data)

    def _named(self, module: str, name: str) -> None:
        if self._recall((module, name)):
            return
        self._text(module)
        self._text(name)
        self.out.append(b"\x93")
        self._store((module, name))

    def _tuple(self, parts: Sequence[object]) -> None:
        if len(parts) > 3:
            self.out.append(b"(")
        for part in parts:
            self.save(part)
        self.out.append(_TUPLES.get(len(parts), b"t"))

    def _several(self, parts: Sequence[object], opcode: bytes) -> None:
        if parts:
            self.out.append(b"(")
            for part in parts:
                self.save(part)
            self.out.append(opcode)

    def _object(self, value: Inert) -> None:
        self._named(value.cls.module, value.cls.name)
        self._tuple(value.args)
        # What takes arguments is called with them; anything else is made bare, as pickle does.
        self.out.append(b"R" if value.args else b"\x81")
        self._store(id(value))
        self._alive.append(value)
        self._several([part for pair in value.pairs.items() for part in pair], b"u")
        self._several(value.items, b"e")
        if value.state is not None:
            self.save(value.state)
            self.out.append(b"b")

    def _array(self, array: Array) -> None:
        objects = array.dtype == object
        array = array if objects else in_order(array)
        self._named(*_ARRAY)
        self._named("numpy", "ndarray")
        self.save((0,))
        self._bytes(b"b")
        self.out.append(b"\x87R(")
        self.save(1)
        self.save(array.shape)
        self._type(array.dtype)
        self.save(False)
        self.save(array.ravel().tolist() if objects else array.tobytes())
        self.out.append(b"tb")

    def _type(self, dtype: np.dtype[np.generic]) -> None:
        """Write a type in the words of numpy, once."""
        kind, size = dtype.kind, dtype.itemsize
        code = f"U{size // 4}" if kind == "U" else f"{kind}{size}"
        names: tuple[str, ...] | None = dtype.names
        fields: Mapping[str, Any] = dtype.fields or {}
        key = ("a type", code, str(dtype) if names else "")
        if self._recall(key):
            return
        self._named("numpy", "dtype")
        self._tuple((code, False, True))
        self.out.append(b"R(")
        self.save(3)
        self.save("|" if size == 1 or kind in "OSV" else "<")
        self.save(None)
        self.save(names)
        if names is None:
            self.save(None)
        else:
            self.out.append(b"}(")
            for name in names:
                self.save(name)
                self._type(fields[name][0].newbyteorder("<"))
                self.save(fields[name][1])
                self.out.append(b"\x86")
            self.out.append(b"u")
        one = {"S": 1, "U": 4, "V": 1}.get(kind)
        for number in (-1, -1, {"O": 63}.get(kind, 0)) if one is None else (
            size, one, {"U": 8, "V": 16 if names else 0}.get(kind, 0),
        ):  # fmt: skip
            self.save(number)
        self.out.append(b"tb")
        self._store(key)
