"""Sums of a target with noise: between which ends it is summed, and what they say of the nodes.

A target is a whole number of steps between its public bounds. Between two ends that are W steps
apart a record adds ``w`` to one sum and ``W - w`` to another, w its steps above the lower end:
W altogether, so that both may have discrete Laplace noise of rate epsilon / W. Together they
tell people (their sum by W) and the mean (the share of the first), as two classes do whose people
are divided. A sum and a count apart, with shares of epsilon, tell both worse.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Index, Int, Wide
from treeaudit.dp.accounting import FINEST_COUNT, dyadic
from treeaudit.dp.curator import Curator
from treeaudit.dp.scores import Score
from treeaudit.trainers.private_tree_nodes import Nodes
from treeaudit.trainers.targets import STEPS

__all__ = ["DEVIATION", "Answered", "Ends", "ends_of"]

_UNKNOWN = 1e-100
"""One by the variance of what was never asked: it weighs nothing beside any answer."""


def _deviation(sums: npt.ArrayLike) -> Wide:
    score: Wide = np.abs(np.asarray(sums, dtype=np.int64).sum(axis=-1)).sum(axis=-1)
    return score


DEVIATION = Score(name="deviation", of=_deviation, sensitivity=lambda most: Fraction(2 * most))
r"""How far the targets of the parts are from a centre, in sum: ``sum over parts |sum of d|``.

A record has the deviation ``d = clip(w - centre, -most, most)`` from a centre of its node that
was answered before, and is in one part of every candidate. With S the sum of the others in
that part, adding it changes a score by ``|S + d| - |S|``, which lies between -|d| and |d|. So two
candidates move apart by at most ``2 |d| <= 2 most``, and no other score of the node's moves them.
That is reached: S = d for one candidate and S = -d for another. (Adding the same ``sum |d|`` to
all candidates gives twice the larger of the sums above and below the centre in each part, which
only grows: the number of people on the right side, as `treeaudit.dp.scores.MAX`, by d.)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """Between which steps targets are summed; what is beyond counts as the end.

    Attributes
    ----------
    low, high
        The ends, of the steps between the public bounds.
    centre
        About the mean of all, between them.
    size
        About how many people there are, at least 1.
    surely
        That, less what noise may have added; at least 1.
    """

    low: int
    high: int
    centre: int
    size: int
    surely: int

    @property
    def width(self) -> int:
        """How many steps lie between the ends, at least 1."""
        return self.high - self.low

    def inside(self, steps: Wide) -> Wide:
        """Return the steps above the lower end."""
        found: Wide = np.clip(steps, self.low, self.high) - self.low
        return found


def ends_of(
    steps: Wide, curator: Curator, for_sum: Fraction, for_spread: Fraction, times: float
) -> Ends:
    """Return ends around the mean, so many mean absolute deviations to each side.

    Two questions: how many people there are and the sum of their targets; the sum
    of the distances from the mean that is answered. What noise may have added is
    added once more, so that few people are summed over the whole range.
    """
    both = [[int(steps.sum()), int((STEPS - steps).sum())]]
    over, under = curator.count("people and their sum", both, for_sum, most=STEPS)[0].tolist()
    size = max(1, (over + under) // STEPS)
    over, under = max(over, 0), max(under, 0)
    centre = round(STEPS * over / (over + under)) if over + under else STEPS // 2
    most = max(centre, STEPS - centre)
    apart = [int(np.abs(steps - centre).sum())]
    spread = int(curator.count("distances from the mean", apart, for_spread, most=most)[0])
    off = _deviation_of(curator.rate(for_spread, most))
    over_size = _deviation_of(curator.rate(for_sum, STEPS))
    side = (times * (max(spread, 0) + off) + over_size) / size
    half = max(1, math.ceil(min(side, STEPS)))
    return Ends(
        low=max(0, centre - half),
        high=min(STEPS, centre + half),
        centre=centre,
        size=size,
        surely=max(1, size - math.ceil(over_size / STEPS)),
    )


def _deviation_of(rate: Fraction) -> float:
    """Return about the standard deviation of noise."""
    return math.sqrt(2) / float(rate)


class Answered:
    """What was answered of the sums of nodes, and what it says of their means.

    Attributes
    ----------
    inside
        Shape ``(n_records,)``: steps above the lower end.
    ends
        Between which they were summed.
    sums
        Shape ``(n_nodes, 2)``: the answers, in people.
    variance
        Shape ``(n_nodes,)``: of each, about; infinite where a node was not asked.
    """

    def __init__(self, inside: Wide, ends: Ends) -> None:
        self.inside, self.ends = inside, ends
        self.sums, self.variance = np.zeros((0, 2)), np.zeros(0)

    def can_ask(self, epsilon: Fraction, curator: Curator) -> bool:
        """Tell whether an epsilon is enough to be asked at; it follows from what is released."""
        return dyadic(epsilon / (curator.factor * self.ends.width), FINEST_COUNT) > 0

    def ask(self, name: str, nodes: Index, node: Int, curator: Curator, epsilon: Fraction) -> None:
        """Ask for both sums of nodes that have no record in common; ``node`` by record."""
        width, n = self.ends.width, int(nodes.max()) + 1
        people = np.bincount(node, minlength=n)[nodes]
        over = np.bincount(node, self.inside, minlength=n)[nodes].astype(np.int64)
        both = np.column_stack([over, width * people - over])
        self._make_room(n)
        self.sums[nodes] = curator.count(name, both, epsilon, most=width) / width
        self.variance[nodes] = (_deviation_of(curator.rate(epsilon, width)) / width) ** 2

    def _make_room(self, n_nodes: int) -> None:
        more = max(0, n_nodes - len(self.sums))
        self.sums = np.pad(self.sums, ((0, more), (0, 0)))
        self.variance = np.pad(self.variance, (0, more), constant_values=np.inf)

    def shares(self, nodes: Nodes) -> Float:
        """Return how far above the lower end the mean of each node is, 0 to 1.

        What was asked of a node and what its children hold together are averaged by their
        variances. The share of a node is then drawn towards that of the node above, which is
        worth as many people as the noise in it, as `treeaudit.trainers.pruning.settled` does.
        """
        n = len(nodes)
        self._make_room(n)
        parent, depth = np.array(nodes.parent), np.array(nodes.depth)
        levels = [np.flatnonzero(depth == level) for level in range(int(depth.max()) + 1)]
        held, variance = np.zeros((n, 2)), np.zeros(n)
        # One more row, for what is above the roots.
        below, theirs = np.zeros((n + 1, 2)), np.zeros(n + 1)
        for at in levels[::-1]:
            own = 1 / self.variance[at]
            other = np.divide(1.0, theirs[at], out=np.zeros(len(at)), where=theirs[at] > 0)
            both = np.maximum(own + other, _UNKNOWN)
            summed = own[:, None] * self.sums[at] + other[:, None] * below[at]
            held[at], variance[at] = summed / both[:, None], 1 / both
            np.add.at(below, parent[at], held[at])
            np.add.at(theirs, parent[at], variance[at])
        first = (self.ends.centre - self.ends.low) / self.ends.width
        share = np.tile([first, 1 - first], (n + 1, 1))
        for at in levels:
            over = share[parent[at]]
            pulled = np.maximum(held[at] + np.sqrt(variance[at])[:, None] * over, 0.0)
            total = pulled.sum(axis=1, keepdims=True)
            share[at] = np.divide(pulled, total, out=over.copy(), where=total > 0)
        result: Float = share[:n, 0]
        return result
