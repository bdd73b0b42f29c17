"""Noise and choices that protect people, on whole numbers and with exact laws.

Each function draws from the law that it states, and the tests enumerate. The rate says
how much a law may change when a score moves by one: the epsilon of a question
divided by how far apart one person can move two scores (`treeaudit.dp.scores`).

References
----------
Canonne, Kamath & Steinke (2020), The discrete Gaussian for differential privacy: algorithm 1
(coins of exp(-x)), 2 (discrete Laplace) and 3 with theorem 4 (discrete Gaussian).
McSherry & Talwar (2007), exponential mechanism.
McKenna & Sheldon (2020), permute-and-flip.
"""

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Index, Wide
from treeaudit.dp.subsampling import Entropy, below

IMPOSSIBLE = -(1 << 61)
"""The score of a candidate that is never chosen, whatever the rate; it must not depend on data."""
GAUSSIAN = "discrete Gaussian"
"""The mechanism of a row whose cost is a rho."""

_MOST = 1 << 62
_HALF = 31
_PIECE = 1 << 13
_NEVER = 1 << 31
"""exp(-2^31) is never seen: no coin is tossed that often."""


def bernoulli_exp(distance: npt.ArrayLike, rate: Fraction, entropy: Entropy) -> Flag:
    """Toss one coin per entry that comes up true with probability ``exp(-rate * distance)``.

    No floating-point number is involved, so the probability is the stated one
    and not close to it. The answer has the shape of ``distance``, whole numbers
    of at least 0, as is the rate.
    """
    table = np.asarray(distance, dtype=np.int64)
    flat = table.ravel()
    whole, rest = np.empty_like(flat), np.empty_like(flat)
    # In pieces that stay at hand.
    for i in range(0, len(flat), _PIECE):
        piece = slice(i, i + _PIECE)
        whole[piece], rest[piece] = _divide(flat[piece], rate)
    return _coins(whole, rest, rate.denominator, entropy).reshape(table.shape)


def _coins(whole: Wide, rest: Wide, denominator: int, entropy: Entropy) -> Flag:
    """Toss coins of ``exp(-whole - rest / denominator)``; the rest is below that, at most 2^63."""
    heads: Flag = np.equal(whole, 0)
    going, done = (~heads).nonzero()[0], 0
    # exp(-(w + r)) is the chance that w coins of exp(-1) and one of exp(-r) all come up.
    while len(going):
        done += 1
        going = going.take(_of_one(len(going), entropy))
        over = whole.take(going) > done
        heads[going] = ~over
        going = going.take(over.nonzero()[0])
    alive = heads.nonzero()[0]
    heads[alive] = _of_fraction(rest.take(alive), denominator, entropy)
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
        whole = np.minimum(high >> shift, _NEVER)
        return whole, (high & (1 << shift) - 1) << _HALF | low & (1 << _HALF) - 1
    pairs = [divmod(int(d) * p, q) for d in distance]
    # exp(-2^62) is never seen; the cut keeps the number in 64 bits.
    whole = np.array([min(w, _MOST) for w, _ in pairs], dtype=np.int64)
    return whole, np.array([r for _, r in pairs], dtype=np.int64)


def _of_fraction(numerator: Wide, denominator: int, entropy: Entropy) -> Flag:
    """Toss coins of ``exp(-numerator / denominator)``, which is at most 1."""
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


def _of_one(n: int, entropy: Entropy) -> Index:
    """Toss coins of ``exp(-1)``, as `_of_fraction` does; return those that come up, ascending."""
    heads = np.zeros(n, dtype=np.bool_)
    # The first two numbers are passed by all, and by one in two.
    going = (below(entropy, 2, n) == 0).nonzero()[0]
    k = 3
    while len(going):
        heads[going] = k % 2 == 1
        going = going.take((below(entropy, k, len(going)) == 0).nonzero()[0])
        k += 1
    return heads.nonzero()[0]


