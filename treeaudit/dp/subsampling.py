"""Random bits, and records drawn by them: into one tree, several times into one, or into none.

Noise that protects people is drawn from the operating system only; a seed is for tests. Nothing is
buffered: a buffer would be copied when a process forks, and two models would
carry the same noise.

Counts of a random sample are private by the sampling alone, without any noise, when those below
a threshold are not told (Li, Qardaji & Su 2012): a count can only give a person away where
the person makes much of it, and such counts are small.

References
----------
Li, Qardaji & Su (2012), On sampling, anonymization, and differential privacy, theorem 5.
Nojima & Wang (2023); Waseda, Nojima & Wang (2024), Applied Sciences 14, 7625: the same for the
class counts of random trees.
"""

import math
import os
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

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


BOOTSTRAP = "Poisson bootstrap"
"""The mechanism of a row that pays for records that are taken more than once."""

_BITS = 62
_DIGITS = 40
"""Binary ones of an epsilon that no decimal tells."""
_STEPS = 200_000
_NOTHING = 1e-290
_LARGEST_EPSILON = 30.0
"""A smaller epsilon promises more; the exponential of a larger one is no number."""


def tree_of_each(entropy: Entropy, n_trees: int, n: int) -> Wide:
    """Draw one tree for each record, all equally likely, whoever else is there."""
    return below(entropy, n_trees, n)


def _poisson_levels() -> list[int]:
    """Return 2^62 times the distribution function of Poisson(1) at 0, 1, …, rounded up."""
    # 1/e from its series, whose terms alternate: an even number of them is below it.
    below_it, above = Fraction(0), Fraction(0)
    term = Fraction(1)
    for k in range(40):
        above, below_it = (below_it + term, below_it) if k % 2 == 0 else (above, above - term)
        term /= k + 1
    total, part, levels = Fraction(0), Fraction(1), []
    for k in range(20):
        total += part
        part /= k + 1
        levels.append(min(1 << _BITS, math.ceil(above * total * (1 << _BITS))))
    return levels


_LEVELS = np.array(_poisson_levels(), dtype=np.int64)


def poisson(entropy: Entropy, n: int) -> Wide:
    """Draw how often each record is taken, as by Poisson(1), or less often: a bootstrap.

    The law is rounded so that no number of times is exceeded with a larger probability than
    under Poisson(1); what grows with that number is then at most what it is there.
    """
    return np.searchsorted(_LEVELS, below(entropy, 1 << _BITS, n), side="right")


def poisson_epsilon(epsilon: Fraction) -> Fraction:
    """Return what a record may cost each time it is taken, if all together may cost epsilon.

    A record that is taken K times costs K times as much, and the law of an answer is the mean
    over K: with K by Poisson(1) and a cost of c each time, the mean of ``exp(c K)`` is
    ``exp(exp(c) - 1)``. So c is ``ln(1 + epsilon)``, rounded down.
    """
    exact = math.log1p(float(epsilon))
    # The logarithm, and epsilon as a float, are off by less than 2^-50 of it; and the rest of so
    # many digits, which a ledger would have to tell, is worth nothing.
    below_it = Fraction(exact) * (1 - Fraction(1, 1 << 48))
    whole = 1 << max(0, _DIGITS - math.frexp(exact)[1])
    return min(epsilon, Fraction(math.floor(below_it * whole), whole))


def thinned(counts: npt.ArrayLike, rate: Fraction, entropy: Entropy) -> Wide:
    """Return how many of each count are in a sample that keeps each person with a probability.

    The rate is a whole number by a power of two, at most 2^62.
    """
    table = np.asarray(counts, dtype=np.int64)
    kept = below(entropy, rate.denominator, int(table.sum())) < rate.numerator
    cell = np.repeat(np.arange(table.size), table.ravel())
    found: Wide = np.bincount(cell[kept], minlength=table.size).reshape(table.shape)
    return found.astype(np.int64)


