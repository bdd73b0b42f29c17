"""Private regression trees and forests: numbers within public bounds, by noisy sums.

They grow as `treeaudit.trainers.PrivateTreeClassifier` does, by the references that it names, but
a target is a whole number of steps between its public bounds. Between two ends that are W steps
apart a record adds ``w`` to one sum and ``W - w`` to another, w its steps above the lower end:
W altogether, so that both may have discrete Laplace noise of rate epsilon / W. Together they
tell people (their sum by W) and the mean (the share of the first), as two classes do whose people
are divided. A sum and a count apart, with shares of epsilon, tell both worse.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from treeaudit.arrays import Float, Index, Int, Wide
from treeaudit.dp.accounting import FINEST_COUNT, dyadic, rational
from treeaudit.dp.curator import Curator
from treeaudit.dp.ledger import factor
from treeaudit.model.tree import Tree
from treeaudit.trainers.answers import PrivateRegressor
from treeaudit.trainers.fit_checks import SIZES, check_share
from treeaudit.trainers.growth import Growth, Plan, split_level
from treeaudit.trainers.private_tree import check_levels, planted, shared_out, tells
from treeaudit.trainers.private_trees import Grown, Listed
from treeaudit.trainers.splits import DEVIATION, Nodes
from treeaudit.trainers.training_rows import STEPS, TrainingRows, in_bounds

_UNKNOWN = 1e-100
"""One by the variance of what was never asked: it weighs nothing beside any answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """Between which steps targets are summed (``low``, ``high``); what is beyond counts as the end.

    ``centre`` is about the mean of all, ``size`` about how many people there are, at least 1, and
    ``surely`` that less what noise may have added, at least 1.
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


def target_bounds(
    steps: Wide, curator: Curator, for_sum: Fraction, for_spread: Fraction, times: float
) -> Ends:
    """Return ends around the mean, so many mean absolute deviations to each side.

    What noise may have added is added again, so that few people are summed over the whole range.
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

    ``inside`` are the steps of each record above the lower end; ``sums`` of shape ``(n_nodes, 2)``
    are the answers, in people, and ``variance`` is about that of each, infinite if not asked.
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

        What was asked of a node and what its children hold are averaged by their variances, then
        drawn towards the node above as `treeaudit.trainers.pruning.shrink` does.
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


_FOR_THE_SUM, _FOR_THE_CENTRES = Fraction(1, 50), Fraction(1, 5)
_NEAR = 4
_DEEPEST = 10
_WIDEST = 1e300


