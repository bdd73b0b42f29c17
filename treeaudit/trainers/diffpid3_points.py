"""Where to split a number: the exponential mechanism over ranges of equal score.

The papers choose among all real numbers between the public bounds. Here they
are the 65,536 evenly spaced points between them, so that the law is exact.
Points between two neighbouring records have the same score; they are drawn as
one range that weighs as many points as it has, and then one of them uniformly:
the same law as that of a draw among all points.

References
----------
Friedman & Schuster (2010), section 4.3.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Index, Int, Wide
from treeaudit.dp.curator import Curator
from treeaudit.dp.entropy import below
from treeaudit.dp.scores import UNIT, Score
from treeaudit.model.schema import Feature

__all__ = [
    *("N_POINTS", "Members", "choose_point", "coded", "place_on_grid", "places_on_grids"),
    *("point_value", "ranges"),
]

N_POINTS = 1 << 16
"""Points of the grid: number 0 is the lower bound, the last is the upper one."""

MISSING = N_POINTS + 1
_CHUNK = 1 << 14
_MOST_CELLS = 16
"""For each record, where they are counted without sorting."""
_MIDDLE = 0.5 - 1e-9
"""From the middle between two points, in their distance; less than that by what is rounded here."""
_Cell = npt.NDArray[np.integer[Any]]


def point_value(feature: Feature, number: npt.ArrayLike) -> Float:
    """Return the values of points by their numbers."""
    share = np.asarray(number, dtype=np.float64) / N_POINTS
    low, high = float(feature.low or 0.0), float(feature.high or 0.0)
    return np.asarray(low * (1 - share) + high * share)


def place_on_grid(feature: Feature, values: Float) -> Int:
    """Return the number of the first point that is not below each value; `MISSING` for NaN.

    Examples
    --------
    >>> place_on_grid(Feature(name="age", low=0, high=65536), np.array([0.0, 0.5, 1.0])).tolist()
    [0, 1, 1]
    """
    return places_on_grids([feature], values[:, None], [0])[0]


def places_on_grids(
    features: Sequence[Feature], values: Float, columns: Sequence[int]
) -> dict[int, Int]:
    """Return what `place_on_grid` does for some columns, in one pass over the records."""
    grids = {i: _Grid.of(features[i]) for i in columns}
    number = {i: np.empty(len(values), dtype=np.int32) for i in columns}
    for start in range(0, len(values), _CHUNK):
        piece = slice(start, start + _CHUNK)
        block = np.ascontiguousarray(values[piece].T)
        for i, grid in grids.items():
            grid.place(block[i], number[i][piece])
    return number


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Grid:
    """The points of a column, evenly spaced but for rounding.

    Attributes
    ----------
    points
        Their values.
    ends
        The point before each, and at its place again; none where it can go no further.
    scale
        How many are in one unit.
    sure
        How far a value may be from the middle between two points, by their distance, and
        certainly lie between them. Zero where rounding leaves none.
    """

    points: Float
    ends: Float
    scale: float
    sure: float

    @classmethod
    def of(cls, feature: Feature) -> "_Grid":
        # Of a narrow range rounding would leave it unsorted, and a place to depend on other
        # records.
        points: Float = np.maximum.accumulate(point_value(feature, np.arange(N_POINTS + 1)))
        # Nothing is before the first point, and whatever is beyond the last has its place.
        ends = np.concatenate([[np.nan], points[:-1], [np.nan]])
        with np.errstate(all="ignore"):
            scale = np.float64(N_POINTS) / (points[-1] - points[0])
            # Rounding keeps the order: who is not between a point and its number is certain.
            off = np.abs((points - points[0]) * scale - np.arange(N_POINTS + 1)).max()
        sure = _MIDDLE - off if off < _MIDDLE else 0.0
        return cls(points=points, ends=ends, scale=float(scale), sure=float(sure))

    def place(self, values: Float, out: Int) -> None:
        """Write what a search among the points would find."""
        if not self.sure:
            out[:] = self._searched(values)
            return
        with np.errstate(over="ignore"):
            near = values - self.points[0]
            near *= self.scale
        # Beyond the ends is as good as half a point beyond.
        np.clip(near, -0.5, N_POINTS - 0.5, out=near)
        number = np.ceil(near)
        np.subtract(number, near, out=near)
        near -= 0.5
        np.abs(near, out=near)
        with np.errstate(invalid="ignore"):
            np.copyto(out, number, casting="unsafe")
        if not near.max(initial=0.0) < self.sure:
            odd = np.flatnonzero(~(near < self.sure))
            out[odd] = self._searched(values[odd])

    def _searched(self, values: Float) -> Wide:
        """Return what a search would, by a look at the points where a number seems to be."""
        first, last = self.points[0], self.points[-1]
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            near = (values - first) / (last - first) * N_POINTS
        np.ceil(near, out=near)
        # What is no number falls on the last.
        np.fmin(near, N_POINTS, out=near)
        np.fmax(near, 0, out=near)
        number: Wide = near.astype(np.int64)
        off = self.ends.take(number) >= values
        off |= self.ends[1:].take(number) < values
        if off.any():
            odd = np.flatnonzero(off)
            found = np.searchsorted(self.points, values[odd], side="left")
            number[odd] = np.minimum(found, N_POINTS)
        number[np.isnan(values)] = MISSING
        return number


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Members:
    """The records of some nodes, node by node: their cells are then few at a time.

    Attributes
    ----------
    order
        The records; None where they stand so as they are.
    label
        Their classes.
    begins
        Where those of each node begin, and where those of the last one end.
    """

    order: Index | None
    label: Int | Wide
    begins: tuple[int, ...]

    @classmethod
    def of(cls, node: Wide, label: Wide, n_nodes: int, n_classes: int) -> "Members":
        """Return the records of nodes 0, 1, …; whoever is in none of these has a -1."""
        # Of few bytes, which are sorted many times faster.
        kind = np.min_scalar_type(n_nodes)
        begins = np.cumsum(np.bincount(node + 1, minlength=n_nodes + 1))
        own: Int | Wide = label if n_classes * N_POINTS >= 1 << 31 else label.astype(np.int32)
        if n_nodes == 1 and not begins[0]:
            return cls(order=None, label=own, begins=(0, len(node)))
        last = np.where(node < 0, n_nodes, node).astype(kind)
        order = np.argsort(last, kind="stable")[: int(begins[-1] - begins[0])]
        return cls(order=order, label=own.take(order), begins=tuple((begins - begins[0]).tolist()))


def ranges(
    place: Int, members: Members, n_classes: int, inside: Sequence[tuple[int, int]], score: Score
) -> Iterator[tuple[Wide, Wide, Wide]]:
    """Yield the ranges of points of equal score at each node.

    Parameters
    ----------
    place
        Of all records.
    members
        Those of each node.
    inside
        Of each node, the points that are left: more than the first, less than the second
        number. Its records are beyond the first and not beyond the second.

    Yields
    ------
    tuple of numpy.ndarray
        Of each node, the first point of every range, how many points it has, and their score.

    Examples
    --------
    >>> from treeaudit.dp.scores import MAX, UNIT
    >>> members = Members.of(np.array([0, 0]), np.array([0, 1]), 1, 2)
    >>> [(first, n, found)] = ranges(np.array([3, 5]), members, 2, [(0, 8)], MAX)
    >>> first.tolist(), n.tolist(), (found // UNIT).tolist()
    ([1, 3, 5], [2, 2, 3], [1, 2, 1])
    """
    room, of_class = np.empty((2, _CHUNK), dtype=members.label.dtype)
    for begin, end, ends in zip(members.begins[:-1], members.begins[1:], inside, strict=True):
        size = ends[1] - ends[0]
        key = np.empty(end - begin, dtype=np.int64)
        for i in range(begin, end, _CHUNK):
            piece = slice(i, min(i + _CHUNK, end))
            cell = key[i - begin : piece.stop - begin]
            at = place[piece] if members.order is None else place.take(members.order[piece])
            # What is on the lower bound is left of all points, as what is on the first.
            near = np.maximum(at, 1, out=room[: len(at)])
            near -= ends[0] + 1
            near += np.multiply(members.label[piece], size, out=of_class[: len(at)])
            cell[:] = near
            gone = at == MISSING
            if gone.any():
                cell[gone] = n_classes * size
        found, held = _occupied(key, n_classes, size)
        yield _in_node(found + ends[0] + 1, held, ends[1], score)


def _occupied(key: Wide, n_classes: int, size: int) -> tuple[Wide, Wide]:
    """Return the first cell of a node and those with anybody, and their people by class."""
    n_keys = n_classes * size
    if n_keys > _MOST_CELLS * len(key):
        label, cell = np.divmod(key[key < n_keys], size)
        found, at = np.unique(np.append(cell, 0), return_inverse=True)
        at = label * len(found) + at.ravel()[:-1]
        return found, np.bincount(at, minlength=len(found) * n_classes).reshape(n_classes, -1)
    counts = np.bincount(key, minlength=n_keys)[:n_keys].reshape(n_classes, size)
    there = counts[0] > 0
    for more in counts[1:]:
        there |= more > 0
    there[0] = True
    found = np.flatnonzero(there)
    return found, counts if len(found) == size else counts.take(found, axis=1)


def _in_node(first: Wide, held: Wide, last: int, score: Score) -> tuple[Wide, Wide, Wide]:
    """Return the ranges of a node from where they begin, and their people by class."""
    n = np.diff(first, append=last)
    sides = np.empty((2, *held.shape), dtype=np.int64)
    left, right = sides
    np.cumsum(held, axis=1, out=left)
    np.subtract(left[:, -1:], left, out=right)
    scores = score.of(sides.transpose(2, 0, 1))
    # Behind the last point there is none.
    some = slice(0, len(n) - (n[-1] == 0))
    return first[some], n[some], scores[some]


def coded(place: Int, drawn: Int, part: Wide, label: _Cell, n_classes: int) -> _Cell:
    """Return whether records are beyond the point of their part, 2 where nobody knows.

    Times the number of classes, plus their class, as numbers of the kind of this.
    """
    found = np.empty_like(label)
    for i in range(0, len(place), _CHUNK):
        piece = slice(i, i + _CHUNK)
        at, code = place[piece], found[piece]
        np.greater(at, drawn.take(part[piece]), out=code, casting="unsafe")
        gone = at == MISSING
        if gone.any():
            code[gone] = 2
        code *= found.dtype.type(n_classes)
        code += label[piece]
    return found


def choose_point(
    curator: Curator,
    name: str,
    epsilon: Fraction,
    sensitivity: Fraction,
    held: tuple[Wide, Wide, Wide],
) -> int:
    """Draw a point by the exponential mechanism; what `ranges` returned is asked about."""
    first, n, found = held
    chosen = curator.choose(
        name,
        found[None, :],
        epsilon,
        sensitivity=sensitivity,
        unit=UNIT,
        mechanism="exponential mechanism",
        weights=n,
    )[0]
    return int(first[chosen] + below(curator.entropy, int(n[chosen]), 1)[0])
