"""A stump per column and a greedy tree, that add up: private naive Bayes and what it misses.

What a column tells alone costs little: each record is in one cell of its table of codes by
classes, and naive Bayes adds up in logarithms how much more frequent a class is there than among
all people. What only several columns together tell, the tree finds. How much stumps and tree
weigh in the answer is chosen privately, by how many people are then answered rightly.
Columns that tell the same count twice, which is why stumps and tree are taken to a power.

References
----------
Vaidya, Shafiq, Basu & Hong (2013), Differentially private naive Bayes classification.
Nori, Caruana, Bu, Shen & Kulkarni (2021), Accuracy, interpretability and differential privacy
via explainable boosting: an additive model whose shapes are private.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from treeaudit.arrays import Float, Int, Wide
from treeaudit.dp.accounting import pure_epsilon, rational, rho_at
from treeaudit.dp.curator import ConcentratedCurator, Curator
from treeaudit.dp.scores import on_grid
from treeaudit.errors import PrivacyError
from treeaudit.model.tree import Tree
from treeaudit.trainers.fit_checks import WITH_DELTA, check_delta
from treeaudit.trainers.growth import Growth
from treeaudit.trainers.histograms import Cells, Codes
from treeaudit.trainers.private_tree import GreedyTrees, bins_for, planted, shared_out
from treeaudit.trainers.private_trees import Grown, Listed
from treeaudit.trainers.splits import Edges, Nodes
from treeaudit.trainers.training_rows import TrainingRows

_FOR_THE_WEIGHTS = Fraction(1, 20)
_PARTS = (4, 64)
_SHARES = (Fraction(2, 5), Fraction(9, 10))


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateAdditiveTreeClassifier(GreedyTrees):
    """A stump per column and one greedy tree, whose answers are multiplied.

    It ranks better than a tree alone on most tables, as every column has its say, and answers
    rightly more often where columns tell each for itself.

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
        weighed = pulled(shares, of_all, tree_weight) * counts.sum(axis=1, keepdims=True)
        # A tree that weighs nothing answers everybody alike.
        keep = (np.array(growth.nodes.parent) < 0) | (tree_weight > 0)
        per_class = tuple((1 / of_all).tolist())
        return Grown(
            trees=(
                *growth.nodes.trees(weighed, keep),
                *(stump.tree(of_all, stump_weight) for stump in stumps),
            ),
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


WEIGHTS = tuple((stumps, tree) for stumps in (1, 2, 4, 8) for tree in (0, 4, 8))
"""What stumps and tree may weigh, in eighths."""
_PIECE = 1 << 15


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stump:
    """What is known of the parts of a column.

    ``part`` is the part of each code, that of missing values last; ``cuts`` are the points between
    the parts of a number; ``people`` and ``shares`` are noisy, by part, and no share is 0.
    """

    column: int
    part: Wide
    cuts: Float | None
    people: Float
    shares: Float

    def tree(self, of_all: Float, weight: float) -> Tree:
        """Return it as a tree, its shares drawn towards those of all people by its weight.

        Numbers are asked for halves of the parts, halves of these, and so on.
        """
        nodes, lost = Nodes(), int(self.part[-1])
        held = [(0, len(self.people))]
        nodes.add_root()
        if self.cuts is None:
            sets = tuple((code,) for code in range(len(self.people)))
            nodes.split(0, Edges(feature=self.column, categories=sets, missing=lost))
            held += [(code, code + 1) for (code,) in sets]
        else:
            for node, (first, last) in enumerate(held):
                if last - first > 1:
                    middle = (first + last) // 2
                    cut, side = float(self.cuts[middle - 1]), int(lost >= middle)
                    low, high = (-np.inf, cut), (cut, np.inf)
                    nodes.split(node, Edges(feature=self.column, low=low, high=high, missing=side))
                    held += [(first, middle), (middle, last)]
        people = pulled(self.shares, of_all, weight) * self.people[:, None]
        return nodes.trees([people[first:last].sum(axis=0) for first, last in held])[0]


def parts_of(codes: Codes, most: int) -> Wide:
    """Return the part of each code; neighbours share one where a number has many.

    Parts are equally wide, so many or a few more, but those at both ends, where numbers
    that are mostly at a bound differ, are halved three times towards the end.
    """
    width = 1 if codes.edges is None else max(1, round(codes.n / most))
    ends = width >> np.arange(1, 4)
    cuts = np.concatenate([np.arange(width, codes.n, width), ends, codes.n - ends])
    cuts = np.unique(cuts[(cuts > 0) & (cuts < codes.n)])
    part: Wide = np.searchsorted(cuts, np.arange(codes.n), side="right")
    return part


def share_of_all(totals: Sequence[Float], variances: Sequence[float]) -> Float:
    """Return how frequent each class is, never 0, from several noisy counts of all people."""
    people = np.average(totals, axis=0, weights=1 / np.array(variances))
    people = np.maximum(people, 1.0)
    share: Float = people / people.sum()
    return share


def stump_of(
    column: int, codes: Codes, part: Wide, noisy: Wide, of_all: Float, deviation: float
) -> Stump:
    """Return the stump of a column from noisy counts by part, those of missing values last.

    These join the part that they are most like. ``deviation`` is that of the noise in a part.
    """
    known = _smoothed(noisy[:-1], of_all, deviation, 1 if codes.edges is None else len(noisy))
    shares = np.vstack([known, _smoothed(noisy[-1:], of_all, deviation, 1)])
    unlike = np.abs(np.log(shares[:-1]) - np.log(shares[-1])).sum(axis=1)
    lost = int(unlike.argmin())
    cuts = None if codes.edges is None else codes.edges[np.flatnonzero(np.diff(part))]
    return Stump(
        column=column,
        part=np.append(part, lost),
        cuts=cuts,
        people=np.maximum(noisy[:-1].sum(axis=1), 0.5),
        shares=shares[:-1],
    )


def _smoothed(noisy: Wide, above: Float, deviation: float, width: int) -> Float:
    """Return shares in parts, drawn towards those of the parts around by the noise in them.

    Parts are taken together, about ``width`` at first and then half as many each time, down to
    one; to each as many people are added as the noise in it is large, with the shares of what
    it is a half of.
    """
    shares = np.broadcast_to(above, (1, len(above)))
    span = 1 << (width - 1).bit_length()
    while span:
        start = np.arange(0, len(noisy), span)
        people = np.maximum(np.add.reduceat(noisy, start), 0)
        n_parts = np.diff(np.append(start, len(noisy)))
        of = shares[np.arange(len(start)) // 2 if len(shares) > 1 else np.zeros(len(start), int)]
        pulled = people + deviation * np.sqrt(n_parts)[:, None] * of
        shares = pulled / pulled.sum(axis=1, keepdims=True)
        span //= 2
    return shares


def pulled(shares: Float, of_all: Float, weight: float) -> Float:
    """Return shares to the power of a weight by those of all people to that of the rest."""
    mixed = np.exp(weight * np.log(shares) + (1 - weight) * np.log(of_all))
    result: Float = mixed / mixed.sum(axis=1, keepdims=True)
    return result


def right_answers(
    cells: Cells, node: Int, stumps: Sequence[Stump], tree: Float, of_all: Float
) -> Wide:
    """Count the people whose class is the answer, for each of the `WEIGHTS`.

    Logarithms are rounded to whole units before they are added, so the answer for a person is the
    same whoever else is there: one person more adds one, or none, to each count.
    """
    weigh = [(s.column, on_grid(np.log(s.shares / of_all))[s.part]) for s in stumps]
    by_node = on_grid(np.log(tree / of_all))
    by_all = 8 * on_grid(np.log(of_all))
    right = np.zeros(len(WEIGHTS), dtype=np.int64)
    for start in range(0, len(cells), _PIECE):
        rows = slice(start, start + _PIECE)
        cell = cells.cell[:, rows]
        label = cell[0] % cells.n_classes
        added = np.zeros((len(label), cells.n_classes), dtype=np.int64)
        for column, table in weigh:
            added += table[cell[column] // cells.n_classes]
        of_tree = by_node[node[rows]]
        for i, (stump, tree_weight) in enumerate(WEIGHTS):
            answer = (by_all + stump * added + tree_weight * of_tree).argmax(axis=1)
            right[i] += np.count_nonzero(answer == label)
    return right


def _stumps(
    growth: Growth, curator: Curator, cost: Fraction, people: int
) -> tuple[Float, list[Stump], str]:
    """Return the shares of all people, the stumps, and their noise in words."""
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
