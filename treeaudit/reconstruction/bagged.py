"""What the leaves of a bagged forest say when nobody tells who was drawn for which tree.

Every tree draws ``m`` times from N people, so that a person is drawn ``m / N`` times on average
and is in the tree with probability ``p = 1 - (1 - 1/N) ** m``. Of a people in a leaf of one class,
d are in the tree with probability ``Binomial(d; a, p)``; how often those were drawn says no more of
a. In a leaf of several classes the draws of each are ``Poisson(a m / N)``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from treeaudit.arrays import Float, Wide, first_alike
from treeaudit.errors import DataError
from treeaudit.model.tree import Tree
from treeaudit.reconstruction.cells import Cells

__all__ = ["Bagged", "bagged", "plausible"]

_TOO_FEW = -8.0
"""Logarithm of 0 people: fewer than were drawn is next to impossible, but chains may pass there."""
_DROPPED = 1e-5
"""Probability that a cell is dropped although somebody is in it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bagged:
    """The draws in the leaves, a row per node and class.

    Attributes
    ----------
    seen
        Different people of the class in the tree where the node holds no others; -1 elsewhere.
    draws
        How often people of the class were drawn.
    told
        About how many people are in each row: ``d / p``, or ``b N / m``.
    step
        What a person adds whom no draw shows: ``log(1 - p)``, or ``-m / N``.
    logarithms
        Of 0, 1, 2, … people.
    """

    seen: Wide
    draws: Float
    told: Float
    step: Float
    logarithms: Float

    @property
    def alike(self) -> Wide:
        """Return for each row the first that says the same, whoever is in it."""
        draws = np.where(self.seen < 0, self.draws, 0.0)
        return first_alike(self.seen, draws, self.step)

    def gain(self, row: Wide, people: Wide) -> Float:
        """Return what one person more in rows with so many adds to the log-likelihood.

        Binomial: ``log((a + 1) / (a + 1 - d)) + log(1 - p)``; Poisson: ``b log((a + 1) / a)
        - m / N``.

        Examples
        --------
        With p = 2/3: that one was seen becomes likelier by 2 / 1 times 1 / 3 with a second person,
        that none was seen by 1 / 3; three draws by 2 to the power of 3, over e.

        >>> rows = Bagged(
        ...     seen=np.array([1, 0, -1]), draws=np.array([1.0, 0.0, 3.0]), told=np.zeros(3),
        ...     step=np.array([np.log(1 / 3), np.log(1 / 3), -1.0]),
        ...     logarithms=np.log([1e-9, 1, 2, 3]),
        ... )
        >>> np.exp(rows.gain(np.array([0, 1, 2]), np.array([1, 1, 1]))).round(3).tolist()
        [0.667, 0.333, 2.943]
        """
        log, seen = self.logarithms, self.seen[row]
        more = log[people + 1]
        gain: Float = more - log[np.maximum(people + 1 - np.maximum(seen, 0), 0)]
        if (mixed := seen < 0).any():
            gain = np.where(mixed, self.draws[row] * (more - log[people]), gain)
        return gain + self.step[row]


def bagged(trees: Sequence[Tree], n_people: int) -> Bagged:
    """Return what draws in the nodes of trees say of that many people.

    Raises
    ------
    DataError
        If a tree does not hold how many people and draws it was trained on.
    """
    seen, draws, told, step = [], [], [], []
    for tree in trees:
        if tree.counts is None or tree.n_records is None:
            raise DataError("a tree does not hold how many people it was trained on")
        alone = np.count_nonzero(tree.counts, axis=1, keepdims=True) <= 1
        people = np.where(tree.counts > 0, tree.n_records[:, None], 0)
        seen.append(np.where(alone, people, -1).ravel())
        times, p = _draws(tree) / n_people, _in_tree(_draws(tree), n_people)
        draws.append(tree.counts.ravel())
        told.append(np.where(alone, people / p, tree.counts / times).ravel())
        step.append(np.where(np.broadcast_to(alone, people.shape), np.log1p(-p), -times).ravel())
    logarithms = np.log(np.maximum(np.arange(n_people + 2.0), 1.0))
    logarithms[0] = _TOO_FEW
    return Bagged(
        seen=np.concatenate(seen).astype(np.int64),
        draws=np.concatenate(draws).astype(np.float64),
        told=np.concatenate(told),
        step=np.concatenate(step),
        logarithms=logarithms,
    )


def plausible(cells: Cells, trees: Sequence[Tree], n_people: int) -> Cells:
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
