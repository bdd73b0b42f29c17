"""DiffPID3, DiffPC4.5 and the noisy-count ID3 of SuLQ: a private tree as first published.

As printed they are private: every constant of appendix A is right. The sound
variant is the same tree with the noise that is needed and no more. All three
scores are monotone, so the exponent needs no factor of 2, and
permute-and-flip chooses the attribute.

References
----------
Friedman & Schuster (2010), Data mining with differential privacy, algorithms
1 to 3.
Blum, Dwork, McSherry & Nissim (2005), Practical privacy: the SuLQ framework.
"""

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from treeaudit.arrays import Int, Wide
from treeaudit.dp.curator import Curator, Selection
from treeaudit.dp.scores import UNIT, Score
from treeaudit.model.forest import Noise
from treeaudit.model.schema import Schema
from treeaudit.trainers.answers import PrivateClassifier
from treeaudit.trainers.diffpid3_points import (
    MISSING,
    N_POINTS,
    Members,
    choose_point,
    coded,
    place_on_grid,
    point_value,
    ranges,
)
from treeaudit.trainers.fit_checks import check_share
from treeaudit.trainers.growth import (
    Growth,
    check_bound,
    check_is_bounded,
    note_unspent,
)
from treeaudit.trainers.histograms import Codes, code_rows, public_codes
from treeaudit.trainers.private_trees import Grown, Listed
from treeaudit.trainers.pruning import calibrate, prune_pessimistically
from treeaudit.trainers.splits import SCORES, Candidates, one_each, score_level
from treeaudit.trainers.sulq_id3 import noisy_gains
from treeaudit.trainers.training_rows import TrainingRows

Criterion = Literal["max", "gini", "information-gain", "noisy-counts"]
Numbers = Literal["ranges", "bins"]


@dataclass(kw_only=True, eq=False, repr=False)
class DiffPID3Classifier(PrivateClassifier):
    """A private ID3 tree: noisy counts of the nodes, one private choice per node.

    Notes
    -----
    A person is in one node of each level, and in one leaf. The questions about
    them are: at each of at most d + 1 levels a count; at each of at most d levels
    the split points and the choice of the attribute; the class counts of the
    leaf. That is 2 (d + 1) questions, or (2 + n) d + 2, of epsilon each, and they
    add up to B. A count has sensitivity 1. The scores are monotone with the sensitivity S
    of `treeaudit.dp.scores`, so choices with exp(epsilon q / S) cost epsilon. A
    split point is drawn from a public grid by the exponential mechanism with
    the score of the split at that point. With noisy counts, each of the |A|
    attributes left is asked two histograms of epsilon / (2 |A|) each.

    Whether a node stops, calibration and pruning look at nothing but answers. Missing
    values follow a part that is drawn before the data is looked at; the paper
    has none.

    Examples
    --------
    >>> from treeaudit.model.schema import Feature, Schema
    >>> sex = Feature(name="sex", categories=("f", "m"))
    >>> model = DiffPID3Classifier(schema=Schema(features=(sex,), classes=(0, 1)), max_depth=1)
    >>> model.fit([["f"], ["m"]] * 300, [0, 1] * 300).predict([["m"]]).tolist()
    [1]
    >>> float(model.privacy_.epsilon)
    1.0
    """

    algorithm: ClassVar[str] = "diffpid3"
    listed: ClassVar[Listed] = Listed(
        paper="Friedman & Schuster 2010",
        query="β/((2+n)d+2)",
        tree="greedy",
        depth="5",
        trees="1",
        numbers="a private split point for each",
        published="β, if N is public",
    )

    max_depth: int = 5
    criterion: Criterion = "max"
    max_records: int | None = None
    numbers: Numbers = "ranges"
    n_bins: int = 10
    certainty_factor: float | None = 0.25

    def _checked(self) -> Fraction:
        if self.certainty_factor is not None:
            check_share("certainty_factor", self.certainty_factor)
        check_is_bounded(self.criterion, self.max_records)
        return super()._checked()

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        drawn = self._drawn(rows.schema)
        codes = public_codes(rows.schema, self.n_bins)
        two = Codes(n=2, edges=np.zeros(1))
        codes = tuple(two if i in drawn else c for i, c in enumerate(codes))
        score, published = SCORES.get(self.criterion), self.variant == "published"
        sensitivity = Fraction(1) if score is None else score.sensitivity(self.max_records or 1)
        each = self._each(rows.schema, epsilon)
        cells = code_rows(rows, codes, later=drawn)
        levels = Levels(
            rows=rows,
            growth=Growth(cells=cells, node=np.zeros(len(rows), dtype=np.int32)),
            curator=curator,
            epsilon=each,
            depth=int(self.max_depth),
            score=score,
            sensitivity=sensitivity * (2 if published else 1),
            mechanism="exponential mechanism" if published else "permute-and-flip",
            numbers=drawn,
        )
        levels.grow()
        note_unspent(curator, epsilon)
        nodes = levels.growth.nodes
        none = np.zeros(rows.n_classes, dtype=np.int64)
        classes = np.array([levels.classes.get(i, none) for i in range(len(nodes))])
        people = [levels.people[i] for i in range(len(nodes))]
        counts = calibrate(nodes.parent, people, classes)
        keep = None
        if self.certainty_factor is not None:
            keep = prune_pessimistically(nodes.parent, counts, float(self.certainty_factor))
        bounded = self.criterion == "information-gain"
        return Grown(
            trees=nodes.trees(counts, keep),
            counts_reason=(
                f"discrete Laplace noise for an epsilon of {each} on the people of every "
                "node and the classes of every leaf, made to add up"
            ),
            answers="mean",
            noise=Noise(
                rate=float(curator.rate(each)),
                counts="leaves",
                afterwards=("clipped", "scaled"),
            ),
            public=("that there are at most max_records",) if bounded else (),
        )

    def _least(self, rows: TrainingRows, epsilon: Fraction) -> Fraction:
        check_bound(self.criterion, rows, self.max_records)
        histograms = 2 * len(rows.schema.features) if self.criterion == "noisy-counts" else 1
        return self._each(rows.schema, epsilon) / histograms

    def _each(self, schema: Schema, epsilon: Fraction) -> Fraction:
        """Return what a question costs."""
        return epsilon / ((2 + len(self._drawn(schema))) * int(self.max_depth) + 2)

    def _drawn(self, schema: Schema) -> tuple[int, ...]:
        """Return the columns for which split points are drawn."""
        if self.numbers == "bins" or self.criterion == "noisy-counts":
            return ()
        return tuple(
            i
            for i, f in enumerate(schema.features)
            if f.categories is None and f.low is not None and f.high is not None and f.low < f.high
        )


