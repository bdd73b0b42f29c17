"""Numbers and texts that a pickle spells out, as every loader reads them.

What the loaders of Python in C and in Python read differently is refused: ``I010`` is eight or an
error, ``F1_0`` ten or an error.
"""

import codecs
import re

from treeaudit.errors import ReadError
from treeaudit.readers.pickle.inert import Text
from treeaudit.readers.pickle.machine import Machine

_LONG = 1024
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_FLOAT = re.compile(r"-?([0-9]+(\.[0-9]*)?(e[+-]?[0-9]+)?|inf|nan)")
# Python warns of every other one.
_NO_ESCAPE = re.compile(rb"\\[^'\"nrtx]")


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
