"""Inert data as the one pickle that says it: protocol 4, no frames, no spelling to choose.

Nothing is imported and nothing is looked up: a class is two texts. numpy's
arrays are written as every numpy since 1.0 reads them.
"""

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from treeaudit.arrays import Array
from treeaudit.errors import UnsupportedModelError
from treeaudit.readers.limits import show
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.dtypes import DType
from treeaudit.readers.pickles.inert import Global, Inert
from treeaudit.writers.array_types import type_alone

__all__ = ["dumps"]

_ARRAY = ("numpy.core.multiarray", "_reconstruct")
_TUPLES = {0: b")", 1: b"\x85", 2: b"\x86", 3: b"\x87"}


def dumps(root: object) -> bytes:
    """Return the pickle of inert data.

    Examples
    --------
    >>> import pickle
    >>> pickle.loads(dumps({"a": [1, -2.5, None, ("x", True)]}))
    {'a': [1, -2.5, None, ('x', True)]}
    >>> pickle.loads(dumps(np.arange(3))).tolist()
    [0, 1, 2]
    """
    writer = _Writer()
    writer.save(root)
    return b"\x80\x04" + b"".join(writer.out) + b"."


class _Writer:
    """Writes instructions, and remembers what was written under which number."""

    def __init__(self) -> None:
        self.out: list[bytes] = []
        # Texts, names and types, which are alike where they say the same; objects by identity.
        self._shared: dict[object, int] = {}
        self._objects: dict[int, int] = {}
        self._alive: list[object] = []
        self._stored = 0

    def save(self, value: object) -> None:
        value = arrived(value)
        if value is None or isinstance(value, bool):
            self.out.append({None: b"N", True: b"\x88", False: b"\x89"}[value])
        elif isinstance(value, int):
            self._whole(value)
        elif isinstance(value, float):
            self.out.append(b"G" + struct.pack(">d", value))
        elif isinstance(value, str):
            self._text(value)
        elif isinstance(value, Global):
            self._named(value.module, value.name)
        elif isinstance(value, tuple):
            self._tuple(value)
        elif not self._again(value):
            self._new(value)

    def _new(self, value: object) -> None:
        match value:
            case bytes() | memoryview() | bytearray():
                self._bytes(bytes(value))
                self._remember(value)
            case list():
                self.out.append(b"]")
                self._remember(value)
                self._several(value, b"e")
            case dict():
                self.out.append(b"}")
                self._remember(value)
                self._several([part for pair in value.items() for part in pair], b"u")
            case np.ndarray():
                self._array(value)
            case DType():
                self._type(type_alone(value))
            case Inert():
                self._object(value)
            case _:
                raise UnsupportedModelError(f"{show(value)} cannot be written in a pickle")

    def _again(self, value: object) -> bool:
        number = self._objects.get(id(value))
        if number is not None:
            self._recall(number)
        return number is not None

    def _recall(self, number: int) -> None:
        short = number < 256
        self.out.append(b"h" + bytes([number]) if short else b"j" + struct.pack("<I", number))

    def _remember(self, value: object) -> None:
        self._objects[id(value)] = self._stored
        self._alive.append(value)
        self._stored += 1
        self.out.append(b"\x94")

    def _whole(self, value: int) -> None:
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
        number = self._shared.get(value)
        if number is not None:
            self._recall(number)
            return
        data = value.encode("utf-8", "surrogatepass")
        short = len(data) < 256
        size = b"\x8c" + bytes([len(data)]) if short else b"X" + struct.pack("<I", len(data))
        self.out += [size, data, b"\x94"]
        self._shared[value] = self._stored
        self._stored += 1

    def _bytes(self, data: bytes) -> None:
        if len(data) < 256:
            self.out.append(b"C" + bytes([len(data)]))
        elif len(data) < 1 << 32:
            self.out.append(b"B" + struct.pack("<I", len(data)))
        else:
            self.out.append(b"\x8e" + struct.pack("<Q", len(data)))
        self.out.append(data)

    def _named(self, module: str, name: str) -> None:
        number = self._shared.get((module, name))
        if number is not None:
            self._recall(number)
            return
        self._text(module)
        self._text(name)
        self.out.append(b"\x93\x94")
        self._shared[module, name] = self._stored
        self._stored += 1

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
        self._remember(value)
        self._several([part for pair in value.pairs.items() for part in pair], b"u")
        self._several(value.items, b"e")
        if value.state is not None:
            self.save(value.state)
            self.out.append(b"b")

    def _array(self, array: Array) -> None:
        self._named(*_ARRAY)
        self._named("numpy", "ndarray")
        self.save((0,))
        self._bytes(b"b")
        self.out.append(b"\x87R")
        self._remember(array)
        # Objects stand row by row in either order.
        fortran = array.dtype != object and array.flags.fnc
        self.out.append(b"(")
        self.save(1)
        self.save(array.shape)
        self._type(array.dtype)
        self.save(fortran)
        if array.dtype == object:
            self.save(array.ravel().tolist())
        else:
            self._bytes(array.tobytes("F" if fortran else "C"))
        self.out.append(b"tb")

    def _type(self, dtype: np.dtype[np.generic]) -> None:
        """Write a type as numpy itself describes it, once."""
        key = ("a type", repr(dtype))
        number = self._shared.get(key)
        if number is not None:
            self._recall(number)
            return
        described: Any = dtype.__reduce__()
        _, args, state = described
        self._named("numpy", "dtype")
        self._tuple(args)
        self.out.append(b"R")
        order, sub, names, fields, *sizes = state[1:]
        self.out.append(b"(")
        self.save(state[0])
        self.save(order)
        self.save(sub)
        self.save(names)
        if fields is None:
            self.save(None)
        else:
            self.out.append(b"}(")
            for name in names:
                inner, offset = fields[name][:2]
                self.save(name)
                self._type(inner)
                self.save(offset)
                self.out.append(b"\x86")
            self.out.append(b"u")
        for size in sizes[:3]:
            self.save(size)
        self.out.append(b"tb\x94")
        self._shared[key] = self._stored
        self._stored += 1
