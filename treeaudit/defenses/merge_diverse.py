"""Merge leaves until their people have different labels: l-diversity.

References
----------
Machanavajjhala et al. (2006), l-diversity: privacy beyond k-anonymity.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from treeaudit import diversity
from treeaudit.defenses.cutting import levels, recount, summed
from treeaudit.defenses.defense import Words, counts_of, people_in, tree_by_tree
from treeaudit.defenses.merging import becoming_leaves, cut_below
from treeaudit.errors import DataError
from treeaudit.tree import Forest, Tree

__all__ = ["MergeDiverse"]

Float = npt.NDArray[np.float64]
Flag = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeDiverse:
    """Merge leaves into their parents until each holds ``distinct`` labels.

    Attributes
    ----------
    distinct
        The l of distinct l-diversity.
    allowed
        Share of the people of a tree who may stay in leaves of fewer labels,
        between 0 and 1. The leaves that cost the most training accuracy to
        merge, for the people in them, stay.
    """

    id: ClassVar[str] = "merge-diverse"
    title: ClassVar[str] = "Merge until labels differ"
    words: ClassVar[Words] = Words(
        does="makes nodes leaves, from the deepest upwards, until each leaf holds at least l "
        "different labels, or until no more than an allowed share of the people is left in others",
        fixes="the label of nobody beyond that share follows from their leaf",
        leaves="labels that are nearly certain; leaves of few people; whoever knows all but one "
        "person of a leaf",
        reference="Machanavajjhala et al. (2006), distinct l-diversity",
    )
    distinct: int = 2
    allowed: float = 0.0

    @property
    def step(self) -> str:
        """What it did, in a few words."""
        what = "one label" if self.distinct == 2 else f"fewer than {self.distinct} labels"
        rest = f", but for at most {self.allowed:.2%} of the people" if self.allowed else ""
        return f"leaves of {what} merged{rest}"

    def apply(self, forest: Forest) -> Forest:
        """Return the model with its uniform leaves merged.

        Raises
        ------
        DataError
            If the model holds no class counts, or too few labels in all.
        """
        return tree_by_tree(forest, lambda tree, _: self._merged(tree, forest))

    def _merged(self, tree: Tree, forest: Forest) -> Tree:
        counted = recount(tree, tree.is_leaf)
        counts = counts_of(counted, forest)
        people = people_in(counted, forest)
        bad = (people > 0) & (diversity.distinct(counts) < self.distinct)
        if bad[0]:
            raise DataError(
                f"no leaf can hold {self.distinct} different labels: there are only "
                f"{int(diversity.distinct(counts[:1])[0])} in the tree"
            )
        by_level = levels(counted)
        if self.allowed > 0:
            bad &= ~_spared(counted, bad, counts, people, self.allowed)
        return cut_below(counted, becoming_leaves(counted, bad, by_level), by_level)


def _spared(tree: Tree, bad: Flag, counts: Float, people: Float, allowed: float) -> Flag:
    """Choose leaves that may stay: the dearest to merge, for the people in them."""
    by_level = levels(tree)
    home = np.where(bad, -1, np.arange(tree.n_nodes))
    for level in by_level[1:]:
        home[level] = np.where(bad[level], home[tree.parent[level]], level)
    leaf = np.flatnonzero(tree.is_leaf & bad)
    right = counts.max(axis=1)
    lost = summed(tree, right, by_level) - right
    freed = np.bincount(home[leaf], weights=people[leaf], minlength=tree.n_nodes)
    merging = np.flatnonzero(freed)
    dearest = merging[np.argsort(-lost[merging] / freed[merging], kind="stable")]
    within = np.cumsum(freed[dearest]) <= allowed * people[0]
    stays = np.zeros(tree.n_nodes, dtype=np.bool_)
    stays[dearest[within]] = True
    # On the way to a home that is spared every node would be uniform; it is not made a leaf.
    spared = np.zeros(tree.n_nodes, dtype=np.bool_)
    spared[leaf] = stays[home[leaf]]
    return spared
