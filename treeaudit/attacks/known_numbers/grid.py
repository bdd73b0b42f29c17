"""Numbers on a grid, such as whole numbers, hundredths or thousands: told by their sums."""

import numpy as np

from treeaudit.arrays import Flag, Float, Wide

__all__ = ["DIGITS", "ERRORS", "WHOLE", "are_whole", "step_of"]

WHOLE = 1e-3
"""How far a sum may be off a whole number."""
DIGITS = range(-6, 4)
"""Digits behind the point, or noughts before it, of numbers that are looked for as a grid."""
ERRORS = 2.0**-50
"""Of a sum, per root of the numbers that are added up: what rounding may leave of it."""


def are_whole(sums: Float, size: Wide, digits: int) -> Flag:
    """Tell which sums are whole numbers, but for rounding.

    In units of ten or more, of which small numbers have hardly any, but for no more than that.

    Examples
    --------
    >>> are_whole(np.array([52.0, 52.00001, 1e-5]), np.array([9, 9, 9]), 0).tolist()
    [True, True, True]
    >>> are_whole(np.array([52.0, 52.00001, 1e-5]), np.array([9, 9, 9]), -3).tolist()
    [True, False, False]
    """
    near: Float | float = WHOLE
    if digits < 0:
        near = np.minimum(WHOLE, ERRORS * (8 + np.sqrt(size)) * np.abs(sums))
    return np.asarray(np.abs(sums - np.rint(sums)) <= near)


def step_of(total: Wide, square: Wide) -> int:
    """Return the largest step of which all sums are multiples, and all sums of squares of its own.

    Parameters
    ----------
    total, square
        Of the numbers of each leaf: their sum and that of their squares.

    Examples
    --------
    >>> step_of(np.array([15, 40]), np.array([125, 650])), step_of(np.array([15]), np.array([77]))
    (5, 1)
    """
    step = int(np.gcd.reduce(np.abs(total)))
    if step <= 1 or step * step > int(square.max()):
        return 1
    return 1 if np.any(square % (step * step)) else step
