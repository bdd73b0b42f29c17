"""What a defense must offer, and how it reaches every tree of a model."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from treeaudit.errors import DataError
from treeaudit.tree import Forest, LazyTrees, Tree

__all__ = ["Defense", "Words", "counts_of", "people_in", "sizes", "tree_by_tree"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What there is to say about a defense, once, for every renderer.

    Attributes
    ----------
    does
        What it changes in the model.
    fixes
        Which findings it removes.
    leaves
        What an attacker can still do.
    reference
        Where it comes from.
    """

    does: str
    fixes: str
    leaves: str
    reference: str


class Defense(Protocol):
    """What `treeaudit.defenses.DEFENSES` holds: a frozen dataclass of this form."""

    id: ClassVar[str]
    title: ClassVar[str]
    words: ClassVar[Words]

    @property
    def step(self) -> str:
        """What it did, with its parameters, in a few words."""

    def apply(self, forest: Forest) -> Forest:
        """Return the repaired model; the one given is left as it is."""


def tree_by_tree(forest: Forest, change: Callable[[Tree, int], Tree]) -> Forest:
    """Return the model with every tree changed when it is asked for.

    Counts that were added up anew no longer carry the noise that was drawn: no `Noise` is stated.

    Parameters
    ----------
    forest
        The model.
    change
        Given a tree and its number, returns the changed one.

    Raises
    ------
    DataError
        If a tree cannot be changed, when it is asked for; names the tree.
    """
    trees = forest.trees

    def build(i: int) -> Tree:
        try:
            return change(trees[i], i)
        except DataError as error:
            if len(trees) == 1:
                raise
            raise DataError(f"tree {i}: {error}") from None

    return replace(forest, trees=LazyTrees(build, len(trees)), noise=None)


def sizes(tree: Tree, forest: Forest) -> npt.NDArray[np.float64]:
    """Return how many people each node holds, as far as the model tells.

    Noisy counts are summed as they are: what is done with them afterwards costs
    no privacy. Draws with replacement are no people.

    Raises
    ------
    DataError
        If the model does not tell.
    """
    if tree.n_records is not None:
        return tree.n_records.astype(np.float64)
    people = forest.counts_are in ("exact", "likely") and forest.records_are != "bootstrap"
    if tree.counts is not None and (people or forest.counts_are == "noisy"):
        sums: npt.NDArray[np.float64] = tree.counts.sum(axis=1)
        return sums
    raise DataError(
        "the model does not tell how many people are in its leaves, so small ones cannot be "
        "found: use strip or labels-only, or defend the model that it was made from"
    )


def counts_of(tree: Tree, forest: Forest) -> npt.NDArray[np.float64]:
    """Return the class counts of each node, none below zero.

    Raises
    ------
    DataError
        If the model holds none.
    """
    if tree.counts is None:
        why = forest.counts_reason or "it holds none"
        raise DataError(f"labels cannot be told apart without class counts: {why}")
    counts: npt.NDArray[np.float64] = np.maximum(tree.counts, 0)
    return counts


def people_in(tree: Tree, forest: Forest) -> npt.NDArray[np.float64]:
    """Return people per node; the sum of its class counts where people are not told."""
    if tree.n_records is not None:
        return tree.n_records.astype(np.float64)
    total: npt.NDArray[np.float64] = counts_of(tree, forest).sum(axis=1)
    return total
