"""Read a pickle as data. Nothing here can run code from the file.

The argument, for a reviewer:

1. The interpreter (`machine`) knows the pickle opcodes (`STEPS`, one small function each),
   and none of them calls anything: GLOBAL makes a `Global` (two strings), REDUCE, NEWOBJ,
   INST and OBJ make an `Inert` (a record of name and arguments), BUILD stores a state in it.
2. The few constructors that are carried out (`names.DATA_CALLS`) are written
   out in `construct`: numpy arrays from checked shapes and types, and plain
   containers. They reach no other code.
   `getattr` and `type` are read as names too (`construct`): ``getattr(Class, "f")``
   becomes the text ``Class.f``, nothing is fetched, and calling it is a call
   of that name.
3. There is no `import` of, and no `getattr` on, a name of the file, and no `eval`,
   `exec`, `compile` or `pickle`, in this module or in those it imports, and no file is
   opened. joblib 0.9 kept arrays in files beside the model: such a file is refused.
4. Every name goes through one gate (`names`, its lists in `listed_names.txt`). What
   the gate refuses is reported as unsafe even though it could not have run here;
   so is a constructor that is handed what it could call (`names.may_hand`).
5. What a loader makes is what is read: parts are put together in the order in which
   picklers write them (`filling`), numbers that two loaders read differently are no numbers
   (`STEPS`), and the bytes of an array are no instructions (`as_pickle`). Any other
   file is refused. Other instructions for the same thing are as good as the usual ones.
6. Costs are bounded: instructions, container bytes, text lengths, integers,
   key depth, array sizes, pickles within pickles (`inert.Limits`).

Arrays of joblib stand in the middle of the opcode stream; see `filling`.
"""

import codecs
import re
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from mmap import mmap

from treeaudit.arrays import Array
from treeaudit.errors import ReadError, UnsafeModelError
from treeaudit.readers.limits import LIMITS, Limits
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.construct import ADVICE, add_all
from treeaudit.readers.pickle.filling import add, build, extend, is_own, is_set_by, update
from treeaudit.readers.pickle.inert import MARK, Global, Inert, Text
from treeaudit.readers.pickle.machine import Machine, Step

_SHORT = 4096
_LONG = 1024
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_FLOAT = re.compile(r"-?([0-9]+(\.[0-9]*)?(e[+-]?[0-9]+)?|inf|nan)")
# Python warns of every other one.
_NO_ESCAPE = re.compile(rb"\\[^'\"nrtx]")


# -- numbers and texts that are spelled out --------------------------------------
# What the loaders of Python in C and in Python read differently is refused: `I010` is eight or
# an error, `F1_0` ten or an error.


def long(m: Machine, n: int) -> None:
    """Read a whole number of so many bytes (LONG1, LONG4)."""
    if not 0 <= n <= _LONG:
        raise ReadError(f"an integer of {n:,} bytes at byte {m.at:,} is too long")
    m.spend(2 * n)
    m.push(int.from_bytes(m.take(n), "little", signed=True))


def index(m: Machine) -> int:
    """Return the number of a stored object (PUT, GET)."""
    text = m.line()
    if not _INTEGER.fullmatch(text) or len(text) > 10 or text[0] == "-":
        raise ReadError(f"the number before byte {m.at:,} is damaged")
    return int(text)


def decimal(m: Machine, end: str) -> None:
    """Read a whole number (INT, LONG)."""
    text = m.line()
    truth = text in ("00", "01") and not end
    whole = text.removesuffix(end)
    if not truth and not (text.endswith(end) and len(text) <= _LONG and _INTEGER.fullmatch(whole)):
        raise ReadError(f"the integer before byte {m.at:,} is damaged or too long")
    m.push(text == "01" if truth else int(whole))


def decimal_float(m: Machine) -> None:
    """Read a number (FLOAT)."""
    text = m.line()
    if not _FLOAT.fullmatch(text):
        raise ReadError(f"the number before byte {m.at:,} is damaged")
    m.push(float(text))


