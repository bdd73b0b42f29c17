"""Merge leaves until their people have different labels: l-diversity."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from treeaudit.arrays import Flag, Float
from treeaudit.defenses.cutting import levels, summed
from treeaudit.defenses.defense import Bounds, DefenseWords, counts_of, people_in
from treeaudit.defenses.merging import Merging
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.table.labels import exceptions, nearly_certain

__all__ = ["MergeDiverse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeDiverse(Merging):
    """Merge leaves into their parents until each holds ``distinct`` labels.

    Attributes
    ----------
    distinct
        The l of distinct l-diversity.
    allowed
        Share of the people of a tree who may stay in leaves of fewer labels.
        The leaves that cost the most training accuracy to
        merge, for the people in them, stay.
    exceptions
        As many people of a leaf whose commonest label has 95 % or more, and two in
        any, must have another label; 0 asks for none.
    """

    id = "merge-diverse"
    title = "Merge until labels differ"
    words = DefenseWords(
        does="makes nodes leaves, from the deepest upwards, until each leaf holds at least l "
        "different labels, or until no more than an allowed share of the people is left in others",
        fixes="the label of nobody beyond that share follows from their leaf",
        leaves="labels that are nearly certain; leaves of few people; whoever knows all but one "
        "person of a leaf",
        reference="Machanavajjhala et al. (2006), distinct l-diversity",
    )
    distinct: Annotated[int, Bounds(2)] = 2
    allowed: Annotated[float, Bounds(0, 1)] = 0.0
    exceptions: Annotated[int, Bounds(0)] = 0

    @property
    def step(self) -> str:
        """What it did, in a few words."""
        if self.exceptions:
            rest = f", but for at most {self.allowed:.2%} of the people" if self.allowed else ""
            return f"leaves whose label is nearly certain merged{rest}"
        what = "one label" if self.distinct == 2 else f"fewer than {self.distinct} labels"
        rest = f", but for at most {self.allowed:.2%} of the people" if self.allowed else ""
        return f"leaves of {what} merged{rest}"

    def bad(self, tree: Tree, forest: Forest) -> Flag:
        """Tell which nodes hold too few labels, without those that may stay."""
        counts = counts_of(tree, forest)
        people = people_in(tree, forest)
        labels = np.count_nonzero(counts > 0, axis=1)
        bad: Flag = (people > 0) & (labels < self.distinct)
        if bad[0]:
            raise DataError(
                f"no leaf can hold {self.distinct} different labels: there are only "
                f"{int(labels[0])} in the tree"
            )
        if self.exceptions:
            total, largest = counts.sum(axis=1), counts.max(axis=1)
            share = largest / np.maximum(total, 1)
            others = exceptions(total, largest, labels, people, forest.counts_are)
            bad |= (people > 0) & nearly_certain(share, others, self.exceptions)
            if bad[0]:
                raise DataError(
                    "no leaf can hold enough people of another label: too few in the tree have one"
                )
        return bad & ~_spared(tree, bad, counts, people, self.allowed) if self.allowed else bad


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
