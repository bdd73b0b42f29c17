"""Linear equations on whole numbers, people per cell, and the bounds that follow from them.

Single equations: propagation to and fro between unknowns and equations until nothing changes.

Pairs of trees: let a leaf r of one tree hold n(r) people and meet the leaves s of another tree.
All people of r are in these, so outside r they hold ``sum n(s) - n(r)``. Those leaves s that lie
wholly in r hold ``sum n(s)``, so the rest of r holds ``n(r) - sum n(s)``. Both are equations on
fewer people than a leaf has, and if they say 0, cells are empty that no leaf shows to be empty.

References
----------
Buzzigoli and Giusti (1999), An algorithm to calculate the lower and upper bounds of the elements
of an array given its marginals. Dobra and Fienberg (2000), Bounds for cell entries in
contingency tables given marginal totals. Here for any equations with weights above 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.errors import DataError
from treeaudit.inference.cells import Cells
from treeaudit.inference.scope import ANYBODY


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bounds:
    """No fewer and no more than so many, one entry per unknown; whole numbers as floats."""

    low: Float
    high: Float

    @property
    def open(self) -> npt.NDArray[np.bool_]:
        """Which unknowns are not settled."""
        return self.low < self.high


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class System:
    """Whole numbers x with ``least <= A x <= most`` and ``bounds.low <= x <= bounds.high``.

    A is kept by unknowns, in compressed sparse columns: unknown j is in the equations
    ``row[start[j]:start[j + 1]]``, at least in one.
    """

    start: Wide
    row: Wide
    # What an unknown counts in each of its equations, above 0; None where it is 1 everywhere
    weight: Float | None = None
    # Shape ``(n_rows,)``: the same where a leaf tells its number exactly
    least: Float
    most: Float
    bounds: Bounds  # What is known of the unknowns already
    # Shape ``(n_rows,)``: where a row comes from, as the caller counts; for leaves the node,
    # counted over all trees
    origin: Wide
    # Above 0 where the rows come in so many groups, one a tree, each unknown is in exactly
    # one row of each, in that order; without weights, and ``least`` is ``most``
    groups: int = 0

    @property
    def n_unknowns(self) -> int:
        """How many unknowns there are."""
        return len(self.start) - 1

    @property
    def n_rows(self) -> int:
        """How many equations there are."""
        return len(self.least)

    @property
    def column(self) -> Wide:
        """The unknown of every entry."""
        return np.repeat(np.arange(self.n_unknowns), np.diff(self.start))

    @property
    def by_group(self) -> Wide:
        """The equation of every unknown in each group, shape ``(groups, n_unknowns)``."""
        if not self.groups:
            return np.zeros((0, self.n_unknowns), dtype=np.int64)
        return np.ascontiguousarray(self.row.reshape(-1, self.groups).T)

    def times(self, x: Float) -> Float:
        """Return A x."""
        each = np.repeat(x, np.diff(self.start))
        weights = each if self.weight is None else each * self.weight
        total: Float = np.bincount(self.row, weights, self.n_rows).astype(np.float64)
        return total

    def part(self, kept: npt.NDArray[np.bool_], bounds: Bounds) -> "System":
        """Return the system of some unknowns, the others at their lower bounds."""
        fixed = np.where(kept, 0.0, bounds.low)
        size = np.diff(self.start)
        entries = np.repeat(kept, size)
        taken = self.times(fixed)
        return replace(
            self,
            start=np.concatenate([[0], np.cumsum(size[kept])]),
            row=self.row[entries],
            weight=None if self.weight is None else self.weight[entries],
            least=self.least - taken,
            most=self.most - taken,
            bounds=Bounds(low=bounds.low[kept], high=bounds.high[kept]),
        )


def system_of(cells: Cells, label: int, counts: Sequence[Float]) -> tuple[System, Wide]:
    """Return the equations on the people of one class, and the cells that are its unknowns.

    ``counts`` are the class counts of the nodes of every tree of the cells.
    """
    at = np.flatnonzero(cells.alive[:, label])
    start = np.concatenate([[0], np.cumsum([len(one) for one in counts])])
    node = cells.leaf[:, at].T + start[:-1]
    used = np.zeros(start[-1], dtype=np.bool_)
    used[node] = True
    place = np.cumsum(used) - 1
    origin = np.flatnonzero(used)
    totals = np.concatenate([one[:, label] for one in counts])[origin]
    n, n_trees = node.shape
    most = totals[place[node]].min(axis=1) if n else np.zeros(0)
    return System(
        start=np.arange(n + 1) * n_trees,
        row=place[node].ravel(),
        least=np.where(totals < ANYBODY, totals, 0.0),
        most=totals,
        bounds=Bounds(low=np.zeros(n), high=most),
        origin=origin,
        groups=n_trees if (totals < ANYBODY).all() else 0,
    ), at


_ROUNDING = 1e-9
"""What a quotient of whole numbers may be off."""


def propagate(system: System, over: Callable[[], bool] = lambda: False) -> Bounds:
    """Return bounds that follow from each equation and the bounds of the other unknowns.

    ``high[k]`` is at most what an equation leaves for k when all others are at their lowest,
    ``low[k]`` at least what is left when all others are at their highest; until nothing moves.

    Raises DataError if no whole numbers fulfil the equations.

    ``over`` tells whether to stop before that: the bounds are valid after every step.
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

    Raises DataError if no whole numbers fulfil the equations.
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
    result = np.bincount(rows.ravel(), np.tile(x, len(rows)), system.n_rows)
    total: Float = result.astype(np.float64)
    return total


