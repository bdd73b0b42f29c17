"""Numbers as text: which of them are spelled with more than their library writes."""

import re
from collections.abc import Iterator

import numpy as np

from treeaudit.readers.types import Flag, Float

__all__ = ["longer_than", "no_single", "odd_numbers"]

_TENS = 10.0 ** np.arange(-300, 301)
_EXPONENT = re.compile(rb"\.[01]++(?:(?<=[01]0)|(?!E))")
_EXPONENT = re.compile(rb"e[+-]?0[0-9]*")
_ZERO, _POINT, _MINUS, _BLANK, _EQUALS, _BIG = b"0.- =E"
_GOES_ON = np.zeros(256, dtype=np.bool_)
_GOES_ON[list(b".eE")] = True
_PIECE = 1 << 17  # bytes that stay at hand
_USUAL = re.compile(rb"e(?:-0[5-9]|\+0[6-9])")


def odd_numbers(text: bytes, *, json: bool = True) -> int:
    r"""Count the places where a number is not spelled as libraries spell it.

    All of a file are spelled as XGBoost does it (``5E-1``), or as C and Python do (``0.5``,
    ``1e-05``): no zero at the end, no sign and no zeros that say nothing.

    Parameters
    ----------
    text
        Numbers with what stands between them: blanks, brackets, commas, a few words.
    json
        Whether it is JSON, where no number begins with zeros.

    Examples
    --------
    >>> odd_numbers(b"[0.5, 1e-05, 0.0, 100, -0.0]"), odd_numbers(b"[5E-1,1.5E0,0E0]")
    (0, 0)
    >>> odd_numbers(b"[0.50, 1e-005, -0, 2e-01]"), odd_numbers(b"[5E-1, 0.5]")
    (4, 2)
    >>> odd_numbers(b"[1.5E1,15E0,0.15E2,15.0E0]")
    3
    >>> odd_numbers(b"split_gain=+1 007", json=False)
    2
    """
    found = _EXPONENT.findall(text) if b"e" in text else ()
    n = sum(_USUAL.fullmatch(one) is None for one in found)
    if b"+" in text:
        n += text.count(b"+") - text.count(b"e+")
    of_xgboost = b"E" in text
    return n + sum(_odd_runs(piece, json, of_xgboost) for piece in _pieces(text))


def _pieces(text: bytes) -> Iterator[bytes]:
    """Yield a text in pieces that begin with a sign between two numbers."""
    begin = 0
    while begin < len(text):
        end = begin + _PIECE
        if end < len(text):
            cut = max(text.rfind(mark, begin + 1, end) for mark in (b" ", b",", b"\n", b"]"))
            end = cut if cut > begin else end
        yield text[begin:end]
        begin = end


def _odd_runs(text: bytes, json: bool, of_xgboost: bool) -> int:
    """Count the runs of digits that begin or end with a zero too many, or as others end them."""
    signs = np.frombuffer(b",," + text + b",", np.uint8)
    digit = signs - _ZERO < 10
    edge = np.flatnonzero(digit[1:] != digit[:-1]) + 1
    begin, end = edge[::2], edge[1::2]
    before, several, zero = signs[begin - 1], end - begin > 1, signs[begin] == _ZERO
    fraction, negative = before == _POINT, before == _MINUS
    odd = fraction & several & (signs[end - 1] == _ZERO)
    odd |= negative & zero & ~several & ~_GOES_ON[signs[end]]
    front = np.where(negative, signs[begin - 2], before)
    if of_xgboost:
        odd |= (fraction & (signs[end] != _BIG)) | (zero & several & (front == _BIG))
        # One digit stands in front of the point, which is 0 only of nothing.
        pointed = signs[end] == _POINT
        odd |= (pointed | ((signs[end] == _BIG) & ~fraction)) & several | (pointed & zero)
    if not json:
        odd |= zero & several & ((front == _BLANK) | (front == _EQUALS))
    return int(np.count_nonzero(odd))


def longer_than(values: Float, digits: int) -> Flag:
    """Tell which numbers have more significant decimal digits than some.

    Examples
    --------
    >>> longer_than(np.array([0.1, 123.456, 1.234567, 0.0]), 6).tolist()
    [False, False, True, False]
    """
    near: Flag = np.abs(_rounded(values, digits) - values) <= 4e-16 * np.abs(values)
    return ~near


def no_single(values: Float) -> Flag:
    """Tell which numbers have other digits than are written for a number of 32 bits.

    Examples
    --------
    >>> no_single(np.array([0.1, 0.100000001, 0.10000000012, 16777216.0])).tolist()
    [False, False, True, False]
    """
    with np.errstate(all="ignore"):
        exact = values.astype(np.float32).astype(np.float64)
        odd: Flag = exact != values
        left = np.flatnonzero(odd)
        value, near = values[left], exact[left]
        size = np.where(np.isfinite(near) & (near != 0), np.abs(near), 1)
        shift = np.clip(8 - np.floor(np.log10(size)), -290, 300).astype(np.int64) + 300
        for fewer in (1, 0, 2, 3, 4, 5, 6, 7, 8):
            if not len(left):
                break
            ten = _TENS[shift - fewer]
            fits = np.abs(np.rint(near * ten) / ten - value) <= 4e-16 * np.abs(value)
            odd[left[fits]] = False
            left, value, near, shift = left[~fits], value[~fits], near[~fits], shift[~fits]
    return odd


def _rounded(values: Float, digits: int) -> Float:
    """Round numbers to so many significant digits."""
    with np.errstate(all="ignore"):
        size = np.where(np.isfinite(values) & (values != 0), np.abs(values), 1)
        # Powers of ten beyond 22 are not exact.
        shift = np.clip(digits - 1 - np.floor(np.log10(size)), -300, 300).astype(np.int64)
        ten = _TENS[shift + 300]
        rounded = np.rint(values * ten) / ten
    return np.where(np.isfinite(rounded), rounded, values)
