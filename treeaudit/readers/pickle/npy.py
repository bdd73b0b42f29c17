"""The .npy format of numpy: a header that is a Python literal, then raw bytes.

numpy hands the header to Python's own parser. Here it is taken apart by hand:
strings, whole numbers, True, False, None, tuples, lists and one dictionary.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from mmap import mmap

from treeaudit.errors import ReadError, UnsafeModelError, UnsupportedModelError
from treeaudit.readers.limits import Deepest, Most, show
from treeaudit.readers.pickle.arrays import array_from, shape_from
from treeaudit.readers.pickle.dtypes import DType
from treeaudit.readers.types import Array

_MAGIC = b"\x93NUMPY"
_UNIT = re.compile(r"\[\d{0,6}[a-zA-Zμ]{1,7}\]")
_TOKEN = re.compile(
    r"[ \t\r\n]*(?:"
    r"(?P<text>[bu]?'[^'\\\n]{0,512}'|[bu]?\"[^\"\\\n]{0,512}\")"
    r"|(?P<number>-?\d{1,20})L?|(?P<word>True|False|None)|(?P<mark>[\[\](){}:,]))"
)
_BLANKS = re.compile(r"(?:[^\s]+ )*[^\s]+ {0,127}\n?")
_USUAL = re.compile(
    r"\{'descr': ((?:[^\s{}]+ )*[^\s{}]+), 'fortran_order': (True|False), "
    r"'shape': \(((?:[0-9]{1,20},|(?:[0-9]{1,20}, )+[0-9]{1,20})?)\), \} {0,127}\n?"
)
_WORDS = {"True": True, "False": False, "None": None}
_CLOSE = {"(": ")", "[": "]", "{": "}"}

Buffer = bytes | mmap | memoryview


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Header:
    """What a .npy file says of its array.

    Attributes
    ----------
    dtype
        Type of an element, still unchecked.
    shape
        Sizes, within bounds.
    by_column
        Whether the elements stand column by column (Fortran order).
    start
        Where they begin.
    """

    dtype: DType
    shape: tuple[int, ...]
    by_column: bool
    start: int


def read_npy(data: Buffer) -> Array:
    """Return the array of a .npy file, without copying it.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> file = io.BytesIO()
    >>> np.save(file, np.array([[1, 2], [3, 4]]))
    >>> read_npy(file.getvalue()).tolist()
    [[1, 2], [3, 4]]
    """
    header = read_header(data)
    if header.dtype.is_object:
        raise UnsafeModelError(
            "an array file (.npy) holds a pickle, which runs code when numpy loads it: "
            "treat the model as hostile"
        )
    size = math.prod(header.shape) * header.dtype.build().itemsize
    content = memoryview(data)[header.start :]
    if len(content) > size:
        raise ReadError("an array file (.npy) is damaged: more bytes follow its array")
    return array_from(content, header.dtype, header.shape, header.by_column)


def read_header(data: Buffer) -> Header:
    """Return what a .npy file says of its array."""
    head = bytes(data[:12])
    if head[:6] != _MAGIC or len(head) < 12 or head[6] not in (1, 2, 3):
        raise ReadError("an array file (.npy) does not begin like one")
    width = 2 if head[6] == 1 else 4
    start = 8 + width
    size = int.from_bytes(head[8:start], "little")
    if size > Most.header or (end := start + size) > len(data):
        raise ReadError(f"an array file (.npy) announces a header of {size:,} bytes")
    text = bytes(data[start:end]).decode("utf-8" if head[6] == 3 else "latin1", "replace")
    if (usual := _USUAL.fullmatch(text)) is not None:
        shape = shape_from(tuple(int(n) for n in usual[3].split(",") if n))
        order = usual[2] == "True"
        return Header(dtype=_typed(usual[1]), shape=shape, by_column=order, start=end)
    match _literal(text) if _BLANKS.fullmatch(text) else None:
        case {"descr": kind, "fortran_order": bool(order), "shape": tuple(n), **rest} if not rest:
            return Header(dtype=_dtype(kind), shape=shape_from(n), by_column=order, start=end)
    raise ReadError("the header of an array file (.npy) is damaged")


@lru_cache(maxsize=64)  # arrays of a model share a few types
def _typed(text: str) -> DType:
    return _dtype(_literal(text))


def _dtype(stated: object) -> DType:
    if not isinstance(stated, str | list):
        raise ReadError(f"an array file (.npy) has no usable type: {show(stated)}")
    return _plain(stated) if isinstance(stated, str) else _record(stated)


def _plain(code: str) -> DType:
    order = code[0] if code[:1] in ("<", ">", "|", "=") else "|"
    return DType(_UNIT.sub("", code), (3, order, None, None, None, -1, -1, 0))


def _record(stated: list[object]) -> DType:
    """Put a record together from its fields; numpy writes the gaps as nameless bytes."""
    fields: dict[str, tuple[DType, int]] = {}
    offset = 0
    for field in stated:
        if not isinstance(field, tuple) or len(field) < 2 or not isinstance(field[1], str):
            raise UnsupportedModelError("an array of records within records cannot be read")
        if len(field) > 2:
            raise UnsupportedModelError("an array of sub-arrays cannot be read")
        name = field[0]
        if not isinstance(name, str) or name in fields:
            raise ReadError("the header of an array file (.npy) is damaged")
        dtype = _plain(field[1])
        if name or not dtype.code.startswith("|V"):
            fields[name or f"f{len(fields)}"] = (dtype, offset)
        offset += dtype.build().itemsize
    return DType(f"V{offset}", (3, "|", None, tuple(fields), fields, offset, 1, 0))


def _literal(text: str) -> object:
    tokens = _tokens(text)
    value = _value(next(tokens), tokens, Deepest.header)
    if next(tokens) != ("end", ""):
        raise ReadError("the header of an array file (.npy) is damaged")
    return value


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at, end = 0, len(text.rstrip(" \t\r\n\0"))
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise ReadError(f"the header of an array file (.npy) is damaged at letter {at:,}")
        at = match.end()
        kind = match.lastgroup or ""
        yield kind, match[kind]
    while True:
        yield "end", ""


def _value(token: tuple[str, str], tokens: Iterator[tuple[str, str]], depth: int) -> object:
    kind, text = token
    match kind:
        case "text":
            return text.lstrip("bu")[1:-1]
        case "number":
            return int(text)
        case "word":
            return _WORDS[text]
        case "mark" if text in _CLOSE and depth:
            return _several(text, tokens, depth - 1)
        case _:
            raise ReadError("the header of an array file (.npy) is damaged")


def _several(mark: str, tokens: Iterator[tuple[str, str]], depth: int) -> object:
    items: list[object] = []
    pairs: dict[object, object] = {}
    close, comma = ("mark", _CLOSE[mark]), True
    while (token := next(tokens)) != close:
        if token == ("mark", ",") and not comma:
            comma = True
            continue
        if not comma:
            raise ReadError("the header of an array file (.npy) is damaged")
        item, comma = _value(token, tokens, depth), False
        if mark == "{":
            if not isinstance(item, str) or item in pairs or next(tokens) != ("mark", ":"):
                raise ReadError("the header of an array file (.npy) is damaged")
            pairs[item] = _value(next(tokens), tokens, depth)
        items.append(item)
    if mark == "{":
        return pairs
    # (3) is the number three, (3,) a tuple.
    one = mark == "(" and len(items) == 1 and not comma
    return items[0] if one else (items if mark == "[" else tuple(items))
