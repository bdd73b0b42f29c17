"""Elements of a list that are written like those in front of them, read by a stencil.

The interpreter reads the first elements, and every one that differs. Two of them that were
made by the same instructions give a `stencils.Stencil`, which is held against what follows
until an element does not match. What the interpreter keeps beside the objects (its memo, what it
charged, how far it came) is then as if it had read them.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

import numpy as np

from treeaudit.readers.pickle.machine import Machine
from treeaudit.readers.pickle.stencil_making import stencil
from treeaudit.readers.pickle.stencils import Elements, Stencil, blob_cost
from treeaudit.readers.pickle.traces import Instruction, edges, trace
from treeaudit.readers.types import Wide

_MOST_LEARNT = 256
_MOST_FORMS = 8
_BEGINS_FRAME, _FRAME, _MOST_CUT, _MOST_FRAMES = 0x95, 9, 1 << 16, 16
_MANY_TRIES, _SELDOM = 1_000, 16
_LEFT_OPEN = frozenset({"number", "recall", "G", "blob"})


@dataclass(slots=True)
class _Form:
    """Elements of the same instructions: the last one, what has differed, and their stencil."""

    written: Sequence[Instruction]
    open: set[int] = field(default_factory=set)
    stencil: Stencil | None = None


class _Passage(NamedTuple):
    """Instructions of elements, without the beginnings of frames.

    Attributes
    ----------
    written, at, end
        The bytes, where in them the next element begins, and where they end.
    begin
        Where the bytes begin in the file.
    cuts
        How many of them stand in front of the beginning of each frame.
    frames
        Where in the file the frame ends that they begin in, and each of the others.
    """

    written: memoryview
    at: int
    end: int
    begin: int
    cuts: Sequence[int]
    frames: Sequence[int]

    def in_file(self, places: Wide) -> list[int]:
        """Return where in the file some of the bytes are."""
        crossed = np.searchsorted(self.cuts, places) if self.cuts else 0
        return (self.begin + places + _FRAME * crossed).tolist()  # type: ignore[no-any-return]

    def is_whole(self, ends: Sequence[int], n: int) -> bool:
        """Tell whether frames begin between instructions of elements, which have so many each."""
        for cut in self.cuts[: bisect_right(self.cuts, ends[-1])]:
            i = bisect_left(ends, cut)
            if cut not in edges(self.written, ends[i - 1] if i else 0, n):
                return False
        return True


@dataclass(slots=True)
class Alike:
    """What was learnt of the elements of a list, and where the last one ended.

    Attributes
    ----------
    in_vain
        The end of the last frame that was joined with others of which nothing was read.
    tries, found
        How often elements were looked for, and how many were read.
    """

    last: object = None
    end: int = -1
    told: tuple[int, ...] = ()
    budget: int = 0
    learnt: int = 0
    in_vain: int = -1
    tries: int = 0
    found: int = 0
    forms: dict[Hashable, _Form] = field(default_factory=dict)


def read_alike(m: Machine) -> None:
    """Read the elements behind one that is complete, as far as they are alike.

    It has stood first in a list, or behind one of its class, of a file by itself that a pickler
    of protocol 4 or later wrote: then the next number of a stored object is free.
    """
    stack, before, known = m.stack, m.stack[-2], m.alike
    if not isinstance(known, Alike):
        known = m.alike = Alike()
    if before is known.last and known.told == _told(m) and known.learnt < _MOST_LEARNT:
        known.learnt += 1
        _learn(m, known)
    # Where hardly any is alike, few are held against the others.
    known.tries, n = known.tries + 1, len(stack)
    if known.tries < _MANY_TRIES + known.found or known.tries % _SELDOM == 0:
        _read(m, known, [one.stencil for one in known.forms.values() if one.stencil is not None])
        known.found += len(stack) - n
    known.last, known.end, known.told, known.budget = stack[-1], m.at, _told(m), m.budget


def _told(m: Machine) -> tuple[int, ...]:
    """Return what an element that is like others leaves as it is."""
    return len(m.mentioned), len(m.excused), m.announced, m.paid


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


def _read(m: Machine, known: Alike, stencils: list[Stencil]) -> None:
    n_frames = 1
    while stencils:
        end = m.frame_end if m.at <= m.frame_end else m.size
        if _some(m, stencils, _Passage(m.view, m.at, end, 0, (), (m.frame_end,))):
            continue
        across = _across_frames(m, n_frames) if m.frame_end != known.in_vain else None
        n = 0 if across is None else _some(m, stencils, across)
        if across is None or not n:
            known.in_vain = m.frame_end
            break
        # Of small elements more are read at once.
        n_frames = min(2 * n_frames, _MOST_FRAMES) if n > 2 * len(across.cuts) else 1


def _across_frames(m: Machine, most: int) -> _Passage | None:
    """Return the rest of the frame, which is short, with some of those behind it."""
    at = m.frame_end
    if not 0 <= at - m.at < _MOST_CUT:
        return None
    pieces, cuts, frames = [m.view[m.at : at]], list[int](), [at]
    while len(cuts) < most and at + _FRAME <= m.size and m.data[at] == _BEGINS_FRAME:
        tail = at + _FRAME
        at = tail + int.from_bytes(m.view[at + 1 : tail], "little")
        if at > m.size:
            break
        cuts.append(sum(map(len, pieces)))
        pieces.append(m.view[tail : min(at, tail + 2 * _MOST_CUT)])
        frames.append(at)
        if len(pieces[-1]) < at - tail:
            break
    written = memoryview(b"".join(pieces))
    return _Passage(written, 0, len(written), m.at, cuts, frames) if cuts else None


def _some(m: Machine, stencils: list[Stencil], within: _Passage) -> int:
    """Read elements, and return how many."""
    found = _match(m, stencils, within)
    if found is None or not within.is_whole(found[1].ends, found[0].n_instructions):
        return 0
    used, read = found
    ends = np.array([edges(within.written, stop, n)[-1] for stop, n, _ in read.tables])
    m.tables += zip(within.in_file(ends), [table for *_, table in read.tables], strict=True)
    crossed = bisect_left(within.cuts, read.ends[-1])
    m.frame_end = within.frames[crossed]
    (m.at,) = within.in_file(np.array(read.ends[-1:]))
    _keep(m, read, used.n_instructions * len(read.ends) + crossed)
    return len(read.ends)


def _match(
    m: Machine, stencils: list[Stencil], within: _Passage
) -> tuple[Stencil, Elements] | None:
    """Return the elements that are next, and the stencil that they were read with."""
    for i, known in enumerate(stencils):
        found = known.read(*within[:3], m.memo)
        if found is not None:
            # The next ones are likely written like these.
            stencils.insert(0, stencils.pop(i))
            return known, found
    return None


def _keep(m: Machine, read: Elements, n_instructions: int) -> None:
    """Leave the machine as if it had read elements."""
    base = len(m.memo)
    m.memo.update(zip(count(base), read.stored))
    m.instructions += n_instructions
    while m.instructions > m.paid:
        m.pay()
    m.spend(read.cost)
    m.stack += read.values
    top = len(m.stack) + 1
    m.unfinished.update(dict.fromkeys(range(top - len(read.ends), top)))
