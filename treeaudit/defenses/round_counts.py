"""Round the counts of the leaves, and add everything else up from them."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from treeaudit.arrays import Float
from treeaudit.defenses.cutting import recount
from treeaudit.defenses.defense import (
    Bounds,
    Defense,
    DefenseWords,
    telling_less,
    tree_by_tree,
    weights_of,
)
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree

__all__ = ["RoundCounts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCounts(Defense):
    """Round counts to multiples of ``base``; no leaf changes its answer.

    Attributes
    ----------
    base
        The B of rounding.
    """

    id = "round-counts"
    title = "Round the counts"
    did = "counts rounded to multiples of {0.base}"
    words = DefenseWords(
        does="rounds the class counts of every leaf to multiples of B, so that the leaf answers as "
        "before, and adds up all other numbers from them: parents are the sum of their children",
        fixes="exact counts, and the single person by whom two releases of a model differ",
        leaves="rare labels round to nobody, so that more leaves seem to be of one label; the "
        "groups themselves are as small as they were",
        reference="Hundepool et al. (2012), Statistical Disclosure Control, section 5.4",
    )
    base: Annotated[int, Bounds(2)] = 5

    def __post_init__(self) -> None:
        if self.base < 2:
            raise DataError("--round-counts needs a base of at least 2")

    def apply(self, forest: Forest) -> Forest:
        """Return the model with rounded counts.

        Raises
        ------
        DataError
            If its counts are weights.
        """
        if forest.counts_are == "weighted":
            raise DataError(
                f"the class numbers are weights, no people ({forest.counts_reason}), and cannot be "
                f"rounded to people: {telling_less(forest.trees[0], forest)}"
            )
        stated = forest.counts_are in ("exact", "likely", "noisy")
        return replace(
            tree_by_tree(forest, lambda tree, i: self._rounded(tree, forest, i)),
            counts_are="noisy" if stated else forest.counts_are,
            counts_reason=f"class counts are rounded to multiples of {self.base}"
            if stated
            else forest.counts_reason,
            n_records=None,
        )

    def _rounded(self, tree: Tree, forest: Forest, i: int) -> Tree:
        leaf = tree.is_leaf
        counts, n_records = tree.counts, tree.n_records
        if n_records is not None:
            near = self.base * np.rint(n_records / self.base).astype(np.int64)
            n_records = np.where(n_records > 0, np.maximum(near, self.base), 0)
        if counts is not None:
            rounded = _as_answered(counts, weights_of(tree, forest, i), self.base)
            counts = np.where(leaf[:, None], rounded, 0.0)
            if n_records is not None and forest.records_are != "bootstrap":
                n_records = np.where(tree.n_records == 0, 0, counts.sum(axis=1)).astype(np.int64)
        return recount(replace(tree, counts=counts, n_records=n_records), leaf)


def _as_answered(counts: Float, weights: Float, base: int) -> Float:
    """Round to multiples; raise the class that is answered where it would lose."""
    rounded = base * np.rint(np.maximum(counts, 0) / base)
    row = np.arange(len(counts))
    answer = (counts * weights).argmax(axis=1)
    wrong = ((rounded * weights).argmax(axis=1) != answer) | (rounded[row, answer] == 0)
    others = rounded * weights
    others[row, answer] = 0
    least = base * (np.floor(others.max(axis=1) / weights[answer] / base) + 1)
    held = counts.sum(axis=1) > 0
    rounded[row, answer] = np.where(wrong & held, least, rounded[row, answer])
    result: Float = rounded
    return result
