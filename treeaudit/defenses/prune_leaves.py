"""Method 1 (Figure 5): leaves with few people are taken out of the tree."""

from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np

from treeaudit.arrays import Flag
from treeaudit.defenses.defense import (
    Bounds,
    Defense,
    DefenseWords,
    size_advice,
    sizes,
    tree_by_tree,
)
from treeaudit.defenses.tree_edits import columns_at, compact, levels, recount, summed
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneLeaves(Defense):
    """Take out every leaf with fewer than ``min_leaf`` people.

    Attributes
    ----------
    min_leaf
        The k of k-anonymity: leaves with n ≤ s = k - 1 go, and inner nodes that
        lose all their leaves with them.
    unanswered
        What becomes of a record that would reach a removed leaf: ``reject``
        leaves it without an answer (the child is missing), ``parent`` answers
        with the majority of those who are left in the parent (a leaf of nobody
        stands in the place).
    """

    id = "prune-leaves"
    title = "Take small leaves out"
    did = "removed leaves of fewer than {0.min_leaf} people"
    words = DefenseWords(
        does="removes every leaf of fewer than k people, with all its numbers; the counts of the "
        "nodes above are added up again from the leaves that stay",
        fixes="nobody stands in a group below k; the removed counts cannot be found by subtracting",
        leaves="the rule of a removed leaf shows as the missing sibling, so that a small group "
        "was there is known; large leaves of one label stay",
        reference="Wakabayashi et al. (2024), section 4.1, Method 1",
    )
    min_leaf: Annotated[int, Bounds(2)] = 5
    unanswered: Literal["reject", "parent"] = "parent"

    def apply(self, forest: Forest) -> Forest:
        """Return the model without its small leaves.

        The number of training records goes too: with it, the total of those
        who were taken out would be known.

        Raises DataError if the model does not tell how many people are in its leaves, or none of
        them is large enough.
        """
        pruned = tree_by_tree(forest, lambda tree, _: self.changed(tree, forest))
        return replace(pruned, n_records=None)

    def changed(self, tree: Tree, forest: Forest) -> Tree:
        """Return the tree without its small leaves."""
        leaf = tree.is_leaf
        size = sizes(tree, forest)
        small = leaf & (size < self.min_leaf)
        if not small.any():
            return tree
        by_level = levels(tree)
        # A node stays while some leaf below it does.
        stays = summed(tree, np.where(leaf & ~small, 1.0, 0.0), by_level) > 0
        if not stays[0]:
            second = float(np.sort(size[leaf])[-2:][0])
            raise DataError(
                f"no leaf holds {self.min_leaf} people or more, so nothing would be left: "
                f"{size_advice(second, tree, forest)}"
            )
        counted = recount(tree, leaf & ~small)
        if self.unanswered == "reject":
            return compact(counted, stays)
        stand_in = np.zeros(tree.n_nodes, dtype=np.bool_)
        stand_in[1:] = ~stays[1:] & stays[tree.parent[1:]]
        return compact(_answered_above(counted, stand_in), stays | stand_in)


def _answered_above(tree: Tree, stand_in: Flag) -> Tree:
    """Give nodes that hold nobody the answer of their parents."""
    source = np.where(stand_in, tree.parent, np.arange(tree.n_nodes))
    n_records = None if tree.n_records is None else np.where(stand_in, 0, tree.n_records)
    columns = columns_at(tree, source, ("counts", "label", "value"))
    return replace(tree, n_records=n_records, spread=None, **columns)


def rejecting(forest: Forest) -> Forest:
    """Return the model that leaves records unanswered where a stand-in answered."""
    return tree_by_tree(forest, lambda tree, _: _answering(tree))


def _answering(tree: Tree) -> Tree:
    if tree.n_records is None:
        return tree
    occupied = summed(tree, (tree.n_records > 0).astype(float), levels(tree)) > 0
    return compact(tree, occupied) if occupied[0] else tree
