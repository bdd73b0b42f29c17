"""Damaged model files: stored models changed by instruction, by field and by byte.

A file is taken apart into its `Piece` s, one an instruction. A change leaves the rest
well formed where it can: what is fetched is named by the instruction that stored it, frames
are measured again, and whole values (a run of instructions that leaves one object) are what
is moved. Otherwise nearly every mutant would end at its first inconsistency.
"""

import io
import pickle
import pickletools
import random
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.hostile.build import named, push, system

__all__ = ["Mutator", "Piece", "joined", "pieces_of", "values_of"]

STRANGE_NUMBERS = (0, 1, 2, 127, 128, 255, 256, 4095, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**63)
VALUES = (
    b"N",
    b"\x88",
    b"\x89",
    b"]",
    b"}",
    b")",
    b"\x8f",
    b"K\x00",
    b"K\x03",
    b"J\xff\xff\xff\xff",
    b"\x8a\x09" + b"\xff" * 8 + b"\x00",
    b"\x8b\x00\x04\x00\x00" + b"\x7f" * 1024,
    b"G\x7f\xf8" + bytes(6),
    b"G\x7f\xf0" + bytes(6),
    b"G\x7f\xef" + b"\xff" * 6,
    b"\x8c\x01F",
    b"\x8c\x03\xed\xa0\x80",
    b"\x8c\x05a\nb\x00c",
    b"C\x02ab",
    b"C\x00",
    b"(K\x01K\x02t",
    b"(K\x01K\x02l",
    b"(\x8c\x01aNd",
    b"cnumpy\nndarray\n",
    b"c__main__\nThing\n)\x81",
    b"csklearn.pipeline\nPipeline\n)\x81",
    b"cbuiltins\ngetattr\n",
    b"cbuiltins\ngetattr\nczoneinfo\nZoneInfo\n\x8c\x09_unpickle\x86R",
    b"cbuiltins\ntype\nN\x85R",
    b"\x8c\x06pandas\x8c\x0eDataFrame.eval\x93",
    b"h\x00",
    b"h\x05",
    bytes(system()),
    bytes(named("numpy", "log1p")),
    bytes(push({"append": named("numpy", "log1p")})),
)
ARRAYS = tuple(
    pickle.dumps(value, protocol=2)[2:-1]
    for value in (
        np.arange(2),
        np.zeros((0, 3)),
        np.array(["a", "b"], dtype=object),
        np.array(["ab", "c"]),
        np.float64(0.5),
        np.int64(3),
        np.dtype("f8"),
        np.dtype([("left_child", "<i8"), ("x", "S3")]),
        np.array(5),
    )
)
OPCODES = bytes(ord(op.code) for op in pickletools.opcodes)
# One of these in place of another is still an instruction about as many objects.
SIBLINGS = (
    ("TUPLE", "LIST", "DICT", "FROZENSET", "POP_MARK", "OBJ"),
    ("TUPLE1", "NOP1"),
    ("TUPLE2", "REDUCE", "NEWOBJ", "BUILD", "APPEND", "POP", "STACK_GLOBAL"),
    ("TUPLE3", "SETITEM", "NEWOBJ_EX"),
    ("APPENDS", "SETITEMS", "ADDITEMS", "POP_MARK"),
    ("EMPTY_TUPLE", "EMPTY_LIST", "EMPTY_DICT", "EMPTY_SET"),
    ("NONE", "NEWTRUE", "NEWFALSE", "EMPTY_TUPLE"),
)
FAMILY = {name: family for family in SIBLINGS for name in family if name != "NOP1"}
CODE = {op.name: op.code.encode("latin1") for op in pickletools.opcodes}
NUMBERS = frozenset(("INT", "LONG", "BININT", "BININT1", "BININT2", "LONG1", "LONG4", "FLOAT"))
NUMBERS |= {"BINFLOAT"}
TEXTS = frozenset(("UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "STRING", "SHORT_BINSTRING"))
TEXTS |= {"BINSTRING"}
BLOBS = frozenset(("SHORT_BINBYTES", "BINBYTES", "BINBYTES8", "BYTEARRAY8"))
FETCHED = frozenset(("GET", "BINGET", "LONG_BINGET"))
STORED = frozenset(("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"))
WORDS = (
    *("tree_", "estimators_", "classes_", "n_classes_", "n_outputs_", "nodes", "values", "predict"),
    *(
        "node_count",
        "max_depth",
        "n_features_in_",
        "__class__",
        "__dict__",
        "__setstate__",
        "append",
    ),
    *("left_child", "right_child", "feature", "threshold", "n_node_samples", "steps", "estimator"),
    *("f8", "f4", "i8", "u8", "<f8", ">f8", ">i8", "V64", "V56", "O8", "U2", "S8", "b1", "u1"),
    *("<", ">", "|", "=", "C", "F", "K", "", "DecisionTreeClassifier", "ExtraTreeClassifier"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """One instruction, with the bytes of a joblib array behind it.

    Attributes
    ----------
    raw
        Its bytes in the file.
    name
        What pickletools calls it.
    arg
        Its argument as pickletools reads it.
    rest
        Raw bytes that stand behind it.
    stored
        For what fetches: the instruction that stored the object.
    """

    raw: bytes
    name: str
    arg: Any = None
    rest: bytes = b""
    stored: "Piece | None" = None


def pieces_of(data: bytes) -> list[Piece]:
    """Take a pickle or a joblib file apart; nothing where it is neither."""
    if data[:1] in (b"{", b""):
        return []
    for cut in (_instructions, _beside_arrays):
        try:
            cuts = cut(data)
        except Exception:  # noqa: BLE001  # compressed files, JSON
            continue
        stored: dict[int, Piece] = {}
        made: list[Piece] = []
        for begin, end in zip(cuts, [*cuts[1:], len(data)], strict=True):
            piece = _piece(data[begin:end], stored)
            if piece.name in STORED:
                stored[len(stored) if piece.name == "MEMOIZE" else int(piece.arg)] = piece
            made.append(piece)
        return made
    return []


def _piece(raw: bytes, stored: dict[int, Piece]) -> Piece:
    op = pickletools.code2op[raw[:1].decode("latin1")]
    rest = io.BytesIO(raw[1:])
    arg = op.arg.reader(rest) if op.arg else None
    put = stored.get(int(arg)) if op.name in FETCHED else None
    n = 1 + rest.tell()
    return Piece(raw[:n], op.name, arg, raw[n:], put)


def _instructions(data: bytes) -> list[int]:
    return [at for _, _, at in pickletools.genops(data) if at is not None]


def _beside_arrays(data: bytes) -> list[int]:
    """Return where each instruction of a joblib file begins: its own loader walks it."""
    from joblib.numpy_pickle import NumpyUnpickler

    file, cuts = io.BytesIO(data), []
    walker = NumpyUnpickler("", file, False)

    def watched(step: Callable[[Any], None]) -> Callable[[Any], None]:
        def act(loader: Any) -> None:
            frame = loader._unframer.current_frame
            ahead = len(frame.getbuffer()) - frame.tell() if frame else 0
            cuts.append(file.tell() - ahead - 1)
            step(loader)

        return act

    walker.dispatch = {key: watched(step) for key, step in walker.dispatch.items()}
    walker.load()
    return cuts


def joined(pieces: Sequence[Piece]) -> bytes:
    """Put a file together: objects numbered and frames measured as they are now."""
    number: dict[int, int] = {}
    n, out = 0, []
    for piece in pieces:
        raw = piece.raw
        if piece.name in STORED:
            number[id(piece)] = n
            raw, n = _numbered(piece, n), n + 1
        elif piece.name in FETCHED and id(piece.stored) in number:
            raw = _numbered(piece, number[id(piece.stored)])
        out.append(raw)
    for i, piece in enumerate(pieces):
        if piece.name == "FRAME":
            size = 0
            for raw, one in zip(out[i + 1 :], pieces[i + 1 :], strict=True):
                if one.name == "FRAME":
                    break
                size += len(raw)
                if one.rest:
                    break
            out[i] = b"\x95" + struct.pack("<Q", size)
    return b"".join(raw + piece.rest for raw, piece in zip(out, pieces, strict=True))


def _numbered(piece: Piece, n: int) -> bytes:
    if piece.name == "MEMOIZE":
        return piece.raw
    if piece.name in ("GET", "PUT"):
        return piece.raw[:1] + b"%d\n" % n
    put = piece.name in STORED
    if n < 256:
        return (b"q" if put else b"h") + bytes([n])
    return (b"r" if put else b"j") + struct.pack("<I", n)


def values_of(pieces: Sequence[Piece]) -> list[tuple[int, int]]:
    """Return the runs of instructions that leave one object, as first and behind the last."""
    stack: list[tuple[int, bool]] = []
    found = []
    for i, piece in enumerate(pieces):
        op = pickletools.code2op[piece.raw[:1].decode("latin1")]
        first, before = i, list(op.stack_before)
        if pickletools.markobject in before:
            while stack:
                begin, mark = stack.pop()
                first = min(first, begin)
                if mark:
                    break
            before = before[: before.index(pickletools.markobject)]
        for _ in before:
            first = min(first, stack.pop()[0] if stack else i)
        stack.extend((first, one is pickletools.markobject) for one in op.stack_after)
        if stack and not stack[-1][1] and piece.name != "STOP":
            found.append((stack[-1][0], i + 1))
    return found


class Mutator:
    """Makes damaged files from good ones.

    Parameters
    ----------
    stored
        The good files.
    seed
        Of every choice.
    by_instruction
        Share of the mutants that are changed by instruction or field; the others by byte.
    """

    def __init__(self, stored: list[bytes], seed: int, by_instruction: float = 0.4) -> None:
        self.random = random.Random(seed)
        self.stored = stored
        self.by_instruction = by_instruction
        self.pieces = [pieces_of(_unpacked(data)) for data in stored]
        self.values = [values_of(pieces) for pieces in self.pieces]
        self.apart = [i for i, pieces in enumerate(self.pieces) if pieces]
        self.kind = ""

    def make(self) -> bytes:
        """Return one damaged file; `kind` tells how it was damaged."""
        if self.random.random() < self.by_instruction:
            # The smallest of a few: it is read sooner and changed in more of its parts.
            few = self.random.choices(self.apart, k=self.random.choice((1, 4, 4)))
            pick, self.kind = min(few, key=lambda i: len(self.pieces[i])), "instruction"
            made = self._by_instruction(pick)
        else:
            pick, self.kind = self.random.randrange(len(self.stored)), "byte"
            made = self._by_byte(_unpacked(self.stored[pick]))
        if _is_packed(self.stored[pick]):
            made = zlib.compress(made, 1)
        if self.by_instruction == 1 or self.random.random() < 0.95:
            return made
        self.kind = "byte"
        return self._by_byte(made)

    def _by_byte(self, data: bytes) -> bytes:
        out = bytearray(data)
        for _ in range(self.random.choice((1, 1, 1, 2, 4, 16))):
            at = self.random.randrange(len(out) + 1)
            match self.random.randrange(8):
                case 0 if out:
                    out[at % len(out)] ^= 1 << self.random.randrange(8)
                case 1 if out:
                    out[at % len(out)] = self.random.randrange(256)
                case 2:
                    out[at:at] = bytes([self.random.choice(OPCODES)])
                case 3:
                    del out[at : at + self.random.choice((1, 2, 8, 64))]
                case 4:
                    del out[at:]
                case 5:
                    size = self.random.choice((1, 2, 4, 8))
                    number = self.random.choice(STRANGE_NUMBERS) % (1 << (8 * size))
                    out[at : at + size] = number.to_bytes(size, "little")
                case 6:
                    other = self.random.choice(self.stored)
                    begin = self.random.randrange(len(other))
                    out[at : at + 64] = other[begin : begin + self.random.choice((8, 64, 512))]
                case _:
                    out[at:at] = self.random.choice(VALUES + ARRAYS)
        return bytes(out)

    def _by_instruction(self, pick: int) -> bytes:
        pieces = list(self.pieces[pick])
        for _ in range(self.random.choice((1, 1, 1, 2, 3))):
            self._change(pieces, pick)
        if self.random.random() < 0.8:
            return joined(pieces)
        return b"".join(piece.raw + piece.rest for piece in pieces)

    def _change(self, pieces: list[Piece], pick: int) -> None:
        """Change a file by one step, in place."""
        draw = self.random
        i = draw.randrange(len(pieces))
        piece = pieces[i]
        match draw.randrange(16):
            case 0:
                del pieces[i : i + draw.choice((1, 1, 2))]
            case 1:
                pieces.insert(i, piece)
            case 2:
                j = draw.choice((i - 1, draw.randrange(len(pieces))))
                pieces[i], pieces[j] = pieces[j], piece
            case 3:
                self._swap(pieces, i, {*FAMILY}, self._sibling)
            case 4:
                self._swap(pieces, i, FETCHED | STORED, self._renumbered)
            case 5 | 6:
                self._swap(pieces, i, NUMBERS, self._other_number)
            case 7 | 8:
                self._swap(pieces, i, TEXTS, self._other_text)
            case 9 | 10:
                self._swap(pieces, i, BLOBS | {"BUILD"}, self._other_field)
            case 11:
                self._move(pieces, pick, pick)
            case 12:
                self._move(pieces, pick, draw.choice(self.apart))
            case 13:
                pieces[i + 1 : i + 1] = self._gadget(pieces)
            case 14:
                pieces.insert(i + 1, _loose(draw.choice(VALUES + ARRAYS)))
            case _:
                pieces[i] = _loose(draw.choice((*VALUES, *ARRAYS, bytes([draw.choice(OPCODES)]))))

    def _swap(
        self, pieces: list[Piece], i: int, names: Any, change: Callable[[Piece], Piece]
    ) -> None:
        """Change the next instruction of some kind."""
        for j in [*range(i, len(pieces)), *range(i)]:
            if pieces[j].name in names and (pieces[j].name != "BUILD" or pieces[j].rest):
                pieces[j] = change(pieces[j])
                return

    def _sibling(self, piece: Piece) -> Piece:
        name = self.random.choice([n for n in FAMILY[piece.name] if n in CODE])
        return replace(piece, raw=CODE[name], name=name)

    def _renumbered(self, piece: Piece) -> Piece:
        if piece.name == "MEMOIZE":
            return _loose(self.random.choice((b"2", b"q\x03", b"h\x03", b"\x94\x94")))
        near = int(piece.arg) + self.random.choice((-2, -1, 1, 2, self.random.randrange(60)))
        return _loose(_numbered(piece, max(near, 0)))

    def _other_number(self, piece: Piece) -> Piece:
        n = piece.arg
        draw = self.random.random()
        if draw < 0.5:
            n = self.random.choice(
                (n + 1, n - 1, -n, 2 * n, 0, -1, -2, *STRANGE_NUMBERS, n + 0.5, True, float(n))
            )
        if isinstance(n, int) and draw > 0.3:
            return _loose(
                self.random.choice(
                    (
                        b"I%d\n" % n,
                        b"I0%d\n" % n if n >= 0 else b"I-0%d\n" % -n,
                        b"I %d\n" % n,
                        b"I+%d\n" % n,
                        b"I0x%x\n" % n if n >= 0 else b"I-1\n",
                        b"L%d\n" % n,
                        b"L%dL\n" % n,
                        b"F%d\n" % n,
                        bytes(push(n)),
                        b"J" + struct.pack("<I", n % (1 << 32)),
                        b"K" + bytes([n % 256]),
                        b"M" + struct.pack("<H", n % (1 << 16)),
                        b"\x8a\x09" + n.to_bytes(16, "little", signed=True)[:9],
                    )
                )
                if -(2**63) <= n < 2**64
                else bytes(push(n))
            )
        if isinstance(n, float):
            said = repr(n).encode()
            other = (b"F" + said + b"\n", b"F " + said + b"\n", b"F" + said + b"0\n", push(n))
            return _loose(bytes(self.random.choice(other)))
        return _loose(bytes(push(n)))

    def _other_text(self, piece: Piece) -> Piece:
        text = piece.arg if isinstance(piece.arg, str) else piece.arg.decode("latin1")
        draw = self.random.random()
        if draw < 0.4:
            text = self.random.choice(WORDS)
        elif draw < 0.6:
            other = [one.arg for one in self.random.choice(self.pieces) if one.name in TEXTS]
            text = str(self.random.choice(other)) if other else text
        elif draw < 0.8 and text:
            at = self.random.randrange(len(text))
            text = text[:at] + self.random.choice(("", "_", "a", "\\", "\u0131")) + text[at + 1 :]
        plain = text.encode("utf-8", "surrogatepass")
        line = text.encode("raw_unicode_escape", "replace").replace(b"\n", b"")
        octal = b"".join(b"\\%03o" % one for one in plain[:200])
        return _loose(
            self.random.choice(
                (
                    b"X" + struct.pack("<I", len(plain)) + plain,
                    b"X" + struct.pack("<I", len(plain)) + plain,
                    b"\x8c" + bytes([min(len(plain), 255)]) + plain[:255],
                    b"\x8d" + struct.pack("<Q", len(plain)) + plain,
                    b"V" + line + b"\n",
                    b"V" + b"".join(b"\\u%04x" % min(ord(one), 65535) for one in text) + b"\n",
                    b"S'" + plain.replace(b"\n", b"") + b"'\n",
                    b"S'" + octal + b"'\n",
                    b"U" + bytes([min(len(plain), 255)]) + plain[:255],
                    b"T" + struct.pack("<i", len(plain)) + plain,
                    b"C" + bytes([min(len(plain), 255)]) + plain[:255],
                )
            )
        )

    def _other_field(self, piece: Piece) -> Piece:
        """Change one number of an array: a word of eight bytes, or a byte."""
        inside = piece.name == "BUILD"
        data = bytearray(piece.rest if inside else bytes(piece.arg))
        if not data:
            return piece
        if len(data) >= 8 and self.random.random() < 0.7:
            at = 8 * self.random.randrange(len(data) // 8)
            at += len(data) % 8 if inside else 0
            other = 8 * self.random.randrange(len(data) // 8)
            small = struct.pack("<q", self.random.choice((-2, -1, 0, 1, 2, 3, 4, 5, 7, 255)))
            real = struct.pack("<d", self.random.choice((0.0, -0.0, 0.5, 1.0, np.nan, np.inf, 3.5)))
            data[at : at + 8] = self.random.choice((small, real, bytes(data[other : other + 8])))
        else:
            data[self.random.randrange(len(data))] = self.random.choice((0, 1, 2, 7, 255))
        if inside:
            return replace(piece, rest=bytes(data))
        head = piece.raw[: len(piece.raw) - len(data)]
        return replace(piece, raw=head + bytes(data), arg=bytes(data))

    def _move(self, pieces: list[Piece], to: int, source: int) -> None:
        """Put a value of a file in place of, behind or in front of one of this file."""
        of = self.pieces[source]
        first, last = self.random.choice(self.values[source])
        run = of[first:last]
        found = values_of(pieces) if to == source else self.values[to]
        begin, end = self.random.choice(found or [(0, 0)])
        if self.random.random() < 0.25:
            begin = end
        pieces[begin:end] = run

    def _gadget(self, pieces: list[Piece]) -> list[Piece]:
        """Fetch a stored object, and change or drop it."""
        puts = [piece for piece in pieces if piece.name in STORED]
        if not puts:
            return [_loose(b"0")]

        def fetch() -> list[Piece]:
            return [Piece(b"h\x00", "BINGET", 0, b"", self.random.choice(puts))]

        def value() -> list[Piece]:
            made = self.random.choice((*VALUES, *ARRAYS, bytes(push(self.random.choice(WORDS)))))
            return fetch() if self.random.random() < 0.5 else [_loose(made)]

        key = [_loose(bytes(push(self.random.choice(WORDS))))]
        state = [_loose(b"}"), *key, *value(), _loose(b"s")]
        pop = [_loose(b"0")]
        again = [replace(self.random.choice(puts))]
        return self.random.choice(
            (
                [*fetch(), *key, *value(), _loose(b"s"), *pop],
                [*fetch(), *state, _loose(b"b"), *pop],
                [*fetch(), *value(), _loose(b"b"), *pop],
                [*fetch(), *value(), _loose(b"a"), *pop],
                [*fetch(), _loose(b"("), *value(), _loose(b"e"), *pop],
                [*fetch(), _loose(b"("), *key, *value(), _loose(b"u"), *pop],
                [*state, _loose(b"b")],
                [*key, *value(), _loose(b"s")],
                [*value(), _loose(b"a")],
                [*value(), *pop],
                [*value(), _loose(b"1")],
                [_loose(b"("), *value(), _loose(b"1")],
                [_loose(b"2"), *pop],
                [_loose(b"2")],
                [*fetch(), _loose(bytes(again[0].raw)), *pop],
                again,
                [*fetch()],
            )
        )


def _is_packed(data: bytes) -> bool:
    return data[:1] == b"\x78"


def _unpacked(data: bytes) -> bytes:
    return zlib.decompress(data) if _is_packed(data) else data


def _loose(raw: bytes) -> Piece:
    """Return instructions as they are, whatever stands around them."""
    op = pickletools.code2op[raw[:1].decode("latin1")]
    return Piece(raw, op.name if len(raw) == 1 and op.arg is None else "")
