"""A stump per column and a greedy tree, that add up: private naive Bayes and what it misses.

What a column tells alone costs little: each record is in one cell of its table of codes by
classes. What only several columns together tell, the tree finds. How much stumps and tree
weigh in the answer is chosen privately, by how many people are then answered rightly.

References
----------
Vaidya, Shafiq, Basu & Hong (2013), Differentially private naive Bayes classification.
Nori, Caruana, Bu, Shen & Kulkarni (2021), Accuracy, interpretability and differential privacy
via explainable boosting: an additive model whose shapes are private.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from treeaudit.arrays import Float
from treeaudit.dp.accounting import pure_epsilon, rational, rho_at
from treeaudit.dp.curator import ConcentratedCurator, Curator
from treeaudit.errors import PrivacyError
from treeaudit.trainers.listed import Listed
from treeaudit.trainers.parameters import WITH_DELTA, check_delta
from treeaudit.trainers.private_additive_parts import (
    WEIGHTS,
    Stump,
    drawn,
    parts_of,
    right_answers,
    share_of_all,
    stump_of,
)
from treeaudit.trainers.private_tree_greedy import GreedyTrees, bins_for, planted, shared_out
from treeaudit.trainers.private_tree_growth import Growth
from treeaudit.trainers.private_trees import Grown
from treeaudit.trainers.training_rows import TrainingRows

__all__ = ["PrivateAdditiveTreeClassifier"]

_FOR_THE_WEIGHTS = Fraction(1, 20)
_PARTS = (4, 64)
_SHARES = (Fraction(2, 5), Fraction(9, 10))


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateAdditiveTreeClassifier(GreedyTrees):
    """A stump per column and one greedy tree, whose answers are multiplied.

    It ranks better than a tree alone on most tables, as every column has its say, and answers
    rightly more often where columns tell each for itself.

    Parameters
    ----------
    stump_share
        The share of the budget that goes to the tables of the columns. Unless told 0.9 where
        the (noisy) number of people times epsilon is at most 4,096, falling to 0.4 at 32,768: a
        tree needs more people than a stump.
    max_depth, criterion, n_bins, leaf_share, cost_of_a_part, max_records, variant
        As in `PrivateTreeClassifier`, for the tree, whose budget is what stumps, weights and
        the number of people leave; ``leaf_share`` is a share of that.
    delta
        The chance with which the loss of a person may be more than epsilon. Answers are then
        counted as concentrated (zCDP) and counts have discrete Gaussian noise: less of it where
        many columns are asked, from about a dozen on. None for an epsilon that holds always.
    epsilon, schema, neighbours, outside, budget, n_jobs, random_state
        As in `PrivateTrees`; ``budget`` must be None where there is a delta.

    Notes
    -----
    Beside the questions of `PrivateTreeClassifier`, whose proof holds as it stands:

    1. per column, the class counts of every code, and of missing values: disjoint parts of
       the people, one count moves by one. The columns are asked about the same people, and
       each costs its part of ``stump_share`` (sequential composition);
    2. for every pair of weights in `WEIGHTS`, how many people are answered rightly: one added
       person moves each of them by 0 or 1, all in one direction, and permute-and-flip
       chooses among them for a twentieth of the budget.

    With a delta all of these are asked of `treeaudit.dp.curator`, for shares of the
    rho that epsilon and delta allow (`treeaudit.dp.accounting`), in the place of epsilon.

    A number is cut into fewer parts than the square root of people times the epsilon of a
    column, since few parts have less noise, and into finer ones where it is near its bounds.
    What then becomes of the counts is post-processing: shares are drawn towards those of all
    people by the noise in them and by the weight of their tree. With p the shares of all, q_t
    those of the leaf in tree t and w_t its weight, a class has the probability
    ``p prod_t (q_t / p) ** w_t``, scaled to 1.

    Examples
    --------
    >>> from treeaudit.model.schema import Feature, Schema
    >>> schema = Schema(features=(Feature(name="age", low=0, high=120),), classes=("no", "yes"))
    >>> model = PrivateAdditiveTreeClassifier(epsilon=5.0, schema=schema, max_depth=1)
    >>> model = model.fit([[20], [25], [90], [95]] * 500, ["no", "no", "yes", "yes"] * 500)
    >>> model.predict([[20], [95]]).tolist(), float(model.privacy_.epsilon)
    (['no', 'yes'], 5.0)
    """

    algorithm: ClassVar[str] = "private-additive"
    listed: ClassVar[Listed] = Listed(
        paper="this package",
        query="β shared out over stumps and tree",
        tree="greedy",
        depth="by people and β",
        trees="1, and a stump per column",
        numbers="public bins and points",
        published="β, with twice the sensitivity",
    )

    stump_share: float | None = None
    delta: float | None = None

    def _checked(self) -> Fraction:
        check_delta(self.delta)
        value = self.stump_share
        if value is not None and (not isinstance(value, int | float) or not 0 < value <= 0.9):
            raise ValueError(f"stump_share is {value!r}: it must be above 0 and at most 0.9")
        return super()._checked()

    def _conversion_delta(self) -> Fraction:
        return Fraction(0) if self.delta is None else Fraction(str(float(self.delta)))

    def _cost(self, epsilon: Fraction) -> Fraction:
        """Return what all answers may cost: epsilon, or a rho where there is a delta."""
        return epsilon if self.delta is None else rho_at(epsilon, self._conversion_delta())

    def _curator(self, epsilon: Fraction) -> Curator:
        kind = Curator if self.delta is None else ConcentratedCurator
        return self._asking(kind, self._cost(epsilon))

    def _spend(self, epsilon: Fraction, reasons: tuple[str, ...]) -> None:
        if self.delta is not None:
            raise PrivacyError(WITH_DELTA)
        super()._spend(epsilon, reasons)

    def _least(self, rows: TrainingRows, epsilon: Fraction) -> Fraction:
        cost = self._cost(epsilon)
        share = _SHARES[0] if self.stump_share is None else rational(float(self.stump_share))
        # Stumps, weights and size leave more than a fiftieth to the tree.
        return min(
            super()._least(rows, cost),
            cost * share / len(rows.schema.features),
            cost * rational(float(self.leaf_share)) / 50,
        )

    def _for_the_first(self, epsilon: Fraction, depth: int) -> Fraction:
        left = epsilon * (1 - rational(float(self.leaf_share))) / 50
        first = shared_out(left, depth)[0]
        return first if self.delta is None else pure_epsilon(first)

    def _asked_at(self, cost: Fraction) -> Fraction:
        return cost if self.delta is None or not cost else pure_epsilon(cost)

    def _share(self, worth: float) -> Fraction:
        """Return the share of the stumps for so many people times epsilon."""
        if self.stump_share is not None:
            return rational(float(self.stump_share))
        least, most = _SHARES
        tree = min(1.0, max(0.0, (math.log2(max(worth, 1.0)) - 12) / 3))
        return most - Fraction(round(64 * tree), 64) * (most - least)

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        cost = self._cost(epsilon)
        people = self._people(rows, curator, cost)
        worth = people * curator.strength(cost)
        for_stumps, for_weights = cost * self._share(worth), cost * _FOR_THE_WEIGHTS
        for_tree = cost - for_stumps - for_weights - curator.spent
        growth = planted(rows, curator, self.n_bins or bins_for(worth), 1)
        of_all, stumps, noise = _stumps(growth, curator, for_stumps, people)
        counts, spent = self._spend_on(
            *(growth, rows, curator, cost - for_weights),
            *(for_tree * rational(float(self.leaf_share)), people),
        )
        if not stumps:
            of_all = share_of_all([counts[0]], [1.0])
        # One person more, who is as all are, so that no share is 0.
        shares = (counts + of_all) / (counts.sum(axis=1, keepdims=True) + 1)
        right = right_answers(growth.cells, growth.node, stumps, shares, of_all)
        published = self.variant == "published"
        (chosen,) = curator.choose(
            *("weights", [right], for_weights),
            sensitivity=2 if published else 1,
            mechanism="exponential mechanism" if published else "permute-and-flip",
        ).tolist()
        stump_weight, tree_weight = (eighths / 8 for eighths in WEIGHTS[chosen])
        weighed = drawn(shares, of_all, tree_weight) * counts.sum(axis=1, keepdims=True)
        # A tree that weighs nothing answers everybody alike.
        keep = (np.array(growth.nodes.parent) < 0) | (tree_weight > 0)
        per_class = tuple((1 / of_all).tolist())
        return Grown(
            trees=(
                *growth.nodes.trees(weighed, keep),
                *(stump.tree(of_all, stump_weight) for stump in stumps),
            ),
            counts_are="noisy",
            counts_reason=(
                f"{noise}{curator.noise(spent)} on the leaves of the tree, drawn towards the "
                "shares of all people by the noise in them and by what each tree weighs in the "
                "answer"
            ),
            answers="product",
            noise=None,
            class_weights=((1.0,) * len(of_all), *(per_class for _ in stumps)),
            public=self._taken_as_public(),
        )


def _stumps(
    growth: Growth, curator: Curator, cost: Fraction, people: int
) -> tuple[Float, list[Stump], str]:
    """Ask for the tables of all columns that tell anybody apart.

    Returns the shares of all people, the stumps, and the noise in words.
    """
    columns = [(i, codes) for i, codes in enumerate(growth.cells.codes) if codes.n > 1]
    n_classes = growth.cells.n_classes
    if not columns:
        return np.full(n_classes, 1 / n_classes), [], ""
    each = cost / len(columns)
    rate = float(curator.rate(each))
    least, most = _PARTS
    n_parts = int(min(most, max(least, round(0.8 * math.sqrt(people * rate)))))
    exact, _ = growth.histograms([0])
    tables = []
    for column, codes in columns:
        part = parts_of(codes, n_parts)
        counts = np.zeros((part[-1] + 2, n_classes), dtype=np.int64)
        np.add.at(counts, np.append(part, part[-1] + 1), exact[column][0])
        (noisy,) = curator.count(
            "columns", counts.reshape(1, -1), each, composition="sequential"
        ).reshape(1, *counts.shape)
        tables.append((column, codes, part, noisy))
    of_all = share_of_all(*zip(*((n.sum(axis=0), len(n)) for *_, n in tables), strict=True))
    deviation = math.sqrt(2 * n_classes) / rate
    stumps = [stump_of(*table, of_all, deviation) for table in tables]
    return of_all, stumps, f"{curator.noise(each)} on the stumps, and "
