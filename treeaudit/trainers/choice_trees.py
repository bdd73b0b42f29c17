"""One tree by private choices: which column splits each node, then the classes of its leaves."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.defenses.tree_edits import summed
from treeaudit.dp.curator import Curator, Selection
from treeaudit.dp.scores import UNIT, Score
from treeaudit.model.tree import Tree
from treeaudit.trainers.private_tree_columns import Cells
from treeaudit.trainers.private_tree_growth import Growth
from treeaudit.trainers.private_tree_nodes import Edges
from treeaudit.trainers.splits import Candidates, one_each, score_level
from treeaudit.trainers.training_rows import TrainingRows

__all__ = ["Choices", "Split", "grow_by_choice"]

_MOST_NODES = 200_000

Split = tuple[Edges, Wide]
"""The edges out of a node, and the part of each code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """How a tree is grown.

    Attributes
    ----------
    epsilon
        Of every question.
    split_levels
        How many levels may be split.
    counted
        Whether every node that may be split is asked how many people it holds, and stops below
        the noise: with t parts and C classes, where fewer than sqrt(2) t C / epsilon are left
        (Friedman & Schuster 2010, algorithm 2, line 9).
    score, mechanism
        Of the choice of the column.
    twice
        Whether the choice pays twice the sensitivity, as in print.
    splits
        From the name of the level, the nodes, their histograms and the candidates chosen to the
        splits, where not a part for each code.
    """

    epsilon: Fraction
    split_levels: int
    counted: bool
    score: Score
    mechanism: Selection = "permute-and-flip"
    twice: bool = False
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

    Its leaves hold noisy class counts, and nodes above what their leaves hold.

    Parameters
    ----------
    cells
        The records by public codes; what they weigh is how often each is counted.
    name
        What the names of its questions begin with.
    """
    growth = Growth(cells=cells, node=np.zeros(len(cells), dtype=np.int32))
    front, nodes = [growth.plant()], growth.nodes
    for level in range(choices.split_levels):
        widest = max((codes.n for codes in cells.codes), default=1)
        if len(nodes) + len(front) * widest > _MOST_NODES:
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
    leaf = np.ones(len(nodes), dtype=np.bool_)
    leaf[[above for above in nodes.parent if above >= 0]] = False
    classes = np.zeros((len(nodes), rows.n_classes))
    true = growth.classes(np.flatnonzero(leaf).tolist())
    classes[leaf] = curator.count(f"{name}leaf counts", true, choices.epsilon)
    tree = nodes.trees(classes)[0]
    return replace(tree, counts=summed(tree, classes))


def _goes_on(parts: int, people: int | None, least: float) -> bool:
    return parts > 1 and (people is None or people >= parts * least)
