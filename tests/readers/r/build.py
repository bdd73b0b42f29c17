"""Small R objects as XDR or native binary, written here and not by R."""

import struct
from typing import Any

NULL = 254
HEAD = {">": b"X\n", "<": b"B\n"}


class Writer:
    """Builds an object from pieces; the order is that of the numbers."""

    def __init__(self, order: str = ">") -> None:
        self.order = order

    def ints(self, *values: int) -> bytes:
        return struct.pack(f"{self.order}{len(values)}i", *values)

    def text(self, text: str | bytes | None, mark: int = 8) -> bytes:
        if text is None:
            return self.ints(9, -1)
        raw = text.encode() if isinstance(text, str) else text
        return self.ints(9 | mark << 12, len(raw)) + raw

    def flags(self, code: int, attributes: bytes, more: int = 0) -> bytes:
        return self.ints(code | (512 if attributes else 0) | more)

    def symbol(self, name: str) -> bytes:
        return self.ints(1) + self.text(name)

    def pairs(self, cells: dict[str, bytes], code: int = 2, level: int = 0) -> bytes:
        """Return a pairlist with tags; an empty tag is none."""
        made = b""
        for name, one in cells.items():
            tag = self.symbol(name) if name else b""
            made += self.ints(code | (1024 if name else 0) | level) + tag + one
        return made + self.ints(NULL)

    def of(self, value: Any, attributes: dict[str, bytes] | None = None) -> bytes:
        """Return a value of Python: a list of one type is a vector, a dict a named list."""
        if isinstance(value, bytes):
            return value
        if isinstance(value, dict):
            attributes = {"names": self.of(list(value)), **(attributes or {})}
            value = [self.of(one) for one in value.values()]
        own = self.pairs(attributes) if attributes else b""
        kinds = {type(one) for one in value}
        if kinds == {int}:
            made = self.flags(13, own) + self.ints(len(value), *value)
        elif kinds == {float}:
            packed = struct.pack(f"{self.order}{len(value)}d", *value)
            made = self.flags(14, own) + self.ints(len(value)) + packed
        elif kinds and kinds <= {str, type(None)}:
            texts = b"".join(self.text(one) for one in value)
            made = self.flags(16, own) + self.ints(len(value)) + texts
        else:
            made = self.flags(19, own) + self.ints(len(value)) + b"".join(value)
        return made + own

    def environment(self, frame: dict[str, bytes], level: int = 0) -> bytes:
        parts = self.ints(253) + self.pairs(frame, level=level) + self.ints(NULL, NULL)
        return self.ints(4, 0) + parts

    def file(self, value: Any, version: int = 2) -> bytes:
        native = self.ints(5) + b"UTF-8" if version == 3 else b""
        head = self.ints(version, 0x00040202, 0x00020300)
        return HEAD[self.order] + head + native + self.of(value)

    def frame(self, columns: dict[str, list[Any]], **more: bytes) -> bytes:
        n = len(next(iter(columns.values())))
        attributes = {"class": self.of(["data.frame"]), "row.names": self.of([-(2**31), -n])}
        named = {name: self.of(values) for name, values in columns.items()}
        return self.of(named, attributes | more)


X = Writer()
