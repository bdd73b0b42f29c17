"""Bounds of unknowns by going to and fro between them and their equations.

References
----------
Buzzigoli and Giusti (1999), An algorithm to calculate the lower and upper bounds of the elements
of an array given its marginals. Dobra and Fienberg (2000), Bounds for cell entries in
contingency tables given marginal totals. Here for any equations with weights above 0.
"""

from collections.abc import Callable

import numpy as np

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
    bounds, moves = system.bounds, system.n_unknowns > 0
    while moves:
        before, bounds = bounds, sweep(system, bounds)
        moves = bool((bounds.low > before.low).any() or (bounds.high < before.high).any())
        moves &= not over()
    return bounds


def sweep(system: System, bounds: Bounds) -> Bounds:
    """Return the bounds after one look at every equation.

    Raises
    ------
    DataError
        If no whole numbers fulfil the equations.
    """
    first, row, weight = system.start[:-1], system.row, system.weight
    spare = (system.most - system.times(bounds.low))[row]
    lacks = (system.least - system.times(bounds.high))[row]
    if weight is not None:
        spare, lacks = spare / weight, lacks / weight
    most = bounds.low + np.floor(np.minimum.reduceat(spare, first) + _ROUNDING)
    least = bounds.high + np.ceil(np.maximum.reduceat(lacks, first) - _ROUNDING)
    new = Bounds(low=np.maximum(bounds.low, least), high=np.minimum(bounds.high, most))
    if (new.low > new.high).any():
        raise DataError("no people fit what the leaves of all trees say")
    return new
