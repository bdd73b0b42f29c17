"""The pickle opcodes, one small function each, and the table of them.

None of them calls anything that the file names; see `pickle_vm`.
"""

import re
import struct
from collections.abc import Callable

from treeaudit.errors import ReadError, UnsafeModelError
from treeaudit.readers.pickles.construct import ADVICE, hashable
from treeaudit.readers.pickles.inert import Global, Inert, Text
from treeaudit.readers.pickles.machine import MARK, Machine, Step

__all__ = ["STEPS"]

_SHORT = 4096
_LONG = 1024
_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
_PLAIN_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if len(code) == 3:
        return bytes([int(code[1:], 16)])
    return _PLAIN_ESCAPES.get(code, code)


def _eight_bit(raw: bytes) -> object:
    """Python 2 wrote text and bytes alike; plain ASCII is taken for text."""
    return Text(raw.decode("ascii")) if raw.isascii() and b"\0" not in raw else raw


def eight_bit(m: Machine, n: int) -> None:
    piece = m.take(n)
    m.spend(56 + 2 * n)
    m.push(_eight_bit(bytes(piece)))


def collect(m: Machine, kind: Callable[[list[object]], object]) -> None:
    items = m.pop_mark()
    m.spend(64 + 8 * len(items))
    m.push(kind(items))


def short_tuple(m: Machine, n: int) -> None:
    items = [m.pop() for _ in range(n)]
    m.spend(64)
    m.push(tuple(reversed(items)))


def empty(m: Machine, value: object) -> None:
    m.spend(216)
    m.push(value)


def long(m: Machine, n: int) -> None:
    if not 0 <= n <= _LONG:
        raise ReadError(f"an integer of {n:,} bytes at byte {m.at:,} is too long")
    m.spend(2 * n)
    m.push(int.from_bytes(m.take(n), "little", signed=True))


def index(m: Machine) -> int:
    text = m.line()
    if not text.isascii() or not text.isdecimal() or len(text) > 10:
        raise ReadError(f"the number before byte {m.at:,} is damaged")
    return int(text)


def decimal(m: Machine) -> None:
    text = m.line().rstrip("L")
    m.spend(len(text))
    if text in ("00", "01"):
        m.push(text == "01")
    elif len(text) <= _LONG and text.isascii() and text.removeprefix("-").isdecimal():
        m.push(int(text))
    else:
        raise ReadError(f"the integer before byte {m.at:,} is damaged or too long")


def decimal_float(m: Machine) -> None:
    try:
        m.push(float(m.line()))
    except ValueError:
        raise ReadError(f"the number before byte {m.at:,} is damaged") from None


def quoted(m: Machine) -> None:
    text = m.line()
    if len(text) < 2 or text[0] != text[-1] or text[0] not in "'\"":
        raise ReadError(f"the text before byte {m.at:,} is damaged")
    m.spend(56 + 2 * len(text))
    raw = text[1:-1].encode("utf-8", "surrogateescape")
    m.push(_eight_bit(_ESCAPE.sub(_unescape, raw)))


def raw_unicode(m: Machine) -> None:
    end = m.data.find(b"\n", m.at)
    if end < 0:
        raise ReadError(f"the text at byte {m.at:,} does not end")
    m.spend(56 + 5 * (end - m.at))  # the bytes, and as many of the widest characters
    raw = bytes(m.view[m.at : end])
    m.at = end + 1
    try:
        m.push(raw.decode("raw_unicode_escape"))
    except UnicodeDecodeError:
        raise ReadError(f"the text before byte {m.at:,} is damaged") from None


def blob(m: Machine, n: int) -> None:
    piece = m.take(n)
    m.spend(40 + n if n < _SHORT else 240)
    m.push(bytes(piece) if n < _SHORT else piece)


def frame(m: Machine) -> None:
    n = m.number("<Q")
    if n > m.size - m.at:
        raise ReadError(f"a frame of {n:,} bytes at byte {m.at:,} goes beyond the file")
    m.frame_end = m.at + n


def frozen_set(m: Machine) -> None:
    items = m.pop_mark()
    m.spend(216 + 64 * len(items))
    m.push(frozenset({hashable(item, i, m.spend) for i, item in enumerate(items)}))


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
    version = m.number("<B")
    if version > 5:
        raise ReadError(f"pickle protocol {version} is unknown")


def instance(m: Machine) -> None:
    module, name = m.line(), m.line()
    m.push(m.call(m.mention(module, name), tuple(m.pop_mark())))


def named_object(m: Machine) -> None:
    items = m.pop_mark()
    if not items:
        raise ReadError(f"an object at byte {m.at - 1:,} has no class")
    m.push(m.call(items[0], tuple(items[1:])))


def reduce(m: Machine) -> None:
    args = m.pop()
    m.push(m.call(m.pop(), args))


def new_object(m: Machine) -> None:
    args = m.pop()
    m.push(m.create(m.pop(), args))


def new_object_with_names(m: Machine) -> None:
    named, args = m.pop(), m.pop()
    made = m.create(m.pop(), args)
    if isinstance(made, Inert) and isinstance(named, dict):
        m.spend(64 * len(named))
        made.pairs.update(named)
    m.push(made)


def stack_global(m: Machine) -> None:
    name, module = m.pop(), m.pop()
    m.push(m.mention(module, name))


def set_item(m: Machine) -> None:
    value, key = m.pop(), m.pop()
    m.update([key, value])


def drop_to_mark(m: Machine) -> None:
    m.pop_mark()


def drop(m: Machine) -> None:
    if not m.stack:
        raise ReadError(f"instruction at byte {m.at - 1:,} finds nothing to work on")
    m.stack.pop()


_ACTIONS: dict[str, Step] = {
    "(": lambda m: m.push(MARK),
    "0": drop,
    "1": drop_to_mark,
    "2": lambda m: m.push(m.top()),
    "F": decimal_float,
    "I": decimal,
    "L": decimal,
    "J": lambda m: m.push(m.number("<i")),
    "K": lambda m: m.push(m.number("<B")),
    "M": lambda m: m.push(m.number("<H")),
    "N": lambda m: m.push(None),
    "P": lambda m: refuse(m, "a persistent object"),
    "Q": persistent,
    "R": reduce,
    "S": quoted,
    "T": lambda m: eight_bit(m, m.number("<i")),
    "U": lambda m: eight_bit(m, m.number("<B")),
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
    "\x90": lambda m: m.extend(m.pop_mark()),
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
