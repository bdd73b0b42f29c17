"""Send many records down many trees at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Index, Int, Wide
from treeaudit.errors import DataError
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree

__all__ = ["Walk", "in_chunks", "walk_of", "walk_or_none"]


_CHUNK = 1 << 14
_FEW = 2
"""One of so many who have ended is worth taking out."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Walk:
    """The nodes of several trees in a row, as tables to look the next node up in.

    Attributes
    ----------
    root
        Shape ``(n_trees + 1,)``: where each tree starts; the last entry is the
        number of nodes.
    feature
        What each node asks about, -1 in leaves.
    threshold
        NaN where the node asks for a category.
    single
        The largest numbers of single precision up to them: such a number is above both or neither.
    child
        Shape ``(2 * n_nodes,)``: after node i numbers up to the threshold go to ``child[2 * i]``
        and others to the next one; -1 where there is no node. Leaves lead to themselves.
    missing
        The next node without a value; -1 where there is none.
    start, next_of
        A node that asks for a category sends code c to ``next_of[start + c]``.
    of_numbers, everywhere
        Whether all nodes ask for numbers, and whether none of them lacks a side.
    """

    root: Wide
    feature: Wide
    threshold: Float
    single: npt.NDArray[np.float32]
    child: Index
    missing: Int
    start: Wide
    next_of: Int
    of_numbers: bool
    everywhere: bool

    def descend(
        self, values: npt.NDArray[np.floating[Any]], at: Index, rows: Wide | None = None
    ) -> Wide:
        """Return the node in which each record ends.

        Parameters
        ----------
        values
            Shape ``(n_records, n_features)``.
        at
            The node where each walk begins.
        rows
            Which record walks; record i in walk i unless told.
        """
        node, n, wide = at.astype(np.intp), len(at), values.shape[1]
        flat = np.ascontiguousarray(values).ravel()
        threshold = self.single if flat.dtype == np.float32 else self.threshold
        # What is missing is passed on to the least of all, which no array is made for.
        asked = not self.of_numbers or bool(np.isnan(flat.min(initial=0.0)))
        open_ended = asked or not self.everywhere
        moving, here = np.arange(n), node.copy()
        row = (moving if rows is None else rows) * wide
        # Arrays that are made anew at every step cost more than what is put into them.
        at, into, feature = np.empty_like(here), np.empty_like(here), self.feature.take(here)
        x, cut = np.empty(n, flat.dtype), np.empty(n, threshold.dtype)
        over, stuck = feature < 0, False
        while n:
            # Leaves lead to themselves: who is there is sent on with the others for a while.
            ended = np.count_nonzero(over)
            if stuck or ended * _FEW > n:
                if ended == len(node):
                    return here
                done, on = np.flatnonzero(over), np.flatnonzero(np.logical_not(over, out=over))
                node[moving.take(done)] = here.take(done)
                moving, here, row, feature = (one.take(on) for one in (moving, here, row, feature))
                n = len(on)
                at, into, x, cut = at[:n], into[:n], x[:n], cut[:n]
            # All are in range but for leaves of the first record, which go nowhere anyhow.
            np.add(row, feature, out=at)
            flat.take(at, out=x, mode="wrap")
            threshold.take(here, out=cut, mode="wrap")
            np.multiply(here, 2, out=at)
            at += x > cut
            self.child.take(at, out=into, mode="wrap")
            if asked:
                self._asked(here, x, into)
            stuck = open_ended and bool(n) and bool(into.min() < 0)
            gone = into < 0 if stuck else None
            if gone is not None:
                np.copyto(into, here, where=gone)
            self.feature.take(into, out=feature, mode="wrap")
            over = feature < 0
            if gone is not None:
                over |= gone
            here, into = into, here
        return node

    def down(self, values: npt.NDArray[np.floating[Any]]) -> Wide:
        """Return the node in which each record ends, shape ``(n_trees, n_records)``."""
        first, n = self.root[:-1], len(values)
        # One tree after the other: its tables stay at hand.
        end = self.descend(values, np.repeat(first, n), np.tile(np.arange(n), len(first)))
        return end.reshape(len(first), n)

    def ends(self, values: npt.NDArray[np.floating[Any]]) -> Wide:
        """Return the node in which each record ends in each tree, as `Forest.apply` does."""
        ends: Wide = (self.down(values) - self.root[:-1, None]).T
        return ends

    def next(self, here: Index, x: npt.NDArray[np.floating[Any]]) -> Index:
        """Return the nodes after inner ones that ask for some values; -1 where there is none."""
        into = here * 2
        into += x > (self.single if x.dtype == np.float32 else self.threshold).take(here)
        into = self.child.take(into)
        if not self.of_numbers or np.isnan(x).any():
            self._asked(here, x, into)
        return into

    def _asked(self, here: Index, x: npt.NDArray[np.floating[Any]], into: Index) -> None:
        """Correct where those go whose node asks for a category, or who have no value."""
        inner = self.feature.take(here) >= 0
        gone = np.isnan(x)
        asked = np.isnan(self.threshold.take(here)) & ~gone
        into[asked] = self.next_of[self.start[here[asked]] + x[asked].astype(np.int64)]
        gone &= inner
        into[gone] = self.missing[here[gone]]


def walk_of(trees: Sequence[Tree], schema: Schema) -> Walk:
    """Return the tables of trees whose nodes split a number in two, or a category by its value.

    Raises
    ------
    DataError
        If a node asks otherwise; `walk_or_none` tells beforehand.

    Examples
    --------
    >>> inf = np.inf
    >>> stump = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-inf, -inf, 1.5],
    ...              high=[inf, 1.5, inf])
    >>> walk = walk_of([stump, stump], Schema.numeric(1))
    >>> walk.descend(np.array([[1.0], [2.0]]), np.array([0, 3])).tolist()
    [1, 5]
    """
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
        root=root, feature=feature, threshold=threshold, single=_single(threshold), child=child,
        missing=missing, start=start, next_of=next_of,
        of_numbers=not named.any(), everywhere=not (child < 0).any(),
    )  # fmt: skip


def _single(threshold: Float) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):
        single = threshold.astype(np.float32)
        above = np.flatnonzero(single > threshold)
        single[above] = np.nextafter(single[above], np.float32(-np.inf))
    return single


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
    """Carry out a task on slices of rows, in as many threads as told; -1 is one a processor."""
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
