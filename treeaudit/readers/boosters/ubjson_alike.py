"""Objects of UBJSON that are written like one before them, as the trees of a model are.

All trees have the same names and types in the same order; lengths of arrays, and what they hold,
differ. Bytes that are the same are compared and not parsed again.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from treeaudit.readers.limits import Most
from treeaudit.readers.types import Array

__all__ = ["Form", "Found", "form_of", "like"]

_LENGTH = struct.Struct(">q")
_LONG = 9  # bytes of a length of 64 bits and its mark
_ARRAY, _TEXT, _OBJECT, _SCALAR = range(4)
_Types = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Form:
    """How an object is written.

    Attributes
    ----------
    entries
        Per entry: its bytes up to what may differ, its name, what it is, and the type of an
        array or number, or the form of an object.
    names
        The lengths of all names in it, those of the objects in it too.
    n_containers
        How many arrays and objects it is, with itself.
    """

    entries: tuple[tuple[bytes, str, int, Any], ...]
    names: tuple[int, ...]
    n_containers: int


@dataclass(frozen=True, slots=True)
class Found:
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
        By their marks: types of arrays, and how numbers are unpacked.
    at
        Where its first name is.
    """
    entries: list[tuple[bytes, str, int, Any]] = []
    names: list[int] = []
    n_containers = 1
    while raw[at : at + 1] != b"}":
        if raw[at : at + 1] != b"L":
            return None
        begin, n = at, _LENGTH.unpack_from(raw, at + 1)[0]
        at += _LONG + n
        name = raw[begin + _LONG : at].decode("utf-8", "backslashreplace")
        names.append(n)
        mark = chr(raw[at])
        if mark == "[" and raw[at + 1 : at + 2] == b"$" and raw[at + 3 : at + 5] == b"#L":
            of, at = types.get(chr(raw[at + 2])), at + 5
            if of is None:
                return None
            entries.append((raw[begin:at], name, _ARRAY, of))
            at += 8 + _LENGTH.unpack_from(raw, at)[0] * of.itemsize
            n_containers += 1
        elif mark == "S" and raw[at + 1 : at + 2] == b"L":
            at += 2
            entries.append((raw[begin:at], name, _TEXT, None))
            at += 8 + _LENGTH.unpack_from(raw, at)[0]
        elif mark == "{" and (inside := form_of(raw, types, scalars, at + 1)) is not None:
            entries.append((raw[begin : at + 1], name, _OBJECT, inside[0]))
            names += inside[0].names
            n_containers, at = n_containers + inside[0].n_containers, inside[1]
        elif mark in scalars:
            entries.append((raw[begin:at], name, _SCALAR, scalars))
            at += 1 + scalars[mark].size
        else:
            return None
    return Form(tuple(entries), tuple(names), n_containers), at + 1


def like(form: Form, near: bytes, at: int, data: memoryview, base: int) -> Found | None:
    """Return an object where it is written in a form to its end; None where it is not.

    Parameters
    ----------
    form
        The form.
    near, at
        Bytes of the file, and where in them the first name of the object is.
    data, base
        The file, of which arrays become views, and where in it these bytes begin.
    """
    value: dict[str, object] = {}
    texts: list[int] = []
    scalars: list[tuple[str, Any]] = []
    most = len(data) - base
    try:
        for head, name, kind, of in form.entries:
            if not near.startswith(head, at):
                return None
            at += len(head)
            if kind == _ARRAY:
                n = _LENGTH.unpack_from(near, at)[0]
                begin = at + 8
                at = begin + n * of.itemsize
                if n < 0 or at > most:
                    return None
                value[name] = np.frombuffer(data, of, n, base + begin) if n else _empty(of)
            elif kind == _TEXT:
                n = _LENGTH.unpack_from(near, at)[0]
                begin, at = at + 8, at + 8 + n
                if not 0 <= n <= Most.text or at > len(near):
                    return None
                value[name] = near[begin:at].decode("utf-8", "backslashreplace")
                texts.append(n)
            elif kind == _OBJECT:
                inside = like(of, near, at, data, base)
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
    return Found(value, at + 1, texts, scalars) if near[at : at + 1] == b"}" else None