_FIRST_TRIES, _TRIES = 1 << 8, 1 << 14
_LONGEST = (1 << 12) - 1
"""exp(-4095) is never seen; with denominators up to 2^50 the noise then stays below 2^62."""


def discrete_laplace(rate: Fraction, n: int, entropy: Entropy) -> Wide:
    """Draw whole numbers z with probability proportional to ``exp(-rate * |z|)``.

    The rate, epsilon divided by the sensitivity, is above 0; its denominator at most 2^50
    (`treeaudit.dp.accounting.dyadic`).

    Examples
    --------
    >>> from treeaudit.dp.subsampling import OperatingSystem
    >>> discrete_laplace(Fraction(1000), 3, OperatingSystem()).tolist()
    [0, 0, 0]
    """
    s, t = rate.numerator, rate.denominator
    result = np.zeros(n, dtype=np.int64)
    todo = np.arange(n)
    while len(todo):
        low = below(entropy, t, len(todo))
        kept = _of_fraction(low, t, entropy)
        on, off = kept.nonzero()[0], (~kept).nonzero()[0]
        tried, low = todo.take(on), low.take(on)
        size = (low + t * np.minimum(_geometric(len(tried), entropy), _LONGEST)) // s
        minus = below(entropy, 2, len(tried))
        # Of the two zeros one is drawn again.
        result[tried] = size * (1 - 2 * minus)
        again = (size < minus).nonzero()[0]
        todo = np.concatenate([todo.take(off), tried.take(again)])
    return result


def _geometric(n: int, entropy: Entropy) -> Wide:
    """Count the coins of exp(-1) that come up before the first that does not."""
    seen = np.zeros(n, dtype=np.int64)
    going = np.arange(n)
    while len(going):
        going = going.take(_of_one(len(going), entropy))
        seen[going] += 1
    return seen


def permute_and_flip(scores: npt.ArrayLike, rate: Fraction, entropy: Entropy) -> Wide:
    """Choose one candidate per row: never a worse law than the exponential mechanism.

    The candidates are visited in random order and the first is taken whose coin
    of ``exp(-rate * (best - score))`` comes up. The order is independent of
    the coins, so that is a uniform choice among all whose coin comes up.

    Parameters
    ----------
    scores
        Shape ``(n_rows, n_candidates)``, whole numbers, the larger the better;
        `IMPOSSIBLE` for what is never chosen, not all of a row.
    rate
        A fraction of at least 0.
    entropy
        The source of the coins.

    Returns
    -------
    numpy.ndarray
        Shape ``(n_rows,)``: the column chosen.

    Examples
    --------
    >>> from treeaudit.dp.subsampling import OperatingSystem
    >>> permute_and_flip([[0, 900], [900, 0]], Fraction(1), OperatingSystem()).tolist()
    [1, 0]
    """
    table = np.asarray(scores, dtype=np.int64)
    possible = table > IMPOSSIBLE
    distance = np.where(possible, table.max(axis=1, keepdims=True) - table, 0)
    up = bernoulli_exp(distance, rate, entropy) & possible
    return _one_of(up, entropy)


