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


def from_pairs(system: System, bounds: Bounds, first: int, second: int) -> Bounds:
    """Return bounds that follow from two trees and the bounds so far.

    Parameters
    ----------
    system
        With ``groups``.
    first, second
        Of ``system.groups``: whose leaves are divided, and whose leaves divide them.
    """
    at = np.flatnonzero(bounds.open)
    if not len(at):
        return bounds
    rows = system.row.reshape(-1, system.groups)[:, [first, second]]
    low, width = bounds.low, (bounds.high - bounds.low)[at]
    (r, spare_r), (s, spare_s) = (_spare(system, rows[:, i], low, at) for i in (0, 1))
    if len(spare_r) * len(spare_s) > _LARGEST:
        return bounds
    wide_r = np.bincount(r, weights=width, minlength=len(spare_r))
    wide_s = np.bincount(s, weights=width, minlength=len(spare_s))
    meet = np.zeros((len(spare_s), len(spare_r)), dtype=np.bool_)
    meet[s, r] = True
    by, of = np.nonzero(meet)
    n = len(spare_r)
    outside = np.bincount(of, weights=spare_s[by], minlength=n) - spare_r
    room = np.bincount(of, weights=wide_s[by], minlength=n) - wide_r
    most = _of_others(outside, by, of, r, s)
    least = width - _of_others(room - outside, by, of, r, s)
    once = meet.sum(axis=1) == 1
    inner = once[by]
    rest = spare_r - np.bincount(of[inner], weights=spare_s[by[inner]], minlength=n)
    room = wide_r - np.bincount(of[inner], weights=wide_s[by[inner]], minlength=n)
    out = ~once[s]
    most[out] = np.minimum(most[out], rest[r[out]])
    least[out] = np.maximum(least[out], width[out] - (room - rest)[r[out]])
    high = bounds.high.copy()
    new_low = low.copy()
    high[at] = low[at] + np.minimum(width, most)
    new_low[at] = low[at] + np.maximum(0, least)
    return Bounds(low=new_low, high=high)


def _spare(system: System, row: Wide, low: Float, at: Wide) -> tuple[Wide, Float]:
    """Return the leaf of each open unknown, renumbered, and what its leaves have left."""
    used = np.zeros(system.n_rows, dtype=np.bool_)
    used[row[at]] = True
    place = np.cumsum(used) - 1
    taken = np.bincount(row, weights=low, minlength=system.n_rows)
    return place[row[at]], (system.most - taken)[used]


def _of_others(value: Float, by: Wide, of: Wide, r: Wide, s: Wide) -> Float:
    """Return, for each unknown, the least value of the leaves that meet its own s, but its own r.

    ``by`` ascends and holds every s; infinite where no other leaf meets it.
    """
    x = value[of]
    start = np.flatnonzero(np.diff(by, prepend=-1))
    least = np.minimum.reduceat(x, start)
    lowest = x == least[by]
    second = np.minimum.reduceat(np.where(lowest, np.inf, x), start)
    second = np.where(np.add.reduceat(lowest.astype(np.int64), start) > 1, least, second)
    own: Flag = value[r] == least[s]
    return np.where(own, second[s], least[s])