@dataclass(slots=True, kw_only=True, eq=False)
class Levels:
    """The state of one fit: the nodes so far, and where the records are.

    ``score`` is None for noisy counts (SuLQ); split points are drawn for the columns ``numbers``;
    ``people`` and ``classes`` are noisy counts by node.
    """

    rows: TrainingRows
    growth: Growth
    curator: Curator
    epsilon: Fraction
    depth: int
    score: Score | None
    sensitivity: Fraction
    mechanism: Selection
    numbers: tuple[int, ...]
    people: dict[int, int] = field(default_factory=dict)
    classes: dict[int, Wide] = field(default_factory=dict)
    _places: dict[int, Int] = field(init=False)
    _inside: dict[int, dict[int, tuple[int, int]]] = field(init=False)

    def grow(self) -> None:
        """Grow the tree from its root."""
        root = self.growth.plant()
        self._inside = {root: dict.fromkeys(self.numbers, (0, N_POINTS))}
        features = self.rows.schema.features
        values = self.rows.values
        self._places = {i: place_on_grid(features[i], values[:, i]) for i in self.numbers}
        front = [root]
        for level in range(self.depth + 1):
            front = self._level(front, level)
            if not front:
                return

    def _level(self, front: list[int], level: int) -> list[int]:
        """Ask everything about the nodes of a level; return those below."""
        inside = np.bincount(self.growth.node, minlength=len(self.growth.nodes))[front]
        noisy = self.curator.count(f"people of level {level + 1}", inside, self.epsilon)
        self.people.update(zip(front, noisy.tolist(), strict=True))
        going = [node for node in front if level < self.depth and self._worth_it(node)]
        points = self._points(going, level)
        candidates = one_each(self.growth.cells.codes, self.curator.entropy)
        chosen: Wide = np.zeros(0, dtype=np.int64)
        if going:
            chosen = self._choose(going, candidates, level)
        stopped = [node for node in front if node not in set(going)]
        self._leaves(stopped)
        if not going:
            return []
        return self._split(going, candidates, chosen, points)

    def _worth_it(self, node: int) -> bool:
        """Apply the stopping rule of line 9: enough people per class after the split."""
        fans = [int(there.sum()) for there in self.growth.allowed[node]]
        for column, (low, high) in self._inside[node].items():
            fans[column] = min(2, high - low)
        most = max(fans, default=1)
        if most < 2:
            return False
        n_classes = self.growth.cells.n_classes
        deviation = math.sqrt(2) * self.curator.factor / float(self.epsilon)
        return self.people[node] / (most * n_classes) >= deviation

    def _points(self, going: list[int], level: int) -> dict[tuple[int, int], int]:
        """Draw a split point per node and number, and code the records by it."""
        found: dict[tuple[int, int], int] = {}
        if not self.numbers or self.score is None or not going:
            return found
        part_of = np.full(len(self.growth.nodes), -1)
        part_of[going] = np.arange(len(going))
        part = part_of[self.growth.node]
        rows = np.flatnonzero(part >= 0)
        labels, n_classes = self.rows.labels, self.rows.n_classes
        members = Members.of(part, labels, len(going))
        part, labels = part[rows], labels[rows]
        cell = self.growth.cells.cell
        label_of = labels.astype(cell.dtype)
        for column in self.numbers:
            own = cell[column]
            name = f"points of {self.rows.schema.features[column].name}, level {level + 1}"
            inside = [self._inside[node][column] for node in going]
            place = self._places[column]
            drawn = np.full(len(going), MISSING, dtype=place.dtype)
            held = ranges(place, members, n_classes, inside, self.score)
            for i, (node, (low, high), mine) in enumerate(zip(going, inside, held, strict=True)):
                if high - low < 2:
                    self.growth.allowed[node][column] = np.array([True, False])
                    continue
                point = choose_point(self.curator, name, self.epsilon, self.sensitivity, mine)
                found[node, column] = drawn[i] = point
            own[rows] = coded(place[rows], drawn, part, label_of, n_classes)
        return found

    def _choose(self, going: list[int], candidates: Candidates, level: int) -> Wide:
        if self.score is None:
            return self._by_noisy_counts(going, candidates, level)
        histograms, there = self.growth.histograms(going)
        scores = score_level(candidates, histograms, there, self.score)
        return self.curator.choose(
            f"splits of level {level + 1}",
            scores,
            self.epsilon,
            sensitivity=self.sensitivity,
            unit=UNIT,
            mechanism=self.mechanism,
        )

    def _by_noisy_counts(self, going: list[int], candidates: Candidates, level: int) -> Wide:
        """Take the column whose information gain is best by counts with noise (algorithm 1)."""
        # Every column that was asked about is gone, one per level of the path.
        left = len(candidates) - level
        each = self.epsilon / (2 * left)

        def ask(rank: int, counts: Wide) -> tuple[Wide, Wide]:
            name = f"attribute {rank} of level {level + 1}"
            values = self.curator.count(f"values of {name}", counts.sum(axis=2), each)
            flat = counts.reshape(len(counts), -1)
            cells = self.curator.count(f"values and classes of {name}", flat, each)
            return cells.reshape(counts.shape), values

        gain, _ = noisy_gains(self.growth, going, candidates, left, ask)
        best: Wide = np.argmax(gain, axis=1).astype(np.int64)
        return best

    def _leaves(self, stopped: list[int]) -> None:
        if not stopped:
            return
        noisy = self.curator.count("leaf counts", self.growth.classes(stopped), self.epsilon)
        self.classes.update(zip(stopped, noisy, strict=True))

    def _split(
        self,
        going: list[int],
        candidates: Candidates,
        chosen: Wide,
        points: dict[tuple[int, int], int],
    ) -> list[int]:
        nodes = self.growth.nodes
        splits = self.growth.parts(going, candidates, chosen)
        for i, (node, (edges, part)) in enumerate(zip(going, splits, strict=True)):
            if (node, edges.feature) in points:
                feature = self.rows.schema.features[edges.feature]
                value = float(point_value(feature, points[node, edges.feature]))
                splits[i] = replace(edges, low=(-np.inf, value), high=(value, np.inf)), part
        new = self.growth.split(going, splits)
        column_of = dict(zip(going, [edges.feature for edges, _ in splits], strict=True))
        for child in new:
            above = nodes.parent[child]
            column = column_of[above]
            inside = dict(self._inside[above])
            if (above, column) in points:
                low_end, high_end = inside[column]
                point = points[above, column]
                below_it = nodes.high(child) < np.inf
                inside[column] = (low_end, point) if below_it else (point, high_end)
            self._inside[child] = inside
            for number in self.numbers:
                self.growth.allowed[child][number] = np.ones(2, dtype=np.bool_)
        return new