def _fitting(low: Float, high: Float) -> Bounds:
    if (low > high).any():
        raise DataError("no people fit what the leaves of all trees say")
    return Bounds(low=low, high=high)


_LARGEST = 50_000_000
"""Leaves of one tree times leaves of the other that are looked at."""


def pair_bounds(system: System, bounds: Bounds, divided: Wide, dividing: Wide) -> Bounds:
    """Return bounds that follow from two trees and the bounds so far."""
    at = np.flatnonzero(bounds.open)
    if not len(at):
        return bounds
    low, width = bounds.low, (bounds.high - bounds.low).take(at)
    (r, left_r), (s, left_s) = (_remaining(system, one, low, at) for one in (divided, dividing))
    n = len(left_r)
    if n * len(left_s) > _LARGEST:
        return bounds
    wide_r = np.bincount(r, weights=width, minlength=n)
    wide_s = np.bincount(s, weights=width, minlength=len(left_s))
    meet = np.zeros(len(left_s) * n, dtype=np.bool_)
    meet[s * n + r] = True
    by, of = np.divmod(np.flatnonzero(meet), n)
    left_by, wide_by = left_s.take(by), wide_s.take(by)
    outside = np.bincount(of, weights=left_by, minlength=n) - left_r
    room = np.bincount(of, weights=wide_by, minlength=n) - wide_r
    most = _of_others(outside, by, of, r, s)
    least = width - _of_others(room - outside, by, of, r, s)
    single = np.bincount(by, minlength=len(left_s)) == 1
    inner = single.take(by)
    within = of[inner]
    rest = left_r - np.bincount(within, weights=left_by[inner], minlength=n)
    room = wide_r - np.bincount(within, weights=wide_by[inner], minlength=n)
    out = np.flatnonzero(~single.take(s))
    here = r.take(out)
    most[out] = np.minimum(most.take(out), rest.take(here))
    least[out] = np.maximum(least.take(out), width.take(out) - (room - rest).take(here))
    high = bounds.high.copy()
    new_low = low.copy()
    high[at] = low.take(at) + np.minimum(width, most)
    new_low[at] = low.take(at) + np.maximum(0, least)
    return Bounds(low=new_low, high=high)


def _remaining(system: System, row: Wide, low: Float, at: Wide) -> tuple[Wide, Float]:
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


def tightest_bounds(
    system: System, over: Callable[[], bool], quiet_rounds: int | None = None
) -> tuple[Bounds, bool]:
    """Return the bounds that follow from a system, and whether time sufficed to find all.

    ``over`` tells whether time is up; one look at every equation is always taken. Pairs of trees
    are looked at until so many rounds bring no news; all of them unless told.
    """
    bounds = propagate(system, over)
    if not system.groups or not bounds.open.any():
        return bounds, True
    low, high = bounds.low.copy(), bounds.high.copy()
    at: Wide = np.flatnonzero(bounds.open)
    rest = system.part(bounds.open, bounds)
    n, quiet, turn = system.groups, 0, 0
    rounds = n - 1 if quiet_rounds is None else min(n - 1, quiet_rounds)
    # Each round pairs every tree with another one; n - 1 rounds without news are all pairs.
    while quiet < rounds and rest.n_unknowns:
        if over():
            return Bounds(low=low, high=high), False
        turn = turn % (n - 1) + 1
        bounds, rows = rest.bounds, rest.by_group
        for i in range(n):
            if over():
                break
            bounds = pair_bounds(rest, bounds, rows[i], rows[(i + turn) % n])
        quiet += 1
        if (bounds.low > rest.bounds.low).any() or (bounds.high < rest.bounds.high).any():
            quiet = 0
            bounds = propagate(replace(rest, bounds=bounds), over)
            low[at], high[at] = bounds.low, bounds.high
            at = at[bounds.open]
            rest = rest.part(bounds.open, bounds)
    return Bounds(low=low, high=high), True
