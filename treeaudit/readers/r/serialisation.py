"""Read R's serialisation: no recursion, nothing called, every length checked before it is used.

The numbers are those of R's ``serialize.c``. A step is a generator that yields what it waits for.
"""

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from mmap import mmap

import numpy as np

from treeaudit.errors import ModelTooLargeError
from treeaudit.model.source import FEWEST_RECORDS
from treeaudit.readers.limits import Allowance, Deepest, Limits
from treeaudit.readers.r.objects import CALLS, NA_INTEGER, VECTORS, RObject
from treeaudit.readers.r.streams import Ascii, Binary, refuse

Step = Generator["RObject | Step", RObject, RObject]

_SAVED = re.compile(rb"RD[XAB][23]\n")
_ASCII = re.compile(rb"A\n\d{1,6}\n\d{1,7}\n\d{1,7}\n")
_NUMBERS = {10: "logical", 13: "integer", 14: "double", 15: "complex", 24: "raw"}
_CALLS = {2: "pairlist", 6: "language", 17: "dots"}
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
# Objects of fixed parts, in the order of the file; the first, an environment, may be left out.
_PARTS = {
    3: ("closure", ("environment", "formals", "body")),
    5: ("promise", ("environment", "value", "expression")),
    22: ("pointer", ("protected", "tag")),
}
_HAS_ATTRIBUTES, _HAS_TAG, _ACTIVE = 1 << 9, 1 << 10, 1 << 27
_BYTES, _LATIN1, _UTF8 = 1 << 13, 1 << 14, 1 << 15
# Bytes of Python objects: a record, an array, an entry of a list, and one of a dictionary.
_RECORD, _ARRAY, _ENTRY, _KEYED = 144, 128, 16, 112
_CODE_PAGES = re.compile(r"(iso|latin|cp|windows|koi8|euc|gb|big5|shift)[\w-]{1,12}", re.IGNORECASE)
_MOST_NAME = 1 << 16
_NUMBER_AS_TEXT = 80


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """What an R file holds."""

    root: RObject  # Of a file with several objects, a list of them with their names
    format: str  # "r-rds" or "r-rdata"
    version: str  # Of R


def is_r(data: bytes | mmap) -> bool:
    """Return whether bytes begin as R's serialisation does."""
    head = bytes(data[:32])
    if _SAVED.match(head) or _ASCII.match(head):
        return True
    # The version, and those of R that wrote it and can read it, in one of two orders.
    few = all(0 in (head[at], head[at + 3]) for at in (2, 6, 10)) if len(head) > 13 else False
    return head[:2] in (b"X\n", b"B\n") and few


def read_r(data: bytes | mmap, limits: Limits) -> Stored:
    """Read the R objects of an unpacked file."""
    saved = _SAVED.match(data)
    reader = _Reader(_stream(data, saved.end() if saved else 0), limits.objects(len(data)))
    root = reader.run()
    if left := reader.stream.left():
        refuse(f"{left:,} bytes follow its end")
    if saved and root.kind not in ("pairlist", "null"):
        refuse("a workspace holds no list of objects")
    if saved:
        root = RObject("list", root.values or [], root.attributes)
    return Stored(root, "r-rdata" if saved else "r-rds", reader.version)


def _stream(data: bytes | mmap, at: int) -> Binary:
    match bytes(data[at : at + 2]):
        case b"A\n":
            return Ascii(data, at + 2)
        case b"X\n":
            return Binary(data, at + 2, ">")
        case b"B\n":
            return Binary(data, at + 2, ">" if data[at + 2 : at + 3] == b"\0" else "<")
    refuse("it does not begin as R's serialisation does")


