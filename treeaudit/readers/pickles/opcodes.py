"""The pickle opcodes, one small function each, and the table of them.

None of them calls anything that the file names; see `pickle_vm`.
"""

import codecs
import re
import struct
from collections.abc import Callable, Sequence

from treeaudit.errors import ReadError, UnsafeModelError
from treeaudit.readers.pickles.construct import ADVICE, hashable
from treeaudit.readers.pickles.inert import MARK, Global, Inert, Text
from treeaudit.readers.pickles.machine import Machine, Step, is_own

__all__ = ["STEPS"]

_SHORT = 4096
_LONG = 1024
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_FLOAT = re.compile(r"-?([0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?|inf|nan)")
# Old picklers wrote these as they are.
_OLD = ((b"\\u0000", b"\0"), (b"\\u000d", b"\r"), (b"\\u001a", b"\x1a"))


def _eight_bit(raw: bytes) -> object:
    """Python 2 wrote text and bytes alike; plain ASCII is taken for text."""
    return Text(raw.decode("ascii")) if raw.isascii() and b"\0" not in raw else raw


def collect(m: Machine, kind: Callable[[list[object]], object]) -> None:
    items = m.pop_mark()
    m.spend(64 + 8 * len(items))
    m.make(kind(items))


def short_tuple(m: Machine, n: int) -> None:
    items = [m.pop() for _ in range(n)]
    m.spend(64)
    m.push(tuple(reversed(items)))


def empty(m: Machine, value: object) -> None:
    m.spend(216)
    m.make(value)


def long(m: Machine, n: int) -> None:
    if not 0 <= n <= _LONG:
        raise ReadError(f"an integer of {n:,} bytes at byte {m.at:,} is too long")
    value = int.from_bytes(m.take(n), "little", signed=True)
    # One bit for the sign; pickle writes zero without any byte.
    needed = (value if value >= 0 else ~value).bit_length() // 8 + 1 if value else 0
    if n > needed:
        m.note(n - needed, "bytes of a whole number that do not count")
    m.push(value)


def index(m: Machine) -> int:
    text = m.line()
    if not _INTEGER.fullmatch(text) or len(text) > 10 or text[0] == "-":
        raise ReadError(f"the number before byte {m.at:,} is damaged")
    return int(text)


def decimal(m: Machine, end: str) -> None:
    text = m.line()
    if text in ("00", "01") and not end:
        m.push(text == "01")
    elif text.endswith(end) and len(text) <= _LONG and _INTEGER.fullmatch(text.removesuffix(end)):
        m.push(int(text.removesuffix(end)))
    else:
        raise ReadError(
            f"the integer before byte {m.at:,} is damaged, too long or not spelled as pickle does"
        )


def decimal_float(m: Machine) -> None:
    text = m.line()
    if not _FLOAT.fullmatch(text):
        raise ReadError(f"the number before byte {m.at:,} is damaged")
    value = float(text)
    # Python 2.6 and older wrote 17 digits.
    if text not in (repr(value), f"{value:.17g}", f"{value:.17g}.0", "-nan"):
        m.note(len(text), "a number that is not spelled as pickle does")
    m.push(value)


def quoted(m: Machine) -> None:
    text = m.raw_line(m.size)
    try:
        raw = codecs.escape_decode(text[1:-1])[0]
    except ValueError:
        raw = b""
    if repr(raw)[1:].encode() != text:
        raise ReadError(f"the text before byte {m.at:,} is not spelled as pickle does")
    m.spend(len(raw))
    m.push(_eight_bit(raw))


def raw_unicode(m: Machine) -> None:
    raw = m.raw_line(m.size)
    try:
        text = raw.decode("raw_unicode_escape")
    except UnicodeDecodeError:
        raise ReadError(f"the text before byte {m.at:,} is damaged") from None
    spelled = text.replace("\\", "\\u005c").replace("\n", "\\u000a").encode("raw_unicode_escape")
    for new, old in _OLD:
        raw = raw.replace(new, old)
    if spelled != raw:
        raise ReadError(f"the text before byte {m.at:,} is not spelled as pickle does")
    m.push(text)


