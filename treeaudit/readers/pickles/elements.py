"""Elements of a list that are written like those in front of them, read by a stencil.

The interpreter reads the first elements, and every one that differs. Two of them that were
made by the same instructions give a `stencils.Stencil`, which is held against what follows
until an element does not match. What the interpreter keeps beside the objects (its memo, what it
charged, how far it came) is then as if it had read them.
"""

from collections.abc import Hashable, Sequence
from dataclasses import field
from typing import NamedTuple

import numpy as np

from treeaudit.dataclass import dataclass_of_many
from treeaudit.readers.pickles.dtypes import gaps
from treeaudit.readers.pickles.machine import Machine
from treeaudit.readers.pickles.stencil_making import stencil
from treeaudit.readers.pickles.stencils import Element, Stencil, blob_cost
from treeaudit.readers.pickles.traces import Instruction, edges, trace
from treeaudit.readers.types import Array

__all__ = ["read_alike"]

_MOST_LEARNT = 256
_MOST_FORMS = 8
_BEGINS_FRAME, _FRAME, _MOST_CUT = 0x95, 9, 1 << 16
_LEFT_OPEN = frozenset({"number", "recall", "G", "blob"})


@dataclass_of_many(slots=True)
class _Form:
    """Elements of the same instructions: the last one, what has differed, and their stencil."""

    written: Sequence[Instruction]
    open: set[int] = field(default_factory=set)
    stencil: Stencil | None = None


class _Row(NamedTuple):
    """An element that was read: its tables, and how it is written.

    Attributes
    ----------
    tables
        Arrays of records, with the number of the instruction that completes each.
    written
        Its instructions, without the beginning of a frame.
    begin
        Where it begins.
    cut
        How many bytes of it stand in front of the beginning of a frame.
    n_instructions
        How many instructions it has.
    """

    tables: Sequence[tuple[int, Array]]
    written: bytes | memoryview
    begin: int
    cut: int
    n_instructions: int


@dataclass_of_many(slots=True)
class Alike:
    """What was learnt of the elements of a list, and where the last one ended."""

    last: object = None
    end: int = -1
    told: tuple[int, ...] = ()
    budget: int = 0
    learnt: int = 0
    forms: dict[Hashable, _Form] = field(default_factory=dict)


def read_alike(m: Machine) -> None:
    """Read the elements behind one that is complete, as far as they are alike.

    It has stood first in a list, or behind one of its class, of a file by itself that a pickler
    of protocol 4 or later wrote.
    """
    stack, before, known = m.stack, m.stack[-2], m.alike
    if not isinstance(known, Alike):
        known = m.alike = Alike()
    if before is known.last and known.told == _told(m) and known.learnt < _MOST_LEARNT:
        known.learnt += 1
        _learn(m, known)
    _read(m, [form.stencil for form in known.forms.values() if form.stencil is not None])
    known.last, known.end, known.told, known.budget = stack[-1], m.at, _told(m), m.budget


def _told(m: Machine) -> tuple[int, ...]:
    """Return what an element that is like others leaves as it is."""
    noted = (len(m.doubts), len(m.mentioned), len(m.excused), m.spellings.total())
    return (*noted, m.announced, m.paid)


def _learn(m: Machine, known: Alike) -> None:
    """Take in the element that the interpreter has read last."""
    written = trace(m.data, known.end, m.at)
    if written is None:
        return
    kinds = tuple(one.kind if one.kind in _LEFT_OPEN else one.text for one in written)
    form = known.forms.get(kinds)
    if form is None:
        if len(known.forms) < _MOST_FORMS:
            known.forms[kinds] = _Form(written)
        return
    pairs = enumerate(zip(form.written, written, strict=True))
    differ = {i for i, (a, b) in pairs if a.text != b.text and a.kind != "blob"}
    if form.stencil is None or not differ <= form.open:
        form.open |= differ
        sizes = [one.value for one in written if one.kind == "blob"]
        cost = known.budget - m.budget - sum(map(blob_cost, sizes))  # type: ignore[arg-type]
        base = len(m.memo) - sum(one.kind == "\x94" for one in written)
        form.stencil = stencil(written, form.open, m.memo, base, cost)


def _read(m: Machine, stencils: list[Stencil]) -> None:
    row: list[_Row] = []
    while stencils and (one := _one(m, stencils) or _one_with_frame(m, stencils)) is not None:
        row.append(one)
    _note_gaps(m, row)


def _one(m: Machine, stencils: list[Stencil]) -> _Row | None:
    """Read an element that lies within a frame, or where there are none."""
    end, begin = m.frame_end if m.at <= m.frame_end else m.size, m.at
    found = _match(m, stencils, m.view, begin, end)
    if found is None:
        return None
    used, element = found
    _keep(m, element, element.end, used.n_instructions)
    return _Row(element.tables, m.view[begin : element.end], begin, m.size, used.n_instructions)


def _one_with_frame(m: Machine, stencils: list[Stencil]) -> _Row | None:
    """Read an element in front of which, or between two instructions of which, a frame begins."""
    begin, cut, tail = m.at, m.frame_end - m.at, m.frame_end + _FRAME
    if not 0 <= cut < _MOST_CUT or tail > m.size or m.data[m.frame_end] != _BEGINS_FRAME:
        return None
    n = int.from_bytes(m.view[m.frame_end + 1 : tail], "little")
    if n > m.size - tail:
        return None
    written = bytes(m.view[begin : m.frame_end]) + bytes(m.view[tail : tail + min(n, _MOST_CUT)])
    found = _match(m, stencils, memoryview(written), 0, len(written))
    if found is None:
        return None
    used, element = found
    if cut not in edges(written, 0, used.n_instructions)[:-1]:
        return None
    m.frame_end = tail + n
    _keep(m, element, tail + element.end - cut, used.n_instructions + 1)
    return _Row(element.tables, written, begin, cut, used.n_instructions)


def _note_gaps(m: Machine, row: Sequence[_Row]) -> None:
    """Note what stands between the columns of tables, which nearly always is nothing."""
    tables = [table for one in row for _, table in one.tables]
    if not tables:
        return
    kind = tables[0].dtype
    if all(table.ndim == 1 and table.dtype == kind for table in tables):
        together = b"".join([table.tobytes() for table in tables])
        if not gaps(np.frombuffer(together, kind)):
            return
    here = m.at
    for one in row:
        for i, table in one.tables:
            if gaps(table):
                place = edges(one.written, 0, i + 1)[-1]
                m.at = one.begin + place + (_FRAME if place > one.cut else 0)
                m.note_gaps(table)
    m.at = here


def _match(
    m: Machine, stencils: list[Stencil], view: memoryview, at: int, end: int
) -> tuple[Stencil, Element] | None:
    """Return the element that is next, and the stencil that it was read with."""
    base = len(m.memo)
    for i, one in enumerate(stencils):
        if m.memo.keys().isdisjoint(range(base, base + len(one.stored))):
            element = one.read(view, at, end, m.memo)
            if element is not None:
                # The next one is likely written like this one.
                stencils.insert(0, stencils.pop(i))
                return one, element
    return None


def _keep(m: Machine, element: Element, end: int, n_instructions: int) -> None:
    """Leave the machine as if it had read an element that ends at a place."""
    numbers = range(len(m.memo), len(m.memo) + len(element.stored))
    m.memo.update(zip(numbers, element.stored, strict=True))
    m.highest = numbers[-1] if numbers else m.highest
    m.at = end
    m.instructions += n_instructions
    if m.instructions > m.paid:
        m.pay()
    m.spend(element.cost)
    m.stack.append(element.value)
    m.unfinished[len(m.stack)] = None
