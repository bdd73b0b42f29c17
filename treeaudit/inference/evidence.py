"""What inexact counts of leaves say of the people in them: unknown bootstrap samples, or noise.

Bootstrap: every tree draws ``m`` times from N people, so that a person is drawn ``m / N`` times on
average and is in the tree with probability ``p = 1 - (1 - 1/N) ** m``. Of a people in a leaf of one
class, d are in the tree with probability ``Binomial(d; a, p)``; how often those were drawn says no
more of a. In a leaf of several classes the draws of each are ``Poisson(a m / N)``.

Noise: a count is off by a whole number z with a probability in proportion to ``exp(-rate *
abs(z))``, the discrete Laplace law; of a people in a leaf it says ``-rate * abs(count - a)``. A
count that was put up to 0 says the same as 0 does, since nobody is in fewer than no leaves.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from treeaudit.arrays import Float, Wide, first_equal
from treeaudit.errors import DataError
from treeaudit.inference.cells import Cells
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree

_TOO_FEW = -8.0
"""Logarithm of 0 people: fewer than were drawn is next to impossible, but chains may pass there."""
_DROPPED = 1e-5
"""Probability that a cell is dropped although somebody is in it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BootstrapEvidence:
    """The draws in the leaves, a row per node and class."""

    # Different people of the class in the tree where the node holds no others; -1 elsewhere
    distinct: Wide
    draws: Float  # How often people of the class were drawn
    estimate: Float  # About how many people are in each row: ``d / p``, or ``b N / m``
    step: Float  # What a person adds whom no draw shows: ``log(1 - p)``, or ``-m / N``
    logarithms: Float  # Of 0, 1, 2, … people

    @property
    def equal_rows(self) -> Wide:
        """Return for each row the first with the same likelihood."""
        draws = np.where(self.distinct < 0, self.draws, 0.0)
        return first_equal(self.distinct, draws, self.step)

    def gain(self, row: Wide, people: Wide) -> Float:
        """Return what one person more in rows with so many adds to the log-likelihood.

        Binomial: ``log((a + 1) / (a + 1 - d)) + log(1 - p)``; Poisson: ``b log((a + 1) / a)
        - m / N``.
        """
        log, distinct = self.logarithms, self.distinct[row]
        more = log[people + 1]
        gain: Float = more - log[np.maximum(people + 1 - np.maximum(distinct, 0), 0)]
        if (mixed := distinct < 0).any():
            gain = np.where(mixed, self.draws[row] * (more - log[people]), gain)
        return gain + self.step[row]


def bootstrap_evidence(trees: Sequence[Tree], n_people: int) -> BootstrapEvidence:
    """Return what draws in the nodes of trees say of that many people.

    Raises DataError if a tree does not hold how many people and draws it was trained on.
    """
    distinct, draws, estimate, step = [], [], [], []
    for tree in trees:
        if tree.counts is None or tree.n_records is None:
            raise DataError("a tree does not hold how many people it was trained on")
        alone = np.count_nonzero(tree.counts, axis=1, keepdims=True) <= 1
        people = np.where(tree.counts > 0, tree.n_records[:, None], 0)
        distinct.append(np.where(alone, people, -1).ravel())
        times, p = _draws(tree) / n_people, _in_tree(_draws(tree), n_people)
        draws.append(tree.counts.ravel())
        estimate.append(np.where(alone, people / p, tree.counts / times).ravel())
        step.append(np.where(np.broadcast_to(alone, people.shape), np.log1p(-p), -times).ravel())
    logarithms = np.log(np.maximum(np.arange(n_people + 2.0), 1.0))
    logarithms[0] = _TOO_FEW
    return BootstrapEvidence(
        distinct=np.concatenate(distinct).astype(np.int64),
        draws=np.concatenate(draws).astype(np.float64),
        estimate=np.concatenate(estimate),
        step=np.concatenate(step),
        logarithms=logarithms,
    )