def quoted(m: Machine) -> None:
    """Read a text of eight bits (STRING)."""
    text = m.raw_line(m.size, times=5)
    sound = len(text) > 1 and text[:1] == text[-1:] and text[:1] in (b"'", b'"')
    try:
        if not sound or _NO_ESCAPE.search(text.replace(rb"\\", b"")):
            raise ValueError
        raw = codecs.escape_decode(text[1:-1])[0]
    except ValueError:
        raise ReadError(f"the text before byte {m.at:,} is damaged") from None
    m.push(eight_bit(raw))


def raw_unicode(m: Machine) -> None:
    """Read a text (UNICODE)."""
    raw = m.raw_line(m.size, times=12)
    try:
        m.push(raw.decode("raw_unicode_escape"))
    except UnicodeDecodeError:
        raise ReadError(f"the text before byte {m.at:,} is damaged") from None


def eight_bit(raw: bytes | memoryview) -> object:
    """Python 2 wrote text and bytes alike; plain ASCII is taken for text."""
    try:
        text = Text(raw, "ascii")
    except UnicodeDecodeError:
        return bytes(raw)
    return bytes(raw) if "\0" in text else text


# -- the stack -------------------------------------------------------------------


def counted_text(m: Machine, n: int) -> None:
    piece = m.take(n)
    m.spend(56 + 2 * n)
    m.push(eight_bit(piece))


def collect(m: Machine, kind: Callable[[list[object]], object]) -> None:
    items = m.pop_mark()
    m.spend(64 + 8 * len(items))
    m.make(kind(items))


def short_tuple(m: Machine, n: int) -> None:
    items = [m.pop() for _ in range(n)]
    m.spend(64)
    m.push(tuple(reversed(items)))


def empty(m: Machine, value: object) -> None:
    m.spend(120 + sys.getsizeof(value))
    m.make(value)


def blob(m: Machine, n: int) -> None:
    piece = m.take(n)
    m.spend(40 + n if n < _SHORT else 240)
    m.push(bytes(piece) if n < _SHORT else piece)


def frame(m: Machine) -> None:
    if m.at - 1 < m.frame_end:
        raise m.forged("begins a frame within a frame")
    n = m.number(8)
    if n > m.size - m.at:
        raise ReadError(f"a frame of {n:,} bytes at byte {m.at:,} goes beyond the file")
    m.frame_end = m.at + n


def frozen_set(m: Machine) -> None:
    items = m.pop_mark()
    m.spend(216 + 64 * len(items))
    made = set[object]()
    if not add_all(made, items, m.spend):
        raise m.forged("puts an element into a set twice")
    m.push(frozenset(made))


def dictionary(m: Machine) -> None:
    items = m.pop_mark()
    empty(m, {})
    update(m, items)


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
    version = m.byte()
    if version > 5:
        raise ReadError(f"pickle protocol {version} is unknown")
    m.version = version


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


def drop(m: Machine) -> None:
    """Drop what was found to be written already, inside itself, and fetch that instead."""
    if is_set_by(m):
        m.stack.pop()
        return
    m.at -= 1
    n = 0
    while m.data[m.at : m.at + 1] == b"0" and m.stack:
        m.at += 1
        n += m.stack.pop() is not MARK
    again(m, n)


def again(m: Machine, n: int) -> None:
    """Make sure that what was dropped is fetched next: a tuple for so many parts, or an object."""
    opcode = bytes(m.data[m.at : m.at + 1])
    if opcode not in (b"g", b"h", b"j"):
        m.doubt("makes an object and drops it")
        return
    m.at += 1
    m.recall(index(m) if opcode == b"g" else m.number(1 if opcode == b"h" else 4))
    value = m.stack[-1]
    parts = isinstance(value, tuple | frozenset) and len(value) == n
    if not parts and not (n == 1 and isinstance(value, Inert | frozenset)):
        m.doubt("makes an object and drops it for another")


