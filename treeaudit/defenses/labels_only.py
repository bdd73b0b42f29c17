"""Release the answer of each leaf and nothing about who gave it."""

from dataclasses import dataclass, replace

import numpy as np

from treeaudit.defenses.defense import Defense, DefenseWords, counts_of, tree_by_tree, weights_of
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelsOnly(Defense):
    """Keep one label per leaf instead of counts."""

    id = "labels-only"
    title = "Labels instead of counts"
    did = "class counts replaced by one label per leaf"
    words = DefenseWords(
        does="keeps the label that each leaf answers, and takes out counts and shares",
        fixes="whether a leaf is of one label, and how many people are in it, cannot be read off",
        leaves="the rules, and that most people behind a rule have its label; probabilities are "
        "gone, and the trees of a forest vote with one voice each, which may change its answers",
        reference="disclosure control of outputs; Wakabayashi et al. (2024) attack the counts",
    )

    def apply(self, forest: Forest) -> Forest:
        """Return the model with labels alone.

        Raises DataError if it predicts no classes, or adds up numbers.
        """
        if forest.schema.classes is None or forest.answers == "sum":
            raise DataError("labels-only needs a model that predicts a class; use --method strip")
        return replace(
            tree_by_tree(forest, lambda tree, i: _labelled(tree, forest, i)),
            counts_are="label-only",
            counts_reason="only the label of each leaf is kept",
            answers="vote"
            if forest.answers in ("mean", "confidence", "product")
            else forest.answers,
            records_are="unknown",
            n_records=None,
            class_weights=None,
        )


def _labelled(tree: Tree, forest: Forest, i: int) -> Tree:
    label = tree.label
    if label is None:
        label = (counts_of(tree, forest) * weights_of(tree, forest, i)).argmax(axis=1)
    label = np.where(tree.is_leaf, label, 0).astype(np.int32)
    return replace(tree, n_records=None, counts=None, label=label, value=None)