def blob(m: Machine, n: int) -> None:
    piece = m.take(n)
    m.push(bytes(piece) if n < _SHORT else piece)


def frame(m: Machine) -> None:
    if m.at - 1 < m.frame_end:
        raise m.forged("begins a frame within a frame")
    n = m.number("<Q")
    if n > m.size - m.at:
        raise ReadError(f"a frame of {n:,} bytes at byte {m.at:,} goes beyond the file")
    m.frame_end = m.at + n


def frozen_set(m: Machine) -> None:
    items = m.pop_mark()
    m.spend(216 + 64 * len(items))
    made = frozenset({hashable(item, i, m.spend) for i, item in enumerate(items)})
    if len(made) != len(items):
        raise m.forged("puts an element into a set twice")
    m.push(made)


def dictionary(m: Machine) -> None:
    items = m.pop_mark()
    empty(m, {})
    m.update(items)


def refuse(m: Machine, what: str) -> None:
    raise UnsafeModelError(
        f"the file asks for {what} (byte {m.at - 1:,}), which only its own program could "
        f"supply: {ADVICE}"
    )


def persistent(m: Machine) -> None:
    """PyTorch keeps the numbers of a tensor elsewhere; every other use is its program's own."""
    match m.pop():
        case (str("storage"), Global() as kind, *_) as key if kind.module.startswith("torch"):
            m.spend(240)
            m.push(Inert(kind, tuple(key)))
        case _:
            refuse(m, "a persistent object")


def protocol(m: Machine) -> None:
    if m.at - 1 != m.begin:
        raise m.forged("tells the protocol anywhere but first")
    version = m.number("<B")
    if version > 5:
        raise ReadError(f"pickle protocol {version} is unknown")


def instance(m: Machine) -> None:
    module, name = m.line(), m.line()
    m.make(m.call(m.mention(module, name), tuple(m.pop_mark())))


def named_object(m: Machine) -> None:
    items = m.pop_mark()
    if not items:
        raise ReadError(f"an object at byte {m.at - 1:,} has no class")
    m.make(m.call(items[0], tuple(items[1:])))


def reduce(m: Machine) -> None:
    args = m.pop()
    m.make(m.call(m.pop(), args))


def new_object(m: Machine) -> None:
    args = m.pop()
    m.make(m.create(m.pop(), args))


def new_object_with_names(m: Machine) -> None:
    named, args = m.pop(), m.pop()
    made = m.create(m.pop(), args)
    if not (isinstance(made, Inert) and is_own(made.cls.module) and isinstance(named, dict)):
        raise m.forged("makes an object with named arguments")
    m.spend(8 * len(made.args))
    made.args = (*made.args, named)
    m.make(made)


def stack_global(m: Machine) -> None:
    name, module = m.pop(), m.pop()
    m.push(m.mention(module, name))


def set_item(m: Machine) -> None:
    value, key = m.pop(), m.pop()
    m.update([key, value])


def drop(m: Machine) -> None:
    """Pickle drops what it finds written already, inside itself, and fetches that instead."""
    if m.set_by():
        return
    m.at -= 1
    dropped: list[object] = []
    while m.data[m.at : m.at + 1] == b"0" and m.stack:
        m.at += 1
        dropped.append(m.stack.pop())
    if dropped and dropped[-1] is MARK:
        dropped.pop()
    again(m, dropped[::-1])


def drop_to_mark(m: Machine) -> None:
    again(m, m.pop_mark())


def again(m: Machine, dropped: list[object]) -> None:
    """Fetch what was stored in the meantime, and make sure that it is what was dropped."""
    opcode = m.data[m.at : m.at + 1]
    if opcode not in (b"g", b"h", b"j"):
        raise m.forged("makes an object and drops it")
    m.at += 1
    STEPS[opcode[0]](m)  # type: ignore[misc]
    value = m.stack[-1]
    if isinstance(value, frozenset):
        alike = len(value) == len(dropped) and value.issuperset(
            hashable(one, i, m.spend) for i, one in enumerate(dropped)
        )
    elif isinstance(value, Inert) and len(dropped) == 1 and isinstance(dropped[0], Inert):
        alike = value.cls == dropped[0].cls and _alike(value.args, dropped[0].args)
    else:
        alike = isinstance(value, tuple) and _alike(value, dropped)
    if not alike:
        raise m.forged("makes an object and drops it for another")


