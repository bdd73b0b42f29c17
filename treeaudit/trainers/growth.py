"""Grow trees level by level: greedily in many trees at a time, or one tree by private choices.

Every record is at one node of one tree, so all nodes of a level are disjoint parts: they are
scored from one pass over the records, and asked in parallel.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from treeaudit.arrays import Flag, Int, Wide
from treeaudit.defenses.tree_edits import summed
from treeaudit.dp.claims import NOT_ASKED
from treeaudit.dp.curator import Curator, Selection
from treeaudit.dp.mechanisms import IMPOSSIBLE
from treeaudit.dp.scores import UNIT, Score
from treeaudit.errors import DataError, PrivacyError
from treeaudit.model.tree import Tree
from treeaudit.trainers.histograms import Cells, Move
from treeaudit.trainers.splits import Candidates, Edges, Nodes, available, one_each, score_level
from treeaudit.trainers.training_rows import TrainingRows

_MOST_NODES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a tree is grown; nothing in it depends on the records but through what was released."""

    per_level: tuple[Fraction, ...]  # What the questions of each level cost, the root's first
    score: Score
    # How far one person moves two candidates apart, in units of the score; twice that for the form
    # with a factor of 2
    sensitivity: Fraction
    mechanism: Selection
    cost_of_a_part: int  # What a part beyond the second is to be worth, but in the last level
    unit: int = UNIT  # How many units of the score are one person


class Growth:
    """Trees that grow level by level, and the node where each record is meanwhile.

    ``allowed`` tells per open node and column which codes can occur.
    """

    __slots__ = ("allowed", "cells", "node", "nodes")

    def __init__(self, *, cells: Cells, node: Int) -> None:
        self.cells, self.node = cells, node
        self.nodes = Nodes()
        self.allowed: dict[int, list[Flag]] = {}

    def plant(self) -> int:
        """Begin a tree; return its root."""
        root = self.nodes.add_root()
        self.allowed[root] = [np.ones(codes.n, dtype=np.bool_) for codes in self.cells.codes]
        return root

    def histograms(self, front: list[int]) -> tuple[list[Wide], list[Flag]]:
        """Return per column the people by node of the front, code and class, and what can occur."""
        slot_of = np.full(len(self.nodes), len(front), dtype=np.int64)
        slot_of[front] = np.arange(len(front))
        return self.cells.histograms(self.node, slot_of, len(front)), self._there(front)

    def classes(self, nodes: list[int]) -> Wide:
        """Return the class counts of nodes, shape ``(n_nodes, n_classes)``."""
        return self.cells.by_node(self.node, len(self.nodes))[nodes]

    def people(self, nodes: list[int]) -> Wide:
        """Return how many people nodes hold."""
        return self.cells.people(self.node, len(self.nodes))[nodes]

    def most_parts(self, front: list[int]) -> Wide:
        """Return how many codes of a column can occur in each node, of the column of most."""
        most = np.ones(len(front), dtype=np.int64)
        for there in self._there(front):
            np.maximum(most, np.count_nonzero(there, axis=1), out=most)
        return most

    def _there(self, front: list[int]) -> list[Flag]:
        columns = range(len(self.cells.codes))
        return [np.array([self.allowed[i][c] for i in front]) for c in columns]

    def parts(
        self, front: list[int], candidates: Candidates, chosen: Wide
    ) -> list[tuple[Edges, Wide]]:
        """Return the edges of the candidate chosen for each node, and the part of each code."""
        return [
            candidates.parts(candidate, self.allowed[here][int(candidates.feature[candidate])])
            for here, candidate in zip(front, chosen.tolist(), strict=True)
        ]

    def split(self, front: list[int], splits: list[tuple[Edges, Wide]]) -> list[int]:
        """Give the nodes of the front their children, move the records; return the children."""
        n_before = len(self.nodes)
        moves: dict[int, Move] = {}
        new: list[int] = []
        for here, (edges, part) in zip(front, splits, strict=True):
            children = self.nodes.split(here, edges)
            new += children
            codes = self.allowed.pop(here)
            inside = (part[:-1] == np.arange(len(children))[:, None]) & codes[edges.feature]
            for child, there in zip(children, inside, strict=True):
                self.allowed[child] = [*codes]
                self.allowed[child][edges.feature] = there
            moves[here] = edges.feature, np.array(children, dtype=np.int32)[part]
        if moves:
            self.cells.advance(self.node, n_before, moves)
        return new


def grow_levels(growth: Growth, curator: Curator, plan: Plan) -> None:
    """Split the roots in which the records are, level by level, all nodes of one in parallel."""
    front = list(range(len(growth.nodes)))
    for level in range(len(plan.per_level)):
        front = split_level(growth, curator, plan, front, level)


def split_level(
    growth: Growth, curator: Curator, plan: Plan, front: list[int], level: int
) -> list[int]:
    """Split the nodes of a level that can be split; return their children."""
    candidates = available(growth.cells.codes, ways=True, entropy=curator.entropy)
    if not len(candidates) or not front:
        return []
    cost = 0 if level == len(plan.per_level) - 1 else plan.cost_of_a_part
    scores = score_level(candidates, *growth.histograms(front), plan.score, cost)
    can = np.flatnonzero((scores > IMPOSSIBLE).any(axis=1))
    if not len(can) or len(growth.nodes) > _MOST_NODES:
        return []
    front = [front[i] for i in can.tolist()]
    chosen = curator.choose(
        f"splits of level {level + 1}",
        scores[can],
        plan.per_level[level],
        sensitivity=plan.sensitivity,
        unit=plan.unit,
        mechanism=plan.mechanism,
    )
    return growth.split(front, growth.parts(front, candidates, chosen))


