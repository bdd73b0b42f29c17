"""Linear equations on whole numbers: how many people are in each cell."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Wide
from treeaudit.reconstruction.cells import Cells
from treeaudit.reconstruction.scope import ANYBODY

__all__ = ["Bounds", "System", "system_of"]


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

    Attributes
    ----------
    start, row
        As above.
    weight
        What an unknown counts in each of its equations, above 0; None where it is 1 everywhere.
    least, most
        Shape ``(n_rows,)``: the same where a leaf tells its number exactly.
    bounds
        What is known of the unknowns already.
    origin
        Shape ``(n_rows,)``: where a row comes from, as the caller counts; for leaves the node,
        counted over all trees.
    groups
        Above 0 where the rows come in so many groups, one a tree, each unknown is in exactly one
        row of each, in that order; without weights, and ``least`` is ``most``.
    """

    start: Wide
    row: Wide
    weight: Float | None = None
    least: Float
    most: Float
    bounds: Bounds
    origin: Wide
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

    Parameters
    ----------
    label
        The class.
    counts
        Class counts of the nodes of every tree of the cells.
    """
    at = np.flatnonzero(cells.alive[:, label])
    start = np.concatenate([[0], np.cumsum([len(one) for one in counts])])
    node = cells.leaf[:, at].T + start[:-1]
    used = np.zeros(start[-1], dtype=np.bool_)
    used[node] = True
    place = np.cumsum(used) - 1
    origin = np.flatnonzero(used)
    told = np.concatenate([one[:, label] for one in counts])[origin]
    n, n_trees = node.shape
    most = told[place[node]].min(axis=1) if n else np.zeros(0)
    return System(
        start=np.arange(n + 1) * n_trees,
        row=place[node].ravel(),
        least=np.where(told < ANYBODY, told, 0.0),
        most=told,
        bounds=Bounds(low=np.zeros(n), high=most),
        origin=origin,
        groups=n_trees if (told < ANYBODY).all() else 0,
    ), at
