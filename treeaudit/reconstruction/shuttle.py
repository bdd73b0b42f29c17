"""Bounds of unknowns by going to and fro between them and their equations.

References
----------
Buzzigoli and Giusti (1999), An algorithm to calculate the lower and upper bounds of the elements
of an array given its marginals. Dobra and Fienberg (2000), Bounds for cell entries in
contingency tables given marginal totals. Here for any equations with weights above 0.
"""

from collections.abc import Callable

import numpy as np

from treeaudit.arrays import Float, Wide
from treeaudit.errors import DataError
from treeaudit.reconstruction.system import Bounds, System

__all__ = ["shuttle", "sweep"]

_ROUNDING = 1e-9
"""What a quotient of whole numbers may be off."""


def shuttle(system: System, over: Callable[[], bool] = lambda: False) -> Bounds:
    """Return bounds that follow from each equation and the bounds of the other unknowns.

    ``high[k]`` is at most what an equation leaves for k when all others are at their lowest,
    ``low[k]`` at least what is left when all others are at their highest; until nothing moves.

    Parameters
    ----------
    over
        Tells whether to stop before that: the bounds are valid after every step.

    Raises
    ------
    DataError
        If no whole numbers fulfil the equations.

    Examples
    --------
    Three cells; the leaves of two trees hold {0, 1}, {2} and {0}, {1, 2}.

    >>> system = System(
    ...     start=np.array([0, 2, 4, 6]), row=np.array([0, 2, 0, 3, 1, 3]),
    ...     least=np.array([3.0, 2.0, 1.0, 4.0]), most=np.array([3.0, 2.0, 1.0, 4.0]),
    ...     bounds=Bounds(low=np.zeros(3), high=np.full(3, 4.0)), origin=np.arange(4),
    ... )
    >>> shuttle(system).low.tolist(), shuttle(system).high.tolist()
    ([1.0, 2.0, 2.0], [1.0, 2.0, 2.0])
    """
    bounds, rows = system.bounds, system.by_group
    up, down = system.n_unknowns > 0, system.n_unknowns > 0
    while up or down:
        high = np.minimum(bounds.high, _most(system, rows, bounds.low)) if up else bounds.high
        down |= bool((high < bounds.high).any())
        low = np.maximum(bounds.low, _least(system, rows, high)) if down else bounds.low
        up, down = bool((low > bounds.low).any()), False
        bounds = _fitting(low, high)
        if over():
            break
    return bounds


def sweep(system: System, bounds: Bounds) -> Bounds:
    """Return the bounds after one look at every equation.

    Raises
    ------
    DataError
        If no whole numbers fulfil the equations.
    """
    rows = system.by_group
    high = np.minimum(bounds.high, _most(system, rows, bounds.low))
    low = np.maximum(bounds.low, _least(system, rows, bounds.high))
    return _fitting(low, high)


def _most(system: System, rows: Wide, low: Float) -> Float:
    """Return how many are in each unknown at most, with the others at their lowest.

    ``rows`` is ``system.by_group``.
    """
    if len(rows):
        least = (system.most - _sums(system, rows, low)).take(rows).min(axis=0)
    else:
        spare = (system.most - system.times(low))[system.row]
        spare = spare if system.weight is None else spare / system.weight
        least = np.minimum.reduceat(spare, system.start[:-1])
    most: Float = low + np.floor(least + _ROUNDING)
    return most


def _least(system: System, rows: Wide, high: Float) -> Float:
    """Return how many are in each unknown at least, with the others at their highest."""
    if len(rows):
        most = (system.least - _sums(system, rows, high)).take(rows).max(axis=0)
    else:
        lacks = (system.least - system.times(high))[system.row]
        lacks = lacks if system.weight is None else lacks / system.weight
        most = np.maximum.reduceat(lacks, system.start[:-1])
    least: Float = high + np.ceil(most - _ROUNDING)
    return least


def _sums(system: System, rows: Wide, x: Float) -> Float:
    found = np.bincount(rows.ravel(), np.tile(x, len(rows)), system.n_rows)
    total: Float = found.astype(np.float64)
    return total


def _fitting(low: Float, high: Float) -> Bounds:
    if (low > high).any():
        raise DataError("no people fit what the leaves of all trees say")
    return Bounds(low=low, high=high)
