"""Bounds on how many people of a leaf can have another number than most, by the file alone.

A mean ``m`` and a standard deviation ``s`` give counts where numbers can be few. Of numbers that
are ``a`` or ``b`` the variance is ``(m - a) (b - m)`` in every node, whatever rows weigh, and the
share of ``b`` is ``(m - a) / (b - a)``. Of numbers on a grid of step ``h`` no more than
``n (s^2 + (m - c)^2) / h^2`` differ from ``c``, each by a step at least.

Numbers that are none below zero, ``n`` of them, are at least ``(sum y)^2 / sum y^2`` beside
zeros; as many as that have one number where it is exactly so. On a grid one alone differs where
``n sum y^2 - (sum y)^2`` is ``n - 1`` times the square of a step, and two to four may where
numbers are so near each other that most are the same. Of numbers on no grid nothing is said, nor
of a few far ones where the others differ anyway: nearly any leaf could be made up of such.
"""

import numpy as np

from treeaudit.arrays import Flag, Float, Wide

_WHOLE = 1e-3
"""How far a sum may be off a whole number."""

_DIGITS = range(-6, 4)
"""Digits behind the point, or noughts before it, of numbers that are looked for as a grid."""

_ERRORS = 2.0**-50
"""Of a sum, per root of the numbers that are added up: what rounding may leave of it."""


def _are_whole(sums: Float, size: Wide, digits: int) -> Flag:
    """Tell which sums are whole numbers, but for rounding.

    In units of ten or more, of which small numbers have hardly any, but for no more than that.
    """
    near: Float | float = _WHOLE
    if digits < 0:
        near = np.minimum(_WHOLE, _ERRORS * (8 + np.sqrt(size)) * np.abs(sums))
    return np.asarray(np.abs(sums - np.rint(sums)) <= near)


def _step_of(total: Wide, square: Wide) -> int:
    """Return the largest step that divides all sums, and whose square divides those of squares."""
    step = int(np.gcd.reduce(np.abs(total)))
    if step <= 1 or step * step > int(square.max()):
        return 1
    return 1 if np.any(square % (step * step)) else step


_SLACK = 1e-13
"""Of the squares of what is added up, what may be lost to rounding."""

_DRAWS = 1.582
"""Draws per person in a bootstrap sample, e / (e - 1)."""

_MOST_DRAWN = 3

_MANY = 3
"""Leaves of which sums are multiples of ten or more, not by chance."""

_EXACT = 1e-7

_SHARP = 0.1

_MOST_FEW = 4
"""Exceptions that are looked for one by one."""

_NEAR = 1.25
"""Of the square of a step: the variance up to which most numbers are the same."""

_OF_DRAWS = 1.3
"""People beside zeros that a draw with replacement makes of one who was drawn twice."""


def single_non_zero(value: Float, spread: Float, size: Wide) -> Flag:
    """Tell in which leaves one person alone has all, if no number is below zero."""
    apart = _beside_zeros(value, spread, size)
    return np.asarray((apart <= 1 + _EXACT) & (not _below_zero(value, apart)))


def fewest_others(value: Float, spread: Float, size: Wide, *, k: int, drawn: bool) -> Float:
    """Return a lower bound of the people who have another number than the rest of their leaf.

    As many as there are if nothing shows it.
    """
    n = size.astype(np.float64)
    fewest: Float = n.copy()
    apart = _beside_zeros(value, spread, size)
    positive = not _below_zero(value, apart)
    if drawn:
        return np.where(positive & (apart <= _OF_DRAWS) & (value > 0), 1.0, fewest)
    if positive:
        some = np.isfinite(apart) & ((value > 0) | (spread > 0))
        fewest = np.where(some, np.minimum(fewest, np.ceil(apart - _EXACT * n)), fewest)
        zeros = np.rint(n - apart)
        equal = some & (np.abs(n - apart - zeros) <= _EXACT * n)
        fewest = np.where(equal & (zeros > 0), np.minimum(fewest, zeros), fewest)
    _by_squares(fewest, value, spread, size, k=k, positive=positive)
    return fewest


def _below_zero(value: Float, apart: Float) -> bool:
    if len(value) and value.min() < -1e-12 * np.abs(value).max():
        return True
    return bool(np.any(apart[value != 0] < 1 - 1e-6))


