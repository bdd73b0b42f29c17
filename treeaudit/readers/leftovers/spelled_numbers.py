"""Numbers as text: which of them are spelled with more than their library writes."""

import re

import numpy as np

from treeaudit.readers.types import Flag, Float

__all__ = ["longer_than", "no_single", "odd_numbers"]

_TENS = 10.0 ** np.arange(-300, 301)
_DIGITS = bytes.maketrans(b"23456789", b"1" * 8)
# With the digits 2 to 9 written as 1.
_ENDS_IN_ZERO = re.compile(rb"\.[01]++(?<=[01]0)")
_OR_HAS_NO_EXPONENT = re.compile(rb"\.[01]++(?:(?<=[01]0)|(?!E))")
_BEGIN_WITH_ZERO = tuple(map(re.compile, (rb" 0[01]", rb"=0[01]", rb" -0[01]", rb"=-0[01]")))
_SIGNED_ZERO = re.compile(rb"-0(?![0-9.eE])")
_EXPONENT = re.compile(rb"e[+-]?0[0-9]*")
_OF_XGBOOST = re.compile(rb"E-?0[0-9]")
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
    (4, 1)
    >>> odd_numbers(b"split_gain=+1 007", json=False)
    2
    """
    plain = text.translate(_DIGITS)
    of_xgboost = b"E" in text
    n = len((_OR_HAS_NO_EXPONENT if of_xgboost else _ENDS_IN_ZERO).findall(plain))
    n += len(_SIGNED_ZERO.findall(text)) if b"-0" in text else 0
    if b"+" in text:
        n += text.count(b"+") - text.count(b"e+")
    if not json:
        n += sum(len(pattern.findall(plain)) for pattern in _BEGIN_WITH_ZERO)
    if of_xgboost:
        n += len(_OF_XGBOOST.findall(text))
    found = _EXPONENT.findall(text) if b"e" in text else ()
    return n + sum(_USUAL.fullmatch(one) is None for one in found)


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
