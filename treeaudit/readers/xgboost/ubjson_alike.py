"""Objects of UBJSON that are written like one before them, as the trees of a model are.

All trees have the same names and types in the same order; lengths of arrays, and what they hold,
differ. Where a part of them begins is worked out for all trees at once, part after part.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from treeaudit.readers.limits import Most
from treeaudit.readers.types import Array, Flag, Wide
from treeaudit.readers.xgboost.ubjson_form import (
    ARRAY,
    OBJECT,
    SCALAR,
    TEXT,
    Bytes,
    Form,
    Numbers,
    Part,
)

_LENGTH = np.dtype(">i8")
_HEAD = 64  # bytes by which beginnings of objects are found

FEW = 32
"""Fewer objects are not looked at together."""


class _Found(NamedTuple):
    """A part in all objects: where it begins, how long it is or its mark, what is in it."""

    part: Part
    begin: Wide
    size: npt.NDArray[Any]
    inside: "Sequence[_Found]" = ()


class _Walk:
    """Goes through objects that stand behind one another; lets go of those that are not alike."""

    def __init__(self, data: Bytes, at: Wide, types: Mapping[str, Numbers]) -> None:
        self._data, self.at = data, at
        self._size = np.zeros(256, dtype=np.int64)
        self._size[[ord(mark) for mark in types]] = [1 + one.size for one in types.values()]

    def _keep(self, good: Flag) -> None:
        """Let go of the first object that is not good, and of all behind it."""
        if not good.all():
            self.at = self.at[: int(good.argmin())]

    def _room(self, n: int) -> None:
        self._keep(self.at <= len(self._data) - n)

    def over(self, head: bytes) -> None:
        """Go over bytes that are to be the same in all."""
        self._room(len(head))
        stored = _bytes(self._data, self.at, len(head))
        self._keep((stored == np.frombuffer(head, np.uint8)).all(axis=1))
        self.at = self.at + len(head)

    def array(self, part: Part, size: int, most: int) -> _Found:
        """Go over an array or a text, of which an entry takes some bytes."""
        self._room(8)
        n = _bytes(self._data, self.at, 8).view(_LENGTH)[:, 0].astype(np.int64)
        left = len(self._data) - self.at - 8
        self._keep((n >= 0) & (n <= np.minimum(left // size, most)))
        found = _Found(part, self.at + 8, n)
        self.at = found.begin + size * n[: len(self.at)]
        return found

    def scalar(self, part: Part) -> _Found:
        """Go over a number and its mark."""
        self._room(1)
        mark = self._data[self.at]
        size = self._size[mark]
        self._keep((size > 0) & (self.at <= len(self._data) - size))
        found = _Found(part, self.at + 1, mark)
        self.at = self.at + size[: len(self.at)]
        return found

    def parts(self, form: Form) -> Sequence[_Found]:
        """Go over objects of a form, from their first names on."""
        found: list[_Found] = []
        for part in form.parts:
            if not len(self.at):
                break
            self.over(part.head)
            if part.kind == ARRAY:
                found.append(self.array(part, part.of.size, len(self._data)))
            elif part.kind == TEXT:
                found.append(self.array(part, 1, Most.text))
            elif part.kind == SCALAR:
                found.append(self.scalar(part))
            else:
                begin = self.at
                inside = self.parts(part.of)
                found.append(_Found(part, begin, begin, inside))
        self.over(b"}")
        return found


def _bytes(data: Bytes, at: Wide, n: int) -> Bytes:
    """Return some bytes from each of some places on; all of them must be there."""
    if not len(at) or not n:
        return np.zeros((len(at), n), dtype=np.uint8)
    return np.ascontiguousarray(sliding_window_view(data, n)[at])


class Alike:
    """Objects that stand behind one another, all of one form."""

    def __init__(
        self,
        found: Sequence[_Found],
        n: int,
        end: int,
        broken: bool,
        data: Bytes,
        types: Mapping[str, Numbers],
    ) -> None:
        self._found, self.n, self.end, self.broken = found, n, end, broken
        self._data, self._types = data, types

    @property
    def n_text(self) -> int:
        """The bytes of all texts in them."""
        return sum(int(one.size.sum()) for one in self._all(TEXT, self._found))

    def scalars(self) -> Iterator[tuple[str, npt.NDArray[Any]]]:
        """Return the single numbers in them, with their marks."""
        for one in self._all(SCALAR, self._found):
            for mark, _, stored in self._by_mark(one):
                yield mark, stored

    def values(self) -> list[dict[str, object]]:
        """Return the objects."""
        return self._objects(self._found)

    def _all(self, kind: int, found: Sequence[_Found]) -> Iterator[_Found]:
        for one in found:
            if one.part.kind == kind:
                yield one._replace(begin=one.begin[: self.n], size=one.size[: self.n])
            yield from self._all(kind, one.inside)

    def _by_mark(self, one: _Found) -> Iterator[tuple[str, Flag, npt.NDArray[Any]]]:
        for code in {*one.size.tolist()}:
            where = one.size == code
            of = self._types[chr(code)]
            raw = _bytes(self._data, one.begin[where], of.size)
            yield chr(code), where, raw.view(of.kind)[:, 0]

    def _objects(self, found: Sequence[_Found]) -> list[dict[str, object]]:
        if not found:
            return [{} for _ in range(self.n)]
        make = {
            ARRAY: self._arrays,
            TEXT: self._texts,
            OBJECT: lambda one: self._objects(one.inside),
            SCALAR: self._numbers,
        }
        names = [one.part.name for one in found]
        columns = [
            make[one.part.kind](one._replace(begin=one.begin[: self.n], size=one.size[: self.n]))
            for one in found
        ]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def _arrays(self, one: _Found) -> Sequence[object]:
        of: Numbers = one.part.of
        if not one.size.any():
            return [_empty(of.kind)] * self.n
        first, begun = np.divmod(one.begin, of.size)
        places = zip(begun.tolist(), first.tolist(), (first + one.size).tolist(), strict=True)
        return [of.begun[i][begin:end] for i, begin, end in places]

    def _texts(self, one: _Found) -> Sequence[object]:
        data, n = self._data, int(one.size[0])
        if (one.size == n).all():
            stored = _bytes(data, one.begin, n)
            if (stored == stored[0]).all():
                return [_text(stored[0])] * self.n
        ends = (one.begin + one.size).tolist()
        return [_text(data[a:b]) for a, b in zip(one.begin.tolist(), ends, strict=True)]

    def _numbers(self, one: _Found) -> Sequence[object]:
        held: npt.NDArray[np.object_] = np.empty(self.n, dtype=object)
        for _, where, stored in self._by_mark(one):
            held[where] = stored.tolist()
        return held.tolist()  # type: ignore[no-any-return]


@lru_cache(16)
def _empty(of: np.dtype[Any]) -> Array:
    return np.frombuffer(b"", of)


def _text(raw: Bytes) -> str:
    return raw.tobytes().decode("utf-8", "backslashreplace")


def alike(
    form: Form, data: Bytes, at: int, window: int, most: int, types: Mapping[str, Numbers]
) -> Alike | None:
    """Return the objects from a place on that are written in a form; None where they are few."""
    if not form.parts:
        return None
    head = re.compile(re.escape(b"{" + form.parts[0].head[:_HEAD]))
    most = min(most, (len(data) - at) // form.least)
    begun = (match.start() for match in head.finditer(data.data, at, at + window))
    start = np.fromiter(islice(begun, most), np.int64)
    if len(start) < FEW:
        return None
    walk = _Walk(data, start + 1, types)
    found = walk.parts(form)
    # What stands where one ends is the next one.
    good = start[: len(walk.at)] == np.concatenate([[at], walk.at[:-1]])
    n = len(good) if good.all() else int(good.argmin())
    return Alike(found, n, int(walk.at[n - 1]), n < len(start), data, types) if n else None