def _one_of(candidate: Flag, entropy: Entropy) -> Wide:
    """Choose one true column per row, all equally likely, exactly."""
    width = candidate.shape[1]
    place = np.flatnonzero(candidate)
    how_many = np.bincount(place // width, minlength=len(candidate))
    which = np.cumsum(how_many) - how_many
    for k in np.unique(how_many):
        rows = np.flatnonzero(how_many == k)
        which[rows] += below(entropy, int(k), len(rows))
    chosen: Wide = place.take(which) % width
    return chosen


def exponential_mechanism(
    scores: npt.ArrayLike,
    rate: Fraction,
    entropy: Entropy,
    weights: npt.ArrayLike | None = None,
) -> Wide:
    """Choose one candidate per row with probability ``weight * exp(rate * score)``, normalised.

    A candidate is drawn by its weight and kept with the coin of ``exp(-rate *
    (best - score))``, until one is kept. On average that takes as many draws as
    all weights are more than the weights that are kept: do not mix widths that
    are millions apart.

    Parameters
    ----------
    scores, rate, entropy
        As in `permute_and_flip`, and so is what is returned.
    weights
        Whole numbers of at least 0, one per candidate, the same for all rows: how much
        each counts before anything is known, such as the width of a range; must not
        depend on private data unless that is part of the proof. 1 unless told.

    Examples
    --------
    >>> from treeaudit.dp.subsampling import OperatingSystem
    >>> exponential_mechanism([[0, 900], [900, 0]], Fraction(1), OperatingSystem()).tolist()
    [1, 0]
    """
    table = np.asarray(scores, dtype=np.int64)
    n_rows, n_candidates = table.shape
    mass = np.ones(n_candidates, np.int64) if weights is None else np.asarray(weights, np.int64)
    upto = np.cumsum(mass)
    some = table if mass.min() > 0 else table[:, mass > 0]
    best = some.max(axis=1)
    chosen = np.zeros(n_rows, dtype=np.int64)
    todo, most = np.arange(n_rows), _FIRST_TRIES
    while len(todo):
        tries = max(1, most // len(todo))
        most = min(8 * most, _TRIES)
        drawn = below(entropy, int(upto[-1]), len(todo) * tries).reshape(len(todo), tries)
        candidate = np.searchsorted(upto, drawn, side="right")
        found = table[todo[:, None], candidate]
        possible = found > IMPOSSIBLE
        distance = np.where(possible, best[todo, None] - found, 0)
        kept = bernoulli_exp(distance, rate, entropy) & possible
        done = kept.any(axis=1)
        first = np.argmax(kept, axis=1)
        chosen[todo[done]] = candidate[np.arange(len(todo)), first][done]
        todo = todo[~done]
    return chosen


_BITS = 24
_FINEST, _LARGEST = 36, 1 << 30


def fine_variance(least: Fraction) -> Fraction | None:
    """Return a variance that is drawn exactly, at least so large; None where there is none.

    A whole number of at most 24 binary digits by a power of two of at most 2^36; above 2^30 the
    square of a whole number.
    """
    if least > _LARGEST:
        root = math.isqrt(math.ceil(least) - 1) + 1
        return Fraction(root * root) if root <= _LARGEST else None
    # The variance is below 2^high.
    high = least.numerator.bit_length() - least.denominator.bit_length() + 1
    shift = min(_FINEST, _BITS - 1 - high)
    whole = Fraction(2) ** shift
    return max(Fraction(math.ceil(least * whole), 1) / whole, Fraction(1, 1 << 12))


def discrete_gaussian(variance: Fraction, n: int, entropy: Entropy) -> Wide:
    """Draw whole numbers z with probability proportional to ``exp(-z^2 / (2 * variance))``.

    Where a count moves by d, an answer is d^2 / (2 variance) concentrated: the Rényi
    divergence of order a is at most a times that, for all a above 1. The variance is one of
    `fine_variance`.
    """
    p, q = variance.numerator, variance.denominator
    root = math.isqrt(p // q)
    # The law is the same for any t; a square root that is whole keeps the fractions small.
    t = root if root * root * q == p else root + 1
    common = math.gcd(t * q, p)
    # (|y| - variance / t)^2 / (2 variance), in whole numbers.
    step, away = t * q // common, p // common
    rate = Fraction(common * common, 2 * p * q * t * t)
    result = np.zeros(n, dtype=np.int64)
    todo = np.arange(n)
    while len(todo):
        tried = discrete_laplace(Fraction(1, t), len(todo), entropy)
        squares = (np.abs(tried).astype(object) * step - away) ** 2 * rate.numerator
        whole = np.minimum(squares // rate.denominator, _NEVER).astype(np.int64)
        rest = (squares % rate.denominator).astype(np.int64)
        kept = _coins(whole, rest, rate.denominator, entropy)
        result[todo[kept]] = tried[kept]
        todo = todo[~kept]
    return result