def drop_implausible(cells: Cells, trees: Sequence[Tree], n_people: int) -> Cells:
    """Return the cells without those that too many trees leave empty for somebody to be there.

    A tree that leaves a cell without people of a class has drawn nobody of them who is there, which
    of a person happens in one tree after the other with probability 1 - p.
    """
    from scipy.stats import binom

    out = max(1 - _in_tree(_draws(tree), n_people) for tree in trees)
    most = binom.isf(_DROPPED, len(trees), out)
    if most >= len(trees):
        return cells
    empty = np.zeros(cells.alive.shape, dtype=np.int16)
    for tree, leaf in zip(trees, cells.leaf, strict=True):
        if tree.counts is not None:
            empty += (tree.counts == 0)[leaf]
    alive = cells.alive & (empty <= most)
    return replace(cells, alive=alive).part(np.flatnonzero(alive.any(axis=1)))


def _draws(tree: Tree) -> float:
    return 0.0 if tree.counts is None else float(tree.counts[tree.leaves].sum())


def _in_tree(draws: float, n_people: int) -> float:
    """Return the probability that a person is among so many draws."""
    return float(-np.expm1(draws * np.log1p(-1 / n_people))) if n_people > 1 else 1 - 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoiseEvidence:
    """Noisy counts, a row per node and class, and one more row that says nothing."""

    count: Float  # Count in the file
    rate: Float  # Rate of the noise; 0 for a row without information

    @property
    def estimate(self) -> Float:
        """About how many people are in each row."""
        return np.maximum(self.count, 0.0)

    @property
    def equal_rows(self) -> Wide:
        """Return for each row the first with the same likelihood."""
        return first_equal(self.count, self.rate)

    def gain(self, row: Wide, people: Wide) -> Float:
        """Return what one person more in rows with so many adds to the log-likelihood."""
        rate = self.rate[row]
        return np.where(people < self.count[row], rate, 0.0 - rate)


def not_noisy(forest: Forest) -> str | None:
    """Say why the noise in the counts of a model is not known; None where it is."""
    if forest.noise is None:
        return forest.counts_reason or "it does not tell which noise is in its counts"
    if forest.records_are != "all":
        return "its trees were trained on parts of the people"
    if further := [done for done in forest.noise.afterwards if done != "clipped"]:
        return f"its noisy counts were {' and '.join(further)}, of which the law is not known"
    if forest.schema.classes is None or any(tree.counts is None for tree in forest.trees):
        return "its trees hold no class counts"
    return None


def noise_evidence(forest: Forest) -> NoiseEvidence:
    """Return what the counts of all nodes say.

    Raises DataError if `not_noisy` has a reason, or if counts are no whole numbers.
    """
    if (reason := not_noisy(forest)) is not None:
        raise DataError(reason)
    rate = 0.0 if forest.noise is None else forest.noise.rate
    count = np.concatenate(
        [tree.counts.ravel() for tree in forest.trees if tree.counts is not None]
    )
    if (count != np.floor(count)).any():
        raise DataError("its noisy counts are no whole numbers")
    return NoiseEvidence(
        count=np.append(count, 0.0), rate=np.append(np.full(len(count), rate), 0.0)
    )


def paths(trees: Sequence[Tree], leaf: Wide, *, every: bool) -> Wide:
    """Return the nodes whose counts hold whoever is in some leaves, counted over all trees.

    The result: shape ``(n, n_equations)``; -1 where a path has ended.
    """
    if not every:
        sizes = np.cumsum([0, *(tree.n_nodes for tree in trees)])[:-1]
        leaves: Wide = np.ascontiguousarray(leaf) + sizes
        leaves[leaf < 0] = -1
        return leaves
    columns, first = [], 0
    for tree, node in zip(trees, leaf.T, strict=True):
        at = node.astype(np.int64)
        while (at >= 0).any():
            columns.append(np.where(at >= 0, at + first, -1))
            at = np.where(at >= 0, tree.parent[at], -1)
        first += tree.n_nodes
    return np.column_stack(columns)
