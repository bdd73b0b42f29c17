"""Where random bits come from: the operating system, or a seed for tests.

Noise that protects people is drawn from the operating system only. Nothing is
buffered: a buffer would be copied when a process forks, and two models would
carry the same noise.
"""

import os
from typing import Protocol

import numpy as np

from treeaudit.arrays import Float, Index, Wide

_SIZES = [next(size for size in (1, 2, 4, 8) if 8 * size >= bits) for bits in range(64)]
_KINDS = [
    (size, np.dtype(f"u{size}"), np.dtype(f"u{size}").type((1 << bits) - 1))
    for bits, size in enumerate(_SIZES)
]
"""By how many bits are wanted, of how many bytes they are taken, and which of their bits."""


class Entropy(Protocol):
    """A source of random bytes."""

    def read(self, n: int) -> bytes:
        """Return ``n`` random bytes."""
        ...


class OperatingSystem:
    """Random bytes of the operating system: the only source of a private fit."""

    def read(self, n: int) -> bytes:
        """Return ``n`` bytes that nobody can foretell."""
        return os.urandom(n)


class Seeded:
    """Bytes that anybody with the seed can draw again: for tests only.

    A model trained with it is marked *not private*: whoever knows or guesses
    the seed subtracts the noise.
    """

    def __init__(self, seed: object) -> None:
        self._generator = (
            seed if isinstance(seed, np.random.Generator) else np.random.default_rng(seed)  # type: ignore[arg-type]
        )

    def read(self, n: int) -> bytes:
        """Return the next ``n`` bytes of the sequence."""
        return self._generator.bytes(n)


def below(entropy: Entropy, bound: int, n: int) -> Wide:
    """Draw ``n`` whole numbers, each of ``0 … bound - 1`` equally likely, exactly.

    The bound is from 1 to 2^63.
    """
    if not 1 <= bound <= 1 << 63:
        raise ValueError(f"bound {bound} is not between 1 and 2**63")
    bits = (bound - 1).bit_length()
    if bits == 0 or n == 0:
        return np.zeros(n, dtype=np.int64)
    result = _words(entropy, bits, n)
    if bound == 1 << bits:
        return result
    again = (result >= bound).nonzero()[0]
    while len(again):
        result[again] = _words(entropy, bits, len(again))
        again = again[result[again] >= bound]
    return result


def _words(entropy: Entropy, bits: int, n: int) -> Wide:
    """Draw ``n`` numbers of so many bits, at most 63, from as few bytes as will do."""
    size, kind, mask = _KINDS[bits]
    words: Wide = (np.frombuffer(entropy.read(n * size), dtype=kind) & mask).astype(np.int64)
    return words


def unit(entropy: Entropy, n: int) -> Float:
    """Draw ``n`` multiples of 2^-53 in [0, 1), for choices that do not depend on data."""
    return below(entropy, 1 << 53, n).astype(np.float64) * 2.0**-53


def permutation(entropy: Entropy, n: int) -> Index:
    """Return ``0 … n - 1`` in random order."""
    # Equal keys would favour the order of the rows; 62 bits make them rarer than any flaw
    # of hardware, and only choices without an exact law are made this way.
    return np.argsort(below(entropy, 1 << 62, n), kind="stable")
