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

from treeaudit.arrays import Float, Int, Wide
from treeaudit.dp.curator import Curator
from treeaudit.dp.rational import FINEST_COUNT, dyadic
from treeaudit.dp.scores import Score
from treeaudit.trainers.targets import STEPS

__all__ = ["DEVIATION", "Answered", "Ends", "ends_of"]


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
    told
        Per node that was asked, its two sums in people, and the variance of each.
    """

    def __init__(self, inside: Wide, ends: Ends) -> None:
        self.inside, self.ends = inside, ends
        self.told: dict[int, tuple[Float, float]] = {}

    def can_ask(self, epsilon: Fraction, curator: Curator) -> bool:
        """Tell whether an epsilon is enough to be asked at; it follows from what is released."""
        return dyadic(epsilon / (curator.factor * self.ends.width), FINEST_COUNT) > 0

    def ask(
        self, name: str, nodes: list[int], node: Int, curator: Curator, epsilon: Fraction
    ) -> None:
        """Ask for both sums of nodes that have no record in common; ``node`` by record."""
        width = self.ends.width
        place = np.full(max(int(node.max(initial=0)), *nodes) + 1, len(nodes))
        place[nodes] = np.arange(len(nodes))
        at = place[node]
        people = np.bincount(at, minlength=len(nodes) + 1)[: len(nodes)]
        over = np.bincount(at, self.inside, minlength=len(nodes) + 1)[: len(nodes)]
        first = over.astype(np.int64)
        both = np.column_stack([first, width * people - first])
        found = curator.count(name, both, epsilon, most=width) / width
        variance = (_deviation_of(curator.rate(epsilon, width)) / width) ** 2
        self.told.update((n, (sums, variance)) for n, sums in zip(nodes, found, strict=True))

    def shares(self, parent: list[int]) -> Float:
        """Return how far above the lower end the mean of each node is, 0 to 1.

        What was asked of a node and what its children hold together are averaged by their
        variances. The share of a node is then drawn towards that of the node above, which is
        worth as many people as the noise in it, as `treeaudit.trainers.pruning.settled` does.

        Parameters
        ----------
        parent
            Shape ``(n_nodes,)``: -1 at roots, parents before children.
        """
        n = len(parent)
        held, variance = np.zeros((n, 2)), np.full(n, np.inf)
        below, theirs = np.zeros((n, 2)), np.zeros(n)
        for i in range(n - 1, -1, -1):
            own, its = self.told.get(i, (held[i], np.inf))
            surely = 1 / its, 1 / theirs[i] if theirs[i] else 0.0
            if any(surely):
                held[i] = (surely[0] * own + surely[1] * below[i]) / sum(surely)
                variance[i] = 1 / sum(surely)
            if parent[i] >= 0:
                below[parent[i]] += held[i]
                theirs[parent[i]] += variance[i]
        share = np.empty((n, 2))
        first = (self.ends.centre - self.ends.low) / self.ends.width
        for i in range(n):
            over = share[parent[i]] if parent[i] >= 0 else np.array([first, 1 - first])
            if np.isinf(variance[i]):
                share[i] = over
                continue
            pulled = np.maximum(held[i] + math.sqrt(variance[i]) * over, 0.0)
            share[i] = pulled / pulled.sum() if pulled.any() else over
        result: Float = share[:, 0]
        return result
