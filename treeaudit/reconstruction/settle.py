"""Bounds of a system by all means, the cheap ones first, while there is time."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.reconstruction.pairs import from_pairs
from treeaudit.reconstruction.shuttle import shuttle
from treeaudit.reconstruction.system import Bounds, System

__all__ = ["Settled", "settle"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Settled:
    """Bounds, and whether there was time for everything.

    Attributes
    ----------
    bounds
        Of every unknown.
    finished
        Whether no step says more; otherwise time ended it.
    """

    bounds: Bounds
    finished: bool


def settle(system: System, over: Callable[[], bool]) -> Settled:
    """Return the bounds that follow from a system, while there is time.

    Parameters
    ----------
    over
        Tells whether time is up; one look at every equation is always taken.
    """
    bounds = shuttle(system, over)
    if not system.groups or not bounds.open.any():
        return Settled(bounds=bounds, finished=True)
    low, high = bounds.low.copy(), bounds.high.copy()
    at: Wide = np.flatnonzero(bounds.open)
    rest = system.part(bounds.open, bounds)
    n, quiet, turn = system.groups, 0, 0
    # Each round pairs every tree with another one; n - 1 rounds without news are all pairs.
    while quiet < n - 1 and rest.n_unknowns:
        if over():
            return Settled(bounds=Bounds(low=low, high=high), finished=False)
        turn = turn % (n - 1) + 1
        bounds, rows = rest.bounds, rest.by_group
        for i in range(n):
            if over():
                break
            bounds = from_pairs(rest, bounds, rows[i], rows[(i + turn) % n])
        quiet += 1
        if (bounds.low > rest.bounds.low).any() or (bounds.high < rest.bounds.high).any():
            quiet = 0
            bounds = shuttle(replace(rest, bounds=bounds), over)
            low[at], high[at] = bounds.low, bounds.high
            at = at[bounds.open]
            rest = rest.part(bounds.open, bounds)
    return Settled(bounds=Bounds(low=low, high=high), finished=True)
