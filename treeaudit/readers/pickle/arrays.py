"""Rebuild numpy arrays from their description, checking every number first.

numpy is handed only dtypes that are put together in `dtypes`: a stored dtype whose
field lies outside its record makes numpy itself read out of bounds.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from treeaudit.errors import ReadError, UnsafeModelError
from treeaudit.readers.limits import Most, show
from treeaudit.readers.pickle.dtypes import DType, not_described
from treeaudit.readers.types import Array

Spend = Callable[[int], None]

# Asked of every array: a union would be made anew each time.
_AXES = 32
_ROWS, _BYTES = (tuple, list), (bytes, bytearray, memoryview, str)

ARRAY_CLASSES = frozenset(
    (
        *(f"numpy.{name}" for name in ("ndarray", "matrix", "memmap", "recarray", "chararray")),
        *(f"numpy.{core}.memmap.memmap" for core in ("core", "_core")),
        *(f"numpy.{core}.recarray" for core in ("core.records", "_core.records", "rec")),
        *(f"numpy.{core}.chararray" for core in ("core.defchararray", "_core.defchararray")),
        "numpy.char.chararray",
        *(f"numpy.{core}.defmatrix.matrix" for core in ("matrixlib", "core")),
    )
)
"""Subclasses that numpy fills like any array; to rebuild a memmap opens no file."""


@dataclass(slots=True, eq=False)
class LateArray:
    """An array that is announced first and filled by a later instruction."""

    content: Array | None = None


def arrived(value: object) -> object:
    """Return the content of a late array, anything else as it is."""
    return value.content if value.__class__ is LateArray else value


def shape_from(shape: object) -> tuple[int, ...]:
    """Return the sizes of an array, each and all of them within bounds."""
    sizes = (shape,) if isinstance(shape, int) else shape
    if not isinstance(sizes, _ROWS) or len(sizes) > _AXES:
        raise ReadError("an array has no usable shape")
    # Without the zeros: numpy refuses (0, 2 ** 63) with an error of its own.
    checked, n = [], 1
    for size in sizes:
        if not isinstance(size, int) or size < 0:
            n = Most.items + 1
            break
        checked.append(int(size))
        n *= size or 1
    if n > Most.items:
        raise ReadError(f"an array has an impossible shape: {show(tuple(sizes))}")
    return tuple(checked)


def array_from(data: object, dtype: object, shape: object, fortran: bool) -> Array:
    """Return a read-only array on the bytes of the file, without copying.

    Raises
    ------
    ReadError
        If bytes, type and shape do not belong together.
    UnsafeModelError
        If the bytes would be taken for Python objects.
    """
    if not isinstance(dtype, DType):
        raise not_described(dtype)
    sizes = shape_from(shape)
    if not isinstance(data, _BYTES):
        raise ReadError("an array has no bytes")
    real = dtype.build()
    if real.hasobject:
        raise UnsafeModelError("the file forges Python objects from raw bytes; treat it as hostile")
    n: int = math.prod(sizes)
    if n and real.itemsize == 0:
        raise ReadError("an array has elements of zero bytes")
    needed = n * real.itemsize
    if needed != len(data):
        raise ReadError(
            f"an array of shape {sizes} needs {needed:,} bytes, the file holds {len(data):,}"
        )
    if isinstance(data, str):
        try:
            data = data.encode("latin1")
        except UnicodeEncodeError:
            raise ReadError("the bytes of an array are damaged") from None
    if real.kind == "U" and len(data):
        points = np.frombuffer(data, dtype=f"{real.str[0]}u4")
        if int(points.max()) > sys.maxunicode:
            # numpy would make a Python text of it that no Python text can be.
            raise ReadError("an array of text holds characters that do not exist")
    array = np.ndarray(sizes, real, data or None, 0, None, "F" if fortran else "C")
    array.setflags(write=False)
    return array


def object_array(items: object, shape: object) -> Array:
    """Return an array of inert objects; numpy lists them row by row in either order."""
    sizes = shape_from(shape)
    if not isinstance(items, list) or len(items) != math.prod(sizes):
        raise ReadError("an array of objects is damaged")
    flat = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        flat[i] = item
    return flat.reshape(sizes)


def axes_from(axes: object, n: int) -> tuple[int, ...]:
    """Return the order of the axes of an array, each of them once."""
    order = tuple(axes) if isinstance(axes, tuple | list) else ()
    if not all(axis.__class__ is int for axis in order) or sorted(order) != list(range(n)):
        raise ReadError("the axes of an array have no order")
    return order


def fill(state: object, at: int, spend: Spend) -> Array:
    """Return the array that numpy's own state of an array describes, for messages at a place."""
    if not isinstance(state, tuple) or len(state) != 5:
        raise ReadError(f"the array at byte {at:,} is damaged")
    version, shape, dtype, fortran, data = state
    if version.__class__ is not int or version not in (0, 1):
        raise ReadError(f"the array at byte {at:,} is damaged")
    if not isinstance(fortran, int) or fortran not in (0, 1):
        raise ReadError(f"the array at byte {at:,} has no order")
    if isinstance(dtype, DType) and dtype.is_object:
        spend(16 * len(data) if isinstance(data, list) else 0)
        return object_array(data, shape)
    spend(len(data) if isinstance(data, str) else 0)
    return array_from(data, dtype, shape, fortran != 0)


def scalar_from(dtype: object, data: object) -> object:
    """Return a numpy scalar as a Python value."""
    if isinstance(dtype, DType) and dtype.is_object:
        if isinstance(data, bytes | bytearray | memoryview):
            raise UnsafeModelError(
                "the file forges a Python object from raw bytes; treat it as hostile"
            )
        raise ReadError("a number that is an object is damaged")
    if isinstance(dtype, DType) and not data and dtype.build().str[1:] in ("S0", "U0"):
        return b"" if dtype.build().kind == "S" else ""
    value: object = array_from(data, dtype, (1,), False)[0].item()
    return value
