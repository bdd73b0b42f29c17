"""Damage bytes at random, and see that a reader never goes wrong."""

import random
from types import ModuleType

import numpy as np

from treeaudit.errors import ReadError
from treeaudit.model.source import Source
from treeaudit.readers.limits import LIMITS
from treeaudit.readers.open import Content

__all__ = ["sentence_or_model", "spoil"]

STRANGE = (0, 1, 2, 127, 128, 255, 256, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63)


def sentence_or_model(reader: ModuleType, data: bytes) -> ReadError | None:
    """Read bytes whole; return the error, or None for a model or another format."""
    content = Content(data=data, compression="", digest=str, n_bytes=len(data))
    if not reader.matches(content):
        return None
    try:
        forest = reader.read(content, Source(), None, LIMITS)
        for tree in forest.trees:
            assert tree.n_nodes >= 1
            assert (tree.feature < len(forest.schema.features)).all()
            assert not np.isnan(tree.low).any()
            if tree.counts is not None:
                assert tree.counts.shape == (tree.n_nodes, len(forest.schema.classes))
                assert np.isfinite(tree.counts).all()
            if tree.n_records is not None:
                assert (tree.n_records >= 0).all()
            if tree.value is not None:
                assert np.isfinite(tree.value).all()
            if tree.label is not None:
                assert (tree.label < len(forest.schema.classes)).all()
        texts = [*forest.schema.names, *forest.warnings, forest.counts_reason, forest.source.inside]
        texts += [leftover.says for leftover in forest.extras.found]
        "".join(texts).encode()
    except ReadError as refused:
        text = str(refused)
        assert text
        assert "\n" not in text, text
        assert len(text) < 600, text[:900]
        text.encode()
        return refused
    return None


def spoil(chance: random.Random, seeds: list[bytes], words: tuple[bytes, ...] = ()) -> bytes:
    """Return one damaged copy of one of the files."""
    out = bytearray(chance.choice(seeds))
    for _ in range(chance.choice((1, 1, 1, 2, 4, 12))):
        at = chance.randrange(len(out) + 1)
        match chance.randrange(8):
            case 0 if out:
                out[at % len(out)] ^= 1 << chance.randrange(8)
            case 1 if out:
                out[at % len(out)] = chance.randrange(256)
            case 2:
                del out[at : at + chance.choice((1, 2, 8, 64))]
            case 3 if chance.random() < 0.3:
                del out[at:]
            case 4:
                size = chance.choice((1, 2, 4, 8))
                out[at : at + size] = (chance.choice(STRANGE) % (1 << 8 * size)).to_bytes(
                    size, "little"
                )
            case 5:
                other = chance.choice(seeds)
                begin = chance.randrange(len(other))
                out[at : at + 64] = other[begin : begin + chance.choice((8, 64, 256))]
            case 6 if words:
                out[at : at + chance.choice((0, 1, 4))] = chance.choice(words)
            case _:
                out[at:at] = out[at : at + chance.choice((1, 4, 16))]
    return bytes(out)
