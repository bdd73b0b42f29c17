"""One tree of DPDF: a histogram per node, a stop rule, a private choice, pruning."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.dp.curator import Curator
from treeaudit.dp.mechanisms import IMPOSSIBLE, exponential_mechanism
from treeaudit.dp.scores import GINI, UNIT
from treeaudit.model.tree import Tree
from treeaudit.trainers.private_tree_columns import Cells
from treeaudit.trainers.private_tree_growth import Growth
from treeaudit.trainers.pruning import gini_pruned
from treeaudit.trainers.splits import Candidates, one_each, score_level
from treeaudit.trainers.training_rows import TrainingRows

__all__ = ["Steps", "gini_sensitivity", "grow_tree", "published_scores"]

_MOST_NODES = 200_000
"""Noise alone may go on where nobody is; with columns of many categories it would not end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """How a tree is grown.

    Attributes
    ----------
    epsilon
        Of every question.
    split_levels
        How many levels may be split.
    min_records
        Below it a node is a leaf.
    published
        Choose by the Gini index at the sensitivity of theorem 1.
    absolute
        Take the size of a node from the absolute values of its noisy counts.
    prune
        Cut leaves that are no purer than the node above.
    ties
        As in `gini_pruned`.
    """

    epsilon: Fraction
    split_levels: int
    min_records: int
    published: bool
    absolute: bool
    prune: bool
    ties: Literal["cut", "kept"] = "cut"


def gini_sensitivity(size: npt.ArrayLike) -> Float:
    """Return the worst-case local sensitivity of the Gini index (theorem 1).

    Examples
    --------
    >>> gini_sensitivity([1, 100]).round(4).tolist()
    [0.5, 0.0196]
    """
    n = np.asarray(size, dtype=np.float64)
    return np.asarray(1 - (n / (n + 1)) ** 2 - (1 / (n + 1)) ** 2)


def published_scores(scores: Wide, true_size: Wide, noisy_size: Wide, epsilon: Fraction) -> Wide:
    """Return the printed exponents ``epsilon G / (2 Delta(G))``, in units of 2^-20.

    Parameters
    ----------
    scores
        Minus the records times their Gini index after each split (`GINI`).
    true_size, noisy_size
        Of the nodes: the index is divided by one, its sensitivity read off the
        other. That is the flaw.
    """
    index = np.where(scores > IMPOSSIBLE, scores / UNIT, 0.0)
    index = index / np.maximum(true_size, 1)[:, None]
    scale = float(epsilon) / (2 * gini_sensitivity(noisy_size))
    exponent = np.floor(np.maximum(index * scale[:, None] * UNIT, -(2.0**60))).astype(np.int64)
    return np.where(scores > IMPOSSIBLE, exponent, IMPOSSIBLE)


def grow_tree(
    rows: TrainingRows,
    cells: Cells,
    curator: Curator,
    steps: Steps,
    name: str,
    roots: set[int],
) -> Tree:
    """Grow and prune one tree; its root is added to those that no other tree may have."""
    growth = Growth(cells=cells, node=np.zeros(len(rows), dtype=np.int32))
    front, nodes = [growth.plant()], growth.nodes
    counts: list[Wide] = []
    for level in range(steps.split_levels + 1):
        true = growth.classes(front)
        noisy = curator.count(f"{name}: classes of level {level + 1}", true, steps.epsilon)
        counts += list(noisy)
        if level == steps.split_levels:
            break
        candidates = one_each(cells.codes, curator.entropy, roots if level == 0 else set())
        slots = [slot for slot, here in enumerate(front) if _goes_on(noisy[slot], steps)]
        slots = [slot for slot in slots if _can_split(candidates, growth.allowed[front[slot]])]
        widest = max((codes.n for codes in cells.codes), default=1)
        if not slots or len(nodes) + len(slots) * widest > _MOST_NODES:
            break
        front = [front[slot] for slot in slots]
        question = f"{name}: splits of level {level + 1}"
        chosen = _choose(growth, front, candidates, curator, steps, noisy[slots], question)
        if level == 0:
            roots.add(int(candidates.feature[chosen[0]]))
        front = growth.split(front, growth.parts(front, candidates, chosen))
    held = np.array(counts)
    keep = gini_pruned(nodes.parent, held, steps.ties) if steps.prune else None
    return nodes.trees(held, keep)[0]


def _size(noisy: Wide, steps: Steps) -> int:
    return int(np.abs(noisy).sum() if steps.absolute else noisy.sum())


def _goes_on(noisy: Wide, steps: Steps) -> bool:
    """Apply line 16: large enough, and no class that holds everybody."""
    size = _size(noisy, steps)
    return size >= max(1, steps.min_records) and bool((noisy < size).all())


def _can_split(candidates: Candidates, allowed: list[Flag]) -> bool:
    return any(allowed[column].sum() > 1 for column in candidates.feature.tolist())


def _choose(
    growth: Growth,
    front: list[int],
    candidates: Candidates,
    curator: Curator,
    steps: Steps,
    noisy: Wide,
    question: str,
) -> Wide:
    histograms, there = growth.histograms(front)
    scores = score_level(candidates, histograms, there, GINI)
    if not steps.published:
        return curator.choose(
            question, scores, steps.epsilon, sensitivity=GINI.sensitivity(1), unit=UNIT
        )
    true_size = histograms[0].sum(axis=(1, 2))
    sizes = np.array([_size(row, steps) for row in noisy])
    exponents = published_scores(scores, true_size, sizes, steps.epsilon / curator.factor)
    # What the paper takes for the sensitivity of the index in a node of min_records.
    claimed = Fraction(float(gini_sensitivity(max(1, steps.min_records))))
    curator.note(question, "exponential mechanism", steps.epsilon, claimed, len(front))
    return exponential_mechanism(exponents, Fraction(1, UNIT), curator.entropy)
