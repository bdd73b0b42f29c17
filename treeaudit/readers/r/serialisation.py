"""Read R's serialisation: no recursion, nothing called, every length checked before it is used.

The numbers are those of R's ``serialize.c``. A step is a generator that yields what it waits for.
"""

import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from mmap import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeaudit.errors import ModelTooLargeError, UnsupportedModelError
from treeaudit.readers.limits import Allowance, Deepest, Limits
from treeaudit.readers.r.objects import CALLS, RObject
from treeaudit.readers.r.streams import KINDS, Ascii, Binary, Stream, damaged

Step = Generator["RObject | Step", RObject, RObject]

_HEADS = {b"X\n": ">", b"B\n": "", b"A\n": ""}
_SAVED = re.compile(rb"RD([XAB])([23])\n")
_OLD = re.compile(rb"RD[XAB]1\n|(XDR|ASC|BIN)\n")
_VECTORS = {10: "logical", 13: "integer", 14: "double", 15: "complex", 24: "raw"}
_CALLS = {2: "pairlist", 6: "language", 17: "dots"}
_LISTS = {19: "list", 20: "expression"}
_SINGLE = {
    254: "null",
    253: "global",
    252: "unbound",
    251: "missing",
    250: "base",
    242: "empty",
    241: "base",
}
_NAMED = {247: "persistent", 248: "package", 249: "namespace"}
_STRING, _TEXT, _SYMBOL, _ENVIRONMENT, _CLOSURE, _PROMISE = 16, 9, 1, 4, 3, 5
_BYTECODE, _POINTER, _WEAK, _S4, _ALTREP, _REFERENCE = 21, 22, 23, 25, 238, 255
_DEFINED, _REPEATED, _CELLS = 244, 243, {2: 2, 6: 6, 239: 2, 240: 6}
_HAS_ATTRIBUTES, _HAS_TAG, _ACTIVE = 1 << 9, 1 << 10, 1 << 27
_BYTES, _LATIN1, _UTF8 = 1 << 13, 1 << 14, 1 << 15
# Bytes of Python objects: a record, an entry of a list, and one of a dictionary.
_RECORD, _ENTRY, _KEYED = 144, 8, 112
_CODE_PAGES = re.compile(r"(iso|latin|cp|windows|koi8|euc|gb|big5|shift)[\w-]{1,12}", re.IGNORECASE)
_MOST_NAME = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """What an R file holds."""

    root: RObject  # of a file with several objects, a list of them with their names
    format: str  # "r-rds" or "r-rdata"
    version: int  # of the serialisation
    written_by: str  # the version of R


def is_r(data: bytes | mmap) -> bool:
    """Return whether bytes begin as R's serialisation does."""
    head = bytes(data[:32])
    if _SAVED.match(head) or _OLD.match(head):
        return True
    if head[:2] == b"A\n":
        return re.match(rb"A\n\d{1,6}\n\d{1,7}\n\d{1,7}\n", head) is not None
    if head[:2] not in _HEADS or len(head) < 14:
        return False
    # The version, and those of R that wrote it and can read it: less than 256.0.0.
    return all(0 in (head[at], head[at + 3]) for at in (2, 6, 10))


def read_r(data: bytes | mmap, limits: Limits) -> Stored:
    """Read the R objects of an unpacked file."""
    at = 0
    saved = _SAVED.match(data)
    if saved is not None:
        at = saved.end()
    elif _OLD.match(data):
        raise UnsupportedModelError(
            "the file has R's workspace format of before 2001: load it in R and save it again"
        )
    reader = _Reader(_stream(data, at), limits.objects(len(data)))
    root = reader.run()
    if left := reader.stream.left():
        damaged(f"{left:,} bytes follow its end")
    if saved is not None:
        if root.kind not in ("pairlist", "null"):
            damaged("a workspace holds no list of objects")
        root = RObject("list", root.values or [], root.attributes)
    return Stored(root, "r-rds" if saved is None else "r-rdata", reader.version, reader.written_by)