class _Reader:
    """One serialisation; what it has read so far, by number."""

    def __init__(self, stream: Binary, room: int) -> None:
        self.stream = stream
        self.room = Allowance(
            room,
            "the file has more R objects than treeaudit takes in: allow more with --max-bytes",
        )
        version = stream.integer()
        self.version = ".".join(map(str, stream.integer().to_bytes(4, "big", signed=True)[1:]))
        stream.integer()
        name = ""
        if version == 3:
            name = stream.text(self._length("a name of an encoding", 64)).decode("ascii", "replace")
        elif version != 2:
            refuse(f"it has version {version:,} of R's serialisation, and 2 and 3 are known")
        self._native = name if _CODE_PAGES.fullmatch(name) else "utf-8"
        self._refs: list[RObject] = []
        self._known: dict[tuple[int, bytes | None], str] = {}
        self._single = {code: RObject(kind) for code, kind in _SINGLE.items()}

    def run(self) -> RObject:
        """Read the object, with a stack of the steps that wait for another."""
        part = self._item()
        stack: list[Step] = []
        while stack or not isinstance(part, RObject):
            try:
                if isinstance(part, RObject):
                    part = stack[-1].send(part)
                else:
                    stack.append(part)
                    part = next(part)
            except StopIteration as done:
                stack.pop()
                part = done.value
            if len(stack) > Deepest.r:
                raise ModelTooLargeError(
                    f"the file has more than {Deepest.r:,} R objects in one another"
                )
        return part

    def _item(self) -> RObject | Step:
        """Return the next object, or the step that reads it."""
        return self._of(self.stream.integer())

    def _of(self, flags: int) -> RObject | Step:
        code = flags & 255
        if code in self._single:
            return self._single[code]
        if code == 255:
            number = (flags & 0xFFFFFFFF) >> 8 or self.stream.integer()
            if not 0 < number <= len(self._refs):
                refuse(f"it refers to object {number:,}, and {len(self._refs):,} came before")
            return self._refs[number - 1]
        self.room.take(_RECORD)
        match code:
            case 2 | 6 | 17:
                return self._cells(_CALLS[code], flags)
            case 3 | 5:
                kind, names = _PARTS[code]
                names = names if flags & _HAS_TAG else names[1:]
                return self._parts(self._with_attributes(RObject(kind), flags), names)
            case 4:
                return self._environment()
            case 19 | 20:
                return self._list("list" if code == 19 else "expression", flags)
            case 21:
                self._length("bytecode")
                return self._with_attributes(self._code({}), flags)
            case 22:
                kind, names = _PARTS[code]
                self._refs.append(made := RObject(kind))
                return self._with_attributes(self._parts(made, names), flags)
            case 238:
                return self._altrep()
        made = self._leaf(code, flags)
        if code in (1, 23, 247, 248, 249):
            self._refs.append(made)
        attributes = flags & _HAS_ATTRIBUTES and code not in (1, 7, 8, 247, 248, 249)
        return self._with_attributes(made, flags) if attributes else made

    def _leaf(self, code: int, flags: int) -> RObject:
        """Return what holds no other object but attributes."""
        match code:
            case 1:
                return RObject("symbol", self._strings(1)[0] or "NA")
            case 7 | 8:
                name = self.stream.text(self._length("a name", _MOST_NAME))
                return RObject("special" if code == 7 else "builtin", name.decode("latin-1"))
            case 9:
                return RObject("char", self._decoded(flags, self.stream.raw_text()))
            case 10 | 13 | 14 | 15 | 24:
                kind = _NUMBERS[code]
                made = self.stream.vector(kind, self._length())
                self.room.take(_ARRAY + (made.nbytes if isinstance(self.stream, Ascii) else 0))
                return RObject(kind, made)
            case 16:
                return RObject("string", self._strings(self._length()))
            case 23:
                return RObject("weakref")
            case 25:
                return RObject("s4")
            case 247 | 248 | 249:
                if self.stream.integer():
                    refuse(f"the names before byte {self.stream.at:,} have names")
                names = self._strings(self._length("a list of names", _MOST_NAME))
                return RObject(_NAMED[code], names)
        refuse(f"object type {code} before byte {self.stream.at:,} is not one of R's")

    def _strings(self, n: int) -> list[str | None]:
        self.stream.fits(n, 8)
        self.room.take(n * _ENTRY)
        known, made = self._known, []
        for flags, raw in self.stream.texts(n):
            if flags & 255 != 9:
                refuse(f"no text is where one has to be, before byte {self.stream.at:,}")
            text = known.get((flags, raw))
            made.append(self._decoded(flags, raw) if text is None else text)
        return made

    def _decoded(self, flags: int, raw: bytes | None) -> str | None:
        """Return a text; its encoding is in the flags."""
        if raw is None:
            return None
        marks = flags & (_BYTES | _LATIN1 | _UTF8)
        coding = {0: self._native, _LATIN1: "latin-1", _BYTES: "ascii"}.get(marks, "utf-8")
        self.room.take(4 * len(raw) + _KEYED)
        try:
            text = raw.decode(coding)
        except (UnicodeDecodeError, LookupError):
            text = raw.decode("ascii" if marks == _BYTES else "utf-8", "backslashreplace")
        self._known[flags, raw] = text
        return text

    def _length(self, what: str = "a vector", most: int = 1 << 52) -> int:
        n = self.stream.integer()
        if n == -1 and what == "a vector":
            n = (self.stream.integer() << 32) + (self.stream.integer() & 0xFFFFFFFF)
        if not 0 <= n <= most:
            refuse(f"{what} of {n:,} elements before byte {self.stream.at:,}")
        return n

    def _with_attributes(self, made: RObject | Step, flags: int) -> Step:
        """Add the attributes that follow an object, if its flags say so."""
        one = made if isinstance(made, RObject) else (yield made)
        if flags & _HAS_ATTRIBUTES:
            cells = yield self._item()
            if cells.kind == "pairlist":
                one.attributes = self._keyed(cells)
            elif cells.kind != "null":
                refuse(f"attributes before byte {self.stream.at:,} are no list")
        return one

    def _keyed(self, *lists: RObject) -> dict[str, RObject]:
        """Return tagged cells by their tags; what has the tag of another is kept beside it."""
        keyed: dict[str, RObject] = {}
        for cells in lists:
            self.room.take(len(cells) * _KEYED)
            tags = cells.names or [""] * len(cells)
            for tag, value in zip(tags, cells.values, strict=True):
                keyed[tag if tag not in keyed else f"{tag} ({len(keyed)})"] = value
        return keyed

    def _list(self, kind: str, flags: int) -> Step:
        n = self._length()
        self.stream.fits(n, 4)
        short = self.stream.short(n, FEWEST_RECORDS) if n >= FEWEST_RECORDS else None
        self.room.take(n * (8 if short is not None else 2 * _ENTRY))
        made = RObject(kind, [] if short is None else short)
        for _ in range(n if short is None else 0):
            made.values.append((yield self._item()))
        return (yield self._with_attributes(made, flags))

    def _cells(self, kind: str, flags: int) -> Step:
        """Read a pairlist or call, along its cells and not down into them."""
        made = RObject(kind, [])
        tags: list[str | None] = []
        active: list[str] = []
        attributes: dict[str, RObject] = {}
        while flags & 255 in _CALLS:
            self.room.take(4 * _ENTRY)
            if flags & _HAS_ATTRIBUTES:
                held = yield self._with_attributes(RObject(kind), flags)
                where = f" of cell {len(tags) + 1}" if tags else ""
                attributes |= {f"{key}{where}": one for key, one in held.attributes.items()}
            tag = (yield self._item()) if flags & _HAS_TAG else None
            tags.append(tag.values if tag is not None and tag.kind == "symbol" else None)
            if flags & _ACTIVE and tags[-1]:
                active.append(tags[-1])
            made.values.append((yield self._item()))
            flags = self.stream.integer()
        end = yield self._of(flags)
        if end.kind != "null":
            tags.append(None)
            made.values.append(end)
        if any(tags):
            attributes = {"names": RObject("string", tags)} | attributes
        made.attributes, made.active = attributes, tuple(active)
        return made

    def _parts(self, made: RObject | Step, names: Sequence[str]) -> Step:
        one = made if isinstance(made, RObject) else (yield made)
        parts = {}
        for name in names:
            parts[name] = yield self._item()
        one.parts = parts
        return one

    def _environment(self) -> Step:
        self.stream.integer()  # Whether it is locked
        made = RObject("environment", {})
        self._refs.append(made)
        made.parts = {"enclosure": (yield self._item())}
        frame = yield self._item()
        table = yield self._item()
        yield self._with_attributes(made, _HAS_ATTRIBUTES)
        chains = [frame, *(table.values if table.kind == "list" else ())]
        chains = [one for one in chains if one.kind in CALLS]
        made.values = self._keyed(*chains)
        made.active = tuple(name for one in chains for name in one.active)
        return made

    def _altrep(self) -> Step:
        info = yield self._item()
        made = _expanded(info, (yield self._item()), self.room)
        return (yield self._with_attributes(made, _HAS_ATTRIBUTES))

    def _code(self, repeated: dict[int, RObject]) -> Step:
        """Read compiled code as its constants, the first of which is what was compiled."""
        self.room.take(_RECORD)
        yield self._item()
        n = self._length("a list of constants")
        self.stream.fits(n, 4)
        made = RObject("bytecode", [])
        for _ in range(n):
            code = self.stream.integer()
            part = self._code(repeated) if code == 21 else self._constant(code, repeated)
            made.values.append((yield part))
        return made

    def _constant(self, code: int, repeated: dict[int, RObject]) -> RObject | Step:
        """Return a constant of compiled code; a call that is there again refers to the first."""
        if code == 243:
            number = self.stream.integer()
            if number not in repeated:
                refuse(f"compiled code refers to call {number:,}, which is not there")
            return repeated[number]
        return self._cell(code, repeated) if code in (2, 6, 239, 240, 244) else self._item()

    def _cell(self, code: int, repeated: dict[int, RObject]) -> Step:
        """Read one cell of a call in compiled code: what it holds, and the cells after it."""
        self.room.take(_RECORD)
        made = RObject("language", [])
        if code == 244:
            repeated[self.stream.integer()] = made
            code = self.stream.integer()
        yield self._with_attributes(made, _HAS_ATTRIBUTES if code in (239, 240) else 0)
        yield self._item()
        for _ in range(2):
            made.values.append((yield self._constant(self.stream.integer(), repeated)))
        return made


