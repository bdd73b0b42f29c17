"""Merge leaves until their people have different labels: l-diversity."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag
from treeaudit.defenses.cutting import recount
from treeaudit.defenses.defense import (
    Bounds,
    DefenseWords,
    check_not_private,
    counts_of,
    people_in,
    tree_by_tree,
)
from treeaudit.defenses.merging import Merging, merged
from treeaudit.defenses.spared import spared_in_all, spared_in_one
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.model.words import in_percent
from treeaudit.table.labels import exceptions, nearly_certain

__all__ = ["MergeDiverse"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
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
    values
        The training data as `treeaudit.Forest.apply` takes it: the share is then of all people,
        who may be in such leaves of any tree.
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
    values: npt.NDArray[np.floating[Any]] | None = field(default=None, repr=False)

    @property
    def step(self) -> str:
        """What it did, in a few words."""
        share = in_percent(self.allowed, 2)
        rest = f", but for at most {share} of the people" if self.allowed else ""
        if self.exceptions:
            return f"leaves whose label is nearly certain merged{rest}"
        what = "one label" if self.distinct == 2 else f"fewer than {self.distinct} labels"
        return f"leaves of {what} merged{rest}"

    def apply(self, forest: Forest) -> Forest:
        """Return the repaired model; with people, what may stay is chosen in all trees at once."""
        if self.values is None or forest.n_trees == 1 or not self.allowed:
            return Merging.apply(self, forest)
        check_not_private(forest, f"{self.id} with people (--train)")
        trees = [recount(tree, tree.is_leaf) for tree in forest.trees]
        none = replace(self, allowed=0.0)
        bad = [none.bad(tree, forest) for tree in trees]
        counts = [counts_of(tree, forest) for tree in trees]
        spared = spared_in_all(trees, bad, counts, forest.apply(self.values), self.allowed)
        return tree_by_tree(forest, lambda _, i: merged(trees[i], bad[i] & ~spared[i]))

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
        if not self.allowed:
            return bad
        return bad & ~spared_in_one(tree, bad, counts, people, self.allowed)
