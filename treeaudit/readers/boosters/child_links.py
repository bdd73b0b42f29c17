"""Binary trees stored as two lists of children: checked, and turned towards parents."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.errors import ReadError

__all__ = ["Links", "link"]

Wide = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
Flag = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Links:
    """The nodes that hang on the root, root first, parents before children.

    Attributes
    ----------
    stored
        Shape ``(n_nodes,)``: number of each node in the file.
    parent
        Shape ``(n_nodes,)``: position of its parent in `stored`, -1 at the root.
    is_left
        Shape ``(n_nodes,)``: whether it is the left child.
    cut_off
        How many stored nodes do not hang on the root.
    """

    stored: Wide
    parent: Wide
    is_left: Flag
    cut_off: int

    @property
    def above(self) -> Wide:
        """Number in the file of the parent of each node; meaningless at the root."""
        return self.stored[self.parent]

    def children(self) -> tuple[Wide, Wide, Wide]:
        """Return inner nodes, their left and their right children, by position."""
        left = np.flatnonzero(self.is_left)
        right = np.flatnonzero(~self.is_left[1:]) + 1
        left = left[np.argsort(self.parent[left], kind="stable")]
        right = right[np.argsort(self.parent[right], kind="stable")]
        return self.parent[left], left, right

    def sums(self, at_leaves: Float) -> Float:
        """Return sums over the leaves below each node, given 0 at inner nodes."""
        total = at_leaves.astype(np.float64)
        jump = self.parent
        # Each pass doubles how far down a node has looked.
        while np.any(live := jump >= 0):
            total = total + np.bincount(jump[live], weights=total[live], minlength=len(total))
            jump = np.where(live, jump[jump], -1)
        return total


def link(left: Wide, right: Wide) -> Links:
    """Turn stored children towards parents.

    Parameters
    ----------
    left, right
        Shape ``(n_nodes,)``: stored number of the children, -1 at leaves.

    Raises
    ------
    ReadError
        If a node has one child, two parents or itself as ancestor, or a child
        that does not exist.

    Examples
    --------
    >>> links = link(np.array([2, -1, -1]), np.array([1, -1, -1]))
    >>> links.parent.tolist(), links.is_left.tolist()
    ([-1, 0, 0], [False, False, True])
    """
    n = len(left)
    inner = np.flatnonzero(left >= 0)
    if np.any((left < 0) != (right < 0)):
        node = int(np.flatnonzero((left < 0) != (right < 0))[0])
        raise ReadError(f"node {node} has one child")
    child = np.concatenate([left[inner], right[inner]])
    above = np.concatenate([inner, inner])
    if len(child) and (int(child.max()) >= n or int(child.min()) <= 0):
        node = int(above[np.flatnonzero((child >= n) | (child <= 0))[0]])
        raise ReadError(f"a child of node {node} is out of range or the root")
    times = np.bincount(child, minlength=n)
    if np.any(times > 1):
        raise ReadError(f"node {int(np.argmax(times > 1))} has two parents")
    parent = np.full(n, -1, dtype=np.int64)
    parent[child] = above
    is_left = np.zeros(n, dtype=np.bool_)
    is_left[left[inner]] = True
    in_order = len(child) == n - 1 and bool(np.all(child > above))
    if in_order:
        return Links(stored=np.arange(n), parent=parent, is_left=is_left, cut_off=0)
    stored = _from_the_root(parent)
    position = np.full(n, -1, dtype=np.int64)
    position[stored] = np.arange(len(stored))
    turned = position[parent[stored]]
    turned[0] = -1
    return Links(
        stored=stored, parent=turned, is_left=is_left[stored], cut_off=int(n - len(stored))
    )


def _from_the_root(parent: Wide) -> Wide:
    """Return the nodes that hang on node 0, by depth."""
    n = len(parent)
    jump = np.where(parent < 0, np.arange(n), parent)
    depth = (parent >= 0).astype(np.int64)
    # Each pass doubles the way up; a ring never arrives, however often.
    for _ in range(n.bit_length() + 1):
        depth = np.minimum(depth + depth[jump], n)
        jump = jump[jump]
    if np.any(parent[jump] >= 0):
        raise ReadError(f"node {int(np.argmax(parent[jump] >= 0))} is its own ancestor")
    kept = np.flatnonzero(jump == 0)
    if np.all(parent[kept[1:]] < kept[1:]):
        return kept
    return kept[np.argsort(depth[kept], kind="stable")]
