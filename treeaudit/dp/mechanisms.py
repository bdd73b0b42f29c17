"""Noise and choices that protect people, on whole numbers and with exact laws.

Each function draws from the law that it states, and the tests enumerate. The rate says
how much a law may change when a score moves by one: the epsilon of a question
divided by how far apart one person can move two scores (`treeaudit.dp.scores`).

References
----------
Canonne, Kamath & Steinke (2020), algorithm 2 (discrete Laplace).
McSherry & Talwar (2007), exponential mechanism.
McKenna & Sheldon (2020), permute-and-flip.
"""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Wide
from treeaudit.dp.bernoulli import bernoulli_exp, of_fraction, of_one
from treeaudit.dp.entropy import Entropy, below

__all__ = ["IMPOSSIBLE", "discrete_laplace", "exponential_mechanism", "permute_and_flip"]

IMPOSSIBLE = -(1 << 61)
"""The score of a candidate that is never chosen, whatever the rate; it must not depend on data."""

_FIRST_TRIES, _TRIES = 1 << 8, 1 << 14
_LONGEST = (1 << 12) - 1
"""exp(-4095) is never seen; with denominators up to 2^50 the noise then stays below 2^62."""


def discrete_laplace(rate: Fraction, n: int, entropy: Entropy) -> Wide:
    """Draw whole numbers z with probability proportional to ``exp(-rate * |z|)``.

    The rate, epsilon divided by the sensitivity, is above 0; its denominator at most 2^50
    (`treeaudit.dp.rational.dyadic`).

    Examples
    --------
    >>> from treeaudit.dp.entropy import OperatingSystem
    >>> discrete_laplace(Fraction(1000), 3, OperatingSystem()).tolist()
    [0, 0, 0]
    """
    s, t = rate.numerator, rate.denominator
    result = np.zeros(n, dtype=np.int64)
    todo = np.arange(n)
    while len(todo):
        low = below(entropy, t, len(todo))
        kept = of_fraction(low, t, entropy)
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
        going = going.take(of_one(len(going), entropy))
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
    >>> from treeaudit.dp.entropy import OperatingSystem
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
    >>> from treeaudit.dp.entropy import OperatingSystem
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