@dataclass(kw_only=True, eq=False, repr=False)
class GreedyRegressors(PrivateRegressor):
    """What regression trees and forests share; parameters as in `PrivateTreeRegressor`."""

    max_depth: int | None = None
    n_bins: int = 32
    leaf_share: float = 0.4
    cost_of_a_part: float = 0.003
    spread: float = 2.5

    _sizes: ClassVar[Mapping[str, tuple[int, int]]] = {**SIZES, "n_bins": (1, 4096)}

    def _checked(self) -> Fraction:
        for name in ("leaf_share", "cost_of_a_part"):
            check_share(name, getattr(self, name), none=True)
        if self.leaf_share == 0:
            raise ValueError("leaf_share is 0: without sums in the leaves nothing is learned")
        if not isinstance(self.spread, int | float) or not self.spread > 0:
            raise ValueError(f"spread is {self.spread!r}: it must be a number above 0")
        return super()._checked()

    def _least(self, rows: TrainingRows, epsilon: Fraction) -> Fraction:
        if self.max_depth is not None:
            share = 1 - 2 * _FOR_THE_SUM - rational(float(self.leaf_share))
            left = epsilon * share * (1 - _FOR_THE_CENTRES)
            scale = 2 * DEVIATION.sensitivity(STEPS // _NEAR)
            scale *= factor(self.neighbours, self.rows_per_person)
            check_levels(self.max_depth, shared_out(left, self.max_depth)[0], scale)
        # Sums are of so many steps.
        return epsilon * min(_FOR_THE_SUM, rational(float(self.leaf_share))) / STEPS

    def _grow_greedily(
        self, rows: TrainingRows, curator: Curator, epsilon: Fraction, n_trees: int
    ) -> Grown:
        """Grow trees, each on the records that are sent to it at random."""
        each, times = epsilon * _FOR_THE_SUM, float(min(self.spread, _WIDEST))
        ends = target_bounds(rows.labels, curator, each, each, times)
        depth = self.max_depth
        if depth is None:
            depth = _depth(ends.surely * float(epsilon) / (n_trees * curator.factor))
        for_leaves = epsilon * rational(float(self.leaf_share))
        per_level = shared_out(max(Fraction(0), epsilon - curator.spent - for_leaves), depth)
        growth = planted(rows, curator, self.n_bins, n_trees)
        answered = Answered(ends.inside(rows.labels), ends)
        self._grow_levels(growth, curator, answered, per_level, max(1, ends.size // n_trees))
        # What no level asked for is left to the leaves.
        for_leaves = epsilon - curator.spent
        nodes = growth.nodes
        leaves = np.setdiff1d(np.arange(len(nodes)), nodes.parent)
        answered.ask("leaf sums", leaves, growth.node, curator, for_leaves)
        steps = ends.low + ends.width * answered.shares(nodes)
        value = in_bounds(steps / STEPS, rows.schema)
        rate = float(curator.rate(for_leaves, ends.width)) * ends.width
        return Grown(
            trees=tuple(map(_of_values, nodes.trees(value[:, None]))),
            counts_reason=(
                f"its values are means with noise: discrete Laplace noise of rate {rate:.6g} per "
                "person on sums, drawn towards the node above where they hold few people"
            ),
            answers="mean",
            noise=None,
            records_are="disjoint" if n_trees > 1 else "all",
        )

    def _grow_levels(
        self,
        growth: Growth,
        curator: Curator,
        answered: Answered,
        per_level: tuple[Fraction, ...],
        size: int,
    ) -> None:
        """Split level by level, after asking where the mean of each node of the level is."""
        ends = answered.ends
        near = max(1, ends.width // _NEAR)
        published = self.variant == "published"
        plan = Plan(
            per_level=tuple(epsilon * (1 - _FOR_THE_CENTRES) for epsilon in per_level),
            score=DEVIATION,
            sensitivity=DEVIATION.sensitivity(near) * (2 if published else 1),
            unit=2 * near,
            mechanism="exponential mechanism" if published else "permute-and-flip",
            cost_of_a_part=int(self.cost_of_a_part * size * 2 * near),
        )
        if per_level and not tells(plan.per_level[0], plan.sensitivity * curator.factor):
            # So little is left to the first level that it would answer nothing: draw all splits.
            per_level = (Fraction(0),) * len(per_level)
            plan = replace(plan, per_level=per_level)
        front = list(range(len(growth.nodes)))
        for level, epsilon in enumerate(per_level):
            if not front:
                break
            for_centres = epsilon * _FOR_THE_CENTRES
            if answered.can_ask(for_centres, curator):
                name = f"sums of level {level + 1}"
                answered.ask(name, np.array(front), growth.node, curator, for_centres)
            centre = np.rint(answered.shares(growth.nodes) * ends.width).astype(np.int64)
            weight = np.clip(answered.inside - centre[growth.node], -near, near)
            growth.cells = replace(growth.cells, weight=weight)
            front = split_level(growth, curator, plan, front, level)


def _of_values(tree: Tree) -> Tree:
    """Return a tree whose only count is its value."""
    value = np.zeros(tree.n_nodes) if tree.counts is None else tree.counts[:, 0]
    return replace(tree, counts=None, value=value)


def _depth(people: float) -> int:
    """Return how many levels so many people times epsilon are good for."""
    return min(_DEEPEST, max(0, round((math.log2(max(people, 2.0)) - 4) / 2)))


class PrivateTreeRegressor(GreedyRegressors):
    """A regression tree that asks the best questions and releases noisy means.

    Notes
    -----
    A target is one of 4,097 public steps between its bounds, and sums of steps are whole
    numbers. What is asked of the records, in this order, adds up to the budget (sequential
    composition; each question may depend on the answers before it):

    1. how many people there are and the sum of their targets, a fiftieth of the budget; and the
       sum of their distances from the mean, another. From the answers follow the two ends
       between which targets are told apart, and the depth;
    2. per level, at twice the epsilon of the level above, whose nodes hold about twice as many
       people: the two sums of each node, a fifth, which tell its centre; and which candidate
       it takes. The nodes of a level are disjoint parts of the people, given the answers so far,
       so that one added person adds to the sums of one node and changes the scores of one node
       only, `DEVIATION` proves by how much;
    3. the sums of the leaves, disjoint parts again.

    Which candidates there are follows from the schema and the answers; the means of
    the nodes are post-processing. Under ``replace-one`` a record leaves one part and enters
    another; each answer has half the rate (`treeaudit.dp.ledger.factor`).

    Examples
    --------
    >>> from treeaudit.model.schema import Feature, Schema
    >>> age = Feature(name="age", low=0, high=120)
    >>> schema = Schema(features=(age,), target="visits", target_low=0, target_high=10)
    >>> model = PrivateTreeRegressor(epsilon=5.0, schema=schema, max_depth=1)
    >>> model = model.fit([[20], [25], [90], [95]] * 500, [2, 2, 8, 8] * 500)
    >>> model.predict([[18], [99]]).round().tolist(), float(model.privacy_.epsilon)
    ([2.0, 8.0], 5.0)
    """

    algorithm: ClassVar[str] = "private-tree-regressor"
    listed: ClassVar[Listed] = Listed(
        paper="this package",
        query="β shared out",
        tree="greedy",
        depth="by people and β",
        trees="1",
        numbers="public points",
        published="β, with twice the sensitivity",
    )

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        return self._grow_greedily(rows, curator, epsilon, n_trees=1)


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateForestRegressor(GreedyRegressors):
    """A forest of private regression trees, each on its own part of the records.

    Its answers are smoother than those of one tree, and no better: `benchmarks/RESULTS.md`.

    Notes
    -----
    Each record goes to one tree, drawn independently; see `PrivateForestClassifier`.

    Examples
    --------
    >>> from treeaudit.model.schema import Feature, Schema
    >>> age = Feature(name="age", low=0, high=120)
    >>> schema = Schema(features=(age,), target="visits", target_low=0, target_high=10)
    >>> model = PrivateForestRegressor(epsilon=5.0, schema=schema, n_estimators=3, max_depth=1)
    >>> model = model.fit([[20], [25], [90], [95]] * 500, [2, 2, 8, 8] * 500)
    >>> model.predict([[18], [99]]).round().tolist(), float(model.privacy_.epsilon)
    ([2.0, 8.0], 5.0)
    """

    algorithm: ClassVar[str] = "private-forest-regressor"
    listed: ClassVar[Listed] = replace(PrivateTreeRegressor.listed, trees="4")

    n_estimators: int = 4

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        return self._grow_greedily(rows, curator, epsilon, n_trees=int(self.n_estimators))
