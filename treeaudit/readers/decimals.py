"""Numbers of a text read all at once, to the bit as `float` reads each.

The digits of a number make a whole number ``m``, which is to be divided by ``10 ** k``. Up to 22
such a power is a 64-bit float exactly. The quotient of floats is put right by what it leaves
over, which is known exactly: only where the true quotient may lie half way between two floats,
or a number has more digits or another power, `float` itself is asked.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.readers.types import Flag, Float, Wide

Bytes = npt.NDArray[np.uint8]
_Word = npt.NDArray[np.uint64]

_PLUS, _MINUS, _POINT, _ZERO, _NINE, _COMMA, _EXPONENT = b"+-.09,e"
_PLAIN = re.compile(
    rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?(?:e(?:-0[5-9]|\+0[6-9]|[+-][1-9][0-9]{1,2}))?"
)
_LONGEST = 25
_PIECE = 8
_AT_HAND, _SOME = 1 << 17, 1 << 13  # bytes and numbers that stay at hand
_TENS: Float = np.array([float(10**i) for i in range(23)])
_WHOLE_TENS: _Word = np.array([10**i for i in range(19)], dtype=np.uint64)
_MOST = 900_000_000_000_000_000
_SPLIT = float((1 << 27) + 1)
_NEAR = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Decimals:
    """Numbers of a text, in their order.

    Attributes
    ----------
    value
        What they are.
    whole
        Whether they are written without a point and an exponent.
    """

    value: Float
    whole: Flag


def standing_apart(signs: Bytes) -> tuple[Wide, Wide, Wide]:
    """Return where numbers begin and end in a text, and where their exponents begin.

    Every run of digits, points and signs is taken for one, whatever is around it.

    Examples
    --------
    >>> [one.tolist() for one in standing_apart(np.frombuffer(b"[0.5, -1e-05]", np.uint8))]
    [[1, 6], [4, 12], [8]]
    """
    edge = _edges(signs)
    begin, end = edge[::2], edge[1::2]
    goes_on = (signs[end[:-1]] == _EXPONENT) & (begin[1:] == end[:-1] + 1)
    letter = end[:-1][goes_on]
    some: Flag = np.ones(len(begin), dtype=np.bool_)
    some[1:] = ~goes_on
    last: Flag = np.ones(len(begin), dtype=np.bool_)
    last[:-1] = ~goes_on
    return begin[some], end[last], letter


def _edges(signs: Bytes) -> Wide:
    """Return where runs of signs that numbers are made of begin, and where they end, in turn."""
    found: list[Wide] = []
    inside = False
    for at in range(0, len(signs), _AT_HAND):
        piece = signs[at : at + _AT_HAND]
        flag = np.empty(len(piece) + 1, dtype=np.bool_)
        flag[0] = inside
        # Signs from a plus up to a nine, without the comma.
        np.less(piece - _PLUS, _NINE - _PLUS + 1, out=flag[1:])
        flag[1:] &= piece != _COMMA
        found.append(np.flatnonzero(flag[1:] != flag[:-1]) + at)
        inside = bool(flag[-1])
    last = np.array([len(signs)] if inside else [], dtype=np.int64)
    return np.concatenate([*found, last])


def decimals(signs: Bytes, begin: Wide, end: Wide, letter: Wide) -> Decimals | None:
    """Return numbers of a text; None where one is not spelled as C and Python spell it.

    Examples
    --------
    >>> text = np.frombuffer(b"numbers: 0.1,-25,1e-05", np.uint8)
    >>> decimals(text, *standing_apart(text)).value.tolist()
    [0.1, -25.0, 1e-05]
    """
    if len(begin) == 0 or begin[0] < _PIECE or int((end - begin).max()) > _LONGEST:
        return None
    negative = signs[begin] == _MINUS
    first = begin + negative
    other = np.zeros(len(begin), dtype=np.bool_)
    other[np.searchsorted(begin, letter, side="right") - 1] = True
    point = _points(signs, first, end)
    n_points = sum(int(np.count_nonzero(some == _POINT)) for some in _pieces(signs))
    n_marks = sum(int(np.count_nonzero(some - _PLUS & 0xFD == 0)) for some in _pieces(signs))
    # More than these stand where no number has one; an exponent has one sign, as is seen below.
    if n_points != np.count_nonzero(point < end) or n_marks != negative.sum() + len(letter):
        return None
    whole = point == end
    zero = signs[np.minimum(first, end - 1)] == _ZERO
    ends_in_zero = ~whole & (signs[end - 1] == _ZERO)
    odd = (point <= first) | (end - point == 1) | (zero & (point - first > 1)) | ends_in_zero
    if np.any((odd | (negative & zero & whole)) & ~other):
        return None
    value, unsure = np.zeros(len(first)), np.zeros(len(first), dtype=np.bool_)
    for at in range(0, len(first), _SOME):
        of = slice(at, at + _SOME)
        value[of], unsure[of] = _values(signs, first[of], point[of], end[of])
    for i in np.flatnonzero(unsure | other).tolist():
        text = signs[begin[i] : end[i]].tobytes()
        if _PLAIN.fullmatch(text) is None or text == b"-0":
            return None
        value[i] = abs(float(text))
    np.negative(value, out=value, where=negative)
    return Decimals(value, whole & ~other)


def _points(signs: Bytes, first: Wide, end: Wide) -> Wide:
    """Return where the first point of each number is; its end where there is none."""
    point = end.copy()
    left = np.arange(len(first))
    at = np.minimum(first, end - 1)
    while len(left):
        here = signs[at] == _POINT
        point[left[here]] = at[here]
        some = ~here & (at + 1 < end[left])
        left, at = left[some], at[some] + 1
    return point


def _pieces(signs: Bytes) -> Iterator[Bytes]:
    return (signs[at : at + _AT_HAND] for at in range(0, len(signs), _AT_HAND))


def _values(signs: Bytes, first: Wide, point: Wide, end: Wide) -> tuple[Float, Flag]:
    """Return the numbers without their signs, and which of them `float` is to be asked for."""
    words = np.ndarray((len(signs) - _PIECE + 1,), np.dtype("<u8"), signs.data, strides=(1,))
    front = point - first
    unsure = front > _PIECE
    mantissa = _digits(words, point, np.minimum(front, _PIECE))
    value = mantissa.astype(np.float64)
    some = np.flatnonzero(point < end)
    size, stop, before = (end - point)[some] - 1, end[some], mantissa[some]
    low, middle, high = (
        _digits(words, np.maximum(stop - i * _PIECE, _PIECE), np.clip(size - i * _PIECE, 0, _PIECE))
        for i in range(3)
    )
    places = np.minimum(size, len(_WHOLE_TENS) - 1)
    large = before.astype(np.float64) * _TENS[places] >= _MOST
    many = (size >= len(_TENS)) | (high >= _MOST // 10**16) | large
    many |= (before > 0) & (size != places)
    for part in (high, before):
        part[many] = 0
    number = before * _WHOLE_TENS[places] + high * np.uint64(10**16)
    number += middle * np.uint64(10**8) + low
    value[some], near = _divided(number, np.minimum(size, len(_TENS) - 1))
    unsure[some] |= many | near
    return value, unsure


def _digits(words: _Word, stop: Wide, n: Wide) -> _Word:
    """Return the whole number of the up to eight digits that end somewhere."""
    found: _Word = (words[stop - _PIECE] ^ np.uint64(0x3030303030303030)) & _KEPT[n]
    # Two digits make one of a hundred, four one of ten thousand; the first one is the lowest byte.
    for base, width, kept in (
        (10, 8, 0x00FF00FF00FF00FF),
        (100, 16, 0x0000FFFF0000FFFF),
        (10_000, 32, 0x00000000FFFFFFFF),
    ):
        found = (found * np.uint64(base) + (found >> np.uint64(width))) & np.uint64(kept)
    return found


_KEPT = np.array([((1 << 64) - 1) >> 8 * (8 - n) << 8 * (8 - n) for n in range(9)], np.uint64)
"""The last bytes of eight."""


def _divided(number: _Word, places: Wide) -> tuple[Float, Flag]:
    """Return whole numbers by powers of ten, and where that may be half way between two floats."""
    high = number.astype(np.float64)
    low = (number.astype(np.int64) - high.astype(np.int64)).astype(np.float64)
    ten: Float = _TENS[places]
    quotient = high / ten
    product = quotient * ten
    a, b = _halves(quotient)
    c, d = _halves(ten)
    lost = ((a * c - product) + a * d + b * c) + b * d
    left = ((high - product) - lost) + low
    more = left / ten
    found = quotient + more
    off = np.abs((quotient - found) + more)
    half = np.spacing(found) / 2
    near: Flag = (np.abs(off - half) <= _NEAR * half) | (np.abs(off - half / 2) <= _NEAR * half)
    return found, near


def _halves(value: Float) -> tuple[Float, Float]:
    """Return two numbers of 26 bits that are together one of 53 (Dekker)."""
    large = value * _SPLIT
    first: Float = large - (large - value)
    return first, value - first
