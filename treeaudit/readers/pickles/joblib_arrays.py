"""Arrays as joblib writes them: raw bytes in the middle of the opcode stream.

joblib pickles a small wrapper object and puts the bytes of the array right
behind the instruction that completes it (since joblib 1.2 aligned by a pad
length and padding). Arrays of objects are a whole pickle at that place.
"""

import math
from typing import Protocol

import numpy as np

from treeaudit.errors import ReadError
from treeaudit.readers.pickles.arrays import DType, array_from, arrived, not_described, shape_from
from treeaudit.readers.pickles.inert import Inert

__all__ = ["ArrayStream", "is_wrapper", "read_array"]


class ArrayStream(Protocol):
    """The part of the interpreter that an array needs."""

    def take(self, n: int) -> memoryview:
        """Return the next ``n`` bytes."""

    def leave_frame(self) -> None:
        """Make sure that raw bytes begin exactly where a frame ends."""

    def read_nested(self) -> object:
        """Read the pickle that begins here."""


def is_wrapper(target: Inert) -> bool:
    """Tell whether raw array bytes follow this object."""
    return target.kind == "NumpyArrayWrapper" and target.cls.module.endswith("numpy_pickle")


def read_array(stream: ArrayStream, wrapper: Inert) -> object:
    """Return the array whose bytes follow, and move behind them.

    Raises
    ------
    ReadError
        If the wrapper does not describe an array that fits the stream.
    """
    stated = wrapper.attributes
    dtype, shape, order = stated.get("dtype"), stated.get("shape"), stated.get("order")
    if not isinstance(dtype, DType):
        raise not_described(dtype)
    if not isinstance(shape, tuple):
        raise ReadError("an array of the joblib file is not described")
    stream.leave_frame()
    if dtype.is_object:
        content = arrived(stream.read_nested())
        if not isinstance(content, np.ndarray):
            raise ReadError("an array of objects of the joblib file is damaged")
        return content
    if stated.get("numpy_array_alignment_bytes") is not None:
        stream.take(stream.take(1)[0])
    size = math.prod(shape_from(shape)) * dtype.build().itemsize
    by_column = isinstance(order, str) and order == "F"
    return array_from(stream.take(size), dtype, shape, by_column)
