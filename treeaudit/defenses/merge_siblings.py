"""Method 2 (Figure 6): a node with a small child leaf becomes a leaf itself.

A node with a child leaf that is not good enough becomes a leaf, from the deepest upwards.
Whatever the order, the same nodes become leaves, and no way to cut a tree down that leaves
only good leaves keeps more of them: it loses the least training accuracy. What is good
enough is a number of people (Method 2), labels spread as in everybody (t-closeness), or no
label that dominates ((alpha, k)-anonymity).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from treeaudit.arrays import Flag, Float, Index
from treeaudit.defenses.defense import (
    Bounds,
    Defense,
    DefenseWords,
    counts_of,
    people_in,
    size_advice,
    sizes,
)
from treeaudit.defenses.tree_edits import below, compact, levels, recount
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.model.words import in_percent
from treeaudit.table.diversity import counted


class Merging(Defense):
    """A defense that makes nodes leaves until none of the leaves is bad."""

    __slots__ = ()

    def bad(self, tree: Tree, forest: Forest) -> Flag:
        """Tell which nodes would not be good enough as leaves."""
        raise NotImplementedError

    def changed(self, tree: Tree, forest: Forest) -> Tree:
        """Return the tree with its bad leaves merged."""
        counted = recount(tree, tree.is_leaf)
        return merged(counted, self.bad(counted, forest))


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeSiblings(Merging):
    """Merge leaves into their parents until each holds ``min_leaf`` people.

    Attributes
    ----------
    min_leaf
        The k of k-anonymity: a node with a child leaf of n ≤ s = k - 1 becomes
        a leaf and all its children go, from the deepest upwards.
    """

    id = "merge-siblings"
    title = "Merge small leaves"
    did = "merged leaves of fewer than {0.min_leaf} people into their parents"
    words = DefenseWords(
        does="makes every node with a child leaf of fewer than k people a leaf, from the deepest "
        "upwards; everybody stays in the counts",
        fixes="nobody stands in a group below k, in any single tree",
        leaves="large leaves of one label; the groups in which the leaves of several trees "
        "intersect can be smaller than k",
        reference="Wakabayashi et al. (2024), section 4.1, Method 2",
    )
    min_leaf: Annotated[int, Bounds(2)] = 5

    def bad(self, tree: Tree, forest: Forest) -> Flag:
        """Tell which nodes hold too few people."""
        return sizes_for(tree, forest, self.min_leaf) < self.min_leaf


def sizes_for(tree: Tree, forest: Forest, min_leaf: int) -> Float:
    """Return the people in each node of a tree that holds enough of them.

    Raises DataError if even the root holds too few; names how many can be asked for.
    """
    size = sizes(tree, forest)
    if size[0] < min_leaf:
        # While every child of the root is large enough the root stays divided.
        raise DataError(
            f"no leaf can hold {min_leaf:,} people: there are only {size[0]:,.0f} in the tree; "
            f"{size_advice(float(size[tree.parent == 0].min(initial=size[0])), tree, forest)}"
        )
    return size


def merged(counted: Tree, bad: Flag) -> Tree:
    """Return a tree, whose numbers add up, with its bad leaves merged."""
    by_level = levels(counted)
    cut = becoming_leaves(counted, bad, by_level)
    return compact(counted, ~below(counted, cut, by_level)) if cut.any() else counted


def bad_occupied(tree: Tree, forest: Forest, judge: Callable[[Float], Flag]) -> Flag:
    """Tell which nodes are bad by their class counts, of those that hold anybody."""
    counts = counts_of(tree, forest)
    occupied = (people_in(tree, forest) > 0) & (counts > 0).any(axis=1)
    bad = occupied.copy()
    bad[occupied] = judge(counts[occupied])
    return bad


def becoming_leaves(tree: Tree, bad: Flag, by_level: Sequence[Index] | None = None) -> Flag:
    """Tell which inner nodes become leaves so that no leaf is bad.

    Parameters
    ----------
    bad
        Shape ``(n_nodes,)``: which nodes would not be good enough as leaves.
        A bad root stays: it has no parent.
    by_level
        From `levels`, where it is at hand.
    """
    leaf = tree.is_leaf
    cut = np.zeros(tree.n_nodes, dtype=np.bool_)
    for level in reversed((by_level or levels(tree))[1:]):
        failing = level[leaf[level] & bad[level]]
        cut[tree.parent[failing]] = True
        leaf[tree.parent[failing]] = True
    return cut


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeClose(Merging):
    """Merge leaves into their parents until none is farther than ``t`` from everybody.

    Attributes
    ----------
    t
        The most by which the class shares of a leaf may differ from those of
        everybody: half the sum of their absolute differences.
    """

    id = "merge-close"
    title = "Merge until labels are spread as in all"
    did = "merged leaves whose labels are farther than {0.t:g} from those of everybody"
    words = DefenseWords(
        does="makes nodes leaves, from the deepest upwards, until the labels of no leaf are "
        "farther than t from those of everybody",
        fixes="knowing the leaf of a person changes the chances of each label by at most t",
        leaves="small groups; and the tree can say no more than t allows, so that a small t costs "
        "most of its accuracy",
        reference="Li, Li and Venkatasubramanian (2007), t-closeness for nominal values",
    )
    t: Annotated[float, Bounds(0, 1)] = 0.5

    def bad(self, tree: Tree, forest: Forest) -> Flag:
        """Tell which nodes are too far from the root."""
        everybody = counts_of(tree, forest)[0]
        return bad_occupied(tree, forest, lambda c: counted(c, everybody).closeness > self.t)


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeDominated(Merging):
    """Merge leaves into their parents until no label has a share of ``most`` in one.

    Attributes
    ----------
    most
        Share of the largest class from which on it dominates.
    """

    id = "merge-dominated"
    title = "Merge until no label dominates"
    words = DefenseWords(
        does="makes nodes leaves, from the deepest upwards, until the largest label of every leaf "
        "stays below a share",
        fixes="the label of nobody can be guessed from their leaf with that certainty",
        leaves="small groups; where a label is that common among everybody nothing can be done",
        reference="Wong et al. (2006), (alpha, k)-anonymity",
    )
    most: Annotated[float, Bounds(0, 1)] = 0.95

    @property
    def step(self) -> str:
        """What it did, in a few words."""
        return f"merged leaves in which a label has {in_percent(self.most, 0)} or more"

    def bad(self, tree: Tree, forest: Forest) -> Flag:
        """Tell which nodes a label dominates."""
        bad = bad_occupied(tree, forest, lambda c: counted(c).dominance >= self.most)
        if bad[0]:
            share = float(counted(counts_of(tree, forest)[:1]).dominance[0])
            raise DataError(
                f"the most common label has {in_percent(share, 1, self.most)} of everybody, so no "
                f"merging brings it below {in_percent(self.most)}; ask for a higher share"
            )
        return bad
