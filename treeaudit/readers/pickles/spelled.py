"""Numbers and texts that a pickle spells out: in the one way in which picklers spell them.

C and Python read other spellings differently: ``I010`` is eight or an error.
"""

import codecs

from treeaudit.errors import ReadError
from treeaudit.later import pattern
from treeaudit.readers.pickles.inert import Text
from treeaudit.readers.pickles.machine import Machine

__all__ = ["decimal", "decimal_float", "eight_bit", "index", "long", "quoted", "raw_unicode"]

_LONG = 1024
_INTEGER = pattern(r"0|-?[1-9][0-9]*")
_FLOAT = pattern(r"-?([0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?|inf|nan)")
# Python warns of it.
_NO_ESCAPE = pattern(rb"\\[^'\"nrtx]")
# Old picklers wrote these as they are.
_OLD = ((b"\\u0000", b"\0"), (b"\\u000d", b"\r"), (b"\\u001a", b"\x1a"))


def long(m: Machine, n: int) -> None:
    """Read a whole number of so many bytes (LONG1, LONG4)."""
    if not 0 <= n <= _LONG:
        raise ReadError(f"an integer of {n:,} bytes at byte {m.at:,} is too long")
    m.spend(2 * n)
    value = int.from_bytes(m.take(n), "little", signed=True)
    # One bit for the sign; pickle writes zero without any byte.
    needed = (value if value >= 0 else ~value).bit_length() // 8 + 1 if value else 0
    if n > needed:
        m.spelled(10)
    elif n < 5 and m.version > 2 and -(1 << 31) <= value < 1 << 31:
        m.spelled()
    m.push(value)


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
        raise ReadError(
            f"the integer before byte {m.at:,} is damaged, too long or not spelled as pickle does"
        )
    # Python 2 in C had no other instruction for a number of more than 32 bits.
    if m.version and not end and -(1 << 31) <= int(whole) < 1 << 31:
        m.spelled()
    m.push(text == "01" if truth else int(whole))


def decimal_float(m: Machine) -> None:
    """Read a number (FLOAT)."""
    text = m.line()
    if not _FLOAT.fullmatch(text):
        raise ReadError(f"the number before byte {m.at:,} is damaged")
    value = float(text)
    # Python 2.6 and older wrote 17 digits.
    if text not in (repr(value), f"{value:.17g}", f"{value:.17g}.0", "-nan"):
        m.note(len(text), "a number that is not spelled as pickle does")
    m.push(value)


def quoted(m: Machine) -> None:
    """Read a text of eight bits (STRING)."""
    text = m.raw_line(m.size, times=5)
    try:
        known = not _NO_ESCAPE.search(text.replace(rb"\\", b""))
        raw = codecs.escape_decode(text[1:-1])[0] if known else b""
    except ValueError:
        raw = b""
    if repr(raw)[1:].encode() != text:
        raise ReadError(f"the text before byte {m.at:,} is not spelled as pickle does")
    m.push(eight_bit(raw))


def raw_unicode(m: Machine) -> None:
    """Read a text (UNICODE)."""
    raw = m.raw_line(m.size, times=12)
    try:
        text = raw.decode("raw_unicode_escape")
    except UnicodeDecodeError:
        raise ReadError(f"the text before byte {m.at:,} is damaged") from None
    spelled = text.replace("\\", "\\u005c").replace("\n", "\\u000a").encode("raw_unicode_escape")
    for new, old in _OLD:
        raw = raw.replace(new, old)
    if spelled != raw:
        raise ReadError(f"the text before byte {m.at:,} is not spelled as pickle does")
    m.push(text)


def eight_bit(raw: bytes | memoryview) -> object:
    """Python 2 wrote text and bytes alike; plain ASCII is taken for text."""
    try:
        text = Text(raw, "ascii")
    except UnicodeDecodeError:
        return bytes(raw)
    return bytes(raw) if "\0" in text else text
