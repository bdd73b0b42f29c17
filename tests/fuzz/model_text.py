"""Damage model files of other libraries: bytes, numbers, lines and brackets."""

import random
import re

from treeaudit import ReadError
from treeaudit.model.source import Source
from treeaudit.readers.limits import LIMITS
from treeaudit.readers.open import unpack

__all__ = ["mutate", "outcome"]

NUMBER = re.compile(rb"-?\d+(\.\d+)?([eE][-+]?\d+)?")
BAD = [
    *b"-1 0 1 2 7 -2 255 65536 2147483647 2147483648 -2147483649 9223372036854775808".split(),
    *b"1e999 -1e999 NaN Infinity nan inf 1e-35 0.5 null true [] {} 1_0 x".split(),
    *(
        b"",
        b"9" * 26,
        b"1" * 5000,
        b"[" * 300,
        b'{"a":' * 300,
        b"\xff\xfe",
        b"\0",
        b"\n",
        b"=",
        b"\r\n",
    ),
]


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Return the bytes with one to four changes."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        if not changed:
            break
        at = rng.randrange(len(changed))
        match rng.randrange(8):
            case 0:
                changed[at] = rng.randrange(256)
            case 1:
                changed[at] ^= 1 << rng.randrange(8)
            case 2:
                del changed[at : at + rng.choice((1, 2, 8, 64, len(changed)))]
            case 3:
                piece = changed[at : at + rng.choice((1, 4, 9, 60))]
                changed[at:at] = piece * rng.choice((1, 2, 20))
            case 4 | 5:
                if found := NUMBER.search(changed, at):
                    changed[found.start() : found.end()] = rng.choice(BAD)
            case 6:
                changed[at:at] = rng.choice(BAD)
            case _:
                size = rng.choice((1, 4, 8))
                changed[at : at + size] = rng.choice((b"\xff", b"\0", b"\x7f", b"\x80")) * size
    return bytes(changed)


def outcome(reader, data: bytes) -> str:
    """Read damaged bytes whole; anything but a model or one sentence fails."""
    content = unpack(data) if data[:1] in b"{t " else None
    if content is None or not reader.matches(content):
        return "no match"
    try:
        forest = reader.read(content, Source(), None, LIMITS)
        for tree in forest.trees:
            assert tree.n_nodes >= 1
            assert (tree.feature < len(forest.schema.features)).all()
            assert tree.n_records is None or (tree.n_records >= 0).all()
        texts = [*forest.schema.names, *forest.warnings, forest.counts_reason]
        texts += [forest.source.estimator, str(forest.source.library_version)]
        "".join(texts).encode()
    except ReadError as error:
        text = str(error)
        assert text
        assert "\n" not in text, text
        assert len(text) < 400, text
        text.encode()
        return "refused"
    return "read"
