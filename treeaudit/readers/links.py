"""Binary trees stored as the children of their nodes: checked, and turned towards parents.

The columns of their node tables are checked against the types that scikit-learn gives them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.errors import Harm, MalformedModelError, ModelTooLargeError
from treeaudit.model.tree import CategorySets, Tree
from treeaudit.readers.limits import Most

# Indices are as wide as an address; the byte order is that of the system.
_INDEX, _DOUBLE, _FLAG, _COUNT = ("i8", "i4"), ("f8",), ("u1",), ("u4",)
_TREE = {
    "left_child": _INDEX,
    "right_child": _INDEX,
    "feature": _INDEX,
    "threshold": _DOUBLE,
    "impurity": _DOUBLE,
    "n_node_samples": _INDEX,
    "weighted_n_node_samples": _DOUBLE,
    "missing_go_to_left": _FLAG,
}
_BOOSTING = {
    "value": _DOUBLE,
    "count": _COUNT,
    # Unsigned before 1.0.
    "feature_idx": (*_INDEX, *_COUNT),
    "threshold": _DOUBLE,
    "num_threshold": _DOUBLE,
    "missing_go_to_left": _FLAG,
    "left": _COUNT,
    "right": _COUNT,
    "gain": _DOUBLE,
    "depth": _COUNT,
    "is_leaf": _FLAG,
    "bin_threshold": _FLAG,
    "is_categorical": _FLAG,
    "bitset_idx": _COUNT,
}


def of_tree(record: np.dtype[Any]) -> dict[str, bool]:
    """Return the columns of the table of a `Tree`: whether each is known, in its place and type."""
    return _fit(record, "tree")


def of_boosting(record: np.dtype[Any]) -> dict[str, bool]:
    """Return the same of a tree of histogram boosting."""
    return _fit(record, "boosting")


@lru_cache(64)
def _fit(record: np.dtype[Any], kind: str) -> dict[str, bool]:
    types: Mapping[str, tuple[str, ...]] = _TREE if kind == "tree" else _BOOSTING
    names = record.names or ()
    # A loader that converts records takes their columns by place, whatever they are called.
    known = [name for name in types if name in names]
    in_order = known == [name for name in names if name in types]
    return {name: in_order and record[name].str[1:] in types.get(name, ()) for name in names}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Edges:
    """The way into each node: arrays of `treeaudit.Tree`."""

    parent: Int
    feature: Int
    low: Float
    high: Float
    missing: Flag | None

    def tree(self, **columns: Any) -> Tree:  # noqa: ANN401  # as `Tree` declares them
        """Return the tree, with its other columns."""
        return Tree(
            parent=self.parent,
            feature=self.feature,
            low=self.low,
            high=self.high,
            missing=self.missing,
            **columns,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Links:
    """The nodes that hang on the root, root first, parents before children.

    ``inner``, ``left`` and ``right`` are positions of the inner nodes, ascending, and of their
    children; ``stored`` is `order`, or None if the file has the same; ``cut_off`` counts the stored
    nodes that do not hang on the root.
    """

    inner: Wide
    left: Wide
    right: Wide
    stored: Wide | None = None
    cut_off: int = 0

    @property
    def n_nodes(self) -> int:
        """How many nodes hang on the root, with it."""
        return 2 * len(self.inner) + 1

    @property
    def is_leaf(self) -> Flag:
        """Shape ``(n_nodes,)``: True at leaves."""
        leaf = np.ones(self.n_nodes, dtype=np.bool_)
        leaf[self.inner] = False
        return leaf

    @property
    def parent(self) -> Int:
        """Shape ``(n_nodes,)``: position of the parent of each node, -1 at the root."""
        return self._from_parents(self.inner)

    def _from_parents(self, values: npt.NDArray[np.integer]) -> Int:
        """Return for each node the number of its parent among inner nodes, -1 at the root."""
        found = np.full(self.n_nodes, -1, dtype=np.int32)
        found[self.left] = found[self.right] = values
        return found

    @property
    def order(self) -> Wide:
        """Shape ``(n_nodes,)``: number of each node in the file."""
        return np.arange(self.n_nodes) if self.stored is None else self.stored

    def edges(
        self,
        feature: npt.NDArray[np.integer],
        bound: Float,
        missing_left: Flag | None,
        by_set: Flag | None = None,
    ) -> Edges:
        """Return the condition that leads into every node."""
        low, high = np.full(self.n_nodes, -np.inf), np.full(self.n_nodes, np.inf)
        high[self.left] = bound if by_set is None else np.where(by_set, np.inf, bound)
        low[self.right] = bound if by_set is None else np.where(by_set, -np.inf, bound)
        missing = None
        if missing_left is not None:
            missing = np.zeros(self.n_nodes, dtype=np.bool_)
            missing[self.left], missing[self.right] = missing_left, ~missing_left
        tested = self._from_parents(feature)
        return Edges(parent=self.parent, feature=tested, low=low, high=high, missing=missing)

    def sets(
        self, edges: Edges, listed: Mapping[int, Wide], n_categories: Mapping[int, int], left: bool
    ) -> CategorySets | None:
        """Return the categories that lead into every node, and close the bounds of its edge.

        A set may be empty: then no value at all follows the edge.
        """
        if not listed:
            return None
        owned: dict[int, Wide] = {}
        total = 0
        for node, codes in listed.items():
            place = int(np.searchsorted(self.inner, node))
            sides = int(self.left[place]), int(self.right[place])
            size = n_categories[int(edges.feature[sides[0]])]
            total += size
            if total > Most.codes:
                raise ModelTooLargeError("a tree names more categories than treeaudit takes in")
            others = np.ones(size, dtype=np.bool_)
            others[codes] = False
            owned[sides[not left]], owned[sides[left]] = codes, np.flatnonzero(others)
        nodes = sorted(owned)
        edges.low[nodes], edges.high[nodes] = np.inf, -np.inf
        sizes = np.zeros(self.n_nodes, dtype=np.int64)
        sizes[nodes] = [len(owned[node]) for node in nodes]
        start = np.concatenate([[0], np.cumsum(sizes)])
        flat = np.concatenate([owned[node] for node in nodes])
        return CategorySets(start=start, codes=flat.astype(np.int32))


def sums(parent: Int, at_leaves: Float) -> Float:
    """Return sums over the leaves below each node, of each column, given 0 at inner nodes."""
    columns, jump = [*np.atleast_2d(at_leaves.T.astype(np.float64))], parent
    # Each pass doubles how far down a node has looked.
    while len(live := np.flatnonzero(jump >= 0)):
        above = jump[live]
        columns = [
            one + np.bincount(above, weights=one[live], minlength=len(one)) for one in columns
        ]
        jump, last = np.full(len(jump), -1), jump
        jump[live] = last[above]
    return columns[0] if at_leaves.ndim == 1 else np.stack(columns, axis=1)


def category_sets(codes: Sequence[Sequence[int]]) -> CategorySets:
    """Return the codes that lead into each node, as a `Tree` keeps them."""
    start = np.concatenate([[0], np.cumsum([len(some) for some in codes])])
    flat = np.array([code for some in codes for code in some], dtype=np.int32)
    return CategorySets(start=start, codes=flat)


def damaged_tree(what: str, harm: Harm = "outside") -> MalformedModelError:
    """Return the refusal of a tree that other readers may believe."""
    return MalformedModelError(f"the tree is damaged: {what}", harm)


def link(inner: Wide, left: Wide, right: Wide, n: int, *, ordered: bool = False) -> Links:
    """Turn stored children towards parents.

    ``inner`` are the stored numbers of the inner nodes, ascending, of ``n`` nodes in all. A file
    that is ``ordered`` must have parents before children.
    """
    has_parent = np.zeros(n, dtype=np.bool_)
    in_order = True
    for child in (left, right):
        in_order = in_order and not (child <= inner).any()
        exists = not len(inner) or (child.max() < n and child.min() > 0)
        harm: Harm = "endless" if exists or 0 <= child.min() <= child.max() < n else "outside"
        if ordered and not (exists and in_order):
            raise damaged_tree("a child is out of range or comes before its parent", harm)
        if not exists:
            node = int(inner[np.argmax((child >= n) | (child <= 0))])
            raise MalformedModelError(f"a child of node {node} is out of range or the root", harm)
        has_parent[child] = True
    if np.count_nonzero(has_parent) != 2 * len(inner):
        node = int(np.argmax(np.bincount(np.concatenate([left, right]), minlength=n) > 1))
        who = "the tree is damaged: a node" if ordered else f"node {node}"
        raise MalformedModelError(f"{who} has two parents", "wrong")
    if in_order and 2 * len(inner) == n - 1:
        return Links(inner=inner, left=left, right=right)
    stored = _from_the_root(Links(inner=inner, left=left, right=right), n)
    position = np.full(n, -1, dtype=np.int64)
    position[stored] = np.arange(len(stored))
    at = np.argsort(position[inner], kind="stable")[np.count_nonzero(position[inner] < 0) :]
    return Links(
        inner=position[inner[at]],
        left=position[left[at]],
        right=position[right[at]],
        stored=stored,
        cut_off=n - len(stored),
    )


def _from_the_root(links: Links, n: int) -> Wide:
    """Return the nodes that hang on node 0: as they stand where parents come first, or by depth."""
    parent = np.full(n, -1, dtype=np.int64)
    parent[links.left] = parent[links.right] = links.inner
    jump = np.where(parent < 0, np.arange(n), parent)
    depth = (parent >= 0).astype(np.int64)
    # Each pass doubles the way up; a ring never arrives, however often.
    for _ in range(n.bit_length() + 1):
        depth = np.minimum(depth + depth[jump], n)
        jump = jump[jump]
    if np.any(parent[jump] >= 0):
        raise MalformedModelError(
            f"node {int(np.argmax(parent[jump] >= 0))} is its own ancestor", "endless"
        )
    reached = np.flatnonzero(jump == 0)
    if np.all(parent[reached[1:]] < reached[1:]):
        return reached
    return reached[np.argsort(depth[reached], kind="stable")]