_MOST_OF_CHOICES = 200_000

Split = tuple[Edges, Wide]
"""The edges out of a node, and the part of each code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """How a tree is grown by `grow_by_choice`."""

    epsilon: Fraction  # Of every question
    split_levels: int  # How many levels may be split
    # Whether every node that may be split is asked how many people it holds, and stops below the
    # noise: with t parts and C classes, where fewer than sqrt(2) t C / epsilon are left (Friedman &
    # Schuster 2010, algorithm 2, line 9)
    counted: bool
    score: Score
    mechanism: Selection = "permute-and-flip"
    twice: bool = False  # Whether the choice pays twice the sensitivity, as in print
    # From the name of the level, the nodes, their histograms and the candidates chosen to the
    # splits, where not a part for each code
    splits: Callable[[Growth, str, list[int], list[Wide], Candidates, Wide], list[Split]] | None = (
        None
    )

    @property
    def asked(self) -> int:
        """How many questions a path asks at most, but for those of ``splits``."""
        return (1 + self.counted) * self.split_levels + 1

    def least(self, n_classes: int, factor: int) -> float:
        """Return how many people a part must be expected to hold."""
        return math.sqrt(2) * n_classes * factor / float(self.epsilon)


def grow_by_choice(
    rows: TrainingRows, cells: Cells, curator: Curator, choices: Choices, name: str = ""
) -> Tree:
    """Grow a tree level by level; nodes of a level, and leaves, are disjoint parts.

    Its leaves hold noisy class counts, and nodes above what their leaves hold. What the cells weigh
    is how often each is counted; the names of its questions begin with ``name``.
    """
    growth = Growth(cells=cells, node=np.zeros(len(cells), dtype=np.int32))
    front, nodes = [growth.plant()], growth.nodes
    for level in range(choices.split_levels):
        widest = max((codes.n for codes in cells.codes), default=1)
        if len(nodes) + len(front) * widest > _MOST_OF_CHOICES:
            break
        people: dict[int, int] = {}
        if choices.counted:
            inside = growth.people(front)
            asked = f"{name}people of level {level + 1}"
            noisy = curator.count(asked, inside, choices.epsilon)
            people = dict(zip(front, noisy.tolist(), strict=True))
        candidates = one_each(cells.codes, curator.entropy)
        least = choices.least(rows.n_classes, curator.factor)
        # Any split is into two parts at least.
        front = [i for i in front if _goes_on(2, people.get(i), least)]
        parts = growth.most_parts(front).tolist() if front else []
        front = [
            i for i, most in zip(front, parts, strict=True) if _goes_on(most, people.get(i), least)
        ]
        if not front:
            break
        histograms, there = growth.histograms(front)
        chosen = curator.choose(
            f"{name}splits of level {level + 1}",
            score_level(candidates, histograms, there, choices.score),
            choices.epsilon,
            sensitivity=choices.score.sensitivity(1) * (2 if choices.twice else 1),
            unit=UNIT,
            mechanism=choices.mechanism,
        )
        splits = growth.parts(front, candidates, chosen)
        if choices.splits is not None:
            of = f"{name}level {level + 1}"
            splits = choices.splits(growth, of, front, histograms, candidates, chosen)
        front = growth.split(front, splits)
    leaf = nodes.is_leaf
    classes = np.zeros((len(nodes), rows.n_classes))
    true = growth.classes(np.flatnonzero(leaf).tolist())
    classes[leaf] = curator.count(f"{name}leaf counts", true, choices.epsilon)
    tree = nodes.trees(classes)[0]
    return replace(tree, counts=summed(tree, classes))


def _goes_on(parts: int, people: int | None, least: float) -> bool:
    return parts > 1 and (people is None or people >= parts * least)


def check_is_bounded(criterion: str, max_records: int | None) -> None:
    """Refuse a score whose sensitivity rests on a public bound where there is none."""
    if criterion == "information-gain" and max_records is None:
        raise PrivacyError(
            "information-gain needs a public bound on the number of records: set max_records, "
            "or another criterion"
        )


def check_bound(criterion: str, rows: TrainingRows, max_records: int | None) -> None:
    """Refuse records beyond the public bound that the sensitivity of a score rests on."""
    if criterion != "information-gain" or max_records is None:
        return
    if max_records * max(1.0, math.log2(max_records)) * rows.n_classes >= 1 << 31:
        raise PrivacyError(
            f"max_records is {max_records:,}: the logarithms of information-gain are not exact "
            "enough for so many; take another criterion"
        )
    if len(rows) > max_records:
        raise DataError(
            f"there are more records than max_records={max_records}, on which the noise rests. "
            "This is about private data, for the eyes of its curator only: raise the bound if "
            "that is public knowledge, or take another criterion"
        )


def note_unspent(curator: Curator, epsilon: Fraction) -> None:
    """Write the rest of the budget into the ledger.

    Whether a trainer stops early depends on what the data answered, and a claim must not: its
    epsilon is what it would have spent at worst.
    """
    left = epsilon - curator.spent
    if left > 0:
        curator.note(
            *(NOT_ASKED, "none", left, Fraction(0), 1),
            used=Fraction(0),
        )
