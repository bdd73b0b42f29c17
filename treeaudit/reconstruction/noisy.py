"""What noisy counts of leaves say of the people in them.

A count is off by a whole number z with a probability in proportion to ``exp(-rate * abs(z))``, the
discrete Laplace law; of a people in a leaf it says ``-rate * abs(count - a)``. A count that was put
up to 0 says the same as 0 does, since nobody is in fewer than no leaves.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Float, Wide, first_alike
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree

__all__ = ["Noisy", "noisy", "not_noisy", "paths"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Noisy:
    """Noisy counts, a row per node and class, and one more row that says nothing.

    Attributes
    ----------
    count
        What the file tells.
    rate
        Of the noise; 0 where a row says nothing.
    """

    count: Float
    rate: Float

    @property
    def told(self) -> Float:
        """About how many people are in each row."""
        return np.maximum(self.count, 0.0)

    @property
    def alike(self) -> Wide:
        """Return for each row the first that says the same, whoever is in it."""
        return first_alike(self.count, self.rate)

    def gain(self, row: Wide, people: Wide) -> Float:
        """Return what one person more in rows with so many adds to the log-likelihood.

        Examples
        --------
        >>> rows = Noisy(count=np.array([2.0, -1.0, 0.0]), rate=np.array([0.5, 0.5, 0.0]))
        >>> rows.gain(np.array([0, 0, 1, 2]), np.array([1, 2, 0, 5])).tolist()
        [0.5, -0.5, -0.5, 0.0]
        """
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


def noisy(forest: Forest) -> Noisy:
    """Return what the counts of all nodes say.

    Raises
    ------
    DataError
        If `not_noisy` has a reason, or if counts are no whole numbers.
    """
    if (reason := not_noisy(forest)) is not None:
        raise DataError(reason)
    rate = 0.0 if forest.noise is None else forest.noise.rate
    count = np.concatenate(
        [tree.counts.ravel() for tree in forest.trees if tree.counts is not None]
    )
    if (count != np.floor(count)).any():
        raise DataError("its noisy counts are no whole numbers")
    return Noisy(count=np.append(count, 0.0), rate=np.append(np.full(len(count), rate), 0.0))


def paths(trees: Sequence[Tree], leaf: Wide, *, every: bool) -> Wide:
    """Return the nodes whose counts hold whoever is in some leaves, counted over all trees.

    Parameters
    ----------
    leaf
        Shape ``(n, n_trees)``.
    every
        Whether nodes above the leaves have noise of their own.

    Returns
    -------
    ndarray
        Shape ``(n, n_equations)``; -1 where a path has ended.
    """
    if not every:
        sizes = np.cumsum([0, *(tree.n_nodes for tree in trees)])[:-1]
        ends: Wide = np.ascontiguousarray(leaf) + sizes
        ends[leaf < 0] = -1
        return ends
    found, first = [], 0
    for tree, node in zip(trees, leaf.T, strict=True):
        at = node.astype(np.int64)
        while (at >= 0).any():
            found.append(np.where(at >= 0, at + first, -1))
            at = np.where(at >= 0, tree.parent[at], -1)
        first += tree.n_nodes
    return np.column_stack(found)
