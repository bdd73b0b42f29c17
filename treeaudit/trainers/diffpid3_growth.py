"""The levels of DiffPID3: count, stop or split, one question after the other.

References
----------
Friedman & Schuster (2010), algorithms 1 (SuLQ-based ID3) and 2 (DiffPID3), and
section 4.3 for numbers.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.dp.curator import Curator, Selection
from treeaudit.dp.scores import Score
from treeaudit.trainers.diffpid3_points import (
    MISSING,
    N_POINTS,
    choose_point,
    place_on_grid,
    point_value,
    ranges,
)
from treeaudit.trainers.private_tree_columns import Cells
from treeaudit.trainers.private_tree_growth import split_front
from treeaudit.trainers.private_tree_nodes import Edges, Nodes
from treeaudit.trainers.splits import Candidates, one_each, score_level
from treeaudit.trainers.training_rows import TrainingRows

__all__ = ["Asked", "Levels"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How DiffPID3 asks.

    Attributes
    ----------
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
    """

    epsilon: Fraction
    depth: int
    score: Score | None
    sensitivity: Fraction
    mechanism: Selection


@dataclass(slots=True, kw_only=True, eq=False)
class Levels:
    """The state of one fit: the nodes so far, and where the records are.

    Attributes
    ----------
    rows, cells, curator, asked
        What is grown on, and how.
    numbers
        The columns for which split points are drawn.
    people, classes
        Noisy counts by node.
    """

    rows: TrainingRows
    cells: Cells
    curator: Curator
    asked: Asked
    numbers: tuple[int, ...]
    nodes: Nodes = field(default_factory=Nodes)
    people: dict[int, int] = field(default_factory=dict)
    classes: dict[int, Wide] = field(default_factory=dict)
    _node: Int = field(init=False)
    _allowed: dict[int, list[Flag]] = field(init=False)
    _places: dict[int, Wide] = field(init=False)
    _inside: dict[int, dict[int, tuple[int, int]]] = field(init=False)

    def grow(self) -> None:
        """Grow the tree from its root."""
        root = self.nodes.add_root()
        self._node = np.zeros(len(self.rows), dtype=np.int32)
        self._allowed = {root: [np.ones(c.n, dtype=np.bool_) for c in self.cells.codes]}
        self._inside = {root: dict.fromkeys(self.numbers, (0, N_POINTS))}
        features, values = self.rows.schema.features, self.rows.values
        self._places = {i: place_on_grid(features[i], values[:, i]) for i in self.numbers}
        front = [root]
        for level in range(self.asked.depth + 1):
            front = self._level(front, level)
            if not front:
                return

    def _level(self, front: list[int], level: int) -> list[int]:
        """Ask everything about the nodes of a level; return those below."""
        inside = np.bincount(self._node, minlength=len(self.nodes))[front]
        noisy = self.curator.count(f"people of level {level + 1}", inside, self.asked.epsilon)
        self.people.update(zip(front, noisy.tolist(), strict=True))
        going = [node for node in front if level < self.asked.depth and self._worth_it(node)]
        points = self._points(going, level)
        candidates = one_each(self.cells.codes, self.curator.entropy)
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
        fans = [int(there.sum()) for there in self._allowed[node]]
        for column, (low, high) in self._inside[node].items():
            fans[column] = min(2, high - low)
        most = max(fans, default=1)
        if most < 2:
            return False
        n_classes = self.cells.n_classes
        return self.people[node] / (most * n_classes) >= math.sqrt(2) / float(self.asked.epsilon)

    def _points(self, going: list[int], level: int) -> dict[tuple[int, int], int]:
        """Draw a split point per node and number, and code the records by it."""
        found: dict[tuple[int, int], int] = {}
        score = self.asked.score
        if not self.numbers or score is None:
            return found
        for node in going:
            rows = np.flatnonzero(self._node == node)
            for column in self.numbers:
                low, high = self._inside[node][column]
                if high - low < 2:
                    self._allowed[node][column] = np.array([True, False])
                    continue
                place, labels = self._places[column][rows], self.rows.labels[rows]
                known = place != MISSING
                held = ranges(place[known], labels[known], self.cells.n_classes, (low, high), score)
                name = f"points of {self.rows.schema.features[column].name}, level {level + 1}"
                point = choose_point(
                    self.curator, name, self.asked.epsilon, self.asked.sensitivity, held
                )
                found[node, column] = point
                code = np.where(known, place > point, 2)
                self.cells.cell[column, rows] = code * self.cells.n_classes + labels
        return found

    def _choose(self, going: list[int], candidates: Candidates, level: int) -> Wide:
        slot_of = np.full(len(self.nodes), len(going), dtype=np.int64)
        slot_of[going] = np.arange(len(going))
        histograms = self.cells.histograms(self._node, slot_of, len(going))
        there = [np.array([self._allowed[i][c] for i in going]) for c in range(len(histograms))]
        if self.asked.score is None:
            return self._by_noisy_counts(histograms, there, candidates, level)
        scores = score_level(candidates, histograms, there, self.asked.score, 0)
        return self.curator.choose(
            f"splits of level {level + 1}",
            scores,
            self.asked.epsilon,
            sensitivity=self.asked.sensitivity,
            mechanism=self.asked.mechanism,
        )

    def _by_noisy_counts(
        self, histograms: list[Wide], there: list[Flag], candidates: Candidates, level: int
    ) -> Wide:
        """Take the column whose information gain is best by counts with noise (algorithm 1)."""
        # Every column that was asked about is gone, one per level of the path.
        left = len(candidates) - level
        each = self.asked.epsilon / (2 * left)
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
        n_classes = self.cells.n_classes
        counts = np.zeros((len(self.nodes), n_classes), dtype=np.int64)
        np.add.at(counts, (self._node, self.rows.labels), 1)
        noisy = self.curator.count("leaf counts", counts[stopped], self.asked.epsilon)
        self.classes.update(zip(stopped, noisy, strict=True))

    def _split(
        self,
        going: list[int],
        candidates: Candidates,
        chosen: Wide,
        points: dict[tuple[int, int], int],
    ) -> list[int]:
        splits = []
        for node, candidate in zip(going, chosen.tolist(), strict=True):
            column = int(candidates.feature[candidate])
            edges, part = candidates.parts(candidate, self._allowed[node][column])
            if (node, column) in points:
                value = point_value(self.rows.schema.features[column], points[node, column])
                low, high = (-np.inf, float(value)), (float(value), np.inf)
                edges = Edges(feature=column, low=low, high=high, missing=edges.missing)
            splits.append((edges, part))
        first = len(self.nodes)
        new = split_front(self.cells, self._node, self.nodes, going, self._allowed, splits)
        column_of = dict(zip(going, [edges.feature for edges, _ in splits], strict=True))
        for child in range(first, len(self.nodes)):
            above = self.nodes.parent[child]
            column = column_of[above]
            inside = dict(self._inside[above])
            if (above, column) in points:
                low_end, high_end = inside[column]
                point = points[above, column]
                below_it = self.nodes.high(child) < np.inf
                inside[column] = (low_end, point) if below_it else (point, high_end)
            self._inside[child] = inside
            for number in self.numbers:
                self._allowed[child][number] = np.ones(2, dtype=np.bool_)
        return new
