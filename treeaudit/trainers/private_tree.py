"""The greedy private tree: the best question per node, the counts of the leaves.

What it takes from the papers: one choice among all questions by a score of low
sensitivity (Friedman & Schuster 2010), public points for numeric columns, noisy
counts in the leaves. What it does otherwise: the scores are monotone, so the
choice may use the whole of epsilon; the choice is made by permute-and-flip; the
score is the Euclidean length (`treeaudit.trainers.splits.NORM`); a level costs one
question instead of two.

References
----------
Friedman & Schuster (2010), Data mining with differential privacy.
McKenna & Sheldon (2020), Permute-and-flip.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from treeaudit.arrays import Float, Wide
from treeaudit.dp.accounting import FINEST_CHOICE, dyadic, rational
from treeaudit.dp.curator import Curator
from treeaudit.dp.ledger import factor
from treeaudit.dp.subsampling import below
from treeaudit.errors import PrivacyError
from treeaudit.model.forest import Noise
from treeaudit.trainers.answers import PrivateClassifier
from treeaudit.trainers.fit_checks import SIZES, check_choice, check_share
from treeaudit.trainers.growth import Growth, Plan, check_bound, check_is_bounded, grow_levels
from treeaudit.trainers.histograms import code_rows, public_codes
from treeaudit.trainers.private_trees import Grown, Listed
from treeaudit.trainers.pruning import shrink
from treeaudit.trainers.splits import SCORES
from treeaudit.trainers.training_rows import TrainingRows

_FOR_THE_SIZE = Fraction(1, 50)
_DEEPEST = 10
_BINS = (16, 256)
_TRUST = 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class GreedyTrees(PrivateClassifier):
    """What greedy trees and forests share; parameters as in `PrivateTreeClassifier`."""

    max_depth: int | None = None
    criterion: str = "norm"
    n_bins: int | None = None
    leaf_share: float = 0.3
    cost_of_a_part: float = 0.003
    max_records: int | None = None

    _sizes: ClassVar[Mapping[str, tuple[int, int]]] = {**SIZES, "n_bins": (1, 4096)}

    def _checked(self) -> Fraction:
        check_choice("criterion", self.criterion, tuple(SCORES))
        for name in ("leaf_share", "cost_of_a_part"):
            check_share(name, getattr(self, name), none=True)
        if self.leaf_share == 0:
            raise ValueError("leaf_share is 0: without counts in the leaves nothing is learned")
        check_is_bounded(self.criterion, self.max_records)
        return super()._checked()

    def _least(self, rows: TrainingRows, epsilon: Fraction) -> Fraction:
        check_bound(self.criterion, rows, self.max_records)
        if self.max_depth is not None:
            scale = self._plan((), 1).sensitivity * factor(self.neighbours, self.rows_per_person)
            check_levels(self.max_depth, self._for_the_first(epsilon, self.max_depth), scale)
        return epsilon * min(_FOR_THE_SIZE, rational(float(self.leaf_share)))

    def _for_the_first(self, epsilon: Fraction, depth: int) -> Fraction:
        """Return the epsilon that the first of so many levels is asked at, at least."""
        left = epsilon * (1 - _FOR_THE_SIZE - rational(float(self.leaf_share)))
        return shared_out(left, depth)[0]

    def _grow_greedily(
        self, rows: TrainingRows, curator: Curator, epsilon: Fraction, n_trees: int
    ) -> Grown:
        """Grow trees, each on the records that are sent to it at random."""
        size = self._people(rows, curator, epsilon)
        people = max(1, size // n_trees)
        bins = self.n_bins or bins_for(people * curator.strength(epsilon))
        growth = planted(rows, curator, bins, n_trees)
        for_leaves = epsilon * rational(float(self.leaf_share))
        counts, spent = self._spend_on(growth, rows, curator, epsilon, for_leaves, people)
        return Grown(
            trees=growth.nodes.trees(counts),
            counts_reason=(
                f"{curator.noise(spent)} on the leaves, drawn towards the node above where they "
                "hold few people"
            ),
            answers="mean",
            noise=Noise(
                rate=float(curator.rate(spent)), counts="leaves", afterwards=("shrunk", "clipped")
            ),
            records_are="disjoint" if n_trees > 1 else "all",
            public=self._taken_as_public(),
        )

    def _people(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> int:
        """Return the noisy number of people, for a fiftieth of the budget."""
        return max(1, int(curator.count("people", [len(rows)], epsilon * _FOR_THE_SIZE)[0]))

    def _spend_on(
        self,
        growth: Growth,
        rows: TrainingRows,
        curator: Curator,
        until: Fraction,
        for_leaves: Fraction,
        people: int,
    ) -> tuple[Float, Fraction]:
        """Grow trees until so much is spent; return counts and what they cost."""
        nodes, left = growth.nodes, until - curator.spent
        depth = self.max_depth or _depth(people * curator.strength(left), rows.n_classes)
        plan = self._plan(shared_out(max(Fraction(0), left - for_leaves), depth), people)
        if not tells(self._asked_at(plan.per_level[0]), plan.sensitivity * curator.factor):
            # So little is left to the first level that it would answer nothing: draw all splits.
            plan = replace(plan, per_level=(Fraction(0),) * depth)
        grow_levels(growth, curator, plan)
        # What no level asked for is left to the leaves.
        for_leaves = until - curator.spent
        counts = _leaf_counts(growth, curator, for_leaves)
        deviation = math.sqrt(2) / float(curator.rate(for_leaves))
        return shrink(nodes.parent, counts, deviation, _TRUST), for_leaves

    def _asked_at(self, cost: Fraction) -> Fraction:
        """Return the epsilon of a choice of such a cost."""
        return cost

    def _taken_as_public(self) -> tuple[str, ...]:
        return () if self.max_records is None else ("that there are at most max_records",)

    def _plan(self, per_level: tuple[Fraction, ...], size: int) -> Plan:
        score = SCORES[self.criterion]
        sensitivity = score.sensitivity(self.max_records or 1)
        published = self.variant == "published"
        return Plan(
            per_level=per_level,
            score=score,
            sensitivity=sensitivity * (2 if published else 1),
            mechanism="exponential mechanism" if published else "permute-and-flip",
            cost_of_a_part=int(self.cost_of_a_part * size * sensitivity),
        )


def check_levels(depth: int, first: Fraction, scale: Fraction) -> None:
    """Refuse so many levels that the first of them is asked at nothing."""
    if first > 0 and not tells(first, scale):
        raise PrivacyError(
            f"max_depth is {depth}: of an epsilon for so many levels {float(first):g} is left to "
            "the first, which answers nothing; set a smaller max_depth"
        )


def tells(epsilon: Fraction, scale: Fraction) -> bool:
    """Tell whether a choice of scores that move so far is more than drawn evenly."""
    return dyadic(epsilon / scale, FINEST_CHOICE) > 0


def planted(rows: TrainingRows, curator: Curator, n_bins: int, n_trees: int) -> Growth:
    """Return the roots of trees, and every record at one of them, drawn at random."""
    node = np.zeros(len(rows), dtype=np.int32)
    if n_trees > 1:
        node = below(curator.entropy, n_trees, len(rows)).astype(np.int32)
    growth = Growth(cells=code_rows(rows, public_codes(rows.schema, n_bins)), node=node)
    for _ in range(n_trees):
        growth.plant()
    return growth


def _depth(people: float, n_classes: int) -> int:
    """Return how many levels so many people times epsilon are good for."""
    levels = 2 / 3 * math.log2(max(people, 2.0)) + math.log2(n_classes) / 2 - 4.5
    return min(_DEEPEST, max(1, round(levels)))


def bins_for(people: float) -> int:
    """Return into how many parts a number is cut: a power of two, for so many people times epsilon.

    More parts cost the choice of one little, and time.
    """
    least, most = _BINS
    return int(min(most, max(least, 2 ** math.ceil(math.log2(max(people, 2.0) / 16)))))


def shared_out(epsilon: Fraction, depth: int) -> tuple[Fraction, ...]:
    """Give each level twice what the one above it has: its nodes hold about half as many people."""
    return tuple(epsilon * 2**level / (2**depth - 1) for level in range(depth))


def _leaf_counts(growth: Growth, curator: Curator, epsilon: Fraction) -> Wide:
    """Return noisy counts of the leaves, 0 elsewhere."""
    inner = np.zeros(len(growth.nodes), dtype=np.bool_)
    inner[[above for above in growth.nodes.parent if above >= 0]] = True
    leaves = np.flatnonzero(~inner)
    noisy = np.zeros((len(inner), growth.cells.n_classes), dtype=np.int64)
    noisy[leaves] = curator.count("leaf counts", growth.classes(leaves.tolist()), epsilon)
    return noisy


class PrivateTreeClassifier(GreedyTrees):
    """A decision tree that asks the best questions and releases noisy counts.

    Notes
    -----
    Everything asked of the records goes through three kinds of questions, and
    their epsilons add up to the budget (sequential composition; each may depend
    on the answers before it):

    1. how many people there are, a fiftieth of the budget: a count has
       sensitivity 1;
    2. per level, which candidate each node takes, at twice the epsilon of the level
       above, whose nodes hold about twice as many people. The nodes of a level are
       disjoint parts of the people, given the answers so far, so one added
       person changes the scores of one node only. The scores are monotone with
       the sensitivity that `treeaudit.dp.scores` and `NORM` prove, and
       permute-and-flip with ``exp(epsilon * score / sensitivity)`` then moves by
       at most epsilon;
    3. the class counts of the leaves: disjoint parts, one count moves by one.

    Which candidates there are follows from the schema and from the answers above. Depth
    and the cost of a part follow from the noisy number of people. What becomes
    of the counts (`treeaudit.trainers.pruning`) is post-processing.

    Under ``replace-one`` a record leaves one part and enters another; each answer
    has half the rate (`treeaudit.dp.ledger.factor`).

    Examples
    --------
    >>> from treeaudit.model.schema import Feature, Schema
    >>> schema = Schema(features=(Feature(name="age", low=0, high=120),), classes=("no", "yes"))
    >>> model = PrivateTreeClassifier(epsilon=5.0, schema=schema, max_depth=1)
    >>> model = model.fit([[20], [25], [90], [95]] * 500, ["no", "no", "yes", "yes"] * 500)
    >>> model.predict([[18], [99]]).tolist(), float(model.privacy_.epsilon)
    (['no', 'yes'], 5.0)
    """

    algorithm: ClassVar[str] = "private-tree"
    listed: ClassVar[Listed] = Listed(
        paper="this package",
        query="β/50, rest shared out",
        tree="greedy",
        depth="by people and β",
        trees="1",
        numbers="public points",
        published="β, with twice the sensitivity",
    )

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        return self._grow_greedily(rows, curator, epsilon, n_trees=1)
