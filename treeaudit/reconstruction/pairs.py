"""Bounds from pairs of trees: what leaves of one leave of a leaf of the other.

Let a leaf r of one tree hold n(r) people and meet the leaves s of another tree. All people of r
are in these, so outside r they hold ``sum n(s) - n(r)``. Those leaves s that lie wholly in r hold
``sum n(s)``, so the rest of r holds ``n(r) - sum n(s)``. Both are equations on fewer people than a
leaf has, and where they say 0, cells are empty that no leaf shows to be empty.

What is inside what follows from the unknowns that are still open, so that every cell that is found
empty makes leaves fit into each other.
"""

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.reconstruction.system import Bounds, System

__all__ = ["from_pairs"]

_LARGEST = 50_000_000
"""Leaves of one tree times leaves of the other that are looked at."""


def from_pairs(system: System, bounds: Bounds, divided: Wide, dividing: Wide) -> Bounds:
    """Return bounds that follow from two trees and the bounds so far.

    Parameters
    ----------
    system
        With ``groups``.
    divided, dividing
        Of ``system.by_group``: the equation of every unknown in the tree whose leaves are divided,
        and in the one whose leaves divide them.
    """
    at = np.flatnonzero(bounds.open)
    if not len(at):
        return bounds
    low, width = bounds.low, (bounds.high - bounds.low).take(at)
    (r, spare_r), (s, spare_s) = (_spare(system, one, low, at) for one in (divided, dividing))
    n = len(spare_r)
    if n * len(spare_s) > _LARGEST:
        return bounds
    wide_r = np.bincount(r, weights=width, minlength=n)
    wide_s = np.bincount(s, weights=width, minlength=len(spare_s))
    meet = np.zeros(len(spare_s) * n, dtype=np.bool_)
    meet[s * n + r] = True
    by, of = np.divmod(np.flatnonzero(meet), n)
    spare_by, wide_by = spare_s.take(by), wide_s.take(by)
    outside = np.bincount(of, weights=spare_by, minlength=n) - spare_r
    room = np.bincount(of, weights=wide_by, minlength=n) - wide_r
    most = _of_others(outside, by, of, r, s)
    least = width - _of_others(room - outside, by, of, r, s)
    once = np.bincount(by, minlength=len(spare_s)) == 1
    inner = once.take(by)
    within = of[inner]
    rest = spare_r - np.bincount(within, weights=spare_by[inner], minlength=n)
    room = wide_r - np.bincount(within, weights=wide_by[inner], minlength=n)
    out = np.flatnonzero(~once.take(s))
    here = r.take(out)
    most[out] = np.minimum(most.take(out), rest.take(here))
    least[out] = np.maximum(least.take(out), width.take(out) - (room - rest).take(here))
    high = bounds.high.copy()
    new_low = low.copy()
    high[at] = low.take(at) + np.minimum(width, most)
    new_low[at] = low.take(at) + np.maximum(0, least)
    return Bounds(low=new_low, high=high)


def _spare(system: System, row: Wide, low: Float, at: Wide) -> tuple[Wide, Float]:
    """Return the leaf of each open unknown, renumbered, and what its leaves have left."""
    first, last = int(row.min()), int(row.max()) + 1
    # The equations of a tree stand together.
    row = row - first
    taken = np.bincount(row, weights=low)
    mine = row.take(at)
    used = np.zeros(last - first, dtype=np.bool_)
    used[mine] = True
    place = np.cumsum(used) - 1
    return place.take(mine), (system.most[first:last] - taken)[used]


def _of_others(value: Float, by: Wide, of: Wide, r: Wide, s: Wide) -> Float:
    """Return, for each unknown, the least value of the leaves that meet its own s, but its own r.

    ``by`` ascends and holds every s; infinite where no other leaf meets it.
    """
    x = value.take(of)
    start = np.flatnonzero(np.diff(by, prepend=-1))
    least = np.minimum.reduceat(x, start)
    lowest = x == least.take(by)
    second = np.minimum.reduceat(np.where(lowest, np.inf, x), start)
    second = np.where(np.add.reduceat(lowest.astype(np.int64), start) > 1, least, second)
    own: Flag = value.take(r) == least.take(s)
    return np.where(own, second.take(s), least.take(s))
