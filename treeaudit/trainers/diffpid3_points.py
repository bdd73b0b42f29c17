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

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Wide
from treeaudit.dp.curator import Curator
from treeaudit.dp.entropy import below
from treeaudit.dp.scores import UNIT, Score
from treeaudit.model.schema import Feature

__all__ = ["N_POINTS", "choose_point", "place_on_grid", "point_value", "ranges"]

N_POINTS = 1 << 16
"""Points of the grid: number 0 is the lower bound, the last is the upper one."""

MISSING = N_POINTS + 1


def point_value(feature: Feature, number: npt.ArrayLike) -> Float:
    """Return the values of points by their numbers."""
    share = np.asarray(number, dtype=np.float64) / N_POINTS
    low, high = float(feature.low or 0.0), float(feature.high or 0.0)
    return np.asarray(low * (1 - share) + high * share)


def place_on_grid(feature: Feature, values: Float) -> Wide:
    """Return the number of the first point that is not below each value; `MISSING` for NaN.

    Examples
    --------
    >>> place_on_grid(Feature(name="age", low=0, high=65536), np.array([0.0, 0.5, 1.0])).tolist()
    [0, 1, 1]
    """
    grid = point_value(feature, np.arange(N_POINTS + 1))
    number = np.searchsorted(grid, values, side="left").astype(np.int64)
    number = np.minimum(number, N_POINTS)
    number[np.isnan(values)] = MISSING
    return number


def ranges(
    place: Wide, labels: Wide, n_classes: int, inside: tuple[int, int], score: Score
) -> tuple[Wide, Wide, Wide]:
    """Return the ranges of points of equal score at one node.

    Parameters
    ----------
    place, labels
        Of the records there whose value is known.
    inside
        The points that are left: more than the first, less than the second number.

    Returns
    -------
    tuple of numpy.ndarray
        The first point of every range, how many points it has, and their score.

    Examples
    --------
    >>> from treeaudit.dp.scores import MAX, UNIT
    >>> first, n, found = ranges(np.array([3, 5]), np.array([0, 1]), 2, (0, 8), MAX)
    >>> first.tolist(), n.tolist(), (found // UNIT).tolist()
    ([1, 3, 5], [2, 2, 3], [1, 2, 1])
    """
    low, high = inside
    cell = np.clip(place, low + 1, high)
    found, at = np.unique(np.concatenate([[low + 1], cell]), return_inverse=True)
    counts = np.zeros((len(found), n_classes), dtype=np.int64)
    np.add.at(counts, (at[1:], labels), 1)
    left = counts.cumsum(axis=0)
    right = left[-1] - left
    n = np.diff(np.append(found, high))
    fine = n > 0
    return found[fine], n[fine], score.of(np.stack([left, right], axis=1))[fine]


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
