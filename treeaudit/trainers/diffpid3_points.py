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
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Int, Wide
from treeaudit.dp.curator import Curator
from treeaudit.dp.entropy import below
from treeaudit.dp.scores import UNIT, Score
from treeaudit.model.schema import Feature

__all__ = ["N_POINTS", "choose_point", "coded", "place_on_grid", "point_value", "ranges"]

N_POINTS = 1 << 16
"""Points of the grid: number 0 is the lower bound, the last is the upper one."""

MISSING = N_POINTS + 1
_CHUNK = 1 << 14
_MOST_CELLS = 1 << 24
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
    # Of a narrow range rounding would leave it unsorted, and a place to depend on other records.
    grid = np.maximum.accumulate(point_value(feature, np.arange(N_POINTS + 1)))
    # Nothing is before the first point, and whatever is beyond the last has its place.
    ends = np.concatenate([[np.nan], grid[:-1], [np.nan]])
    number = np.empty(len(values), dtype=np.int32)
    for i in range(0, len(values), _CHUNK):
        number[i : i + _CHUNK] = _first_not_below(grid, ends, values[i : i + _CHUNK])
    number[np.isnan(values)] = MISSING
    return number


def _first_not_below(grid: Float, ends: Float, values: Float) -> Wide:
    """Return what a search in the grid would; its points are evenly spaced, but for rounding.

    With the points before and at each number, none where it can go no further.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        near = values - grid[0]
        near /= grid[-1] - grid[0]
        near *= N_POINTS
    np.ceil(near, out=near)
    # What is no number falls on the last.
    np.fmin(near, N_POINTS, out=near)
    np.fmax(near, 0, out=near)
    number: Wide = near.astype(np.int64)
    off = ends.take(number) >= values
    off |= ends[1:].take(number) < values
    if off.any():
        odd = np.flatnonzero(off)
        number[odd] = np.minimum(np.searchsorted(grid, values[odd], side="left"), N_POINTS)
    return number


def ranges(
    place: Int, group: Wide, n_classes: int, inside: Sequence[tuple[int, int]], score: Score
) -> list[tuple[Wide, Wide, Wide]]:
    """Return the ranges of points of equal score at each node.

    Parameters
    ----------
    place, group
        Of the records: where; and the number of their node times the classes, plus their class.
    inside
        Of each node, the points that are left: more than the first, less than the second
        number. Its records are beyond the first and not beyond the second.

    Returns
    -------
    list of tuple of numpy.ndarray
        Of each node, the first point of every range, how many points it has, and their score.

    Examples
    --------
    >>> from treeaudit.dp.scores import MAX, UNIT
    >>> [(first, n, found)] = ranges(np.array([3, 5]), np.array([0, 1]), 2, [(0, 8)], MAX)
    >>> first.tolist(), n.tolist(), (found // UNIT).tolist()
    ([1, 3, 5], [2, 2, 3], [1, 2, 1])
    """
    low, high = np.array(inside, dtype=np.int64).T
    # A cell for each point of a node, and for the values beyond the last of them.
    start = np.concatenate([[0], np.cumsum(high - low)])
    before = start[:-1] - low - 1
    of_class = np.arange(n_classes) * start[-1]
    offset, nowhere = (before[:, None] + of_class).ravel(), n_classes * start[-1]
    key = np.empty(len(place), dtype=np.int64)
    for i in range(0, len(place), _CHUNK):
        at = place[i : i + _CHUNK]
        # What is on the lower bound is left of all points, as what is on the first.
        cell = np.maximum(at, 1) + offset.take(group[i : i + _CHUNK])
        gone = at == MISSING
        if gone.any():
            cell[gone] = nowhere
        key[i : i + _CHUNK] = cell
    held: list[tuple[Wide, Wide, Wide]] = []
    for nodes, found, left in _by_cell(key, n_classes, start):
        begins = np.searchsorted(found, start[nodes.start : nodes.stop + 1])
        own = np.repeat(np.arange(nodes.stop - nodes.start), np.diff(begins))
        np.cumsum(left, axis=1, out=left)
        total = left[:, begins[1:] - 1]
        earlier = np.concatenate([np.zeros((n_classes, 1), np.int64), total[:, :-1]], axis=1)
        left -= earlier.take(own, axis=1)
        both = np.stack([left, (total - earlier).take(own, axis=1) - left])
        scores = score.of(both.transpose(2, 0, 1))
        n = np.diff(found, append=start[nodes.stop])
        n[begins[1:] - 1] -= 1
        first, fine = found - before[nodes][own], n > 0
        for mine in map(slice, begins[:-1], begins[1:]):
            some = fine[mine]
            held.append((first[mine][some], n[mine][some], scores[mine][some]))
    return held


def _by_cell(key: Wide, n_classes: int, start: Wide) -> Iterator[tuple[slice, Wide, Wide]]:
    """Yield some nodes, their cells with anybody and the first of each, and their people by class.

    As many nodes at a time as have cells that fit together into a cache.
    """
    n_cells = int(start[-1])
    n_keys = n_cells * n_classes
    if n_keys > min(_MOST_CELLS, 16 * len(key)):
        label, cell = np.divmod(key[key < n_keys], n_cells)
        found, at = np.unique(np.concatenate([start[:-1], cell]), return_inverse=True)
        at = label * len(found) + at.ravel()[len(start) - 1 :]
        counts = np.bincount(at, minlength=len(found) * n_classes).reshape(n_classes, -1)
        yield slice(0, len(start) - 1), found, counts
        return
    counts = np.bincount(key, minlength=n_keys)[:n_keys].reshape(n_classes, n_cells)
    one = 0
    while one < len(start) - 1:
        other = max(one + 1, int(np.searchsorted(start, start[one] + N_POINTS, side="right")) - 1)
        cells = counts[:, start[one] : start[other]]
        there = cells.max(axis=0) > 0
        there[start[one:other] - start[one]] = True
        found = np.flatnonzero(there)
        yield slice(one, other), found + start[one], cells.take(found, axis=1)
        one = other


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
