"""What a pickle drops again: nothing, but in the two ways of genuine picklers."""

from collections.abc import Sequence

from treeaudit.readers.pickles.inert import MARK, Inert
from treeaudit.readers.pickles.keys import hashable
from treeaudit.readers.pickles.machine import Machine
from treeaudit.readers.pickles.spelled import index

__all__ = ["again", "drop"]

_SETTERS = frozenset(
    f"cloudpickle.cloudpickle{fast}._{kind}_setstate"
    for fast in ("", "_fast")
    for kind in ("function", "class")
)


def drop(m: Machine) -> None:
    """Drop what was found to be written already, inside itself, and fetch that instead."""
    if _set_by(m):
        return
    m.at -= 1
    dropped: list[object] = []
    while m.data[m.at : m.at + 1] == b"0" and m.stack:
        m.at += 1
        dropped.append(m.stack.pop())
    if dropped and dropped[-1] is MARK:
        dropped.pop()
    again(m, dropped[::-1])


def _set_by(m: Machine) -> bool:
    """Carry out what cloudpickle calls in place of BUILD, whose result it drops."""
    place = len(m.stack)
    match m.unfinished.get(place - 1), m.unfinished.get(place):
        case Inert() as target, Inert(args=(first, state)) as setter if (
            m.stack[-1] is setter and m.stack[-2] is first is target and str(setter.cls) in _SETTERS
        ):
            m.stack.pop()
            target.state, m.unfinished[place - 1] = state, None
            return True
    return False


def again(m: Machine, dropped: list[object]) -> None:
    """Fetch what was stored in the meantime, and make sure that it is what was dropped."""
    opcode = bytes(m.data[m.at : m.at + 1])
    if opcode not in (b"g", b"h", b"j"):
        m.doubt("makes an object and drops it")
        return
    m.at += 1
    m.recall(index(m) if opcode == b"g" else (m.byte() if opcode == b"h" else m.number(4)))
    value = m.stack[-1]
    if isinstance(value, frozenset) and len(dropped) == 1 and isinstance(dropped[0], frozenset):
        alike = value == dropped[0]
    elif isinstance(value, frozenset):
        alike = len(value) == len(dropped) and value.issuperset(
            hashable(one, i, m.spend) for i, one in enumerate(dropped)
        )
    elif isinstance(value, Inert) and len(dropped) == 1 and isinstance(dropped[0], Inert):
        alike = value.cls == dropped[0].cls and _alike(value.args, dropped[0].args)
    else:
        alike = isinstance(value, tuple) and _alike(value, dropped)
    if not alike:
        m.doubt("makes an object and drops it for another")


def _alike(parts: Sequence[object], others: Sequence[object]) -> bool:
    return len(parts) == len(others) and all(
        a is b or (isinstance(a, int | float) and type(a) is type(b) and repr(a) == repr(b))
        for a, b in zip(parts, others, strict=True)
    )
