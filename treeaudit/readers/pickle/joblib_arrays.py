"""Arrays as joblib writes them: raw bytes in the middle of the opcode stream.

joblib pickles a small wrapper object and puts the bytes of the array right
behind the instruction that completes it (since joblib 1.2 aligned by a pad
length and padding). Arrays of objects are a whole pickle at that place.
"""

import math

import numpy as np

from treeaudit.errors import ReadError, UnsafeModelError
from treeaudit.readers.pickle.arrays import ARRAY_CLASSES, array_from, arrived, shape_from
from treeaudit.readers.pickle.companions import Stream
from treeaudit.readers.pickle.dtypes import DType, not_described
from treeaudit.readers.pickle.inert import Global, Inert

JOBLIB = frozenset(("joblib.numpy_pickle", "sklearn.externals.joblib.numpy_pickle"))
_STATED = frozenset("subclass shape order dtype allow_mmap numpy_array_alignment_bytes".split())
_ALIGNMENT = 16


def is_wrapper(target: Inert) -> bool:
    """Tell whether raw array bytes follow this object."""
    return target.kind == "NumpyArrayWrapper" and target.cls.module in JOBLIB


def read_array(stream: Stream, wrapper: Inert) -> object:
    """Return the array whose bytes follow, and move behind them."""
    stated = wrapper.attributes
    dtype, shape, order = stated.get("dtype"), stated.get("shape"), stated.get("order")
    if not isinstance(dtype, DType):
        raise not_described(dtype)
    subclass = stated.get("subclass")
    plain = subclass is None or (isinstance(subclass, Global) and str(subclass) in ARRAY_CLASSES)
    known = not wrapper.args and stated.keys() <= _STATED and isinstance(shape, tuple)
    known &= isinstance(order, str)
    if not known or order not in ("C", "F") or not plain:
        raise ReadError("an array of the joblib file is not described as joblib does")
    stream.begin_array()
    if dtype.is_object:
        content = arrived(stream.read_nested())
        if not isinstance(content, np.ndarray):
            raise ReadError("an array of objects of the joblib file is damaged")
        return content
    size = math.prod(shape_from(shape)) * dtype.build().itemsize
    if stated.get("numpy_array_alignment_bytes") is None:
        stream.refuse_instructions(size)
    else:
        # Read by pickle, the number of bytes is no instruction, so that nothing is run.
        padding = stream.take(1)[0]
        if padding > _ALIGNMENT:
            raise UnsafeModelError(
                f"an array of the joblib file begins with {padding} bytes to fill up (byte "
                f"{stream.at - 1:,}), which joblib never writes and pickle.load would run"
            )
        stream.take(padding)
    return array_from(stream.take(size), dtype, shape, order == "F")