def duplicate(m: Machine) -> None:
    raise m.forged("duplicates an object")


def set_item(m: Machine) -> None:
    value, key = m.pop(), m.pop()
    update(m, [key, value])


_ACTIONS: dict[str, Step] = {
    "(": lambda m: m.push(MARK),
    "0": drop,
    "1": lambda m: again(m, len(m.pop_mark())),
    "2": duplicate,
    "F": decimal_float,
    "I": lambda m: decimal(m, ""),
    "L": lambda m: decimal(m, "L"),
    "J": lambda m: m.push(m.number(4, signed=True)),
    "K": lambda m: m.push(m.byte()),
    "M": lambda m: m.push(m.number(2)),
    "N": lambda m: m.push(None),
    "P": lambda m: refuse(m, "a persistent object"),
    "Q": persistent,
    "R": reduce,
    "S": quoted,
    "T": lambda m: counted_text(m, m.number(4, signed=True)),
    "U": lambda m: counted_text(m, m.byte()),
    "V": raw_unicode,
    "X": lambda m: m.push(m.text(m.number(4))),
    "a": lambda m: extend(m, [m.pop()]),
    "b": build,
    "c": lambda m: m.push(m.mention(m.line(), m.line())),
    "d": dictionary,
    "}": lambda m: empty(m, {}),
    "e": lambda m: extend(m, m.pop_mark()),
    "g": lambda m: m.recall(index(m)),
    "h": lambda m: m.recall(m.byte()),
    "i": instance,
    "j": lambda m: m.recall(m.number(4)),
    "l": lambda m: collect(m, list),
    "]": lambda m: empty(m, []),
    "o": named_object,
    "p": lambda m: m.remember(index(m)),
    "q": lambda m: m.remember(m.byte()),
    "r": lambda m: m.remember(m.number(4)),
    "s": set_item,
    "t": lambda m: collect(m, tuple),
    ")": lambda m: m.push(()),
    "u": lambda m: update(m, m.pop_mark()),
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
    "\x8a": lambda m: long(m, m.byte()),
    "\x8b": lambda m: long(m, m.number(4)),
    "B": lambda m: blob(m, m.number(4)),
    "C": lambda m: blob(m, m.byte()),
    "\x8c": lambda m: m.push(m.text(m.byte())),
    "\x8d": lambda m: m.push(m.text(m.number(8))),
    "\x8e": lambda m: blob(m, m.number(8)),
    "\x8f": lambda m: empty(m, set()),
    "\x90": lambda m: add(m, m.pop_mark()),
    "\x91": frozen_set,
    "\x92": new_object_with_names,
    "\x93": stack_global,
    "\x94": lambda m: m.remember(),
    "\x95": frame,
    "\x96": lambda m: blob(m, m.number(8)),
    "\x97": lambda m: refuse(m, "an outside buffer"),
    "\x98": lambda m: refuse(m, "an outside buffer"),
}


STEPS: list[Step | None] = [_ACTIONS.get(chr(code)) for code in range(256)]


@dataclass(frozen=True, slots=True, eq=False)
class Unpickled:
    """What a pickle held."""

    root: object  # The object, as inert data
    end: int  # Offset behind the last instruction
    mentioned: Sequence[Global]  # Every name in the file, in order
    # All arrays of records, each with the place where it was complete; see `model`
    tables: Sequence[tuple[int, Array]] = ()


def read_pickle(
    data: bytes | mmap,
    *,
    offset: int = 0,
    limits: Limits = LIMITS,
) -> Unpickled:
    """Read one pickle as inert data."""
    vm = Machine(data, offset, limits, limits.nested, STEPS)
    try:
        root = vm.run()
    except UnsafeModelError:
        raise
    except ReadError:
        vm.refuse_mentions()
        raise
    vm.refuse_mentions()
    if vm.doubts:
        raise vm.doubts[0]
    vm.refuse_files_within()
    return Unpickled(arrived(root), vm.at, vm.mentioned, tuple(vm.tables))