def _stream(data: bytes | mmap, at: int) -> Stream:
    head = bytes(data[at : at + 2])
    if head == b"A\n":
        return Ascii(data, at + 2)
    order = _HEADS.get(head)
    if order is None:
        damaged("it does not begin as R's serialisation does")
    if not order:
        order = "<" if data[at + 2 : at + 3] != b"\0" else ">"
    return Binary(data, at + 2, order)


class _Reader:
    """One serialisation; what it has read so far, by number."""

    def __init__(self, stream: Stream, room: int) -> None:
        self.stream = stream
        self.room = Allowance(
            room,
            "the file has more R objects than treeaudit takes in: allow more with --max-bytes",
        )
        self.version = stream.integer()
        self.written_by = ".".join(str(n) for n in stream.integer().to_bytes(4, "big", signed=True))
        self.written_by = self.written_by.removeprefix("0.")
        stream.integer()
        native = b"UTF-8"
        if self.version == 3:
            native = stream.text(self._length("a name of an encoding", 64))
        elif self.version != 2:
            damaged(f"it has version {self.version} of R's serialisation, and 2 and 3 are known")
        name = native.decode("ascii", "replace")
        self._native = name if _CODE_PAGES.fullmatch(name) else "utf-8"
        self._refs: list[RObject] = []
        self._known: dict[tuple[int, bytes], str] = {}
        self._single = {code: RObject(kind) for code, kind in _SINGLE.items()}

    def run(self) -> RObject:
        """Read the object, with a stack of the steps that wait for another."""
        first = self._item()
        if isinstance(first, RObject):
            return first
        stack, result = [first], None
        while True:
            try:
                part = stack[-1].send(result)  # type: ignore[arg-type]
            except StopIteration as done:
                stack.pop()
                result = done.value
                if not stack:
                    root: RObject = done.value
                    return root
                continue
            if isinstance(part, RObject):
                result = part
                continue
            if len(stack) == Deepest.r:
                raise ModelTooLargeError(
                    f"the file has more than {Deepest.r:,} R objects in one another"
                )
            stack.append(part)
            result = None

    def _item(self) -> RObject | Step:
        """Return the next object, or the step that reads it."""
        return self._of(self.stream.integer())

    def _of(self, flags: int) -> RObject | Step:
        code = flags & 255
        if code in self._single:
            return self._single[code]
        if code == _REFERENCE:
            number = (flags & 0xFFFFFFFF) >> 8 or self.stream.integer()
            if not 0 < number <= len(self._refs):
                damaged(f"it refers to object {number:,}, and {len(self._refs):,} came before")
            return self._refs[number - 1]
        self.room.take(_RECORD)
        if code in _VECTORS or code in (_STRING, _TEXT, 7, 8):
            made = self._leaf(code, flags)
            return self._with_attributes(made) if flags & _HAS_ATTRIBUTES else made
        if code in _CALLS:
            return self._cells(_CALLS[code], flags)
        if code in _LISTS:
            return self._list(_LISTS[code], flags)
        if code in _NAMED:
            return self._names(_NAMED[code])
        step = _STEPS.get(code)
        if step is None:
            damaged(f"object type {code} before byte {self.stream.at:,} is not one of R's")
        return step(self, flags)

    def _leaf(self, code: int, flags: int) -> RObject:
        """Return a vector of numbers or texts, without its attributes."""
        if code in _VECTORS:
            kind = _VECTORS[code]
            return RObject(kind, self._vector(kind, self._length()))
        if code == _STRING:
            return RObject("string", self._strings(self._length()))
        if code == _TEXT:
            return RObject("char", self._string(flags))
        name = self.stream.text(self._length("a name", _MOST_NAME))
        return RObject("special" if code == 7 else "builtin", name.decode("ascii", "replace"))

    def _vector(self, kind: str, n: int) -> NDArray[Any]:
        made = self.stream.vector(kind, n)
        if made.base is None or isinstance(self.stream, Ascii):
            self.room.take(made.nbytes)
        return made

    def _strings(self, n: int) -> list[str | None]:
        self.stream.fits(n, 8)
        self.room.take(n * _ENTRY)
        made: list[str | None] = [None] * n
        integer, string = self.stream.integer, self._string
        for i in range(n):
            flags = integer()
            if flags & 255 != _TEXT:
                damaged(f"no text is where one has to be, before byte {self.stream.at:,}")
            made[i] = string(flags)
        return made

    def _string(self, flags: int) -> str | None:
        """Return the text of a CHARSXP; its encoding is in the flags."""
        n = self.stream.integer()
        if n == -1:
            return None
        if n < 0:
            damaged(f"a text of {n} bytes before byte {self.stream.at:,}")
        raw = self.stream.text(n)
        marks = flags & (_BYTES | _LATIN1 | _UTF8)
        text = self._known.get((marks, raw))
        if text is None:
            coding = self._native
            if marks:
                coding = "utf-8" if marks & _UTF8 else "latin-1" if marks & _LATIN1 else "ascii"
            try:
                text = raw.decode(coding)
            except (UnicodeDecodeError, LookupError):
                text = raw.decode("ascii" if marks & _BYTES else "utf-8", "backslashreplace")
            self.room.take(4 * n + _KEYED)
            self._known[marks, raw] = text
        return text

    def _length(self, what: str = "a vector", most: int = 1 << 52) -> int:
        n = self.stream.integer()
        if n == -1 and what == "a vector":
            high, low = self.stream.integer(), self.stream.integer()
            n = (high << 32) + (low & 0xFFFFFFFF)
        if not 0 <= n <= most:
            damaged(f"{what} of {n:,} elements before byte {self.stream.at:,}")
        return n

    def _with_attributes(self, made: RObject) -> Step:
        """Add the attributes that follow: the first of a name holds in R."""
        cells = yield self._item()
        if cells.kind == "pairlist":
            made.attributes = self._keyed(cells)
        elif cells.kind != "null":
            damaged(f"attributes before byte {self.stream.at:,} are no list")
        return made

    def _keyed(self, *lists: RObject) -> dict[str, RObject]:
        """Return tagged cells by their tags; what has the tag of another is kept beside it."""
        keyed: dict[str, RObject] = {}
        for cells in lists:
            self.room.take(len(cells) * _KEYED)
            tags = cells.names or [""] * len(cells)
            for tag, value in zip(tags, cells.values, strict=True):
                key = tag if tag not in keyed else f"{tag} ({len(keyed)})"
                keyed[key] = value
        return keyed

    def _list(self, kind: str, flags: int) -> Step:
        n = self._length()
        self.stream.fits(n, 4)
        self.room.take(n * _ENTRY)
        made = RObject(kind, [])
        for _ in range(n):
            made.values.append((yield self._item()))
        if flags & _HAS_ATTRIBUTES:
            yield self._with_attributes(made)
        return made

    def _cells(self, kind: str, flags: int) -> Step:
        """Read a pairlist or call, along its cells and not down into them."""
        made = RObject(kind, [])
        tags: list[str | None] = []
        attributes: dict[str, RObject] = {}
        active: list[str] = []
        while True:
            self.room.take(3 * _ENTRY)
            if flags & _HAS_ATTRIBUTES:
                holder = RObject(kind)
                yield self._with_attributes(holder)
                where = f" of cell {len(tags) + 1}" if tags else ""
                attributes |= {f"{key}{where}": one for key, one in holder.attributes.items()}
            tag = (yield self._item()) if flags & _HAS_TAG else None
            tags.append(tag.values if tag is not None and tag.kind == "symbol" else None)
            made.values.append((yield self._item()))
            if flags & _ACTIVE and tags[-1]:
                active.append(tags[-1])
            flags = self.stream.integer()
            if flags & 255 not in _CALLS:
                break
        end = yield self._of(flags)
        if end.kind != "null":
            tags.append(None)
            made.values.append(end)
        if any(tag is not None for tag in tags):
            self.room.take(_RECORD + len(tags) * _ENTRY)
            attributes = {"names": RObject("string", tags)} | attributes
        made.attributes, made.active = attributes, tuple(active)
        return made

    def _names(self, kind: str) -> RObject:
        """Read a namespace, a package or what is kept elsewhere, which a file only names."""
        if self.stream.integer():
            damaged(f"the names before byte {self.stream.at:,} have names")
        made = RObject(kind, self._strings(self._length("a list of names", _MOST_NAME)))
        self._refs.append(made)
        return made

    def _symbol(self, flags: int) -> RObject:
        if (flags := self.stream.integer()) & 255 != _TEXT:
            damaged(f"a symbol without a name before byte {self.stream.at:,}")
        made = RObject("symbol", self._string(flags) or "NA")
        self._refs.append(made)
        return made

    def _environment(self, flags: int) -> Step:
        made = RObject("environment", {}, locked=self.stream.integer() != 0)
        self._refs.append(made)
        enclosure = yield self._item()
        frame = yield self._item()
        table = yield self._item()
        yield self._with_attributes(made)
        chains = [frame, *(table.values if table.kind == "list" else ())]
        chains = [one for one in chains if one.kind in CALLS]
        made.values = self._keyed(*chains)
        made.active = tuple(name for one in chains for name in one.active)
        made.parts = {"enclosure": enclosure}
        return made

    def _three(self, kind: str, parts: tuple[str, str, str], flags: int) -> Step:
        """Read a closure or a promise: cells, whose tag is the environment."""
        made = RObject(kind)
        if flags & _HAS_ATTRIBUTES:
            yield self._with_attributes(made)
        environment = (yield self._item()) if flags & _HAS_TAG else self._single[254]
        first = yield self._item()
        second = yield self._item()
        made.parts = dict(zip(parts, (environment, first, second), strict=True))
        return made

    def _closure(self, flags: int) -> Step:
        return self._three("closure", ("environment", "formals", "body"), flags)

    def _promise(self, flags: int) -> Step:
        return self._three("promise", ("environment", "value", "expression"), flags)

    def _pointer(self, flags: int) -> Step:
        made = RObject("pointer")
        self._refs.append(made)
        protected = yield self._item()
        made.parts = {"protected": protected, "tag": (yield self._item())}
        if flags & _HAS_ATTRIBUTES:
            yield self._with_attributes(made)
        return made

    def _weak(self, flags: int) -> RObject | Step:
        made = RObject("weakref")
        self._refs.append(made)
        return self._with_attributes(made) if flags & _HAS_ATTRIBUTES else made

    def _s4(self, flags: int) -> RObject | Step:
        made = RObject("s4")
        return self._with_attributes(made) if flags & _HAS_ATTRIBUTES else made

    def _altrep(self, flags: int) -> Step:
        """Read a vector that R stores in a shorter way."""
        info = yield self._item()
        state = yield self._item()
        made = self._expanded(info, state)
        return (yield self._with_attributes(made))

    def _expanded(self, info: RObject, state: RObject) -> RObject:
        names = [
            one.values
            for one in (info.values or ())[:2]
            if info.kind in CALLS and one.kind == "symbol"
        ]
        name = names[0] if names else ""
        if name in ("compact_intseq", "compact_realseq") and state.kind == "double":
            kind = "integer" if name == "compact_intseq" else "double"
            return RObject(kind, self._sequence(state, KINDS[kind]))
        inner = state.values[0] if state.kind in CALLS | {"list"} and state.values else None
        if (
            name.startswith("wrap_")
            and inner is not None
            and inner.kind == name[5:].replace("real", "double")
        ):
            return RObject(inner.kind, inner.values, inner.attributes)
        if name == "deferred_string" and inner is not None and inner.kind in ("integer", "double"):
            self.room.take(len(inner) * 80)
            numbers = inner.values.tolist()
            if inner.kind == "integer":
                return RObject("string", [None if n == -(2**31) else str(n) for n in numbers])
            return RObject("string", [None if n != n else f"{n:.15g}" for n in numbers])
        return RObject("altrep", names, parts={"state": state})

    def _sequence(self, state: RObject, dtype: str) -> NDArray[Any]:
        """Return the numbers of a sequence of which a file says length, first and step."""
        if len(state) != 3 or not np.all(np.abs(state.values) < 2**52):
            damaged(f"a sequence before byte {self.stream.at:,} has no length, first and step")
        n, first, step = (float(one) for one in state.values)
        if n < 0 or not n.is_integer():
            damaged(f"a sequence of {n:g} elements before byte {self.stream.at:,}")
        self.room.take(int(n) * 8)
        made = first + step * np.arange(int(n), dtype=np.float64)
        if dtype == "i4" and len(made) and max(abs(made[0]), abs(made[-1])) >= 2**31:
            damaged(f"a sequence before byte {self.stream.at:,} leaves the whole numbers")
        return made.astype(dtype, copy=False)

    def _bytecode(self, flags: int) -> Step:
        n = self._length("bytecode")
        self.stream.fits(n, 0)
        made = yield self._code({})
        if flags & _HAS_ATTRIBUTES:
            yield self._with_attributes(made)
        return made

    def _code(self, repeated: dict[int, RObject]) -> Step:
        """Read compiled code as its constants, the first of which is what was compiled."""
        self.room.take(_RECORD)
        yield self._item()
        n = self._length("a list of constants")
        self.stream.fits(n, 4)
        made = RObject("bytecode", [])
        for _ in range(n):
            code = self.stream.integer()
            if code == _BYTECODE:
                made.values.append((yield self._code(repeated)))
            else:
                made.values.append((yield self._constant(code, repeated)))
        return made

    def _constant(self, code: int, repeated: dict[int, RObject]) -> RObject | Step:
        """Return a constant of compiled code; calls that are the same are written once."""
        if code == _REPEATED:
            number = self.stream.integer()
            if number not in repeated:
                damaged(f"compiled code refers to a call that is not there ({number:,})")
            return repeated[number]
        if code == _DEFINED or code in _CELLS:
            return self._call(code, repeated)
        return self._item()

    def _call(self, code: int, repeated: dict[int, RObject]) -> Step:
        made = RObject("language", [])
        tags: list[str | None] = []
        attributes: dict[str, RObject] = {}
        while True:
            self.room.take(_RECORD)
            if code == _DEFINED:
                if tags:
                    rest = yield self._call(code, repeated)
                    break
                repeated[self.stream.integer()] = made
                code = self.stream.integer()
            if code not in _CELLS:
                rest = yield self._constant(code, repeated)
                break
            if not tags:
                made.kind = _CALLS[_CELLS[code]]
            if code > _ALTREP:
                holder = RObject("list")
                yield self._with_attributes(holder)
                attributes |= holder.attributes
            tag = yield self._item()
            tags.append(tag.values if tag.kind == "symbol" else None)
            made.values.append((yield self._constant(self.stream.integer(), repeated)))
            code = self.stream.integer()
        if rest.kind in CALLS:
            self.room.take(2 * len(rest) * _ENTRY)
            tags += rest.names or [None] * len(rest)
            made.values += rest.values
        elif rest.kind != "null":
            tags.append(None)
            made.values.append(rest)
        if any(tags):
            attributes = {"names": RObject("string", tags)} | attributes
        made.attributes = attributes
        return made


_STEPS: Mapping[int, Callable[[_Reader, int], RObject | Step]] = {
    _SYMBOL: _Reader._symbol,
    _ENVIRONMENT: _Reader._environment,
    _CLOSURE: _Reader._closure,
    _PROMISE: _Reader._promise,
    _BYTECODE: _Reader._bytecode,
    _POINTER: _Reader._pointer,
    _WEAK: _Reader._weak,
    _S4: _Reader._s4,
    _ALTREP: _Reader._altrep,
}
