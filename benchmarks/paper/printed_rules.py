"""The rules that the printed numbers come from. They are not the methods of the paper.

Inferred from the numbers alone: with these rules they come out to the digit,
with the methods as section 4.1 describes them they do not.

* The accuracy of Method 1 is that of a tree in which every node with a child of
  at most s people answers one fixed class for its whole region, as if its counts
  had been emptied; a large sibling is lost with a small leaf.
* The homogeneous leaves of Method 2 include leaves that are cut off from the
  root: only the parent of a leaf is looked at, not the nodes above it.
* On Adult, two nodes go with each cut node p by their position, p + 1 and p + 2,
  as if these were its children; p + 2 is its right child only if the left one is a leaf.

The product (`treeaudit.defenses`) follows the text.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.tree import DecisionTreeClassifier

__all__ = ["Nodes", "cut", "left_by_merging", "nodes", "stopped"]

Int = npt.NDArray[np.intp]
Flag = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Nodes:
    """A fitted tree as arrays, parents before children.

    Attributes
    ----------
    left, right
        Children, -1 for leaves.
    parent
        Of each node, -1 at the root.
    feature
        What each inner node splits on.
    people
        In each node.
    pure
        Leaves whose people all have the same label.
    majority
        Position of the most frequent class.
    """

    left: Int
    right: Int
    parent: Int
    feature: Int
    people: Int
    pure: Flag
    majority: Int


def nodes(model: DecisionTreeClassifier) -> Nodes:
    """Take a fitted tree apart."""
    tree = model.tree_
    left, right = tree.children_left, tree.children_right
    inner = np.flatnonzero(left >= 0)
    parent = np.full(tree.node_count, -1)
    parent[left[inner]] = parent[right[inner]] = inner
    counts = tree.value[:, 0]
    return Nodes(
        left=left,
        right=right,
        parent=parent,
        feature=tree.feature,
        people=tree.n_node_samples,
        pure=(left < 0) & ((counts > 0).sum(axis=1) == 1),
        majority=counts.argmax(axis=1),
    )


def cut(tree: Nodes, s: int) -> Flag:
    """Tell which nodes have a child, leaf or not, of at most ``s`` people."""
    small = np.append(tree.people <= s, False)  # the last for the children that leaves lack
    of_children: Flag = small[tree.left] | small[tree.right]
    return of_children


def stopped(tree: Nodes, at: Flag) -> Int:
    """Return for every node the first node on its way from the root that is marked, or itself."""
    stop = np.arange(len(at))
    halted = at.copy()
    for node in range(1, len(at)):
        above = tree.parent[node]
        if halted[above]:
            stop[node], halted[node] = stop[above], True
    return stop


def left_by_merging(tree: Nodes, s: int, *, by_position: bool) -> Flag:
    """Tell which homogeneous leaves the printed Method 2 still counts.

    Parameters
    ----------
    tree
        The unpruned tree.
    s
        The threshold.
    by_position
        Whether the node two behind a cut one is left out too.
    """
    gone = cut(tree, s)
    counted = tree.pure & ~gone[np.maximum(tree.parent, 0)]
    if by_position:
        counted[2:] &= ~gone[:-2]
    return counted
