"""The instructions that wrote an element of a list, of those that most elements are made of."""

import struct
from dataclasses import dataclass
from mmap import mmap

CONSTANTS: dict[str, object] = {"N": None, "\x88": True, "\x89": False, ")": ()}
"""Instructions that put always the same on the stack."""

# How many bytes follow; of texts and blobs, how many say how many follow.
_ARGUMENT: dict[str, int] = {
    **dict.fromkeys("N)(t}ubR\x81\x85\x86\x87\x88\x89\x94", 0),
    **{"h": 1, "j": 4, "K": 1, "M": 2, "J": 4, "G": 8, "\x8c": 1, "C": 1, "B": 4, "\x96": 8},
}
_LENGTHS = {ord(code): n for code, n in _ARGUMENT.items()}
_COUNTING = frozenset(map(ord, "\x8cCB\x96"))
_KINDS = {
    **dict.fromkeys("hj", "recall"),
    **dict.fromkeys("KMJ", "number"),
    **dict.fromkeys("CB\x96", "blob"),
}
_LEAST = {b"M": 256, b"J": 1 << 16, b"j": 256, b"B": 256, b"\x96": 0}
_MOST = 1_000

Buffer = bytes | memoryview | mmap


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction.

    Attributes
    ----------
    kind
        What it does: ``number``, ``recall`` and ``blob`` for all that do the same, else the
        instruction itself.
    text
        How it is written; of a blob without its bytes, of which there are `value`.
    value
        The number, the text, or what it puts on the stack.
    """

    kind: str
    text: bytes
    value: object = None


def number(text: bytes) -> int | None:
    r"""Return the number of an instruction; None where picklers take a shorter one for it.

    Examples
    --------
    >>> number(b"K\x05"), number(b"M\x00\x01"), number(b"M\x05\x00")
    (5, 256, None)
    """
    if len(text) == 2:
        return text[1]
    code = text[:1]
    value = int.from_bytes(text[1:], "little", signed=code == b"J")
    return None if 0 <= value < _LEAST[code] else value


def edges(data: Buffer, at: int, n: int) -> list[int]:
    r"""Return where each of so many instructions of these kinds begins, and where the last ends.

    Examples
    --------
    >>> edges(b"K\x05C\x03abcN", 0, 3)
    [0, 2, 7, 8]
    """
    found = [at]
    for _ in range(n):
        code = data[at]
        length = _LENGTHS[code]
        if code in _COUNTING:
            length += int.from_bytes(data[at + 1 : at + 1 + length], "little")
        at += 1 + length
        found.append(at)
    return found


def trace(data: bytes | mmap, at: int, end: int) -> tuple[Instruction, ...] | None:
    r"""Return the instructions between two places; None where one is of another kind.

    Examples
    --------
    >>> [one.value for one in trace(b"K\x05Nh\x01", 0, 5)]
    [5, None, 1]
    """
    found: list[Instruction] = []
    while at < end:
        code = chr(data[at])
        n = _ARGUMENT.get(code)
        if n is None or len(found) == _MOST:
            return None
        kind, text = _KINDS.get(code, code), bytes(data[at : at + 1 + n])
        value: object = CONSTANTS.get(code)
        at += 1 + n
        if kind in ("number", "recall", "blob"):
            value = told = number(text)
            if told is None:
                return None
            at += told if kind == "blob" else 0
        elif code == "G":
            value = struct.unpack(">d", text[1:])[0]
        elif code == "\x8c":
            at += text[1]
            text = bytes(data[at - text[1] - 2 : at])
            value = text[2:]
        found.append(Instruction(kind, text, value))
    return tuple(found) if at == end else None
