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
from treeaudit.dp.scores import UNIT, Score
from treeaudit.dp.subsampling import below
from treeaudit.model.schema import Feature

N_POINTS = 1 << 16
"""Points of the grid: number 0 is the lower bound, the last is the upper one."""

MISSING = N_POINTS + 1
_Cell = npt.NDArray[np.integer[Any]]


def point_value(feature: Feature, number: npt.ArrayLike) -> Float:
    """Return the values of points by their numbers."""
    share = np.asarray(number, dtype=np.float64) / N_POINTS
    low, high = float(feature.low or 0.0), float(feature.high or 0.0)
    return np.asarray(low * (1 - share) + high * share)


def place_on_grid(feature: Feature, values: Float) -> Int:
    """Return the number of the first point that is not below each value; `MISSING` for NaN."""
    # Of a narrow range rounding would leave the points unsorted, and a place to depend on other
    # records.
    points = np.maximum.accumulate(point_value(feature, np.arange(N_POINTS + 1)))
    number = np.minimum(np.searchsorted(points, values, side="left"), N_POINTS)
    return np.where(np.isnan(values), MISSING, number).astype(np.int32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Members:
    """The records of some nodes, node by node."""

    order: Index  # The records
    label: Wide  # Their classes
    begins: tuple[int, ...]  # Where those of each node begin, and where those of the last one end

    @classmethod
    def of(cls, node: Wide, label: Wide, n_nodes: int) -> "Members":
        """Return the records of nodes 0, 1, …; whoever is in none of these has a -1."""
        order = np.argsort(node, kind="stable")
        begins = np.searchsorted(node[order], np.arange(n_nodes + 1))
        return cls(order=order, label=label[order], begins=tuple(begins.tolist()))


def ranges(
    place: Int, members: Members, n_classes: int, inside: Sequence[tuple[int, int]], score: Score
) -> Iterator[tuple[Wide, Wide, Wide]]:
    """Yield for each node the first point of every range of equal score, its size and score."""
    for begin, end, (low, high) in zip(
        members.begins[:-1], members.begins[1:], inside, strict=True
    ):
        at, label = place[members.order[begin:end]], members.label[begin:end]
        known = at != MISSING
        # What is on the lower bound is left of all points, as what is on the first.
        near = np.append(low + 1, np.maximum(at[known], 1))
        first, of = np.unique(near, return_inverse=True)
        key = label[known] * len(first) + of.ravel()[1:]
        held = np.bincount(key, minlength=n_classes * len(first)).reshape(n_classes, -1)
        yield _in_node(first.astype(np.int64), held, high, score)


def _in_node(first: Wide, held: Wide, last: int, score: Score) -> tuple[Wide, Wide, Wide]:
    """Return the ranges of a node from where they begin, and their people by class."""
    n = np.diff(first, append=last)
    left = held.cumsum(axis=1)
    scores = score.of(np.stack([left.T, (left[:, -1:] - left).T], axis=1))
    # Behind the last point there is none.
    some = slice(0, len(n) - (n[-1] == 0))
    return first[some], n[some], scores[some]


def coded(place: Int, drawn: Int, part: Wide, label: _Cell, n_classes: int) -> _Cell:
    """Return whether records are beyond the point of their part, 2 where nobody knows.

    Times the number of classes, plus their class, as numbers of the kind of this.
    """
    beyond = np.where(place == MISSING, 2, place > drawn[part])
    return (beyond * n_classes + label).astype(label.dtype)


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
