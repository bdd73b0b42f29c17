"""What Arrow keeps in a pickle: lengths, names and texts, read from its bytes without Arrow.

pyarrow hands buffers to `_restore_array`; polars writes the messages of Arrow's stream, whose
heads are FlatBuffers. Everything is bounds-checked; what does not fit is not read.
"""

import itertools
import struct
from collections.abc import Iterator

from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert

_MOST = 1 << 20
_SCHEMA, _BATCH = 1, 3
_OFFSETS = {"large_string": 8, "large_utf8": 8, "string": 4, "utf8": 4}


def array_length(value: object) -> int | None:
    """Return how long an Array or a ChunkedArray of pyarrow is."""
    return sum(n) if (n := _lengths(value)) is not None else None


def _lengths(value: object) -> list[int] | None:
    match value:
        case Inert(args=((_, int() as n, *_), *_)) if value.kind == "_restore_array" and n >= 0:
            return [n]
        case Inert(args=(list() as chunks, *_)) if value.kind == "chunked_array":
            parts = [_lengths(chunk) for chunk in chunks[:_MOST]]
            return [n for part in parts if part for n in part]
        case _:
            return None


def texts(value: object) -> list[str] | None:
    """Return the texts of an Array or a ChunkedArray of pyarrow; None of anything else."""
    match value:
        case Inert(args=(list() as chunks, *_)) if value.kind == "chunked_array":
            parts = [texts(chunk) for chunk in chunks[:_MOST]]
            return None if None in parts else [text for part in parts for text in part or ()]
        case Inert(
            args=(
                (
                    Inert(args=(str() as kind, *_)),
                    int() as n,
                    _,
                    int() as first,
                    list() as held,
                    *_,
                ),
            )
        ) if value.kind == "_restore_array" and kind in _OFFSETS and len(held) == 3:
            _, ends, content = map(_bytes, held)
            return _cut(ends, content, n, first, _OFFSETS[kind])
        case _:
            return None


def _bytes(value: object) -> bytes:
    value = value.args[0] if isinstance(value, Inert) and value.args else value
    return bytes(value) if isinstance(value, bytes | memoryview) else b""


def _cut(ends: bytes, content: bytes, n: int, first: int, width: int) -> list[str] | None:
    """Return texts that stand behind one another, by where each of them ends."""
    if not 0 <= n <= _MOST or first < 0 or (first + n + 1) * width > len(ends):
        return None
    places = struct.unpack_from(f"<{n + 1}{'q' if width == 8 else 'i'}", ends, first * width)
    if not all(0 <= a <= b <= len(content) for a, b in itertools.pairwise(places)):
        return None
    pairs = itertools.pairwise(places)
    return [content[a:b].decode("utf-8", "replace") for a, b in pairs]


def field_names(schema: object) -> list[str] | None:
    """Return the names in a Schema of pyarrow."""
    if not isinstance(schema, Inert) or schema.kind != "schema" or not schema.args:
        return None
    fields = arrived(schema.args[0])
    if not isinstance(fields, list):
        return None
    names = [one.args[0] for one in fields if isinstance(one, Inert) and one.args]
    return [str(name) for name in names] if names and len(names) == len(fields) else None


def stream(data: bytes | memoryview) -> tuple[list[str], int] | None:
    """Return the names of the columns in a stream of Arrow, and how many rows it has."""
    names: list[str] | None = None
    rows = 0
    try:
        for kind, head, at in _messages(data):
            if kind == _SCHEMA and names is None:
                names = [_name(head, field) for field in _vector(head, _field(head, at, 1))]
            elif kind == _BATCH:
                place = _field(head, at, 0)
                rows += struct.unpack_from("<q", head, place)[0] if place else 0
    except (struct.error, IndexError, ValueError):
        return None
    return (names, rows) if names and 0 <= rows < 1 << 53 else None


def _messages(data: bytes | memoryview) -> Iterator[tuple[int, memoryview, int]]:
    """Yield the kind of each message, its head, and where in that its content begins."""
    view, at = memoryview(data), 0
    for _ in range(_MOST):
        if len(view) - at < 8:
            return
        mark, size = struct.unpack_from("<Ii", view, at)
        if mark != 0xFFFFFFFF or size <= 0 or size > len(view) - at - 8:
            return
        head, at = view[at + 8 : at + 8 + size], at + 8 + size
        root = struct.unpack_from("<I", head)[0]
        kind, content, body = (_field(head, root, i) for i in (1, 2, 3))
        if kind and content:
            yield head[kind], head, content + struct.unpack_from("<I", head, content)[0]
        n = struct.unpack_from("<q", head, body)[0] if body else 0
        if n < 0:
            return
        at += n


def _field(head: memoryview, table: int, i: int) -> int:
    """Return where a field of a table of FlatBuffers stands; 0 where it has none."""
    known = table - struct.unpack_from("<i", head, table)[0]
    size = struct.unpack_from("<H", head, known)[0]
    if 4 + 2 * i >= size:
        return 0
    place: int = struct.unpack_from("<H", head, known + 4 + 2 * i)[0]
    return table + place if place else 0


def _vector(head: memoryview, place: int) -> list[int]:
    """Return where the tables of a vector stand."""
    if not place:
        return []
    place += struct.unpack_from("<I", head, place)[0]
    n = struct.unpack_from("<I", head, place)[0]
    if n > len(head) // 4:
        raise ValueError
    each = (place + 4 + 4 * i for i in range(n))
    return [at + struct.unpack_from("<I", head, at)[0] for at in each]


def _name(head: memoryview, field: int) -> str:
    """Return the name of a column."""
    place = _field(head, field, 0)
    if not place:
        return ""
    place += struct.unpack_from("<I", head, place)[0]
    n = struct.unpack_from("<I", head, place)[0]
    return bytes(head[place + 4 : place + 4 + n]).decode("utf-8", "replace")
