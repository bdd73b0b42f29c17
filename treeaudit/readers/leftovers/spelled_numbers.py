"""Numbers as text: which of them are spelled with more than their library writes."""

import re

import numpy as np

from treeaudit.readers.types import Flag, Float

__all__ = ["longer_than", "no_single", "odd_numbers"]

_DIGITS = bytes.maketrans(b"23456789", b"1" * 8)
# With the digits 2 to 9 written as 1: a fraction that ends in a zero, and so on.
_ODD = tuple(
    map(
        re.compile,
        (
            rb"\.[01]++(?<=[01]0)",
            rb"[eE][+-]?0[01]{2}",
            rb"-0(?![01.eE])",
            rb"\+(?<![eE]\+)",
            rb"e(?<=[01][01]e)(?<![.01][01]e)",
            rb"e(?<=\Be)(?<=[^01][01][01]e)",
        ),
    )
)
_LED = re.compile(rb"(?<![01.eE+-])-?0[01]")
_PLAIN_FRACTION = re.compile(rb"\.[01]++(?!E)")
_SMALL = tuple(b"e-0%d" % n for n in range(1, 5)) + tuple(b"e+0%d" % n for n in range(6))


def odd_numbers(text: bytes) -> int:
    r"""Count the characters of numbers that no library writes.

    A number has one spelling in a file: as XGBoost spells all of them (``5E-1``), or as C and
    Python do (``0.5``, ``1e-05``), without a zero at its end, a sign or zeros that say nothing.

    Parameters
    ----------
    text
        Numbers with what stands between them, and no other text.

    Examples
    --------
    >>> odd_numbers(b"[0.5, 1e-05, 0.0, 100, -0.0]"), odd_numbers(b"[5E-1,1.5E0,0E0]")
    (0, 0)
    >>> odd_numbers(b"[0.50, 1e-005, -0, 2e-01]"), odd_numbers(b"[5E-1, 0.5]")
    (4, 1)
    """
    plain = text.translate(_DIGITS)
    n = sum(len(pattern.findall(plain)) for pattern in _ODD)
    n += sum(text.count(one) for one in _SMALL)
    if b"E" in text:
        n += len(_PLAIN_FRACTION.findall(plain))
    return n


def longer_than(values: Float, digits: int) -> Flag:
    """Tell which numbers have more significant decimal digits than some.

    Examples
    --------
    >>> longer_than(np.array([0.1, 123.456, 1.234567, 0.0]), 6).tolist()
    [False, False, True, False]
    """
    return ~(np.abs(_rounded(values, digits) - values) <= 4e-16 * np.abs(values))


def no_single(values: Float) -> Flag:
    """Tell which numbers have other digits than are written for a number of 32 bits.

    Examples
    --------
    >>> no_single(np.array([0.1, 0.100000001, 0.10000000012, 16777216.0])).tolist()
    [False, False, True, False]
    """
    with np.errstate(all="ignore"):
        odd = np.ones(len(values), dtype=np.bool_)
        single = values.astype(np.float32)
        exact = single.astype(np.float64)
        left = np.flatnonzero(~(exact == values))
        odd[:] = False
        odd[left] = True
        for digits in (8, 9, 7, 6, 5, 4, 3, 2, 1):
            if not len(left):
                break
            near = _rounded(exact[left], digits)
            fits = np.abs(near - values[left]) <= 4e-16 * np.abs(near)
            odd[left[fits]] = False
            left = left[~fits]
    return odd


def _rounded(values: Float, digits: int) -> Float:
    """Round numbers to so many significant digits."""
    with np.errstate(all="ignore"):
        size = np.where(values == 0, 1, np.abs(values))
        shift = digits - 1 - np.floor(np.log10(size))
        # Powers of ten beyond 22 are not exact.
        high = np.clip(shift, -300, 300)
        rounded = np.rint(values * 10.0**high) / 10.0**high
    return np.where(np.isfinite(rounded), rounded, values)
