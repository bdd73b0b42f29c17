"""The levels of DiffPID3: count, stop or split, one question after the other.

References
----------
Friedman & Schuster (2010), algorithms 1 (SuLQ-based ID3) and 2 (DiffPID3), and
section 4.3 for numbers.
"""

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.dp.curator import Curator, Selection
from treeaudit.dp.scores import UNIT, Score
from treeaudit.trainers.diffpid3_points import (
    MISSING,
    N_POINTS,
    Members,
    choose_point,
    coded,
    places_on_grids,
    point_value,
    ranges,
)
from treeaudit.trainers.private_tree_growth import Growth
from treeaudit.trainers.splits import Candidates, one_each, score_level
from treeaudit.trainers.training_rows import TrainingRows

__all__ = ["Levels"]


@dataclass(slots=True, kw_only=True, eq=False)
class Levels:
    """The state of one fit: the nodes so far, and where the records are.

    Attributes
    ----------
    rows, growth, curator
        What is grown on.
    epsilon
        What each question of a node costs.
    depth
        Levels of splits.
    score
        How splits are judged; None for noisy counts (SuLQ).
    sensitivity
        As the mechanism is to use it.
    mechanism
        For the choice of the attribute.
    numbers
        The columns for which split points are drawn.
    people, classes
        Noisy counts by node.
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
        self._places = places_on_grids(features, self.rows.values, self.numbers)
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
        rows = slice(None) if part.min(initial=0) >= 0 else np.flatnonzero(part >= 0)
        labels, n_classes = self.rows.labels, self.rows.n_classes
        members = Members.of(part, labels, len(going), n_classes)
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
        histograms, there = self.growth.histograms(going)
        if self.score is None:
            return self._by_noisy_counts(histograms, there, candidates, level)
        scores = score_level(candidates, histograms, there, self.score)
        return self.curator.choose(
            f"splits of level {level + 1}",
            scores,
            self.epsilon,
            sensitivity=self.sensitivity,
            unit=UNIT,
            mechanism=self.mechanism,
        )

    def _by_noisy_counts(
        self, histograms: list[Wide], there: list[Flag], candidates: Candidates, level: int
    ) -> Wide:
        """Take the column whose information gain is best by counts with noise (algorithm 1)."""
        # Every column that was asked about is gone, one per level of the path.
        left = len(candidates) - level
        each = self.epsilon / (2 * left)
        gain = np.full((len(histograms[0]), len(candidates)), -np.inf)
        # Columns by their place among those that a node has left: a person is in one row of each.
        open_ = np.array([there[c].sum(axis=1) > 1 for c in candidates.feature.tolist()]).T
        place = np.cumsum(open_, axis=1)
        for rank in range(1, left + 1):
            name = f"attribute {rank} of level {level + 1}"
            for i, column in enumerate(candidates.feature.tolist()):
                at = np.flatnonzero(open_[:, i] & (place[:, i] == rank))
                if len(at):
                    counts = histograms[column][at]
                    counts[:, candidates.lost[i]] += counts[:, -1]
                    gain[at, i] = self._noisy_gain(counts[:, :-1], name, each)
        best: Wide = np.argmax(gain, axis=1).astype(np.int64)
        return best

    def _noisy_gain(self, counts: Wide, name: str, epsilon: Fraction) -> Float:
        """Ask for two histograms of one column; what is negative is skipped (line 19)."""
        values = self.curator.count(f"values of {name}", counts.sum(axis=2), epsilon)
        flat = counts.reshape(len(counts), -1)
        cells = self.curator.count(f"values and classes of {name}", flat, epsilon)
        cells = cells.reshape(counts.shape)
        fine = (cells > 0) & (values[..., None] > 0)
        ratio = np.where(fine, cells / np.where(fine, values[..., None], 1), 1.0)
        gain: Float = (cells * np.log2(ratio)).sum(axis=(1, 2))
        return gain

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
