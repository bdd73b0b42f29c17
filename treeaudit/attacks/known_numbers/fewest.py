"""How few people of a leaf can have another number than the rest, as the file tells.

Numbers that are none below zero, ``n`` of them, are at least ``(sum y)^2 / sum y^2`` beside
zeros, and by a Poisson deviance as many as the entropy of their shares tells; as many as that
have one number where it is exactly so. On a grid one alone differs where ``n sum y^2 -
(sum y)^2`` is ``n - 1`` times the square of a step, and two to four may where numbers are so
near each other that most are the same. Of numbers that lie on no grid nothing is said, nor of
a few far ones where the others differ anyway: those of nearly any leaf could be made up of such.
"""

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.attacks.known_numbers.grid import DIGITS, ERRORS, WHOLE, are_whole, step_of

__all__ = ["fewest_others", "single_non_zero"]

_EXACT = 1e-7
_SHARP = 0.1
_MOST_FEW = 4
"""Exceptions that are looked for one by one."""
_NEAR = 1.25
"""Of the square of a step: the variance up to which most numbers are the same."""
_NEAR_MEDIAN = 0.25
_OF_DRAWS = 1.3
"""People beside zeros that a draw with replacement makes of one who was drawn twice."""


def single_non_zero(value: Float, spread: Float, size: Wide, kind: str) -> Flag:
    """Tell in which leaves one person alone has all, if no number is below zero.

    Examples
    --------
    >>> single_non_zero(np.array([0.12, 0.12]), np.array([1.194, 0.3]), np.array([100, 100]),
    ...                 "deviation").tolist()
    [False, False]
    >>> of_one = np.sqrt(100 * 0.12**2 - 0.12**2)
    >>> single_non_zero(np.array([0.12]), np.array([of_one]), np.array([100]), "deviation").tolist()
    [True]
    """
    apart = _beside_zeros(value, spread, size, kind)
    return np.asarray(
        (apart <= 1 + _EXACT) & (kind != "absolute") & (not _below_zero(value, apart))
    )


def fewest_others(
    value: Float, spread: Float, size: Wide, kind: str, *, k: int, drawn: bool
) -> Float:
    """Return how many people, no fewer, have another number than the rest of their leaf.

    As many as there are where nothing is seen of it.

    Parameters
    ----------
    value, spread, size
        Of the leaves of one tree.
    kind
        As `Tree.spread_is`.
    k
        Only fewer than so many are of interest.
    drawn
        Whether they may be of draws with replacement.

    Examples
    --------
    Of a hundred 99 have 36 and one has 45: a mean of 36.09 and a spread of 0.8955.

    >>> mean, spread = np.array([36.09]), np.array([np.sqrt(99) * 9 / 100])
    >>> fewest_others(mean, spread, np.array([100]), "deviation", k=5, drawn=False).tolist()
    [1.0]
    """
    n = size.astype(np.float64)
    fewest: Float = n.copy()
    apart = _beside_zeros(value, spread, size, kind)
    positive = not _below_zero(value, apart)
    if drawn:
        return np.where(positive & (apart <= _OF_DRAWS) & (value > 0), 1.0, fewest)
    if positive:
        some = np.isfinite(apart) & ((value > 0) | (spread > 0))
        fewest = np.where(some, np.minimum(fewest, np.ceil(apart - _EXACT * n)), fewest)
        zeros = np.rint(n - apart)
        equal = some & (np.abs(n - apart - zeros) <= _EXACT * n) & (kind == "deviation")
        fewest = np.where(equal & (zeros > 0), np.minimum(fewest, zeros), fewest)
    if kind == "deviation":
        _by_squares(fewest, value, spread, size, k=k, positive=positive)
    elif kind == "poisson":
        _by_deviance(fewest, value, spread, size, k)
    else:
        _by_medians(fewest, value, spread)
    return fewest


def _below_zero(value: Float, apart: Float) -> bool:
    if len(value) and value.min() < -1e-12 * np.abs(value).max():
        return True
    return bool(np.any(apart[value != 0] < 1 - 1e-6))


