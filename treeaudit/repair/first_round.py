"""Boosting whose first round tells fewer labels."""

from dataclasses import dataclass, replace

import numpy as np

from treeaudit.arrays import Float
from treeaudit.defenses.cutting import averaged
from treeaudit.defenses.defense import Defense, DefenseWords
from treeaudit.defenses.merge_diverse import MergeDiverse
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree

__all__ = ["MendFirst", "tells_labels_first"]

_FEWEST = 8
"""See `treeaudit.readers.boosters.xgboost_cover`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MendFirst(Defense):
    """Merge leaves of the first round of a boosting alone, and those of no other.

    All people start from one number, so that the leaves of these trees tell their labels. A tree
    that no merging mends answers everybody alike: what is left of it is how frequent a label is,
    and how many people are in each leaf.

    Attributes
    ----------
    merging
        What is done to each tree; with none, all of them answer everybody alike.
    """

    id = "mend-first"
    title = "Fewer labels in the first round"
    words = DefenseWords(
        does="merges leaves of the first round of a boosting until their labels differ, or lets "
        "all leaves of a tree answer with their mean; all other rounds stay",
        fixes="labels that are certain, or nearly, by the leaf values of the first round",
        leaves="the rules, how many people each leaf holds, and the steps of later rounds",
        reference="Friedman (2001), Greedy function approximation: the first step",
    )
    merging: tuple[MergeDiverse, ...] = ()

    @property
    def step(self) -> str:
        """What it did, in a few words."""
        if not self.merging:
            return "all leaves of each tree of the first round answer with their mean"
        each = "; ".join(one.step for one in self.merging)
        return f"in the first round {each}, and where that is not enough all answer with their mean"

    def apply(self, forest: Forest) -> Forest:
        """Return the model without such labels in its first round.

        Raises
        ------
        DataError
            If there is no such round, or what is left of it does not tell people.
        """
        if not tells_labels_first(forest):
            raise DataError("mend-first needs a boosting whose first round tells labels")
        # One that tells another class from all others is of the round too, told or not.
        told = [i for i, tree in enumerate(forest.trees) if tree.counts is not None]
        apart = 0 if forest.tree_classes is None else len(forest.schema.classes or ())
        n = max(told[-1] + 1, apart)
        trees = tuple(
            self._mended(tree, forest) if i < n else tree for i, tree in enumerate(forest.trees)
        )
        if forest.source.library == "XGBoost" and sum(len(t.leaves) for t in trees[:n]) < _FEWEST:
            raise DataError(
                f"with fewer than {_FEWEST} leaves in the first round the file would not show that "
                "everybody is in its trees"
            )
        made = replace(forest, trees=trees)
        if any(tree.counts is not None for tree in trees):
            return made
        reason = "the first round answers everybody alike, and the other rounds hold steps"
        return replace(made, counts_are="absent", counts_reason=reason, tree_classes=None)

    def _mended(self, tree: Tree, forest: Forest) -> Tree:
        if not self.merging or tree.counts is None:
            return _level(tree)
        # What inner nodes hold may be means of something else than the steps of leaves.
        merged = replace(tree, value=_means(tree))
        try:
            for one in self.merging:
                merged = one.changed(merged, forest)
        except DataError:
            return _level(tree)
        # A single leaf answers everybody alike too, and does not say how many people there are.
        return merged if merged.n_nodes > 1 else _level(tree)


def tells_labels_first(forest: Forest) -> bool:
    """Tell whether a model is a boosting of which some trees tell labels, and others steps."""
    told = {tree.counts is not None for tree in forest.trees}
    return forest.answers == "sum" and len(told) == 2


def _means(tree: Tree) -> Float:
    value = np.zeros(tree.n_nodes) if tree.value is None else tree.value
    people = np.ones(tree.n_nodes) if tree.n_records is None else tree.n_records.astype(np.float64)
    return averaged(tree, value, people)


def _level(tree: Tree) -> Tree:
    value = np.full(tree.n_nodes, _means(tree)[0])
    return replace(tree, counts=None, value=value, spread=None)
