"""Binary trees stored as the children of their nodes: checked, and turned towards parents.

Columns of node tables are gathered out of the records, in the types scikit-learn gives them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Int, Table, Wide
from treeaudit.errors import ModelTooLargeError, ReadError
from treeaudit.model.tree import CategorySets, Tree
from treeaudit.readers.limits import Most

Columns = Mapping[str, npt.NDArray[Any]]

# Records that fit a fast cache: each is fetched once, whatever its columns.
_BLOCK = 4096
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


def gathered(records: Table, names: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    """Return those columns of records that there are, each on its own."""
    there = [name for name in names if name in (records.dtype.names or ())]
    columns = {name: np.empty(len(records), records.dtype[name]) for name in there}
    for begin in range(0, len(records), _BLOCK):
        block = records[begin : begin + _BLOCK]
        for name, column in columns.items():
            column[begin : begin + _BLOCK] = block[name]
    return columns


def unfilled(n: int, types: Sequence[npt.DTypeLike]) -> list[npt.NDArray[Any]]:
    """Return columns of so many rows that are to be filled."""
    return [np.empty(n, kind) for kind in types]


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


EDGE_TYPES = (np.float64, np.float64, np.int32, np.int32, np.bool_)
"""What the columns of `Edges` hold: low, high, parent, feature, missing."""
_PART = 1 << 13
"""Inner nodes whose numbers, and those of their children, stay in a fast cache."""


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
    nodes that do not hang on the root; ``n_trees`` trees may stand behind one another.
    """

    inner: Wide
    left: Wide
    right: Wide
    stored: Wide | None = None
    cut_off: int = 0
    n_trees: int = 1

    @property
    def n_nodes(self) -> int:
        """How many nodes hang on the root, with it."""
        return 2 * len(self.inner) + self.n_trees

    @property
    def is_leaf(self) -> Flag:
        """Shape ``(n_nodes,)``: True at leaves."""
        leaf = np.ones(self.n_nodes, dtype=np.bool_)
        leaf[self.inner] = False
        return leaf

    @property
    def parent(self) -> Int:
        """Shape ``(n_nodes,)``: position of the parent of each node, -1 at the root."""
        parent = np.empty(self.n_nodes, dtype=np.int32)
        self._hand_down(parent, self.inner)
        return parent

    def parts(self) -> Iterator[tuple[Wide, Wide, Wide]]:
        """Yield some inner nodes at a time, with their left and right children."""
        for begin in range(0, len(self.inner), _PART):
            some = slice(begin, begin + _PART)
            yield self.inner[some], self.left[some], self.right[some]

    def _hand_down(self, below: Int, values: npt.NDArray[np.integer]) -> None:
        """Write what inner nodes hold to both of their children, and -1 to the root."""
        below.fill(-1)
        # numpy is slow where it has to turn numbers into others while it spreads them.
        below[self.left] = below[self.right] = values.astype(np.int32, copy=False)

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
        room: Sequence[npt.NDArray[Any]] | None = None,
    ) -> Edges:
        """Return the condition that leads into every node."""
        low, high, parent, tested, missing = room or unfilled(self.n_nodes, EDGE_TYPES)
        self._hand_down(parent, self.inner)
        self._hand_down(tested, feature)
        low.fill(-np.inf)
        high.fill(np.inf)
        high[self.left] = bound if by_set is None else np.where(by_set, np.inf, bound)
        low[self.right] = bound if by_set is None else np.where(by_set, -np.inf, bound)
        flags = None if missing_left is None else missing
        if missing_left is not None:
            missing.fill(False)
            missing[self.left], missing[self.right] = missing_left, ~missing_left
        return Edges(parent=parent, feature=tested, low=low, high=high, missing=flags)

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
        if ordered and not (exists and in_order):
            raise ReadError(
                "the tree is damaged: a child is out of range or comes before its parent"
            )
        if not exists:
            node = int(inner[np.argmax((child >= n) | (child <= 0))])
            raise ReadError(f"a child of node {node} is out of range or the root")
        has_parent[child] = True
    if np.count_nonzero(has_parent) != 2 * len(inner):
        node = int(np.argmax(np.bincount(np.concatenate([left, right]), minlength=n) > 1))
        who = "the tree is damaged: a node" if ordered else f"node {node}"
        raise ReadError(f"{who} has two parents")
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
        raise ReadError(f"node {int(np.argmax(parent[jump] >= 0))} is its own ancestor")
    reached = np.flatnonzero(jump == 0)
    if np.all(parent[reached[1:]] < reached[1:]):
        return reached
    return reached[np.argsort(depth[reached], kind="stable")]
