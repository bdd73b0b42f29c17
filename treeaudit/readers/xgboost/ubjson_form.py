"""How an object of UBJSON is written: names, types, and the bytes between what may differ."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treeaudit.readers.types import Array

_LONG = 9  # bytes of a length and its mark
ARRAY, TEXT, OBJECT, SCALAR = range(4)
Bytes = npt.NDArray[np.uint8]


class Numbers(NamedTuple):
    """The bytes of a file as numbers of a type: beginning at byte 0, 1, up to the size of one."""

    kind: np.dtype[Any]
    size: int
    begun: tuple[Array, ...]


def numbers(data: Bytes, kind: np.dtype[Any]) -> Numbers:
    """Return the bytes of a file as numbers of a type, which may stand anywhere in it.

    Examples
    --------
    >>> data = np.frombuffer(bytes([7, 0, 1, 2, 3]), dtype=np.uint8)
    >>> [one.tolist() for one in numbers(data, np.dtype(">i2")).begun]
    [[1792, 258], [1, 515]]
    """
    size = kind.itemsize
    rows = ((i, (len(data) - i) // size * size) for i in range(min(size, len(data) + 1)))
    return Numbers(kind, size, tuple(data[i : i + n].view(kind) for i, n in rows))


class Part(NamedTuple):
    """An entry of an object: the bytes before what may differ, its name, and what it is.

    ``of`` are the numbers of an array, and the form of an object.
    """

    head: bytes
    name: str
    kind: int
    of: Any


@dataclass(frozen=True, slots=True)
class Form:
    """How an object is written.

    Attributes
    ----------
    parts
        Its entries.
    n_names, n_bytes
        How many names there are, in the objects in it too, and their bytes.
    n_containers
        How many arrays and objects it is, with itself.
    n_values
        How many texts and single numbers there are.
    least
        The bytes of the shortest object of this form.
    """

    parts: tuple[Part, ...]
    n_names: int
    n_bytes: int
    n_containers: int
    n_values: int
    least: int


def form_of(raw: bytes, types: Mapping[str, Numbers], at: int = 1) -> tuple[Form, int] | None:
    """Return how a whole object is written, and where it ends; None where it is in no plain way."""
    parts: list[Part] = []
    n_names, n_bytes, n_containers, n_values, least = 0, 0, 1, 0, 2
    while raw[at : at + 1] != b"}":
        if raw[at : at + 1] != b"L":
            return None
        begin, n = at, _length(raw, at + 1)
        at += _LONG + n
        name = raw[begin + _LONG : at].decode("utf-8", "backslashreplace")
        n_names, n_bytes = n_names + 1, n_bytes + n
        of: Any = None
        mark, kind, head = chr(raw[at]), SCALAR, at
        if mark == "[" and raw[at + 1 : at + 2] == b"$" and raw[at + 3 : at + 5] == b"#L":
            kind, head, of = ARRAY, at + 5, types.get(chr(raw[at + 2]))
            if of is None:
                return None
            at = head + 8 + _length(raw, head) * of.size
            n_containers, least = n_containers + 1, least + 8
        elif mark == "S" and raw[at + 1 : at + 2] == b"L":
            kind, head = TEXT, at + 2
            at = head + 8 + _length(raw, head)
            n_values, least = n_values + 1, least + 8
        elif mark == "{" and (inside := form_of(raw, types, at + 1)) is not None:
            kind, head, (of, at) = OBJECT, at + 1, inside
            n_names, n_bytes = n_names + of.n_names, n_bytes + of.n_bytes
            n_containers, n_values = n_containers + of.n_containers, n_values + of.n_values
            least += of.least - 1
        elif mark in types:
            at += 1 + types[mark].size
            n_values, least = n_values + 1, least + 2
        else:
            return None
        parts.append(Part(raw[begin:head], name, kind, of))
        least += head - begin
    return Form(tuple(parts), n_names, n_bytes, n_containers, n_values, least), at + 1


def _length(raw: bytes, at: int) -> int:
    return int.from_bytes(raw[at : at + 8], "big")
