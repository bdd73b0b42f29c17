"""The trees of a LightGBM model in arrays that hold all of them, one tree behind the other.

Nothing is cut out of the arrays before a tree is asked for by itself. What is in them is plain:
no categories, no linear leaves, two nodes or more in each tree.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np

from treeaudit.readers.lightgbm.tree import (
    MISSING_IS_NAN,
    Grown,
    RawTree,
    StoredTree,
    routes,
)
from treeaudit.readers.limits import Most
from treeaudit.readers.links import Links
from treeaudit.readers.types import Array, Flag, Float, Wide

_GROWN = {"leaf_weight", "internal_weight", "split_gain", "shrinkage"}


@dataclass(frozen=True, slots=True, eq=False)
class Block(Sequence[RawTree]):
    """Trees as the file has them, not checked yet.

    Attributes
    ----------
    n_leaves
        Of each tree.
    arrays
        By their names in the text: of the inner nodes or the leaves of all trees.
    ends
        Where the leaves of each tree begin and those of the last one end.
    """

    n_leaves: Wide
    arrays: Mapping[str, Array]
    ends: Wide

    @classmethod
    def of(cls, n_leaves: Wide, arrays: Mapping[str, Array]) -> "Block":
        """Return the block of some arrays."""
        ends = np.zeros(len(n_leaves) + 1, dtype=np.int64)
        np.cumsum(n_leaves, out=ends[1:])
        return cls(n_leaves, arrays, ends)

    def all(self, name: str) -> Any:  # noqa: ANN401  # an array of a kind
        """Return the numbers of all trees, None where they are not stored."""
        return self.arrays.get(name)

    @property
    def grown(self) -> bool:
        """Whether the file tells how the trees were grown."""
        return self.arrays.keys() >= _GROWN

    def inner(self, i: int) -> slice:
        """Return which inner nodes are those of a tree."""
        return slice(int(self.ends[i]) - i, int(self.ends[i + 1]) - i - 1)

    def leaves(self, i: int) -> slice:
        """Return which leaves are those of a tree."""
        return slice(int(self.ends[i]), int(self.ends[i + 1]))

    def __len__(self) -> int:
        return len(self.n_leaves)

    @overload
    def __getitem__(self, index: int) -> RawTree: ...
    @overload
    def __getitem__(self, index: slice) -> list[RawTree]: ...
    def __getitem__(self, index: int | slice) -> RawTree | list[RawTree]:
        if isinstance(index, slice):
            return [self._tree(i) for i in range(*index.indices(len(self)))]
        return self._tree(range(len(self))[index])

    def __iter__(self) -> Iterator[RawTree]:
        return map(self._tree, range(len(self)))

    def _tree(self, i: int) -> RawTree:
        at, to = self.leaves(i), self.inner(i)

        def part(name: str, of: slice) -> Any:  # noqa: ANN401
            found = self.arrays.get(name)
            return None if found is None else found[of]

        decision = part("decision_type", to)
        grown = None
        if self.grown:
            grown = Grown(
                leaf_weight=part("leaf_weight", at),
                inner_weight=part("internal_weight", to),
                shrinkage=float(self.arrays["shrinkage"][i]),
            )
        return RawTree(
            left=part("left_child", to),
            right=part("right_child", to),
            feature=part("split_feature", to),
            threshold=part("threshold", to),
            categorical=(decision & 1) != 0,
            default_left=(decision & 2) != 0,
            missing_type=(decision >> 2) & 3,
            categories={},
            leaf_value=part("leaf_value", at),
            inner_value=part("internal_value", to),
            leaf_count=part("leaf_count", at),
            inner_count=part("internal_count", to),
            linear=False,
            grown=grown,
        )


def joined_blocks(blocks: Sequence[Block]) -> Block | None:
    """Return one block of several; None where they do not have the same arrays."""
    if any(one.arrays.keys() != blocks[0].arrays.keys() for one in blocks):
        return None
    arrays = {
        name: np.concatenate([one.arrays[name] for one in blocks]) for name in blocks[0].arrays
    }
    return Block.of(np.concatenate([one.n_leaves for one in blocks]), arrays)


@dataclass(frozen=True, eq=False)
class CheckedBlock(Sequence[StoredTree]):
    """Trees that were checked.

    Attributes
    ----------
    raw
        What the file says.
    links
        The nodes of all trees: of each its inner nodes, then its leaves, as in the file.
    start
        Where each tree begins among them.
    bound, missing_left, misrouted
        As in `StoredTree`, of all inner nodes.
    n_records
        Rows of all nodes, or None.
    """

    raw: Block
    links: Links
    start: Wide
    bound: Float
    missing_left: Flag
    misrouted: Flag
    n_records: Wide | None

    @cached_property
    def is_leaf(self) -> Flag:
        """Shape ``(n_nodes,)``: whether a node is a leaf."""
        return self.links.is_leaf

    def woven(self, inner: str, leaf: str) -> Any:  # noqa: ANN401  # an array of a kind
        """Return what all nodes hold, from the arrays of inner nodes, 0 without, and of leaves."""
        return _woven(self.is_leaf, self.raw.all(inner), self.raw.all(leaf))

    def nodes(self, part: slice) -> slice:
        """Return which nodes are those of some trees."""
        return slice(int(self.start[part.start]), self._end(part.stop))

    def inner(self, part: slice) -> slice:
        """Return which inner nodes are those of some trees."""
        return slice(
            int(self.raw.ends[part.start]) - part.start, int(self.raw.ends[part.stop]) - part.stop
        )

    def links_of(self, part: slice) -> Links:
        """Return the nodes of some trees, counted from the first one of theirs."""
        at, first = self.inner(part), self.start[part.start]
        return Links(
            inner=self.links.inner[at] - first,
            left=self.links.left[at] - first,
            right=self.links.right[at] - first,
            n_trees=part.stop - part.start,
        )

    def _end(self, i: int) -> int:
        return int(self.start[i]) if i < len(self) else self.links.n_nodes

    def __len__(self) -> int:
        return len(self.start)

    @overload
    def __getitem__(self, index: int) -> StoredTree: ...
    @overload
    def __getitem__(self, index: slice) -> list[StoredTree]: ...
    def __getitem__(self, index: int | slice) -> StoredTree | list[StoredTree]:
        if isinstance(index, slice):
            return [self._tree(i) for i in range(*index.indices(len(self)))]
        return self._tree(range(len(self))[index])

    def __iter__(self) -> Iterator[StoredTree]:
        return map(self._tree, range(len(self)))

    def _tree(self, i: int) -> StoredTree:
        one = slice(i, i + 1)
        at = self.inner(one)
        return StoredTree(
            links=self.links_of(one),
            raw=self.raw[i],
            bound=self.bound[at],
            missing_left=self.missing_left[at],
            misrouted=int(np.count_nonzero(self.misrouted[at])),
            n_records=None if self.n_records is None else self.n_records[self.nodes(one)],
        )


def _woven(is_leaf: Flag, inner: Array | None, leaf: Array) -> Any:  # noqa: ANN401
    found = np.zeros(len(is_leaf), dtype=leaf.dtype)
    found[is_leaf] = leaf
    if inner is not None:
        found[~is_leaf] = inner
    return found


def check_block(raw: Block, n_features: int) -> CheckedBlock | None:
    """Return the trees where all are sound and their nodes in order; None where one may not be."""
    n_inner = raw.n_leaves - 1
    first = raw.ends[:-1] - np.arange(len(raw))
    start = 2 * first + np.arange(len(raw))
    base, n = np.repeat(start, n_inner), np.repeat(n_inner, n_inner)
    inner = np.arange(len(n)) - np.repeat(first, n_inner)
    once = np.zeros(2 * len(n) + len(raw), dtype=np.bool_)
    sides: list[Wide] = []
    for side in (raw.all("left_child"), raw.all("right_child")):
        child = np.where(side < 0, n - 1 - side, side)
        if np.any(side >= n) or np.any(child > 2 * n) or np.any(child <= inner):
            return None
        child += base
        once[child] = True
        sides.append(child)
    feature, decision = raw.all("split_feature"), raw.all("decision_type")
    if np.count_nonzero(once) != 2 * len(n) or feature.min() < 0 or feature.max() >= n_features:
        return None
    kind = (decision >> 2) & 3
    if np.any(decision & 1) or kind.max() > MISSING_IS_NAN:
        return None
    if np.isnan(raw.all("threshold")).any() or not np.isfinite(raw.all("leaf_value")).all():
        return None
    links = Links(inner=inner + base, left=sides[0], right=sides[1], n_trees=len(raw))
    n_records = None
    if raw.all("leaf_count") is not None and raw.all("internal_count") is not None:
        n_records = _woven(links.is_leaf, raw.all("internal_count"), raw.all("leaf_count"))
        if n_records.min() < 0 or n_records.max() > Most.people or not n_records[start].all():
            return None
    plain = np.zeros(len(n), dtype=np.bool_)
    bound, missing_left, misrouted = routes(plain, raw.all("threshold"), (decision & 2) != 0, kind)
    return CheckedBlock(raw, links, start, bound, missing_left, misrouted, n_records)
