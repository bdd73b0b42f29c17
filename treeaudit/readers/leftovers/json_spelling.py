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

__all__ = ["is_indented", "length_of", "spelling", "with_spelling"]

Bytes = npt.NDArray[np.uint8]

_SCALAR = b"0123456789+-.eEaflnrstuyINi"
_SHAPE = bytes.maketrans(_SCALAR + b'"', b"0" * (len(_SCALAR) + 1))
_BLANKS = b" \t\r\n"
_WHOLE = b'{}[],:"0123456789-truefalsn'
_ESCAPE = re.compile(rb"\\(?:u.{4}|.)", re.DOTALL)
_NEEDLESS = re.compile(rb"\\u00(?:2[013-9a-fA-F]|[346].|5[0-9abd-fABD-F]|7[0-9a-eA-E])|\\/")
_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_PLAIN = frozenset((b'\\"', b"\\\\"))
_NEWLINE, _BLANK, _COMMA, _COLON, _QUOTE = b'\n ,:"'
_FEW_TEXTS = 40
_SIGN = np.zeros(256, dtype=np.int32)
_SIGN[list(b"{}[],:")] = range(1, 7)
_OPEN, _CLOSE = _SIGN[[*b"{["]], _SIGN[[*b"}]"]]
_LINE = 1 << 20
_LONGEST = 25  # characters of a 64-bit float with 17 digits, sign, point and exponent


def spelling(data: bytes | mmap | memoryview, longest: int = _LONGEST) -> Iterator[Leftover]:
    r"""Yield what the spelling of a JSON text could hide.

    Parameters
    ----------
    data
        The text, which is JSON.
    longest
        Characters that a number of its writer can have.

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
    outside = _outside(text)
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
    forest: Forest, data: bytes | mmap | memoryview, longest: int = _LONGEST
) -> Forest:
    """Return a model with what the spelling of its JSON could hide; see `spelling`."""
    odd = Leftovers(found=tuple(spelling(data, longest)), looked_for=KINDS)
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
    sign = _SIGN[np.frombuffer(b" " + _outside(text.encode()), np.uint8)]
    opens, closes = ((sign == one) | (sign == other) for one, other in (_OPEN, _CLOSE))
    empty = closes & np.roll(opens, 1)
    depth = np.cumsum(opens.view(np.int8) - closes.view(np.int8), dtype=np.int64)
    # A new line behind every comma and within both ends of what is not empty.
    lines = opens | closes | (sign == _SIGN[_COMMA])
    lines &= ~(empty | np.roll(empty, -1))
    blanks = int(np.count_nonzero(lines)) + 2 * int(depth[lines].sum())
    return len(text) + blanks + int(np.count_nonzero(sign == _SIGN[_COLON]))


def is_indented(text: bytes, longest: int = _LONGEST) -> bool:
    r"""Tell of a JSON text whether it is just what `json.dumps` writes with an indent of two.

    So it is for certain where this is True: of a text with other numbers than whole ones, with
    numbers of many digits or with other escapes than those of quotes and backslashes it does not
    tell.

    Examples
    --------
    >>> [is_indented(one) for one in (b'{\n  "a": [\n    1\n  ]\n}', b'{\n  "a":  []\n}', b"[0.5]")]
    [True, False, False]
    """
    if not text.isascii() or b"\x7f" in text or not _PLAIN.issuperset(_ESCAPED.findall(text)):
        return False
    outside = _outside(text)
    solid = outside.translate(None, _BLANKS)
    words = solid.count(b"true") + solid.count(b"false")
    whole = not solid.translate(None, _WHOLE) and solid.count(b"e") == words
    if not whole or b"-0" in solid or b"0" * (longest + 1) in solid.translate(_SHAPE):
        return False
    return _stands_indented(np.frombuffer(outside, np.uint8), solid)


def _stands_indented(signs: Bytes, solid: bytes) -> bool:
    """Tell whether all blanks of a JSON text are those of an indent of two."""
    at = np.flatnonzero(signs > _BLANK)
    if len(at) == 0 or len(signs) - 1 != at[-1] or at[0] != 0:
        return False
    sign = np.frombuffer(solid.translate(_SIGN.astype(np.uint8).tobytes()), np.uint8)
    opens, closes = ((sign == one) | (sign == other) for one, other in (_OPEN, _CLOSE))
    depth = np.cumsum(opens.view(np.int8) - closes.view(np.int8), dtype=np.int32)
    # A new line behind every comma and within both ends of what is not empty.
    ends, begins = opens[:-1], closes[1:]
    line = (ends != begins) | (sign[:-1] == _SIGN[_COMMA])
    indent = depth[:-1] - (begins & ~ends)
    usual = np.where(line, 1 + 2 * indent, sign[:-1] == _SIGN[_COLON])
    if not np.array_equal(np.diff(at) - 1, usual):
        return False
    # As many new lines, each in front: all other blanks are spaces.
    spaces = int(np.count_nonzero(signs == _BLANK))
    lines = int(np.count_nonzero(signs == _NEWLINE))
    first = signs[at[:-1][line] + 1] == _NEWLINE
    return bool(first.all()) and len(first) == lines == len(signs) - len(at) - spaces


def _left(where: str, n: int, what: str) -> Leftover:
    says = f"{n:,} bytes that no model accounts for: {what}"
    return Leftover(kind="extra", where=where, n=n, says=says)


def _outside(text: bytes) -> bytes:
    """Return what stands outside of texts; a zero or a quote stands for each."""
    text = _ESCAPED.sub(b"", text) if b"\\" in text else text
    if text.count(b'"') * _FEW_TEXTS < len(text):
        return b"0".join(text.split(b'"')[::2])
    signs = np.frombuffer(text, np.uint8)
    # A text runs from its first quote up to its last one.
    runs = np.diff(np.flatnonzero(signs == _QUOTE), prepend=0, append=len(signs))
    outside: bytes = signs[np.repeat(np.arange(len(runs)) % 2 == 0, runs)].tobytes()
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