def _beside_zeros(value: Float, spread: Float, size: Wide) -> Float:
    """Return how many numbers there are at least beside zeros; NaN where there are none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(value == 0, np.nan, size / (1 + (spread / value) ** 2))


def _by_squares(
    fewest: Float, value: Float, spread: Float, size: Wide, *, k: int, positive: bool
) -> None:
    """Write down what follows of numbers on a grid by their sums and sums of squares."""
    n = size.astype(np.int64)
    for digits in _DIGITS:
        scale = 10.0**digits
        total, square = n * value * scale, n * (spread**2 + value**2) * scale**2
        # Sums may be whole by chance where the numbers are not.
        whole = (size > 2) & (np.abs(total) * 1e-13 <= _WHOLE) & _are_whole(total, n, digits)
        told = whole & (square * 1e-13 <= _WHOLE) & (square * n < 2**53)
        told &= _are_whole(square, n, digits)
        far = whole & ~told & _one_far(n, value * scale, spread * scale)
        fewest[far] = np.minimum(fewest[far], 1.0)
        at = np.flatnonzero(told)
        if not len(at):
            continue
        of, s, q = n[at], np.rint(total[at]).astype(np.int64), np.rint(square[at]).astype(np.int64)
        one = _one_other(of, s, q)
        few = np.where(one, 1.0, fewest[at])
        for step in {1, _step_of(s, q) if len(s) > 1 else 1}:
            few = np.minimum(few, _few_near(of, s / step, q / step**2, k, positive=positive))
        fewest[at] = np.minimum(fewest[at], few)


def _one_far(n: Wide, mean: Float, spread: Float) -> Flag:
    """Tell the same as `_one_other`, where squares are too large to be told to the unit.

    One who is off the others by d leaves a spread of ``d sqrt(n - 1) / n``, which is sharp.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        off = n * spread / np.sqrt(n - 1.0)
        error = _ERRORS * (8 + np.sqrt(n)) * (spread**2 + mean**2) / spread**2 * off
        step, total = np.rint(off), np.rint(n * mean)
        fits = (error <= _SHARP) & (step > 0) & (np.abs(off - step) <= _WHOLE + error)
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


def few_others(value: Float, spread: Float, size: Wide, *, drawn: bool) -> Float:
    """Return an upper bound of the people who have another number than most of their leaf.

    Everybody if the leaves of the tree do not tell. Of a bootstrap sample it is an estimate,
    on the safe side.
    """
    found: Float = size.astype(np.float64)
    share = _of_two(value, spread)
    if share is not None:
        others: Float = np.multiply(size, np.minimum(share, 1 - share), dtype=np.float64)
        if _whole(others):
            found = np.rint(others)
        elif drawn and len(np.unique(np.round(share, 9))) > 3:
            few: Float = np.ceil(others * _DRAWS / _MOST_DRAWN - _WHOLE)
            # Somebody has it where anybody was drawn who has.
            found = np.where(others > _WHOLE, np.maximum(few, 1), 0.0)
    return np.minimum(found, _on_a_grid(value, spread, size))


def _of_two(value: Float, spread: Float) -> Float | None:
    """Return the share of the larger of two numbers in each leaf; None where there are more."""
    x = value - value.mean()
    square: Float = spread**2 + x**2
    if np.ptp(x) == 0:
        return None
    slope, level = np.polyfit(x, square, 1)
    noise = _SLACK * float(np.max(value**2 + spread**2))
    if np.abs(square - slope * x - level).max() > noise + 1e-10 * square.max():
        return None
    apart = slope**2 / 4 + level
    if apart <= 0 or noise > 1e-7 * apart:
        return None
    share: Float = (x - slope / 2) / (2 * np.sqrt(apart)) + 0.5
    inside = share.min() >= -_WHOLE and share.max() <= 1 + _WHOLE
    return np.clip(share, 0, 1) if inside else None


def _on_a_grid(value: Float, spread: Float, size: Wide) -> Float:
    """Return how many people are off the nearest number of a grid; everybody without one."""
    for digits in _DIGITS:
        scale = 10.0**digits
        if digits < 0 and len(value) < _MANY:
            continue
        total, square = size * value * scale, size * (spread**2 + value**2) * scale**2
        if max(np.abs(total).max(), square.max()) * 1e-13 > _WHOLE:
            break
        if not all(_are_whole(one, size, digits).all() for one in (total, square)):
            continue
        grid = _step_of(np.rint(total).astype(np.int64), np.rint(square).astype(np.int64)) / scale
        centre = np.rint(value / grid) * grid
        steps = size * (spread**2 + (value - centre) ** 2) / grid**2
        off_it: Float = np.minimum(np.floor(steps + _WHOLE), size)
        return off_it
    return size.astype(np.float64)


def _whole(numbers: Float) -> bool:
    return bool(np.all(np.abs(numbers - np.rint(numbers)) <= _WHOLE))
