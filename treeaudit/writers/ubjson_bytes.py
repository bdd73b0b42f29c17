"""Plain data as Universal Binary JSON, names sorted, with XGBoost's types of numbers."""

import struct

import numpy as np

from treeaudit.readers.xgboost.ubjson import shortest

_WHOLE = {"i": ">b", "I": ">h", "l": ">i", "L": ">q"}
_MARKS = {"i1": "i", "u1": "U", "i2": "I", "i4": "l", "i8": "L", "f4": "d", "f8": "D"}


def dumps(value: object) -> bytes:
    """Return the UBJSON of objects, lists, numeric arrays, texts and numbers.

    Examples
    --------
    >>> from treeaudit.readers.xgboost.ubjson import parse
    >>> parse(dumps({"a": [1, None, "x"], "b": {"c": 300}}))
    {'a': [1, None, 'x'], 'b': {'c': 300}}
    """
    out: list[bytes] = []
    _put(value, out)
    return b"".join(out)


def _length(n: int) -> bytes:
    return b"L" + struct.pack(">q", n)


def _put(value: object, out: list[bytes]) -> None:
    match value:
        case None | bool():
            out.append({None: b"Z", True: b"T", False: b"F"}[value])
        case str():
            data = value.encode()
            out += [b"S", _length(len(data)), data]
        case int():
            code = shortest(value)
            out.append(code.encode() + struct.pack(_WHOLE[code], value))
        case float():
            # XGBoost knows numbers of 32 bits alone.
            out.append(b"d" + struct.pack(">f", value))
        case np.ndarray():
            kind = value.dtype.str[1:]
            out += [f"[${_MARKS[kind]}#".encode(), _length(len(value))]
            out.append(value.astype(f">{kind}").tobytes())
        case list():
            out.append(b"[")
            for part in value:
                _put(part, out)
            out.append(b"]")
        case dict():
            out.append(b"{")
            for key, part in sorted(value.items()):
                data = str(key).encode()
                out += [_length(len(data)), data]
                _put(part, out)
            out.append(b"}")
        case _:
            raise TypeError(f"{type(value).__name__} has no form in UBJSON")
