"""Exact coins: heads with probability exp(-x), x a fraction, whole numbers only.

References
----------
Canonne, Kamath & Steinke (2020), The discrete Gaussian for differential
privacy, algorithm 1.
"""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Index, Wide
from treeaudit.dp.entropy import Entropy, below

__all__ = ["NEVER", "bernoulli_exp", "coins", "of_fraction", "of_one"]

_MOST = 1 << 62
_HALF = 31
_PIECE = 1 << 13
NEVER = 1 << 31
"""exp(-2^31) is never seen: no coin is tossed that often."""


def bernoulli_exp(distance: npt.ArrayLike, rate: Fraction, entropy: Entropy) -> Flag:
    """Toss one coin per entry that comes up true with probability ``exp(-rate * distance)``.

    No floating-point number is involved, so the probability is the stated one
    and not close to it. The answer has the shape of ``distance``, whole numbers
    of at least 0, as is the rate.

    Examples
    --------
    >>> from treeaudit.dp.entropy import OperatingSystem
    >>> bernoulli_exp([0, 10**9], Fraction(1, 2), OperatingSystem()).tolist()
    [True, False]
    """
    table = np.asarray(distance, dtype=np.int64)
    flat = table.ravel()
    whole, rest = np.empty_like(flat), np.empty_like(flat)
    # In pieces that stay at hand.
    for i in range(0, len(flat), _PIECE):
        piece = slice(i, i + _PIECE)
        whole[piece], rest[piece] = _divide(flat[piece], rate)
    return coins(whole, rest, rate.denominator, entropy).reshape(table.shape)


def coins(whole: Wide, rest: Wide, denominator: int, entropy: Entropy) -> Flag:
    """Toss one coin per entry that comes up with probability ``exp(-whole - rest / denominator)``.

    The rest is below the denominator, which is at most 2^63.

    Examples
    --------
    >>> from treeaudit.dp.entropy import OperatingSystem
    >>> coins(np.array([0, NEVER]), np.array([0, 0]), 1, OperatingSystem()).tolist()
    [True, False]
    """
    heads: Flag = np.equal(whole, 0)
    going, done = (~heads).nonzero()[0], 0
    # exp(-(w + r)) is the chance that w coins of exp(-1) and one of exp(-r) all come up.
    while len(going):
        done += 1
        going = going.take(of_one(len(going), entropy))
        over = whole.take(going) > done
        heads[going] = ~over
        going = going.take(over.nonzero()[0])
    alive = heads.nonzero()[0]
    heads[alive] = of_fraction(rest.take(alive), denominator, entropy)
    return heads


def _divide(distance: Wide, rate: Fraction) -> tuple[Wide, Wide]:
    """Return whole part of ``distance * rate`` and the numerator of what is left."""
    p, q = rate.numerator, rate.denominator
    most = int(distance.max(initial=0))
    if most * p < _MOST and q < _MOST:
        if q.bit_count() == 1:
            product = distance if p == 1 else distance * p
            return product >> q.bit_length() - 1, product & q - 1
        whole, rest = np.divmod(distance * p, q)
        return whole, rest
    shift = q.bit_length() - 1 - _HALF
    if q.bit_count() == 1 and 0 <= shift <= _HALF and p < 1 << _HALF and most < _MOST:
        # distance * p = high * 2^31 + low; both halves of the distance times p stay below 2^62.
        low = (distance & (1 << _HALF) - 1) * p
        high = (distance >> _HALF) * p + (low >> _HALF)
        whole = np.minimum(high >> shift, NEVER)
        return whole, (high & (1 << shift) - 1) << _HALF | low & (1 << _HALF) - 1
    pairs = [divmod(int(d) * p, q) for d in distance]
    # exp(-2^62) is never seen; the cut keeps the number in 64 bits.
    whole = np.array([min(w, _MOST) for w, _ in pairs], dtype=np.int64)
    return whole, np.array([r for _, r in pairs], dtype=np.int64)


def of_fraction(numerator: Wide, denominator: int, entropy: Entropy) -> Flag:
    """Toss coins of ``exp(-numerator / denominator)``, which is at most 1.

    Examples
    --------
    >>> from treeaudit.dp.entropy import OperatingSystem
    >>> of_fraction(np.array([0]), 1, OperatingSystem()).tolist()
    [True]
    """
    # Who stops at an odd number has heads.
    heads = np.ones(len(numerator), dtype=np.bool_)
    going = (below(entropy, denominator, len(numerator)) < numerator).nonzero()[0]
    numerator, k = numerator.take(going), 2
    while len(going):
        heads[going] = k % 2 == 1
        # A coin of numerator / denominator and one of 1 / k, so that no product leaves 64 bits.
        on = (below(entropy, denominator, len(going)) < numerator).nonzero()[0]
        on = on.take((below(entropy, k, len(on)) == 0).nonzero()[0])
        going, numerator = going.take(on), numerator.take(on)
        k += 1
    return heads


def of_one(n: int, entropy: Entropy) -> Index:
    """Toss coins of ``exp(-1)``, as `of_fraction` does; return those that come up, ascending."""
    heads = np.zeros(n, dtype=np.bool_)
    # The first two numbers are passed by all, and by one in two.
    going = (below(entropy, 2, n) == 0).nonzero()[0]
    k = 3
    while len(going):
        heads[going] = k % 2 == 1
        going = going.take((below(entropy, k, len(going)) == 0).nonzero()[0])
        k += 1
    return heads.nonzero()[0]
