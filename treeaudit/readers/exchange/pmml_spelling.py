"""What the spelling of an XML file could hold: blanks, quotes and references beside its content.

The events of a parser tell how long the shortest spelling is. A writer adds blanks by rule: a new
line with an indent by depth before a tag, one blank before the end of an empty element.
"""

import re
from collections.abc import Callable
from mmap import mmap

__all__ = ["Spelling"]

_NAMED = (b"&amp;", b"&lt;", b"&gt;", b"&quot;", b"&apos;")
_NUMBERED = re.compile(rb"&#(x[1-9A-Fa-f][0-9A-Fa-f]{0,5}|[1-9][0-9]{0,6});")
_NEEDLESS = re.compile(r'"[^\s"\\]+"')
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|([^\s"]+)')
# Of files that people have changed: how many bytes may follow no rule.
_FREE = 80
_HEADER = 120
_LONGEST_LINE = 200


class Spelling:
    """Counts, while the XML goes by, how long it would be at least, and the odd blanks."""

    def __init__(self, data: bytes | mmap) -> None:
        self._data = data
        self._begin = self._length = self._empty = self._depth = self._blanks = 0
        self._blank = ""
        self._unit: str | None = None
        # Blanks that follow the rule, by depth.
        self._lines: dict[int, str] = {}
        self._open = False
        self.root_end = -1

    def begin(self, at: int) -> None:
        """See at which byte of the file the first element begins."""
        self._begin = at

    def start(self, tag: str, given: dict[str, str]) -> int:
        """See an element begin; return how long its attributes are."""
        if self._blank:
            self._settle(self._depth)
        self._depth += 1
        self._open = True
        text = "".join((*given, *given.values()))
        size = len(text) if text.isascii() else _size(text)
        self._length += len(tag) + 2 + 4 * len(given) + size
        return size

    def end(self, at: Callable[[], int], tag: str) -> None:
        """See an element end; where, is asked where it matters."""
        self._depth = depth = self._depth - 1
        # Nothing stands in it, and it has no tag for its end.
        if empty := self._open and self._data[(end := at()) - 2 : end] == b"/>":
            self._empty += 1
            self._length += 1
        else:
            if self._blank:
                self._settle(depth)
            self._length += len(tag) + 3
        if not depth:
            self.root_end = at() + (0 if empty else len(tag) + 3)
        self._open = False

    def text(self, text: str, *, blank: bool) -> None:
        """See text between elements."""
        self._open = False
        self._length += len(text) if text.isascii() else _size(text)
        self._blank = self._blank + text if blank else ""

    def listed(self, text: str) -> list[str]:
        """Return the values of an array: words, or texts in quotes.

        Blanks and quotes between them that say nothing are counted.
        """
        spelled = [match[0] for match in _TOKEN.finditer(text)]
        needless = sum(_NEEDLESS.fullmatch(one) is not None for one in spelled)
        blanks = len(text) - sum(map(len, spelled)) - len(spelled) + 1
        self._blanks += blanks + min(needless, len(spelled) - needless)
        return [
            quoted.replace('\\"', '"') if plain == "" else plain
            for quoted, plain in _TOKEN.findall(text)
        ]

    def _settle(self, depth: int) -> None:
        """Judge the blanks before a tag."""
        text, self._blank = self._blank, ""
        if text == self._lines.get(depth):
            return
        if self._unit is None and depth == 1 and text[0] == "\n":
            self._unit = text[1:]
        unit = self._unit or ""
        # By length first: a file may take an indent of megabytes for its own.
        if len(text) != 1 + len(unit) * depth or text != "\n" + unit * depth:
            self._blanks += len(text)
        elif self._unit is not None and len(text) < _LONGEST_LINE:
            self._lines[depth] = text

    def odd(self) -> int:
        """Return how many bytes of a file in UTF-8 follow no rule, beyond a few."""
        text, end = bytes(self._data), self.root_end
        more = end - self._begin - self._length
        if b"&" in text:
            more -= sum(text.count(one) * (len(one) - 1) for one in _NAMED)
            more -= sum(map(_spared, _NUMBERED.findall(text)))
        if b"\r" in text and (lines := text.count(b"\r\n")) == text.count(b"\n"):
            more -= lines
        if b" />" in text:
            spaced = text.count(b" />")
            more -= spaced
            more += min(spaced, max(self._empty - spaced, 0))
        more = max(more, 0)
        quoted = min(text.count(b"='"), text.count(b'="')) if b"='" in text else 0
        around = max(self._begin - _HEADER, 0) + len(text) - end
        n = more + self._blanks + quoted + around
        return n if n > _FREE else 0


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _spared(reference: bytes) -> int:
    """Return how much longer a reference to a character is, where it needs to be one."""
    code = int(reference[1:], 16) if reference[:1] == b"x" else int(reference)
    needed = not 32 <= code < 127 and code < 0x110000
    return len(reference) + 3 - len(chr(code).encode("utf-8", "surrogatepass")) if needed else 0
