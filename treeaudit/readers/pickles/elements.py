"""Elements of a list that are written like those in front of them, read by a stencil.

The interpreter reads the first elements, and every one that differs. Two of them that were
made by the same instructions give a `stencils.Stencil`, which is held against what follows
until an element does not match. What the interpreter keeps beside the objects (its memo, what it
charged, how far it came) is then as if it had read them.
"""

from collections.abc import Hashable, Sequence
from dataclasses import field
from itertools import chain, count
from typing import NamedTuple

from treeaudit.dataclass import dataclass_of_many
from treeaudit.readers.pickles.dtypes import gaps, with_gaps
from treeaudit.readers.pickles.machine import Machine
from treeaudit.readers.pickles.stencil_making import stencil
from treeaudit.readers.pickles.stencils import Elements, Stencil, blob_cost
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
    """Elements that were read: their tables, and how they are written.

    Attributes
    ----------
    tables
        Arrays of records, as `Elements` has them.
    written
        Their instructions, without the beginning of a frame.
    begin
        Where these bytes begin in the file.
    cut
        How many of them stand in front of the beginning of a frame.
    """

    tables: Sequence[tuple[int, int, Array]]
    written: bytes | memoryview
    begin: int
    cut: int


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
    rows: list[_Row] = []
    while stencils and (some := _some(m, stencils) or _one_with_frame(m, stencils)):
        rows += some
    _note_gaps(m, rows)


def _some(m: Machine, stencils: list[Stencil]) -> list[_Row]:
    """Read elements that lie within a frame, or where there are none."""
    found = _match(m, stencils, m.view, m.at, m.frame_end if m.at <= m.frame_end else m.size)
    if found is None:
        return []
    _keep(m, found[1], found[1].ends, found[0].n_instructions)
    return [_Row([*chain.from_iterable(found[1].tables)], m.view, 0, m.size)]


def _one_with_frame(m: Machine, stencils: list[Stencil]) -> list[_Row]:
    """Read an element in front of which, or between two instructions of which, a frame begins."""
    begin, cut, tail = m.at, m.frame_end - m.at, m.frame_end + _FRAME
    if not 0 <= cut < _MOST_CUT or tail > m.size or m.data[m.frame_end] != _BEGINS_FRAME:
        return []
    n = int.from_bytes(m.view[m.frame_end + 1 : tail], "little")
    if n > m.size - tail:
        return []
    written = bytes(m.view[begin : m.frame_end]) + bytes(m.view[tail : tail + min(n, _MOST_CUT)])
    found = _match(m, stencils, memoryview(written), 0, len(written), one=True)
    if found is None:
        return []
    used, read = found
    if cut not in edges(written, 0, used.n_instructions)[:-1]:
        return []
    m.frame_end = tail + n
    _keep(m, read, [tail + read.ends[0] - cut], used.n_instructions + 1)
    return [_Row(read.tables[0], written, begin, cut)]


def _note_gaps(m: Machine, row: Sequence[_Row]) -> None:
    """Note what stands between the columns of tables, which nearly always is nothing."""
    tables = [(one, stop, n, table) for one in row for stop, n, table in one.tables]
    here, alone = m.at, [table for *_, table in tables]
    alike = all(table.ndim == 1 and table.dtype == alone[0].dtype for table in alone)
    for k, found in with_gaps(alone) if alike else enumerate(map(gaps, alone)):
        one, stop, n, _ = tables[k]
        place = edges(one.written, stop, n)[-1]
        m.at = one.begin + place + (_FRAME if place > one.cut else 0)
        m.note_gap(found)
    m.at = here


def _match(
    m: Machine, stencils: list[Stencil], view: memoryview, at: int, end: int, *, one: bool = False
) -> tuple[Stencil, Elements] | None:
    """Return the elements that are next, and the stencil that they were read with."""
    base = len(m.memo)
    for i, known in enumerate(stencils):
        found = known.read(view, at, end, m.memo, one=one)
        n = 0 if found is None else len(known.stored) * len(found.ends)
        # Of one by one it is known that none takes the number of something that is stored already.
        if not m.memo.keys().isdisjoint(range(base, base + n)):
            found = known.read(view, at, end, m.memo, one=True)
            if not m.memo.keys().isdisjoint(range(base, base + len(known.stored))):
                found = None
        if found is not None:
            # The next ones are likely written like these.
            stencils.insert(0, stencils.pop(i))
            return known, found
    return None


def _keep(m: Machine, read: Elements, ends: Sequence[int], n_instructions: int) -> None:
    """Leave the machine as if it had read elements that end at these places."""
    base = len(m.memo)
    m.memo.update(zip(count(base), read.stored))
    m.highest = len(m.memo) - 1 if len(m.memo) > base else m.highest
    m.at = ends[-1]
    m.instructions += n_instructions * len(ends)
    while m.instructions > m.paid:
        m.pay()
    m.spend(read.cost)
    m.stack += read.values
    top = len(m.stack) + 1
    m.unfinished.update(dict.fromkeys(range(top - len(ends), top)))
