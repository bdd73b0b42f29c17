"""What the text of a JSON file holds beyond its values: blanks between them, digits beyond them.

A writer of JSON sets blanks by rule: what stands between two signs follows from the signs. Blanks
that follow no rule can spell anything, and so can digits that no number needs.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from mmap import mmap

import numpy as np
import numpy.typing as npt

from treeaudit.model.forest import Forest
from treeaudit.model.leftovers import KINDS, Leftover, Leftovers
from treeaudit.readers.leftovers.spelled_numbers import odd_numbers
from treeaudit.readers.types import Int

__all__ = ["blanks_beside", "length_of", "outside_of", "spelling", "with_spelling"]

Bytes = npt.NDArray[np.uint8]

_SCALAR = b"0123456789+-.eEaflnrstuyINi"
_SHAPE = bytes.maketrans(_SCALAR + b'"', b"0" * (len(_SCALAR) + 1))
_BLANKS = b" \t\r\n"
_WHOLE = b'{}[],:"0123456789-truefalsn' + _BLANKS
_ESCAPE = re.compile(rb"\\(?:u.{4}|.)", re.DOTALL)
_NEEDLESS = re.compile(rb"\\u00(?:2[013-9a-fA-F]|[346].|5[0-9abd-fABD-F]|7[0-9a-eA-E])|\\/")
_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_NEWLINE, _BLANK, _COMMA, _COLON, _QUOTE = b'\n ,:"'
_FEW_TEXTS = 40
_SIGN = np.zeros(256, dtype=np.int32)
_SIGN[list(b"{}[],:")] = range(1, 7)
_OPEN, _CLOSE = _SIGN[[*b"{["]], _SIGN[[*b"}]"]]
_LINE = 1 << 20
_LONGEST = 25  # characters of a 64-bit float with 17 digits, sign, point and exponent


def spelling(
    data: bytes | mmap | memoryview, longest: int = _LONGEST, outside: bytes | None = None
) -> Iterator[Leftover]:
    r"""Yield what the spelling of a JSON text could hide.

    Parameters
    ----------
    data
        The text, which is JSON.
    longest
        Characters that a number of its writer can have.
    outside
        What stands outside of its texts, where that was worked out already.

    Examples
    --------
    >>> [one.n for one in spelling(b'{"a": [1, 2], "b": 0.5}')]
    []
    >>> [one.n for one in spelling(b'{"a": [1, 2],  "b" : 0.5000000000000000000033054}')]
    [2, 1]
    """
    text = bytes(data)
    if b"\\" in text:
        n = sum(_NEEDLESS.fullmatch(one) is not None for one in _ESCAPE.findall(text))
        if n:
            yield _left("the escapes of its texts", n, "characters that need no escape")
    outside = outside_of(text) if outside is None else outside
    del text
    if n := odd_numbers(outside):
        yield _left("the form of its numbers", n, "numbers that are spelled as no library does")
    shape = outside.translate(_SHAPE)
    del outside
    if b"0" * (longest + 1) in shape:
        n = sum(len(run) - longest for run in re.findall(rb"0{%d,}" % (longest + 1), shape))
        yield _left("the digits of its numbers", n, "digits that its numbers do not need")
    if n := _odd_blanks(shape):
        yield _left("the blanks between its values", n, "blanks that follow no rule")


def with_spelling(
    forest: Forest,
    data: bytes | mmap | memoryview,
    longest: int = _LONGEST,
    outside: bytes | None = None,
) -> Forest:
    """Return a model with what the spelling of its JSON could hide; see `spelling`."""
    odd = Leftovers(found=tuple(spelling(data, longest, outside)), looked_for=KINDS)
    return replace(forest, leftovers=forest.leftovers.beside(odd)) if odd.found else forest


def length_of(value: object) -> int:
    r"""Return how many characters `json.dumps` writes with an indent of two.

    Examples
    --------
    >>> value = {"a": [1, {}, [2.5, "b\n{"]], "c": {"d": []}}
    >>> length_of(value) == len(json.dumps(value, indent=2))
    True
    """
    # The encoder that sets no indents is written in C.
    text = json.dumps(value, separators=(",", ":"))
    return len(text) + _indents(outside_of(text.encode()))


def blanks_beside(value: object, text: bytes, outside: bytes) -> int:
    r"""Return by how many characters a JSON text differs in length from `json.dumps`, indent two.

    Parameters
    ----------
    value
        What the text stands for.
    text, outside
        The text, and what stands outside of its texts.

    Examples
    --------
    >>> [blanks_beside([1, "a b"], text, outside_of(text)) for text in (
    ...     b'[\n  1,\n  "a b"\n]', b'[\n  1, \n  "a b"\n ]', b'[\n  1,\n  "a\\u0020b"\n]')]
    [0, 2, 5]
    """
    if not _is_plain(text, outside):
        return abs(length_of(value) - len(text))
    # Blanks aside it is what `json.dumps` writes.
    solid = outside.translate(None, _BLANKS)
    return abs(_indents(solid) - (len(outside) - len(solid)))


def _is_plain(text: bytes, outside: bytes) -> bool:
    """Tell whether a JSON text holds what Python spells in one way: whole numbers, plain texts."""
    unescaped = text.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in text else text
    if b"\\" in unescaped or b"\x7f" in text or not text.isascii():
        return False
    words = outside.count(b"true") + outside.count(b"false")
    whole = not outside.translate(None, _WHOLE) and outside.count(b"e") == words
    return whole and b"-0" not in outside


def _indents(solid: bytes) -> int:
    """Return how many blanks an indent of two sets between signs that stand without any."""
    sign = _SIGN[np.frombuffer(b" " + solid, np.uint8)]
    opens, closes = ((sign == one) | (sign == other) for one, other in (_OPEN, _CLOSE))
    empty = closes & np.roll(opens, 1)
    depth = np.cumsum(opens.view(np.int8) - closes.view(np.int8), dtype=np.int64)
    # A new line behind every comma and within both ends of what is not empty.
    lines = opens | closes | (sign == _SIGN[_COMMA])
    lines &= ~(empty | np.roll(empty, -1))
    blanks = int(np.count_nonzero(lines)) + 2 * int(depth[lines].sum())
    return blanks + int(np.count_nonzero(sign == _SIGN[_COLON]))


def _left(where: str, n: int, what: str) -> Leftover:
    says = f"{n:,} bytes that no model accounts for: {what}"
    return Leftover(kind="unexplained", where=where, n=n, says=says)


def outside_of(text: bytes) -> bytes:
    """Return what stands outside of texts; a zero or a quote stands for each."""
    text = _ESCAPED.sub(b"", text) if b"\\" in text else text
    if text.count(b'"') * _FEW_TEXTS < len(text):
        return b"0".join(text.split(b'"')[::2])
    signs = np.frombuffer(text, np.uint8)
    # One from the first quote of a text on, up to its last one.
    inside = np.bitwise_xor.accumulate((signs == _QUOTE).view(np.uint8))
    outside: bytes = signs[inside == 0].tobytes()
    return outside


def _odd_blanks(shape: bytes) -> int:
    """Count the blanks that differ from those where the same signs stood first."""
    whole, shape = len(shape), shape.strip(_BLANKS)
    # A file may end with a new line.
    around = max(whole - len(shape) - 2, 0)
    solid = shape.translate(None, _BLANKS)
    n = len(shape) - len(solid)
    if n == 0 or (b"\n" not in shape and n == _in_line(shape)):
        return around
    if b"\r" in shape and shape.count(b"\r\n") == shape.count(b"\n"):
        shape = shape.replace(b"\r\n", b"\n")
    signs = np.frombuffer(shape, np.uint8)
    blank = signs <= _BLANK
    edge = np.flatnonzero(blank[1:] != blank[:-1]).astype(np.int32) + 1
    begin, end = edge[::2], edge[1::2]
    value = _what_stands(signs, shape, begin, end)
    before = _SIGN[signs[begin - 1]]
    pair = before * 8 + _SIGN[signs[end]]
    # What stood before a comma; it may not stand apart from it.
    pair += np.where(before == _SIGN[_COMMA], _SIGN[signs[np.maximum(begin - 2, 0)]], 0) * 64
    first = np.zeros(512, dtype=value.dtype)
    first[pair[::-1]] = value[::-1]
    odd = int((end - begin)[value != first[pair]].sum())
    there, every = np.bincount(pair, minlength=512), _pairs(solid)
    # Where some have blanks, all should.
    return around + odd + int(np.minimum(there, np.maximum(every - there, 0)).sum())


def _pairs(solid: bytes) -> Int:
    """Count how often which signs stand behind one another, blanks aside."""
    sign = _SIGN[np.frombuffer(b"0" + solid + b"0", np.uint8)]
    at = np.flatnonzero(sign)
    here, after, before = sign[at], sign[at + 1], sign[at - 1]
    pair = here * 8 + after + np.where(here == _SIGN[_COMMA], before, 0) * 64
    # A number before a sign.
    counted = np.bincount(np.concatenate([pair, here[before == 0]]), minlength=512)
    return counted.astype(np.int32)


def _in_line(shape: bytes) -> int:
    """Count the blanks behind commas and colons, where all or none of them have one."""
    n = 0
    for sign in (b",", b":"):
        spaced = shape.count(sign + b" ")
        n += spaced if spaced == shape.count(sign) else -1
    return n


def _what_stands(signs: Bytes, shape: bytes, begin: Int, end: Int) -> Int:
    """Say what stands in each gap: so many blanks, or a new line that is so much further in."""
    width = end - begin
    stands = width.copy()
    line = signs[begin] == _NEWLINE
    indent = width[line] - 1
    stands[line] = _LINE + np.diff(np.concatenate([[0], indent]))
    n_lines = shape.count(b"\n")
    if b"\t" in shape or b"\r" in shape or n_lines != np.count_nonzero(line):
        blanks = np.concatenate([[0], np.cumsum(signs == _BLANK, dtype=np.int32)])
        full = blanks[end] - blanks[begin] == width - line
        # Anything else is like nothing: every one of them differs from the others.
        stands[~full] = -1 - np.arange(np.count_nonzero(~full))
    return stands
