"""Objects of UBJSON that are written like one before them, as the trees of a model are.

All trees have the same names and types in the same order; lengths of arrays, and what they hold,
differ. Bytes that are the same are compared and not parsed again.
"""

import struct
from collections.abc import Mapping
from dataclasses import field, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treeaudit.dataclass import dataclass
from treeaudit.readers.limits import Most
from treeaudit.readers.types import Array

__all__ = ["Form", "Found", "Numbers", "form_of", "like", "numbers", "settled"]

_LENGTH = struct.Struct(">q")
_LONG = 9  # bytes of a length of 64 bits and its mark
_ARRAY, _TEXT, _OBJECT, _SCALAR = range(4)
_Types = Mapping[str, Any]
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


@dataclass(frozen=True, slots=True)
class Form:
    """How an object is written.

    Attributes
    ----------
    entries
        Per entry that may differ: the bytes up to it, the entries that these bytes are, its name,
        what it is, and the numbers of an array, the types of one, or the form of an object.
    tail, last
        The bytes behind these entries, and the entries that they are.
    texts
        The lengths of texts that are always the same.
    n_names, n_bytes
        How many names there are, in the objects in it too, and their bytes.
    n_containers
        How many arrays and objects it is, with itself.
    """

    entries: tuple[tuple[bytes, dict[str, Any], str, int, Any], ...]
    n_names: int
    n_bytes: int
    n_containers: int
    tail: bytes = b"}"
    last: Mapping[str, Any] = field(default_factory=dict)
    texts: tuple[int, ...] = ()


class Found(NamedTuple):
    """An object that is written in a form.

    Attributes
    ----------
    value
        The object.
    end
        Where it ends.
    texts
        The bytes of each text in it.
    scalars
        The numbers in it, with their marks.
    """

    value: dict[str, object]
    end: int
    texts: list[int]
    scalars: list[tuple[str, Any]]


@lru_cache(16)
def _empty(of: np.dtype[Any]) -> Array:
    return np.frombuffer(b"", of)


def form_of(raw: bytes, types: _Types, scalars: _Types, at: int = 1) -> tuple[Form, int] | None:
    """Return how a whole object is written, and where it ends; None where it is in no plain way.

    Parameters
    ----------
    raw
        Its bytes, which were parsed before.
    types, scalars
        By their marks: the `Numbers` of arrays, and how single ones are unpacked.
    at
        Where its first name is.
    """
    entries: list[tuple[bytes, dict[str, Any], str, int, Any]] = []
    n_names, n_bytes, n_containers = 0, 0, 1
    while raw[at : at + 1] != b"}":
        if raw[at : at + 1] != b"L":
            return None
        begin, n = at, _LENGTH.unpack_from(raw, at + 1)[0]
        at += _LONG + n
        name = raw[begin + _LONG : at].decode("utf-8", "backslashreplace")
        n_names, n_bytes = n_names + 1, n_bytes + n
        mark = chr(raw[at])
        if mark == "[" and raw[at + 1 : at + 2] == b"$" and raw[at + 3 : at + 5] == b"#L":
            of, at = types.get(chr(raw[at + 2])), at + 5
            if of is None:
                return None
            entries.append((raw[begin:at], {}, name, _ARRAY, of))
            at += 8 + _LENGTH.unpack_from(raw, at)[0] * of.size
            n_containers += 1
        elif mark == "S" and raw[at + 1 : at + 2] == b"L":
            at += 2
            entries.append((raw[begin:at], {}, name, _TEXT, None))
            at += 8 + _LENGTH.unpack_from(raw, at)[0]
        elif mark == "{" and (inside := form_of(raw, types, scalars, at + 1)) is not None:
            entries.append((raw[begin : at + 1], {}, name, _OBJECT, inside[0]))
            n_names, n_bytes = n_names + inside[0].n_names, n_bytes + inside[0].n_bytes
            n_containers, at = n_containers + inside[0].n_containers, inside[1]
        elif mark in scalars:
            entries.append((raw[begin:at], {}, name, _SCALAR, scalars))
            at += 1 + scalars[mark].size
        else:
            return None
    return Form(tuple(entries), n_names, n_bytes, n_containers), at + 1


def settled(form: Form, one: Mapping[str, Any], other: Mapping[str, Any]) -> Form:
    """Return the form of objects that have the texts, and the arrays of nothing, of two others.

    Parameters
    ----------
    form
        That of both, in which nothing is settled.
    one, other
        The two.
    """
    entries: list[tuple[bytes, dict[str, Any], str, int, Any]] = []
    texts: list[int] = []
    begin, fixed = b"", dict[str, Any]()
    for head, _, name, kind, of in form.entries:
        first, second = one[name], other[name]
        begin += head
        if kind == _ARRAY and len(first) == len(second) == 0:
            begin += bytes(8)
            fixed[name] = _empty(of.kind)
        elif kind == _TEXT and first == second and first.isascii():
            begin += _LENGTH.pack(len(first)) + first.encode()
            fixed[name] = first
            texts.append(len(first))
        else:
            inside = settled(of, first, second) if kind == _OBJECT else of
            entries.append((begin, fixed, name, kind, inside))
            begin, fixed = b"", {}
    return replace(
        form, entries=tuple(entries), tail=begin + form.tail, last=fixed, texts=tuple(texts)
    )


def like(form: Form, near: bytes, at: int, base: int, most: int) -> Found | None:
    """Return an object where it is written in a form to its end; None where it is not.

    Parameters
    ----------
    form
        The form.
    near, at
        Bytes of the file, and where in them the first name of the object is.
    base, most
        Where in the file these bytes begin, and how many are behind that.
    """
    value: dict[str, object] = {}
    texts = [*form.texts]
    scalars: list[tuple[str, Any]] = []
    try:
        for head, fixed, name, kind, of in form.entries:
            if not near.startswith(head, at):
                return None
            if fixed:
                value.update(fixed)
            at += len(head)
            if kind == _ARRAY:
                n = _LENGTH.unpack_from(near, at)[0]
                first, begun = divmod(base + at + 8, of.size)
                at += 8 + n * of.size
                if n < 0 or at > most:
                    return None
                value[name] = of.begun[begun][first : first + n] if n else _empty(of.kind)
            elif kind == _TEXT:
                n = _LENGTH.unpack_from(near, at)[0]
                begin, at = at + 8, at + 8 + n
                if not 0 <= n <= Most.text or at > len(near):
                    return None
                value[name] = near[begin:at].decode("utf-8", "backslashreplace")
                texts.append(n)
            elif kind == _OBJECT:
                inside = like(of, near, at, base, most)
                if inside is None:
                    return None
                value[name], at = inside.value, inside.end
                texts += inside.texts
                scalars += inside.scalars
            else:
                mark = chr(near[at])
                number = of[mark].unpack_from(near, at + 1)[0]
                value[name], at = number, at + 1 + of[mark].size
                scalars.append((mark, number))
    except (struct.error, KeyError, IndexError):
        return None
    if not near.startswith(form.tail, at):
        return None
    value.update(form.last)
    return Found(value, at + len(form.tail), texts, scalars)
