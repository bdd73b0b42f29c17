"""Groups of at least k under intersection: what several trees say together.

That every leaf of every tree holds k people says nothing about those who share
their leaves in all trees. Who they are only the training data tells.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Int, Wide
from treeaudit.defenses.defense import (
    Bounds,
    Defense,
    DefenseWords,
    check_not_private,
    sizes,
)
from treeaudit.defenses.merge_siblings import MergeSiblings, becoming_leaves
from treeaudit.defenses.tree_edits import below, levels
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest, LazyTrees
from treeaudit.model.tree import Tree


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IntersectK(Defense):
    """Merge leaves and leave trees out until every intersected group holds ``min_leaf``.

    Attributes
    ----------
    min_leaf
        The k that holds for the people who share their leaves in all trees.
    values
        The training data as `treeaudit.Forest.apply` takes it.
    """

    id = "intersect-k"
    title = "Groups that hold under intersection"
    did = "merged leaves and removed trees until {0.min_leaf} people share all leaves"
    words = DefenseWords(
        does="merges small leaves, and takes trees one by one as long as everybody shares all "
        "their leaves with k - 1 others. It tries k, 2k, 4k, … people per leaf, and keeps the "
        "forest with the most groups",
        fixes="nobody can be found by putting the trees together",
        leaves="often few trees; people outside the training data that it was given may still "
        "be alone",
        reference="Ganta, Kasiviswanathan and Smith (2008), composition attacks",
    )
    min_leaf: Annotated[int, Bounds(2)] = 5
    values: npt.NDArray[np.floating[Any]] | None = field(default=None, repr=False)

    def apply(self, forest: Forest) -> Forest:
        """Return the model whose intersected groups are large enough.

        Raises DataError if there is no training data, even the roots hold fewer people, or the
        model is private.
        """
        if self.values is None:
            raise DataError(
                "who shares their leaves in all trees only the training data tells: give it with "
                "--train, or use --method merge-siblings, which holds for each tree alone"
            )
        check_not_private(forest, self.id)
        node = forest.apply(self.values)
        best: tuple[int, int, list[int]] = (0, 0, [])
        k = self.min_leaf
        while k <= len(node) // 2:
            kept, n_groups = _trees_within(forest, node, k, self.min_leaf)
            if n_groups > best[0]:
                best = (n_groups, k, kept)
            k *= 2
        if not best[2]:
            raise DataError(
                f"no tree divides the {len(node):,} records given into groups of "
                f"{self.min_leaf} or more; ask for a smaller --min-leaf"
            )
        return chosen(MergeSiblings(min_leaf=best[1]).apply(forest), best[2])


def _trees_within(forest: Forest, node: Int, k: int, least: int) -> tuple[list[int], int]:
    """Take trees in their order while no intersected group becomes too small."""
    group = np.zeros(len(node), dtype=np.int64)
    kept: list[int] = []
    for i, tree in enumerate(forest.trees):
        home = _homes(tree, forest, k)
        if home is None:
            continue
        here = home[node[:, i]]
        _, finer = np.unique(group * (int(here.max()) + 1) + here, return_inverse=True)
        if np.bincount(finer).min() >= least:
            group = finer
            kept.append(i)
    return kept, int(group.max()) + 1 if kept else 0


def _homes(tree: Tree, forest: Forest, k: int) -> Wide | None:
    """Return into which node each node is merged, or None where nothing can be."""
    size = sizes(tree, forest)
    if size[0] < k:
        return None
    by_level = levels(tree)
    gone = below(tree, becoming_leaves(tree, size < k, by_level), by_level)
    home = np.arange(tree.n_nodes)
    for level in by_level[1:]:
        home[level] = np.where(gone[level], home[tree.parent[level]], level)
    return home


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
    did = "kept the first {0.trees} trees"
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
    votes = forest.tree_weights
    return replace(
        forest,
        trees=LazyTrees(lambda i: trees[kept[i]], len(kept)),
        members=tuple(replace(member, n_trees=len(kept)) for member in forest.members),
        tree_classes=None if labels is None else tuple(labels[i] for i in kept),
        class_weights=None if weights is None else tuple(weights[i] for i in kept),
        tree_weights=None if votes is None else tuple(votes[i] for i in kept),
    )
