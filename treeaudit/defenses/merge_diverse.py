"""Merge leaves until their people have different labels: l-diversity.

An allowed share of the people may stay in leaves of fewer labels, those that cost the most training
accuracy to merge. In a forest the share is of the people in such a leaf of any tree: somebody who
is in one is no worse off in a second. Who they are the training data tells.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Index, Int
from treeaudit.defenses.count_anew import CountAnew
from treeaudit.defenses.defense import (
    Bounds,
    DefenseWords,
    check_not_private,
    counts_of,
    people_in,
    tree_by_tree,
)
from treeaudit.defenses.merge_siblings import Merging, merged
from treeaudit.defenses.tree_edits import levels, recount, summed
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.table.labels import exceptions, nearly_certain

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix


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
    labels
        Shape ``(n_records,)``: classes as in the trees. Those of the people in a leaf are counted
        then, where the model weighs them.
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
    labels: Int | None = field(default=None, repr=False)

    @property
    def step(self) -> str:
        """What it did, in a few words."""
        labels = "a single label" if self.distinct == 2 else f"fewer than {self.distinct} labels"
        what = "a nearly certain label" if self.exceptions else labels
        rest = f", sparing at most {100 * self.allowed:.3g}% of the people"
        return f"merged leaves with {what}{rest if self.allowed else ''}"

    def apply(self, forest: Forest) -> Forest:
        """Return the repaired model; with people, what may stay is chosen in all trees at once."""
        if self.values is None or forest.n_trees == 1 or not self.allowed:
            return Merging.apply(self, forest)
        check_not_private(forest, f"{self.id} with people (--train)")
        trees = [recount(tree, tree.is_leaf) for tree in forest.trees]
        none, judged = replace(self, allowed=0.0), trees
        if self.labels is not None and forest.counts_are == "weighted":
            counting = CountAnew(values=self.values, labels=self.labels)
            judged = list(counting.apply(replace(forest, counts_are="exact")).trees)
        bad = [none.bad(tree, forest) for tree in judged]
        counts = [counts_of(tree, forest) for tree in judged]
        spared = _exempt_in_forest(trees, bad, counts, forest.apply(self.values), self.allowed)
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
        return bad & ~_exempt_in_tree(tree, bad, counts, people, self.allowed)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Merges:
    """The nodes that bad leaves would be merged into.

    ``home`` has an entry per node: where it ends; ``leaf`` are the bad leaves, ``lost`` is how
    many right answers of the people of a node go with what is below it.
    """

    home: Index
    leaf: Index
    lost: Float


def _exempt_in_tree(tree: Tree, bad: Flag, counts: Float, people: Float, allowed: float) -> Flag:
    """Choose leaves of a tree that may stay, with at most a share of its people."""
    merges = _merges(tree, bad, counts)
    home, leaf = merges.home, merges.leaf
    freed = np.bincount(home[leaf], weights=people[leaf], minlength=tree.n_nodes)
    merging = np.flatnonzero(freed)
    dearest = merging[np.argsort(-merges.lost[merging] / freed[merging], kind="stable")]
    within = np.cumsum(freed[dearest]) <= allowed * people[0]
    stays = np.zeros(tree.n_nodes, dtype=np.bool_)
    stays[dearest[within]] = True
    # On the way to a home that is spared every node would be uniform; it is not made a leaf.
    spared = np.zeros(tree.n_nodes, dtype=np.bool_)
    spared[leaf] = stays[home[leaf]]
    return spared


def _exempt_in_forest(
    trees: Sequence[Tree], bad: Sequence[Flag], counts: Sequence[Float], node: Int, allowed: float
) -> list[Flag]:
    """Choose leaves of all trees that may stay, with at most a share of all people in any.

    Parameters
    ----------
    bad, counts
        Per tree, as for `_exempt_in_tree`.
    node
        Shape ``(n_people, n_trees)``: where everybody ends.
    """
    from scipy.sparse import csc_matrix

    merges = [_merges(*each) for each in zip(trees, bad, counts, strict=True)]
    start = np.cumsum([0, *(tree.n_nodes for tree in trees)])
    lost = np.concatenate([each.lost for each in merges])
    who, into = [], []
    for i, each in enumerate(merges):
        leaf = np.zeros(trees[i].n_nodes, dtype=np.bool_)
        leaf[each.leaf] = True
        inside = np.flatnonzero(leaf[node[:, i]])
        who.append(inside)
        into.append(start[i] + each.home[node[inside, i]])
    row, column = np.concatenate(into), np.concatenate(who)
    members = csc_matrix((np.ones(len(row)), (row, column)), shape=(len(lost), len(node)))
    stays = _dearest(members, lost, int(allowed * len(node)))
    result = []
    for i, each in enumerate(merges):
        spared = np.zeros(trees[i].n_nodes, dtype=np.bool_)
        spared[each.leaf] = stays[start[i] + each.home[each.leaf]]
        result.append(spared)
    return result


def _dearest(held: "csc_matrix", lost: Float, left: int) -> Flag:
    """Take what costs most for each person who is not in what was taken before, while it fits."""
    new = np.asarray(held.sum(axis=1)).ravel()
    stays, by_row = np.zeros(len(lost), dtype=np.bool_), held.tocsr()
    taken = np.zeros(held.shape[1], dtype=np.bool_)
    worth = np.flatnonzero((new > 0) & (lost > 0))
    while True:
        fits = worth[(new[worth] <= left) & ~stays[worth]]
        if not len(fits):
            return stays
        best = fits[(lost[fits] / np.maximum(new[fits], 0.5)).argmax()]
        stays[best] = True
        people = by_row.indices[by_row.indptr[best] : by_row.indptr[best + 1]]
        more = people[~taken[people]]
        taken[more] = True
        left -= len(more)
        new -= np.asarray(held[:, more].sum(axis=1)).ravel()


def _merges(tree: Tree, bad: Flag, counts: Float) -> _Merges:
    by_level = levels(tree)
    home = np.where(bad, -1, np.arange(tree.n_nodes))
    for level in by_level[1:]:
        home[level] = np.where(bad[level], home[tree.parent[level]], level)
    right = counts.max(axis=1)
    return _Merges(
        home=home,
        leaf=np.flatnonzero(tree.is_leaf & bad),
        lost=summed(tree, right, by_level) - right,
    )
