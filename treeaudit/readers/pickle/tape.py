"""The bytes of a pickle as its instructions take them, and what is charged meanwhile."""

from mmap import mmap

from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.readers.limits import Most, text_bytes
from treeaudit.readers.types import Array

_LONG_TEXT = 4096


class Tape:
    """A place in the file, and a `budget`: how many bytes of objects may be made."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.tables: list[tuple[int, Array]] = []
        self.doubts: list[ReadError] = []

    def wind(self, data: bytes | mmap, offset: int) -> None:
        """Go to where a pickle begins."""
        self.data, self.view, self.size = data, memoryview(data), len(data)
        self.begin = self.at = offset
        self.frame_end = -1

    def forged(self, what: str) -> ReadError:
        """Return the error of a file that no pickler wrote."""
        return ReadError(
            f"the file {what} (byte {self.at - 1:,}), which pickle never writes: "
            "it is damaged or forged"
        )

    def doubt(self, what: str) -> None:
        """Refuse the file in the end, unless what follows would run code: that is told first."""
        if not self.doubts:
            self.doubts.append(self.forged(what))

    def spend(self, n: int) -> None:
        """Charge for what an instruction makes."""
        self.budget -= n
        if self.budget < 0:
            raise ModelTooLargeError(
                "the file would unpack to more objects than its size allows; "
                "if you trust it, allow more with --max-bytes"
            )

    def take(self, n: int) -> memoryview:
        """Return the next bytes."""
        end = self.at + n
        if n < 0 or end > self.size:
            raise ReadError(
                f"byte {self.at:,} announces {n:,} bytes, the file has {self.size - self.at:,} left"
            )
        if self.at <= self.frame_end < end:
            self.frame_end = -1
            self.doubt("has a frame that ends within an instruction")
        piece = self.view[self.at : end]
        self.at = end
        return piece

    def byte(self) -> int:
        """Return the next byte."""
        at = self.at
        if at >= self.size or at == self.frame_end:
            self.take(1)
        self.at = at + 1
        return self.data[at]

    def number(self, n: int, *, signed: bool = False) -> int:
        """Return a whole number of so many bytes."""
        return int.from_bytes(self.take(n), "little", signed=signed)

    def line(self, longest: int = Most.line) -> str:
        """Return the next line as text."""
        return self.raw_line(longest).decode("utf-8", "surrogateescape")

    def raw_line(self, longest: int, times: int = 1) -> bytes:
        """Return a line, charged before it is copied as often as its reader copies it."""
        end = self.data.find(b"\n", self.at, self.at + longest)
        if end < 0:
            raise ReadError(f"a line of text at byte {self.at:,} does not end")
        self.spend(times * (end - self.at))
        return bytes(self.take(end + 1 - self.at)[:-1])

    def text(self, n: int) -> str:
        """Return the next bytes as text."""
        piece = self.take(n)
        if n >= _LONG_TEXT:
            self.spend(n // 2)  # the least it can take: seen before a page of it is read
            self.spend(text_bytes(piece) - n // 2)
        try:
            text = str(piece, "utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise ReadError(f"the text at byte {self.at - n:,} is damaged") from None
        if n < _LONG_TEXT:
            self.spend(56 + n if text.isascii() else text.__sizeof__())
        return text