def _expanded(info: RObject, state: RObject, room: Allowance) -> RObject:
    """Return a vector that is stored in a shorter way (ALTREP); of an unknown class, its state."""
    parts = info.values[:2] if info.kind in CALLS else []
    names = [one.values for one in parts if one.kind == "symbol"]
    name = names[0] if names else ""
    inner = state.values[0] if state.kind in CALLS | {"list"} and state.values else None
    if name in ("compact_intseq", "compact_realseq") and state.kind == "double":
        return _sequence(state, room, whole=name == "compact_intseq")
    if name.startswith("wrap_") and inner is not None and inner.kind in VECTORS:
        return RObject(inner.kind, inner.values, inner.attributes)
    if name == "deferred_string" and inner is not None and inner.kind in ("integer", "double"):
        room.take(len(inner) * _NUMBER_AS_TEXT)
        numbers = inner.values.tolist()
        texts = [None if n == NA_INTEGER or n != n else f"{n:.15g}" for n in numbers]
        return RObject("string", texts)
    return RObject("altrep", names, parts={"state": state})


def _sequence(state: RObject, room: Allowance, *, whole: bool) -> RObject:
    """Return a sequence of which a file says length, first and step."""
    if len(state) != 3 or not np.all(np.abs(state.values) < 2**52):
        refuse("a sequence has no length, first and step")
    n, first, step = state.values.tolist()
    if n < 0 or not n.is_integer():
        refuse(f"a sequence of {n:g} elements")
    room.take(int(n) * 8)
    made = first + step * np.arange(int(n), dtype=np.float64)
    if not whole:
        return RObject("double", made)
    if np.any(np.abs(made[[0, -1]] if len(made) else made) >= 2**31):
        refuse("a sequence of whole numbers goes beyond 2,147,483,647")
    return RObject("integer", made.astype(np.int32))