def _share(rate: float, epsilon: float) -> tuple[float, float]:
    """Return epsilon as it is used, and the share of a count above which a loss is larger."""
    epsilon = min(float(epsilon), _LARGEST_EPSILON)
    if not 0 < rate < 1 or epsilon < -math.log1p(-rate) * (1 - 1e-12):
        raise ValueError(
            f"a rate of {rate:g} is not between 0 and 1 - exp(-epsilon) = {-math.expm1(-epsilon):g}"
        )
    # (e^eps - 1 + rate) / e^eps, without a difference of nearly equal numbers.
    return epsilon, -math.expm1(-epsilon) + rate * math.exp(-epsilon)


def loose_threshold_delta(k: int, rate: float, epsilon: float) -> float:
    """Return the delta of theorem 5 of Li, Qardaji & Su: an upper bound of `threshold_delta`.

    The largest chance, over all numbers n of people that could reach the threshold, that more
    than the share gamma of them are in the sample.
    """
    from scipy.stats import binom

    epsilon, gamma = _share(rate, epsilon)
    # As printed, n is at least k / gamma - 1: a sample of more than gamma n people.
    first = max(1, math.ceil(k / gamma - 1))
    m = math.floor(gamma * first) + 1
    best = float(binom.sf(math.floor(gamma * first), first, rate))
    while True:
        n = _last(m, gamma)
        if n >= first:
            best = max(best, float(binom.sf(m - 1, n, rate)))
        if (rest := _chernoff(m / gamma, gamma, rate)) < max(best, _NOTHING):
            return max(best, rest)
        m += 1


def threshold_delta(k: int, rate: float, epsilon: float) -> float:
    """Return the exact delta of counts of a sample, those below a threshold being told as 0.

    One more person changes one count from N - 1 to N people. The sampled count has the law
    P = Bin(N, rate) instead of Q = Bin(N - 1, rate), and ``P(x) / Q(x) = (1 - rate) N / (N - x)``
    exceeds exp(epsilon) where x > gamma N only. Hence delta is the largest, over N, of ``sum
    (P(x) - exp(epsilon) Q(x))`` over x of at least k and more than gamma N. The other way round
    the ratio is at most 1 / (1 - rate), which must not exceed exp(epsilon).
    """
    from scipy.stats import binom

    epsilon, gamma = _share(rate, epsilon)
    if k / gamma > _STEPS:
        return loose_threshold_delta(k, rate, epsilon)
    best, m, first = 0.0, k, k
    while True:
        # All N for which the least count above is m, in one piece.
        n = np.arange(first, _last(m, gamma) + 1)
        if len(n):
            once_more = rate * binom.pmf(m - 1, n - 1, rate)
            beyond = math.expm1(epsilon) * binom.sf(m - 1, n - 1, rate)
            best = max(best, float((once_more - beyond).max()))
        first = max(first, _last(m, gamma) + 1)
        if (rest := _chernoff(first, gamma, rate)) < max(best, _NOTHING):
            return max(best, rest)
        m += 1


def _last(m: int, gamma: float) -> int:
    """Return the largest n of which m is more than the share gamma."""
    n = math.ceil(m / gamma)
    while gamma * n >= m:
        n -= 1
    return n


def _chernoff(n: float, gamma: float, rate: float) -> float:
    """Bound the chance that more than the share gamma of n people is in the sample."""
    if gamma >= 1:
        return 0.0
    far = gamma * math.log(gamma / rate) + (1 - gamma) * math.log((1 - gamma) / (1 - rate))
    return math.exp(-n * far)


@lru_cache(maxsize=1024)
def least_threshold(
    rate: float,
    epsilon: float,
    delta: float,
    law: Callable[[int, float, float], float] = threshold_delta,
) -> int:
    """Return the least threshold of which `threshold_delta`, or another law, is at most delta."""
    if not 0 < delta < 1:
        raise ValueError(f"delta is {delta!r}: it must be above 0 and below 1")
    low, high = 0, 1
    while law(high, rate, epsilon) > delta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if law(middle, rate, epsilon) > delta else (low, middle)
    return high
