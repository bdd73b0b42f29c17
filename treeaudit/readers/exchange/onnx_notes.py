"""What parts of an ONNX graph hold: names, fields, types and tables of numbers."""

import math
import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from treeaudit.dataclass import dataclass
from treeaudit.model.leftovers import FEWEST_RECORDS, Kind, Leftover
from treeaudit.readers.exchange.onnx_attributes import LABELS
from treeaudit.readers.exchange.onnx_fields import OF_TENSOR, SHAPE, WIDTH
from treeaudit.readers.exchange.onnx_wires import Wires
from treeaudit.readers.exchange.protobuf import BYTES, VARINT, Field, Message, varints
from treeaudit.readers.leftovers.extra import Few, masked
from treeaudit.readers.limits import Most, bare, clean

__all__ = ["LONGEST_TEXT", "PER_COLUMN", "Notes", "shown"]

LONGEST_TEXT = 200
_COST_OF_OTHER = 10
_FEW_BYTES = 8
_NAME = re.compile(r"(?=(?:[^0-9]*[0-9]){0,16}[^0-9]*\Z)[\w./:@ ()+-]{0,100}", re.ASCII)
_FLOATS = (1, 10, 11)
PER_COLUMN = "a number per column: the smallest or largest value, where columns were scaled by it"
_MOST_AXES = 4


@dataclass(slots=True, eq=False, kw_only=True)
class Notes:
    """What was noted so far, and what the parts of a graph may still hold.

    Attributes
    ----------
    width
        Columns of the model.
    wires
        Tables and operations on which its answers depend.
    left
        Numbers that the steps around the trees may still hold.
    columns
        Names of the inputs.
    own
        Where the tables of the trees stand.
    noted
        What was found.
    texts
        Texts of the graph, to be held against the names of columns.
    held
        Bytes of tables with a number per column.
    """

    width: int
    wires: Wires
    left: int
    columns: frozenset[str]
    own: frozenset[int]
    noted: Few = field(default_factory=Few)
    texts: set[str] = field(default_factory=set)
    held: int = 0

    def add(self, kind: Kind, where: str, n: int, says: str) -> None:
        """Take note of something."""
        self.noted.add(Leftover(kind=kind, where=where, n=n, says=says))

    def other(self, where: str, message: Message, part: Field, names: Mapping[int, str]) -> None:
        """Name a field that no ensemble needs, unless it is empty."""
        message.spend(_COST_OF_OTHER, part.at)
        n = part.end - part.at
        if part.wire == BYTES and not n:
            return
        name = names.get(part.number, f"field {part.number}")
        said = "a number"
        if part.wire == BYTES:
            said = repr(masked(message.beginning(part, LONGEST_TEXT)))
        says = f"{n:,} bytes that no trees need: {said}"
        self.add("extra", f"{where}{name}", max(n, 1), says)

    def name(self, where: str, message: Message, part: Field) -> None:
        """Look at a name: one that does not look like it is noted, others are texts."""
        if part.wire != BYTES or _NAME.fullmatch(message.beginning(part, LONGEST_TEXT)) is None:
            self.other(where, message, part, {part.number: "name"})
        elif (text := message.text(part)) not in self.columns:
            self.texts.add(text)

    def once(self, where: str, message: Message, fields: frozenset[int]) -> None:
        """Name the fields that stand in a message twice: the last one wins, unseen the first."""
        seen: set[int] = set()
        for part in message.fields():
            if part.number in fields and part.number in seen:
                self.other(where, message, part, {})
            seen.add(part.number)

    def takes(self, n: int) -> bool:
        """Tell whether the steps around the trees may hold so many numbers more."""
        self.left -= n
        return self.left >= 0

    def kind_of(self, where: str, message: Message, known: Mapping[int, Any]) -> None:
        """Look at the type of a value: the names, kinds and sizes that types have."""
        for part in message.fields():
            inside = known.get(part.number, "unknown")
            if inside == "name":
                self.name(where, message, part)
            elif inside == "unknown":
                self.other(where, message, part, {6: "denotation", 3: "denotation"})
            elif inside is not None:
                self.kind_of(where, message.message(part), inside)
            elif part.value > Most.features:
                self.other(where, message, part, {1: "size"})
        if known is SHAPE and sum(part.number == 1 for part in message.fields()) > _MOST_AXES:
            n = message.end - message.at
            self.add("extra", f"{where}shape", n, "more axes than a table has")

    def are_many(self, n: int, name: str) -> bool:
        """Tell whether so many entries are as many as records may be."""
        return n >= FEWEST_RECORDS and n != self.width and name not in LABELS

    def tensor(self, where: str, message: Message, *, wired: bool) -> None:
        """Look at a table of numbers; answers may hang on one that is ``wired``."""
        sizes: list[int] = []
        name, kind, outside = "", 0, False
        held = 0
        self.once(f"{where}.", message, frozenset({2, 3, 8, 9, 12, 14}))
        for part in message.fields():
            match part.number:
                case 1 if part.wire == BYTES:
                    sizes += varints(message.bytes_of(part), part.at).tolist()
                case 1:
                    sizes.append(message.integer(part))
                case 2:
                    kind = message.integer(part)
                case 4 | 5 | 6 | 7 | 9 | 10 | 11:
                    held += part.end - part.at
                case 8:
                    name = clean(message.text(part))
                    self.name(f"{where}.", message, part)
                case 13:
                    outside = True
                case 14 if part.wire == VARINT:
                    outside = outside or part.value == 1
                case _:
                    self.other(f"{where}.", message, part, OF_TENSOR)
        at = f"{where}[{shown(name)}]" if wired else where
        n = math.prod(max(size, 0) for size in sizes)
        most = WIDTH.get(kind, LONGEST_TEXT)
        if outside:
            self.add("unseen", at, n, "it lies in another file, which was not read")
        elif wired and name not in self.wires.tensors:
            says = f"{held:,} bytes: a table on which no answer of the trees depends"
            self.add("extra", at, max(held, 1), says)
        elif held > most * n + _FEW_BYTES:
            says = "more bytes than its shape accounts for"
            self.add("extra", at, held, says)
        elif n == self.width and kind in _FLOATS and wired:
            self.held += held
            self.add("extremes", at, n, PER_COLUMN)
        elif message.at not in self.own and (
            (n >= FEWEST_RECORDS and n != self.width) or not self.takes(n)
        ):
            shape = " × ".join(f"{size:,}" for size in sizes)
            says = f"{shape} numbers that the trees do not use: they may be training records"
            self.add("extra", at, max(held, 8 * n), says)


def shown(name: str) -> str:
    """Return a name as a path may show it: as it is only where it looks like a name."""
    return bare(name) if _NAME.fullmatch(name) else masked(name)