def _beside_zeros(value: Float, spread: Float, size: Wide, kind: str) -> Float:
    """Return how many numbers there are at least beside zeros; NaN where there are none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if kind == "absolute":
            # Half of them are zero, and one may have all.
            return np.where((value == 0) & (spread > 0), 1.0, np.nan)
        square = (spread / value) ** 2
        part = 1 / (1 + square) if kind == "deviation" else np.exp(-square / 2)
    return np.where(value == 0, np.nan, size * part)


def _by_squares(
    fewest: Float, value: Float, spread: Float, size: Wide, *, k: int, positive: bool
) -> None:
    """Write down what follows of numbers on a grid by their sums and sums of squares."""
    n = size.astype(np.int64)
    for digits in DIGITS:
        scale = 10.0**digits
        total, square = n * value * scale, n * (spread**2 + value**2) * scale**2
        # Sums may be whole by chance where the numbers are not.
        whole = (size > 2) & (np.abs(total) * 1e-13 <= WHOLE) & are_whole(total, n, digits)
        told = whole & (square * 1e-13 <= WHOLE) & (square * n < 2**53)
        told &= are_whole(square, n, digits)
        far = whole & ~told & _one_far(n, value * scale, spread * scale)
        fewest[far] = np.minimum(fewest[far], 1.0)
        at = np.flatnonzero(told)
        if not len(at):
            continue
        of, s, q = n[at], np.rint(total[at]).astype(np.int64), np.rint(square[at]).astype(np.int64)
        one = _one_other(of, s, q)
        few = np.where(one, 1.0, fewest[at])
        for step in {1, step_of(s, q) if len(s) > 1 else 1}:
            few = np.minimum(few, _few_near(of, s / step, q / step**2, k, positive=positive))
        fewest[at] = np.minimum(fewest[at], few)


def _one_far(n: Wide, mean: Float, spread: Float) -> Flag:
    """Tell the same as `_one_other`, where squares are too large to be told to the unit.

    One who is off the others by d leaves a spread of ``d sqrt(n - 1) / n``, which is sharp.

    Examples
    --------
    >>> n, off = np.array([100, 100]), np.array([6000.0, 6000.4])
    >>> _one_far(n, 52340 + np.rint(off) / 100, off * np.sqrt(99) / 100).tolist()
    [True, False]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        off = n * spread / np.sqrt(n - 1.0)
        error = ERRORS * (8 + np.sqrt(n)) * (spread**2 + mean**2) / spread**2 * off
        step, total = np.rint(off), np.rint(n * mean)
        fits = (error <= _SHARP) & (step > 0) & (np.abs(off - step) <= WHOLE + error)
        one = ((total - step) % n == 0) | ((total + step) % n == 0)
    return np.asarray(fits & one)


def _one_other(n: Wide, total: Wide, square: Wide) -> Flag:
    """Tell whether all numbers but one can be the same whole number."""
    off = n * square - total**2
    step = np.rint(np.sqrt(np.maximum(off // (n - 1), 0))).astype(np.int64)
    fits = (step**2 * (n - 1) == off) & (step > 0)
    return np.asarray(fits & (((total - step) % n == 0) | ((total + step) % n == 0)))


def _few_near(n: Wide, total: Float, square: Float, k: int, *, positive: bool) -> Float:
    """Return the fewest, of two or more, that may be off a number which most have."""
    found = np.full(len(n), np.inf)
    low = np.floor(total / n)
    for most in (low, low + 1):
        off, far = total - n * most, square - 2 * most * total + n * most**2
        near = far <= _NEAR * n
        for few in range(2, min(k, _MOST_FEW + 1)):
            fits = near & (off**2 <= few * far) & (few <= far) & ((off - far) % 2 == 0)
            if positive:
                fits &= far <= (few - 1) * most**2 + (off + (few - 1) * most) ** 2
            found = np.where(fits, np.minimum(found, few), found)
    return found


def _by_deviance(fewest: Float, value: Float, spread: Float, size: Wide, k: int) -> None:
    """Write down the same of numbers on a grid, none below zero, by Poisson deviances."""
    n = size.astype(np.float64)
    for step in _grids(n * value):
        _on_steps(fewest, value, spread, n, step, k)


def _on_steps(fewest: Float, value: Float, spread: Float, n: Float, step: float, k: int) -> None:
    mean, total = value / step, n * value / step
    with np.errstate(divide="ignore", invalid="ignore"):
        deviance = spread**2 / (2 * value) / step
        target = np.where(total > 0, n * deviance + total * np.log(mean), 0.0)
    slack = 1e-9 * (1 + np.abs(target) + total)
    for most in (np.floor(mean), np.floor(mean) + 1):
        near = (spread / step) ** 2 + (mean - most) ** 2 <= _NEAR
        base = np.where(most > 0, most * np.log(np.maximum(most, 1)), 0.0)
        for few in range(1, min(k, _MOST_FEW + 1)):
            rest = total - (n - few) * most
            of_few = target - (n - few) * base
            with np.errstate(divide="ignore", invalid="ignore"):
                least = np.where(rest > 0, rest * np.log(rest / few), 0.0)
                largest = np.where(rest > 0, rest * np.log(rest), 0.0)
            fits = (rest >= -WHOLE) & (of_few >= least - slack) & (of_few <= largest + slack)
            fits &= (deviance > 0) & (near | (few == 1))
            np.minimum(fewest, few, out=fewest, where=fits)


def _by_medians(fewest: Float, value: Float, spread: Float) -> None:
    """Write down where most have the median, and one may have all that is off it."""
    for step in _grids(2 * value):
        near = (spread > 0) & (spread <= _NEAR_MEDIAN * step / 2)
        np.minimum(fewest, 1.0, out=fewest, where=near)


def _grids(numbers: Float) -> set[float]:
    """Return the finest and the coarsest step of which all numbers are multiples, if any."""
    for digits in range(DIGITS.stop):
        whole = numbers * 10.0**digits
        if np.abs(whole).max(initial=0.0) * 1e-13 > WHOLE:
            break
        if np.all(np.abs(whole - np.rint(whole)) <= WHOLE):
            step = int(np.gcd.reduce(np.rint(np.abs(whole)).astype(np.int64)))
            return {1 / 10.0**digits, max(step, 1) / 10.0**digits}
    return set()
