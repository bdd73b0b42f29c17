"""Boosting whose first round tells no labels."""

from dataclasses import dataclass, replace

import numpy as np

from treeaudit.defenses.cutting import averaged
from treeaudit.defenses.defense import Defense, DefenseWords, tree_by_tree
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree

__all__ = ["LevelFirst", "tells_labels_first"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelFirst(Defense):
    """Let all leaves of a tree of the first round of a boosting answer the same: their mean.

    All people start from one number, so that the leaves of these trees tell their labels. What is
    left of them is how frequent each label is, and how many people are in each leaf.
    """

    id = "level-first"
    title = "One answer in the first round"
    did = "all leaves of each tree of the first round answer with their mean"
    words = DefenseWords(
        does="lets all leaves of each tree of the first round of a boosting answer with their mean "
        "over the people; rules and all other rounds stay",
        fixes="the class counts that follow from the leaf values of the first round",
        leaves="the rules, how many people each leaf holds, and the steps of later rounds",
        reference="Friedman (2001), Greedy function approximation: the first step",
    )

    def apply(self, forest: Forest) -> Forest:
        """Return the model without the labels of its first round.

        Raises
        ------
        DataError
            If there is no such round.
        """
        if not tells_labels_first(forest):
            raise DataError("level-first needs a boosting whose first round tells labels")
        # One that tells another class from all others is of the round too, told or not.
        told = [i for i, tree in enumerate(forest.trees) if tree.counts is not None]
        apart = 0 if forest.tree_classes is None else len(forest.schema.classes or ())
        n = max(told[-1] + 1, apart)
        return replace(
            tree_by_tree(forest, lambda tree, i: _level(tree) if i < n else tree),
            counts_are="absent",
            counts_reason="all leaves of a tree of the first round answer the same, and the other "
            "rounds hold steps and no labels",
            tree_classes=None,
        )


def tells_labels_first(forest: Forest) -> bool:
    """Tell whether a model is a boosting of which some trees tell labels, and others steps."""
    told = {tree.counts is not None for tree in forest.trees}
    return forest.answers == "sum" and len(told) == 2


def _level(tree: Tree) -> Tree:
    value = np.zeros(tree.n_nodes) if tree.value is None else tree.value
    people = np.ones(tree.n_nodes) if tree.n_records is None else tree.n_records.astype(float)
    mean = averaged(tree, value, people)[0]
    return replace(tree, counts=None, value=np.full(tree.n_nodes, mean), spread=None)
