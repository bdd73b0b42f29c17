"""Numbers that stand behind one another in a text, each with one sign behind it, read at once.

Without its point a number is a whole number ``m``, which is to be divided by ``10 ** k``: up to 22
such a power is a 64-bit float exactly. Where ``m`` is one, too, the quotient is what `float` says.
Else what the quotient leaves over is worked out, and the number is believed only where all that
it may be by then is rounded to the same float. For all others `float` is asked.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from treeaudit.readers.types import Flag, Float, Wide

_MINUS, _POINT, _ZERO, _NINE, _LINE, _BLANK = b"-.09\n "
_SPELLED = re.compile(
    rb"-?(?:0|[1-9][0-9]{0,24})(?:\.[0-9]{0,24}[1-9])?(?:e(?:-0[5-9]|\+0[6-9]|[+-][1-9][0-9]{1,2}))?"
)
_LONGEST = 25
_PIECE = 1 << 16  # bytes that stay at hand
_EXACT, _MOST = 1 << 53, 10**18
_TENS = np.array([float(10**k) for k in range(23)])
_SPLIT = float((1 << 27) + 1)
_UPPER = _TENS * _SPLIT - (_TENS * _SPLIT - _TENS)
_LOWER = _TENS - _UPPER
"""The powers of ten as sums of two numbers of 26 bits (Dekker)."""
_DOUBT = 2.0**-72
"""More than the error of what is added to a quotient, as a part of the quotient."""


@dataclass(frozen=True, slots=True, eq=False)
class Reals:
    """Numbers of a text.

    Attributes
    ----------
    value
        What they are, to the bit as `float` reads them.
    last
        Which of them, ascending, have the end of a line behind them.
    """

    value: Float
    last: Wide


@dataclass(frozen=True, slots=True, eq=False)
class Wholes:
    """Whole numbers of a text; attributes as of `Reals`."""

    value: Wide
    last: Wide


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """Where the numbers of a piece of text are.

    Attributes
    ----------
    begin, end
        Of each number.
    places
        How many digits are behind its point.
    other
        Which have more signs than a minus before their digits and a point among them.
    line
        Which have the end of a line behind them.
    """

    begin: Wide
    end: Wide
    places: Wide
    other: Flag
    line: Flag


def read_reals(text: bytes) -> Reals | None:
    r"""Return the numbers of a text with a blank or an end of line behind each.

    Returns
    -------
    Reals or None
        None where one is not spelled as C does with ``%.17g``: a zero at the end, a sign or
        zeros that say nothing, two blanks, anything that is no number.

    Examples
    --------
    >>> found = read_reals(b"0.1 -25\n1e-05 1.0000000180025095e-35\n")
    >>> found.value.tolist(), found.last.tolist()
    ([0.1, -25.0, 1e-05, 1.0000000180025095e-35], [1, 3])
    >>> read_reals(b"0.10\n"), read_reals(b"1  2\n")
    (None, None)
    """
    values: list[Float] = []
    lines: list[Flag] = []
    for piece in _pieces(text):
        at = _places(piece)
        value = None if at is None else _reals(piece, at)
        if at is None or value is None:
            return None
        values.append(value)
        lines.append(at.line)
    return Reals(np.concatenate(values), _lines(lines)) if values else None


def read_wholes(text: bytes) -> Wholes | None:
    r"""Return the whole numbers of a text, as `read_reals` does; None from 19 digits on, too.

    Examples
    --------
    >>> read_wholes(b"7 -12\n0\n").value.tolist()
    [7, -12, 0]
    >>> read_wholes(b"07\n"), read_wholes(b"1.5\n"), read_wholes(b"-0\n")
    (None, None, None)
    """
    values: list[Wide] = []
    lines: list[Flag] = []
    for piece in _pieces(text):
        line = _whole_lines(piece)
        if line is None:
            return None
        value = _wholes(piece)
        if len(value) != len(line) or value.max() >= _MOST or value.min() <= -_MOST:
            return None
        values.append(value)
        lines.append(line)
    return Wholes(np.concatenate(values), _lines(lines)) if values else None


def _lines(parts: list[Flag]) -> Wide:
    return np.flatnonzero(np.concatenate(parts))


def _pieces(text: bytes) -> Iterator[bytes]:
    """Yield a text in pieces of whole numbers."""
    begin = 0
    while begin < len(text):
        end = min(begin + _PIECE, len(text))
        if end < len(text):
            cut = max(text.rfind(b" ", begin, end), text.rfind(b"\n", begin, end))
            end = cut + 1 if cut >= begin else len(text)
        yield text[begin:end]
        begin = end


def _places(piece: bytes) -> _Places | None:
    """Return where the numbers of a piece are; None where one is not spelled well.

    Of those that have other signs, nothing is said here.
    """
    text = np.frombuffer(piece, np.uint8)
    marks = np.flatnonzero(text - _ZERO > _NINE - _ZERO)
    kinds = text[marks]
    line = kinds == _LINE
    last = np.flatnonzero(line | (kinds == _BLANK))
    if not len(last) or marks[-1] != len(piece) - 1 or last[-1] != len(marks) - 1:
        return None
    end = marks[last]
    begin = np.empty_like(end)
    begin[0], begin[1:] = 0, end[:-1] + 1
    negative = text[begin] == _MINUS
    first = begin + negative
    n_marks = last.copy()
    n_marks[0] += 1
    n_marks[1:] -= last[:-1]
    n_marks -= negative
    pointed = n_marks == 2
    # Where there is none before it, it is not asked for.
    before = last - 1
    other = (kinds[before] != _POINT) & pointed
    other |= n_marks > 2
    places = (end - 1 - marks[before]) * pointed
    zero = text[first] == _ZERO
    front = end - first - places
    front -= pointed
    odd = (zero & ((front > 1) | (negative & ~pointed))) | (front < 1)
    odd |= pointed & ((places < 1) | (text[end - 1] == _ZERO))
    if odd.any() and (odd & ~other).any():
        return None
    return _Places(begin, end, places, other, line[last])


def _whole_lines(piece: bytes) -> Flag | None:
    """Tell which whole numbers of a piece end a line; None where one is not spelled well."""
    text = np.frombuffer(b"\n" + piece, np.uint8)
    line, zero, minus = text == _LINE, text == _ZERO, text == _MINUS
    between = line | (text == _BLANK)
    digit = text - _ZERO <= _NINE - _ZERO
    odd = ~(digit | between | minus)
    odd[1:] |= (between[1:] & ~digit[:-1]) | (minus[1:] & ~between[:-1])
    # A zero that says nothing, or one with a minus.
    first = zero[1:-1] & ~digit[:-2]
    odd[1:-1] |= first & (digit[2:] | minus[:-2])
    if odd.any() or not between[-1]:
        return None
    found: Flag = line[1:][between[1:]]
    return found


def _wholes(text: bytes) -> Wide:
    """Return whole numbers; those beyond 64 bits become the largest there is, or all are none."""
    try:
        found: Wide = np.fromstring(text, dtype=np.int64, sep=" ")
    except (ValueError, OverflowError, DeprecationWarning):
        return np.zeros(0, dtype=np.int64)
    return found


def _reals(piece: bytes, at: _Places) -> Float | None:
    """Return the numbers of a piece; None where one is not spelled well."""
    places, asked, plain = at.places, at.other | (at.places >= len(_TENS)), piece
    if some := asked.any():
        plain = _without(piece, at.begin[asked], at.end[asked])
    number = _wholes(plain.translate(None, b"."))
    if len(number) != len(at.end):
        return None
    if number.max() >= _MOST or number.min() <= -_MOST:
        asked, some = asked | (number >= _MOST) | (number <= -_MOST), np.True_
    if some:
        number[asked], places[asked] = 0, 0
    value = _divided(number, places)
    unsure = np.isnan(value)
    if some or unsure.any():
        unsure |= asked
        words = [piece[begin:end] for begin, end in _spans(at.begin[unsure], at.end[unsure])]
        known = {word: float(word) for word in set(words) if _is_spelled(word)}
        if not known.keys() >= set(words):
            return None
        value[unsure] = [known[word] for word in words]
    return value


def _spans(begin: Wide, end: Wide) -> Iterator[tuple[int, int]]:
    return zip(begin.tolist(), end.tolist(), strict=True)


def _is_spelled(word: bytes) -> bool:
    return len(word) <= _LONGEST and _SPELLED.fullmatch(word) is not None


def _without(piece: bytes, begin: Wide, end: Wide) -> bytes:
    """Return a piece with zeros in the place of some of its numbers."""
    filled = bytearray(piece)
    for at, to in _spans(begin, end):
        filled[at:to] = b"0" * (to - at)
    return bytes(filled)


def _divided(number: Wide, places: Wide) -> Float:
    """Return whole numbers below 10 ** 18 by powers of ten; not a number where not sure."""
    high = number.astype(np.float64)
    ten = _TENS[places]
    quotient: Float = high / ten
    if int(number.max()) <= _EXACT and int(number.min()) >= -_EXACT:
        return quotient
    low = (number - high.astype(np.int64)).astype(np.float64)
    product = quotient * ten
    large = quotient * _SPLIT
    a = large - (large - quotient)
    b = quotient - a
    c, d = _UPPER[places], _LOWER[places]
    lost = ((a * c - product) + a * d + b * c) + b * d
    more = (((high - product) - lost) + low) / ten
    doubt = quotient * _DOUBT
    found: Float = quotient + (more + doubt)
    found[found != quotient + (more - doubt)] = np.nan
    return found
