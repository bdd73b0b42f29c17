"""Publish fewer trees of a forest."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from treeaudit.defenses.defense import Bounds, Defense, DefenseWords
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest, LazyTrees


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepTrees(Defense):
    """Keep the first ``trees`` trees.

    Attributes
    ----------
    trees
        How many stay.
    """

    id = "keep-trees"
    title = "Fewer trees"
    did = "the first {0.trees} trees kept"
    words = DefenseWords(
        does="keeps the first trees of a forest and takes out the others",
        fixes="with every tree that goes, the groups in which the leaves of all trees intersect "
        "become larger",
        leaves="each tree that stays, as it is; the accuracy of a forest falls with its trees",
        reference="Ganta, Kasiviswanathan and Smith (2008), composition attacks",
    )
    trees: Annotated[int, Bounds(1)] = 10

    def apply(self, forest: Forest) -> Forest:
        """Return the model of fewer trees.

        Raises DataError if there are not so many, or they belong to different models.
        """
        if not 1 <= self.trees <= forest.n_trees:
            raise DataError(
                f"{self.trees} trees cannot be kept: the model has {forest.n_trees}; ask for 1 to "
                f"{forest.n_trees}"
            )
        return chosen(forest, range(self.trees))


def chosen(forest: Forest, kept: Sequence[int]) -> Forest:
    """Return the model of some of its trees.

    Raises DataError if the trees belong to several models.
    """
    if len(forest.members) > 1:
        raise DataError(
            f"the trees belong to {len(forest.members)} models, which answer together: choose one "
            "of them with --select"
        )
    trees = forest.trees
    labels, weights = forest.tree_classes, forest.class_weights
    return replace(
        forest,
        trees=LazyTrees(lambda i: trees[kept[i]], len(kept)),
        members=tuple(replace(member, n_trees=len(kept)) for member in forest.members),
        tree_classes=None if labels is None else tuple(labels[i] for i in kept),
        class_weights=None if weights is None else tuple(weights[i] for i in kept),
    )
