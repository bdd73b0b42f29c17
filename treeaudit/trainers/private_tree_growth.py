"""Grow trees greedily, one level of all of them at a time.

Every record is at one node of one tree, so all nodes of a level are disjoint
parts: they are scored from one pass over the records, and asked in parallel.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from treeaudit.arrays import Flag, Int, Wide
from treeaudit.dp.curator import Curator, Selection
from treeaudit.dp.scores import Score
from treeaudit.trainers.private_tree_columns import Cells
from treeaudit.trainers.private_tree_nodes import Edges, Nodes
from treeaudit.trainers.splits import UNAVAILABLE, Candidates, available, score_level

__all__ = ["Plan", "grow_levels", "split_front"]

_MOST_NODES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a tree is grown; nothing in it depends on the records but through what was released.

    Attributes
    ----------
    per_level
        What the questions of each level cost, the root's first.
    score
        How splits are judged.
    sensitivity
        How far one person moves two candidates apart, in units of the score;
        twice that for the form with a factor of 2.
    mechanism
        How one is chosen.
    cost_of_a_part
        What a part beyond the second is to be worth, but in the last level.
    """

    per_level: tuple[Fraction, ...]
    score: Score
    sensitivity: Fraction
    mechanism: Selection
    cost_of_a_part: int


def grow_levels(cells: Cells, node: Int, nodes: Nodes, curator: Curator, plan: Plan) -> None:
    """Split the nodes in which the records are, level by level; move the records.

    Parameters
    ----------
    cells
        The records.
    node
        Shape ``(n_records,)``: the root where each record starts; the leaf in
        which it ends, afterwards.
    nodes
        The roots; all nodes, afterwards.
    curator
        Asked once per level, all nodes in parallel.
    plan
        How.
    """
    front = list(range(len(nodes)))
    allowed = {root: [np.ones(codes.n, dtype=np.bool_) for codes in cells.codes] for root in front}
    for level, epsilon in enumerate(plan.per_level):
        candidates = available(cells.codes, ways=True, entropy=curator.entropy)
        if not len(candidates):
            break
        scores, front = _scored(cells, node, nodes, front, allowed, candidates, plan, level)
        if not front:
            break
        chosen = curator.choose(
            f"splits of level {level + 1}",
            scores,
            epsilon,
            sensitivity=plan.sensitivity,
            mechanism=plan.mechanism,
        )
        splits = [
            candidates.parts(candidate, allowed[here][int(candidates.feature[candidate])])
            for here, candidate in zip(front, chosen.tolist(), strict=True)
        ]
        front = split_front(cells, node, nodes, front, allowed, splits)


def _scored(
    cells: Cells,
    node: Int,
    nodes: Nodes,
    front: list[int],
    allowed: dict[int, list[Flag]],
    candidates: Candidates,
    plan: Plan,
    level: int,
) -> tuple[Wide, list[int]]:
    """Return the scores of the nodes that can be split at all, and which these are."""
    slot_of = np.full(len(nodes), len(front), dtype=np.int64)
    slot_of[front] = np.arange(len(front))
    histograms = cells.histograms(node, slot_of, len(front))
    there = [np.array([allowed[i][c] for i in front]) for c in range(len(cells.codes))]
    cost = 0 if level == len(plan.per_level) - 1 else plan.cost_of_a_part
    scores = score_level(candidates, histograms, there, plan.score, cost)
    can = np.flatnonzero((scores > UNAVAILABLE).any(axis=1))
    if len(nodes) > _MOST_NODES:
        can = can[:0]
    return scores[can], [front[i] for i in can.tolist()]


def split_front(
    cells: Cells,
    node: Int,
    nodes: Nodes,
    front: list[int],
    allowed: dict[int, list[Flag]],
    splits: list[tuple[Edges, Wide]],
) -> list[int]:
    """Give the nodes of the front their children, and move the records into them.

    Parameters
    ----------
    cells, node, nodes
        The records, where they are, and all nodes so far.
    front
        The nodes that are split.
    allowed
        Per open node and column, which codes can occur; kept up to date.
    splits
        Per node of the front, its edges and the part of each code.

    Returns
    -------
    list of int
        The children.
    """
    n_before = len(nodes)
    feature = np.zeros(n_before, dtype=np.int64)
    widest = max(codes.n for codes in cells.codes) + 1
    start = np.zeros(n_before, dtype=np.int64)
    tables: list[Int] = []
    new: list[int] = []
    for here, (edges, part) in zip(front, splits, strict=True):
        children = nodes.split(here, edges)
        new += children
        for number, child in enumerate(children):
            codes = list(allowed[here])
            codes[edges.feature] = codes[edges.feature] & (part[:-1] == number)
            allowed[child] = codes
        del allowed[here]
        feature[here] = edges.feature
        start[here] = len(tables) * widest
        tables.append(np.pad(np.array(children)[part], (0, widest - len(part))).astype(np.int32))
    still = np.setdiff1d(np.arange(n_before), front)
    start[still] = len(tables) * widest + np.arange(len(still)) * widest
    stay = np.repeat(still, widest).astype(np.int32)
    cells.advance(node, feature, start, np.concatenate([*tables, stay]))
    return new