def _alike(parts: Sequence[object], others: Sequence[object]) -> bool:
    return len(parts) == len(others) and all(
        a is b or (isinstance(a, int | float) and type(a) is type(b) and repr(a) == repr(b))
        for a, b in zip(parts, others, strict=True)
    )


_ACTIONS: dict[str, Step] = {
    "(": lambda m: m.push(MARK),
    "0": drop,
    "1": drop_to_mark,
    "F": decimal_float,
    "I": lambda m: decimal(m, ""),
    "L": lambda m: decimal(m, "L"),
    "J": lambda m: m.push(m.number("<i")),
    "K": lambda m: m.push(m.number("<B")),
    "M": lambda m: m.push(m.number("<H")),
    "N": lambda m: m.push(None),
    "P": lambda m: refuse(m, "a persistent object"),
    "Q": persistent,
    "R": reduce,
    "S": quoted,
    "T": lambda m: m.push(_eight_bit(bytes(m.take(m.number("<i"))))),
    "U": lambda m: m.push(_eight_bit(bytes(m.take(m.number("<B"))))),
    "V": raw_unicode,
    "X": lambda m: m.push(m.text(m.number("<I"))),
    "a": lambda m: m.extend([m.pop()]),
    "b": lambda m: m.build(),
    "c": lambda m: m.push(m.mention(m.line(), m.line())),
    "d": dictionary,
    "}": lambda m: empty(m, {}),
    "e": lambda m: m.extend(m.pop_mark()),
    "g": lambda m: m.recall(index(m)),
    "h": lambda m: m.recall(m.number("<B")),
    "i": instance,
    "j": lambda m: m.recall(m.number("<I")),
    "l": lambda m: collect(m, list),
    "]": lambda m: empty(m, []),
    "o": named_object,
    "p": lambda m: m.remember(index(m)),
    "q": lambda m: m.remember(m.number("<B")),
    "r": lambda m: m.remember(m.number("<I")),
    "s": set_item,
    "t": lambda m: collect(m, tuple),
    ")": lambda m: m.push(()),
    "u": lambda m: m.update(m.pop_mark()),
    "G": lambda m: m.push(struct.unpack(">d", m.take(8))[0]),
    "\x80": protocol,
    "\x81": new_object,
    "\x82": lambda m: refuse(m, "an extension"),
    "\x83": lambda m: refuse(m, "an extension"),
    "\x84": lambda m: refuse(m, "an extension"),
    "\x85": lambda m: short_tuple(m, 1),
    "\x86": lambda m: short_tuple(m, 2),
    "\x87": lambda m: short_tuple(m, 3),
    "\x88": lambda m: m.push(True),
    "\x89": lambda m: m.push(False),
    "\x8a": lambda m: long(m, m.number("<B")),
    "\x8b": lambda m: long(m, m.number("<i")),
    "B": lambda m: blob(m, m.number("<I")),
    "C": lambda m: blob(m, m.number("<B")),
    "\x8c": lambda m: m.push(m.text(m.number("<B"))),
    "\x8d": lambda m: m.push(m.text(m.number("<Q"))),
    "\x8e": lambda m: blob(m, m.number("<Q")),
    "\x8f": lambda m: empty(m, set()),
    "\x90": lambda m: m.add(m.pop_mark()),
    "\x91": frozen_set,
    "\x92": new_object_with_names,
    "\x93": stack_global,
    "\x94": lambda m: m.remember(len(m.memo)),
    "\x95": frame,
    "\x96": lambda m: blob(m, m.number("<Q")),
    "\x97": lambda m: refuse(m, "an outside buffer"),
    "\x98": lambda m: refuse(m, "an outside buffer"),
}


STEPS: list[Step | None] = [_ACTIONS.get(chr(code)) for code in range(256)]
