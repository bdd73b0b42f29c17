"""Route many records down trees: the one loop behind `Forest.apply`, predictions and counts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Index, Int, Wide
from treeaudit.errors import DataError
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree

_CHUNK = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Walk:
    """The nodes of several trees in a row, as tables to look the next node up in."""

    # Shape ``(n_trees + 1,)``: where each tree starts; the last entry is the number of nodes
    root: Wide
    feature: Wide  # The feature that each node tests, -1 in leaves
    threshold: Float  # NaN in nodes that test a category
    # Shape ``(2 * n_nodes,)``: after node i numbers up to the threshold go to ``child[2 * i]`` and
    # others to the next one; -1 if there is no node. Leaves lead to themselves.
    child: Index
    missing: Int  # The next node of records without a value; -1 if there is none
    # A node that tests a category sends code c to ``next_of[start + c]``
    start: Wide
    next_of: Int

    @property
    def everywhere(self) -> bool:
        """Whether no node lacks a side."""
        return not (self.child < 0).any()

    def descend(
        self, values: npt.NDArray[np.floating[Any]], at: Index, rows: Wide | None = None
    ) -> Wide:
        """Return the node in which each record ends.

        ``values``: shape ``(n_records, n_features)``. ``at``: the node where each walk begins.
        ``rows``: which record walks; record i in walk i unless given.
        """
        node = at.astype(np.intp)
        flat = np.ascontiguousarray(values).ravel()
        row = (np.arange(len(node)) if rows is None else rows) * values.shape[1]
        moving = np.flatnonzero(self.feature.take(node) >= 0)
        while len(moving):
            here = node.take(moving)
            into = self.next(here, flat.take(row.take(moving) + self.feature.take(here)))
            passed = into >= 0
            if not passed.all():
                moving, into = moving[passed], into[passed]
            node[moving] = into
            moving = moving[self.feature.take(into) >= 0]
        return node

    def next(self, here: Index, x: npt.NDArray[np.floating[Any]]) -> Index:
        """Return the nodes after inner ones that test some values; -1 if there is none."""
        threshold = self.threshold.take(here)
        into = self.child.take(2 * here + (x > threshold))
        missing, named = np.isnan(x), np.isnan(threshold)
        if named.any():
            named &= ~missing
            into[named] = self.next_of[self.start[here[named]] + x[named].astype(np.int64)]
        if missing.any():
            into[missing] = self.missing[here[missing]]
        return into


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Router:
    """The trees of a model, ready to route records; can be sent to another machine."""

    # Each as a `Walk`, or as it is if a node has more than two ways out for a number
    trees: Sequence[Walk | Tree]
    root: Wide  # Shape ``(n_trees + 1,)``: where the nodes of each tree start, trees in a row

    def ends(self, values: npt.NDArray[np.floating[Any]]) -> Int:
        """Return the node in which each record ends in each tree, as `Forest.apply` does."""
        node = np.empty((len(values), len(self.trees)), dtype=np.int32, order="F")
        for i, tree in enumerate(self.trees):
            _route(tree, values, node[:, i])
        return node


def router_of(trees: Sequence[Tree], schema: Schema) -> Router:
    """Return the trees of a model, ready to route records part by part."""
    return Router(
        trees=[walk_or_none([tree], schema) or tree for tree in trees],
        root=np.cumsum([0, *(tree.n_nodes for tree in trees)]),
    )


def apply_all(trees: Sequence[Tree], schema: Schema, values: npt.NDArray[np.floating[Any]]) -> Int:
    """Return the node in which each record ends in each tree, building one tree at a time."""
    node = np.empty((len(values), len(trees)), dtype=np.int32, order="F")
    for i, tree in enumerate(trees):
        _route(walk_or_none([tree], schema) or tree, values, node[:, i])
    return node


def _route(tree: Walk | Tree, values: npt.NDArray[np.floating[Any]], node: Int) -> None:
    """Write where records end in a tree, so few at a time that they stay in the cache."""
    for i in range(0, len(values), _CHUNK):
        part = values[i : i + _CHUNK]
        if isinstance(tree, Walk):
            node[i : i + _CHUNK] = tree.descend(part, np.zeros(len(part), dtype=np.intp))
        else:
            node[i : i + _CHUNK] = tree.apply(part)


def walk_of(trees: Sequence[Tree], schema: Schema) -> Walk:
    """Return the tables of trees whose nodes split a number in two, or a category by its value."""
    walk = walk_or_none(trees, schema)
    if walk is None:
        raise DataError("trees: a node splits neither a number in two nor a category by its value")
    return walk


def walk_or_none(trees: Sequence[Tree], schema: Schema) -> Walk | None:
    """Return what `walk_of` does; None where a node asks in another way."""
    width = np.array([len(f.categories or ()) for f in schema.features], dtype=np.int64)
    root = np.concatenate([[0], np.cumsum([tree.n_nodes for tree in trees])])
    n = int(root[-1])
    parent = np.concatenate([tree.parent for tree in trees])
    below = np.flatnonzero(parent >= 0)
    above = np.repeat(root[:-1], np.diff(root)).take(below) + parent.take(below)
    asked = np.concatenate([tree.feature for tree in trees]).take(below)
    feature = np.full(n, -1)
    feature[above] = asked
    if (feature.take(above) != asked).any():
        return None
    named = width[asked] > 0
    halves = _halves(trees, feature, below, above, named)
    values = _values(trees, root, width, feature, below, above, named)
    if halves is None or values is None:
        return None
    threshold, child = halves
    start, next_of = values
    goes = np.concatenate([_missing(tree) for tree in trees])[below]
    missing = np.full(n, -1, dtype=np.int32)
    missing[above[goes]] = below[goes]
    return Walk(
        root=root, feature=feature, threshold=threshold, child=child,
        missing=missing, start=start, next_of=next_of,
    )  # fmt: skip


def _halves(
    trees: Sequence[Tree], feature: Wide, below: Wide, above: Wide, named: Flag
) -> tuple[Float, Index] | None:
    """Return thresholds and next nodes; None unless children are one below and one above."""
    low = np.concatenate([tree.low for tree in trees]).take(below)
    high = np.concatenate([tree.high for tree in trees]).take(below)
    inner, n = feature >= 0, len(feature)
    child, threshold = np.repeat(np.arange(n), 2), np.full(n, np.inf)
    child.reshape(n, 2)[inner] = -1
    threshold[inner] = np.nan
    down, up = low == -np.inf, high == np.inf
    # One end of a half is open, and both of what a category passes.
    if ((down == up) != named).any() or (named & ~down).any():
        return None
    left, right = np.flatnonzero(down & ~named), np.flatnonzero(up & ~named)
    for side, (mine, bound) in enumerate(((left, high), (right, low))):
        at, cut = above.take(mine), bound.take(mine)
        if np.isinf(cut).any():
            return None
        child[2 * at + side] = below.take(mine)
        threshold[at] = cut
    if np.count_nonzero(child >= 0) < len(left) + len(right) + 2 * np.count_nonzero(~inner):
        return None
    same = threshold.take(above.take(left)) == high.take(left)
    return (threshold, child) if same.all() else None


def _values(
    trees: Sequence[Tree], root: Wide, width: Wide, feature: Wide,
    below: Wide, above: Wide, named: Flag,
) -> tuple[Wide, Int] | None:  # fmt: skip
    """Return where categories lead; None unless each leads to one child at most."""
    n = len(feature)
    owner, code = _categories(trees, root)
    start = np.zeros(n + 1, dtype=np.int64)
    if not len(owner):
        return None if named.any() else (start, np.zeros(0, dtype=np.int32))
    if (named != (np.bincount(owner, minlength=n)[below] > 0)).any():
        return None
    parent = np.full(n, -1)
    parent[below] = above
    above = parent[owner]
    start[1:] = np.cumsum(np.where(feature >= 0, width[feature], 0))
    if ((above < 0) | (code < 0) | (code >= width[feature[above]])).any():
        return None
    next_of = np.full(int(start[-1]), -1, dtype=np.int32)
    next_of[start[above] + code] = owner
    once = np.count_nonzero(next_of >= 0) == len(owner)
    return (start, next_of) if once else None


def _missing(tree: Tree) -> Flag:
    return np.zeros(tree.n_nodes, np.bool_) if tree.missing is None else tree.missing


def _categories(trees: Sequence[Tree], root: Wide) -> tuple[Wide, Int]:
    """Return every node that a category leads into, with the category."""
    owners, codes = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
    for tree, first in zip(trees, root[:-1], strict=True):
        if tree.categories is not None:
            nodes = np.arange(tree.n_nodes)
            owners.append(first + np.repeat(nodes, np.diff(tree.categories.start)))
            codes.append(tree.categories.codes)
    return np.concatenate(owners), np.concatenate(codes)


def in_chunks(
    task: Callable[[slice], object], n_rows: int, n_jobs: int | None, size: int = _CHUNK
) -> None:
    """Carry out a task on slices of rows, in so many threads; -1 is one per processor."""
    parts = [slice(i, min(i + size, n_rows)) for i in range(0, n_rows, size)]
    if n_jobs in (None, 1) or len(parts) < 2:
        for part in parts:
            task(part)
        return
    from concurrent.futures import ThreadPoolExecutor

    from joblib import cpu_count

    threads = n_jobs if n_jobs > 0 else max(1, cpu_count() + 1 + n_jobs)
    # What a task fills in is lost where another kind of workers is set for a whole program.
    with ThreadPoolExecutor(min(threads, len(parts))) as pool:
        list(pool.map(task, parts))
