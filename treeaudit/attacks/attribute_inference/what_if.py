"""Where a person would end if one of their values were another.

All candidate values of a column travel down a tree together, as one set of bits per
person. They leave the path of the person only where the tree asks about the column, and
part only there: those that leave are followed, of all columns at the same time.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Index, Int, Wide
from treeaudit.model.routing import walk_or_none
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree

_MOST_CELLS = 50_000_000


class Edges:
    """The conditions of a tree, sets of categories as a table of yes and no.

    `Tree.passes` sorts the sets each time; this does so once, as long as the
    table stays below 50 MB.

    Examples
    --------
    >>> stump = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0],
    ...              low=[-np.inf, -np.inf, 1.5], high=[np.inf, 1.5, np.inf])
    >>> Edges(stump).passes(np.array([1, 2]), np.array([1.0, 1.0])).tolist()
    [True, False]
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._allowed: Flag | None = None
        sets = tree.categories
        if sets is None:
            return
        size = np.diff(sets.start)
        listed = np.flatnonzero(size)
        self._width = int(sets.codes.max(initial=0)) + 1
        self._row = np.full(tree.n_nodes, -1, dtype=np.int64)
        self._row[listed] = np.arange(len(listed))
        if len(listed) * self._width <= _MOST_CELLS:
            self._allowed = np.zeros(len(listed) * self._width + 1, dtype=np.bool_)
            owner = np.repeat(np.arange(len(listed)), size[listed])
            self._allowed[owner * self._width + sets.codes] = True

    def passes(self, node: Int, x: npt.NDArray[np.floating[Any]]) -> Flag:
        """Return whether values pass the edges into some nodes, as `Tree.passes` does."""
        tree = self._tree
        if self._allowed is None:
            return tree.passes(node, x)
        x = np.asarray(x, dtype=np.float64)
        row = self._row[node]
        whole = (x >= 0) & (x < self._width) & (x == np.floor(x))
        cell = row * self._width + np.where(whole, x, 0).astype(np.int64)
        # Numeric edges have row -1: any cell will do, the answer is not used.
        inside = whole & self._allowed[np.maximum(cell, 0)]
        found = np.where(row >= 0, inside, (tree.low[node] < x) & (x <= tree.high[node]))
        if tree.missing is not None:
            found = np.where(np.isnan(x), tree.missing[node], found)
        return np.asarray(found)


_Bits = npt.NDArray[np.unsignedinteger[Any]]

_States = tuple[Index, npt.NDArray[np.int16], Index, _Bits]
"""People, columns, nodes and candidates."""

_Table = npt.NDArray[np.floating[Any]]

_Hidden = tuple[Sequence[int], Float]
"""Features of a column, and what may be in them: shape ``(n_candidates, len(features))``."""

MOST_CANDIDATES = 64
"""One bit each."""

_LEAF = -2

_FEW = 3
"""One of so many who have ended is worth taking out."""


class Paths:
    """A tree, made ready to be asked what would happen if.

    Examples
    --------
    >>> stump = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0],
    ...              low=[-np.inf, -np.inf, 1.5], high=[np.inf, 1.5, np.inf])
    >>> paths = Paths(stump, Schema.numeric(1), [((0,), np.array([[1.0], [3.0]]))])
    >>> values = np.array([[1.0], [2.0]])
    >>> paths.what_if(values, stump.apply(values)).tolist()
    [[1, 2], [1, 2]]
    """

    def __init__(self, tree: Tree, schema: Schema, columns: Sequence[_Hidden]) -> None:
        self.tree, self._columns = tree, columns
        self._condition = Edges(tree)
        self._start, child = tree.children()
        self._child, self._parent = child.astype(np.intp), tree.parent.astype(np.intp)
        self._fan = np.diff(self._start)
        self._size = [len(candidates) for _, candidates in columns]
        self._first = np.cumsum([0, *self._size])
        column, place = np.full((2, len(schema.features)), -1)
        for c, (features, _) in enumerate(columns):
            column[list(features)] = c
            place[list(features)] = np.arange(len(features))
        own = np.where(tree.feature < 0, -1, column[tree.feature])
        self._edge = np.zeros(tree.n_nodes, dtype=_kind(self._size))
        self._asking = [np.flatnonzero(own == c) for c in range(len(columns))]
        for nodes, (features, candidates) in zip(self._asking, columns, strict=True):
            asked = candidates.T if len(features) == 1 else candidates.T[place[tree.feature[nodes]]]
            edges = nodes.astype(np.int32)[:, None]
            self._edge[nodes] = _bits(self._condition.passes(edges, asked))
        self._levels = _levels(tree)
        self._leave = self._along(own)
        inner = np.flatnonzero(self._fan)
        self._asks = np.full(tree.n_nodes, _LEAF, dtype=np.int16)
        self._asks[inner] = own[self._child[self._start[inner]]]
        self._leaf = int(np.argmin(self._fan))
        self._walk = walk_or_none([tree], schema)

    def what_if(self, values: _Table, node: Int) -> Int:
        """Return where each person would end with each candidate.

        Returns
        -------
        numpy.ndarray
            Shape ``(n, n_candidates)``, those of all columns side by side.
        """
        found = np.repeat(node[:, None], self._first[-1], axis=1)
        lost = (self._fan[node] > 0) | (not self._apart())
        if lost.any():
            found[lost] = self._again(values[lost])
        states = self._leaving(np.flatnonzero(~lost), node[~lost].astype(np.intp))
        ended: list[_States] = []
        while len(states[0]):
            states = self._step(values, states, ended)
        if ended:
            self._settle(found, _join(ended))
        return found

    def people_with(self) -> Float:
        """Return how many people are in leaves that a person with each candidate can reach.

        Shape ``(n_candidates,)``. 0 where the tree does not count people.
        """
        if self.tree.n_records is None:
            return np.zeros(self._first[-1])
        below = np.where(self._fan > 0, 0, self.tree.n_records)
        for nodes in self._levels[:0:-1]:
            np.add.at(below, self._parent[nodes], below[nodes])
        # On the way to a leaf that it cannot reach a candidate leaves the path at one node.
        parts = [
            below[0] - _people(below[nodes], self._leave[nodes], n)
            for nodes, n in zip(self._asking, self._size, strict=True)
        ]
        return np.concatenate([np.zeros(0), *parts])

    def _along(self, own: Wide) -> _Bits:
        """Return per node which candidates leave a path there."""
        edge, width = self._edge, len(self._size) + 1
        # Where none of the columns is asked about, it is of one more, of which all pass.
        other = own < 0
        edge, column = np.where(other, ~edge.dtype.type(0), edge), np.where(other, width - 1, own)
        inner = self._fan > 0
        levels = [nodes[inner[nodes]] for nodes in self._levels]
        row = np.zeros(len(inner), dtype=np.intp)
        row[np.concatenate(levels)] = np.arange(np.count_nonzero(inner))
        left = np.empty((np.count_nonzero(inner), width), dtype=edge.dtype)
        left[:1] = np.array([*(2**n - 1 for n in self._size), 0], dtype=edge.dtype)
        flat, above, own, first = left.reshape(-1), row[self._parent], row * width + column, 1
        for nodes in levels[1:]:
            last = first + len(nodes)
            left[:first].take(above[nodes], axis=0, out=left[first:last], mode="clip")
            flat[own[nodes]] &= edge[nodes]
            first = last
        leave = np.zeros_like(edge)
        leave[1:] = flat.take((above * width + column)[1:]) & ~edge[1:]
        return leave

    def _apart(self) -> bool:
        """Tell whether the children of every node ask about one feature and share no candidate."""
        inner = np.flatnonzero(self._fan)
        asked = self.tree.feature[self._child[self._start[inner]]]
        taken = np.zeros(len(inner), dtype=np.uint64)
        for i in range(int(self._fan.max())):
            has = self._fan[inner] > i
            child = self._child[self._start[inner[has]] + i]
            if (self.tree.feature[child] != asked[has]).any() or (
                taken[has] & self._edge[child]
            ).any():
                return False
            taken[has] |= self._edge[child]
        return True

    def _again(self, values: _Table) -> Int:
        """Return the same as `what_if`, each candidate on its own."""
        found = np.empty((len(values), self._first[-1]), dtype=np.int32)
        each = ((one, row) for one, candidates in self._columns for row in candidates)
        for v, (features, candidate) in enumerate(each):
            changed = values.astype(np.float64)
            changed[:, list(features)] = candidate
            found[:, v] = self.tree.apply(changed)
        return found

    def _leaving(self, rows: Index, at: Index) -> _States:
        """Return who leaves their path at which nodes, with which candidates."""
        parts: list[_States] = []
        while not parts or len(rows):
            leave, above = self._leave.take(at), self._parent.take(at)
            on = np.flatnonzero(leave)
            from_ = above.take(on)
            parts.append((rows.take(on), self._asks.take(from_), from_, leave.take(on)))
            up = np.flatnonzero(above > 0)
            rows, at = rows.take(up), above.take(up)
        return _join(parts)

    def _step(self, values: _Table, states: _States, ended: list[_States]) -> _States:
        """Follow everybody by one edge; put down who ended, who until then stays in a leaf."""
        asks = self._asks.take(states[2])
        leaf = asks == _LEAF
        if np.count_nonzero(leaf) * _FEW >= len(leaf):
            ended.append(_take(states, leaf))
            on = np.flatnonzero(~leaf)
            states, asks = _at(states, on), asks.take(on)
        rows, columns, at, sets = states
        into, here = self._next(values, rows, at), np.flatnonzero(asks == columns)
        if len(into) and into.min() < 0:
            stuck = into < 0
            stuck[here] = False
            ended.append(_take(states, stuck))
            into[stuck], sets[stuck] = self._leaf, 0
        more = self._part(here, states, into, ended)
        return _join([(rows, columns, into, sets), *more])

    def _part(
        self, here: Index, states: _States, into: Index, ended: list[_States]
    ) -> list[_States]:
        """Follow the edges whose condition is on the hidden column.

        The first that lets somebody on is written into ``into``, the others are returned.
        """
        rows, columns, at, sets = states
        node, staying = at.take(here), sets.take(here)
        begin, last = self._start.take(node), self._fan.take(node) - 1
        first, through, parts = node, np.zeros_like(staying), []
        for i in range(int(last.max(initial=-1)) + 1):
            child = self._child.take(begin + np.minimum(i, last))
            # Who had the last child has nothing left of what that lets on.
            going = staying & self._edge.take(child)
            staying ^= going
            # Products choose faster than anything that goes one way or the other.
            new = through == 0
            first = first + (child - first) * new
            through += going * new
            going *= ~new
            also = np.flatnonzero(going)
            who = here.take(also)
            parts.append((rows.take(who), columns.take(who), child.take(also), going.take(also)))
        if staying.any():
            ended.append(_take((rows.take(here), columns.take(here), node, staying), staying > 0))
        into[here], sets[here] = first, through
        return parts

    def _next(self, values: _Table, rows: Index, at: Index) -> Index:
        """Return the next node of everybody, leaves of those in them; -1 where there is none."""
        if self._walk is not None:
            place = rows * values.shape[1]
            place += self._walk.feature.take(at)
            return self._walk.next(at, values.reshape(-1).take(place))
        begin, last = self._start[at], self._fan[at] - 1
        into = np.where(last < 0, at, -1)
        begin = np.where(last < 0, 0, begin)
        x = values[rows, self.tree.feature[self._child[begin]]]
        for i in range(int(last.max(initial=-1)) + 1):
            child = self._child[begin + np.minimum(i, last)]
            into = np.where((into < 0) & self._condition.passes(child, x), child, into)
        return into

    def _settle(self, found: Int, states: _States) -> None:
        """Write down where which candidates of whom end."""
        rows, columns, at, sets = states
        n, flat = max(self._size), found.reshape(-1)
        # Every candidate on its own.
        each = np.flatnonzero(_flags(sets, n))
        which = each // n
        place = rows * found.shape[1] + self._first[columns] - n * np.arange(len(rows))
        flat[place.take(which) + each] = at.take(which)


def _levels(tree: Tree) -> list[Index]:
    """Return the nodes of each depth."""
    depths = tree.depths
    order = np.argsort(depths.astype(np.int16) if len(depths) < 1 << 15 else depths, kind="stable")
    return np.split(order, np.cumsum(np.bincount(depths))[:-1])


def _take(states: _States, which: Flag) -> _States:
    return _at(states, np.flatnonzero(which))


def _at(states: _States, chosen: Index) -> _States:
    rows, columns, at, sets = states
    return rows.take(chosen), columns.take(chosen), at.take(chosen), sets.take(chosen)


def _join(parts: list[_States]) -> _States:
    rows, columns, at, sets = (np.concatenate(column) for column in zip(*parts, strict=True))
    return rows, columns, at, sets


def _kind(size: Sequence[int]) -> "np.dtype[np.unsignedinteger[Any]]":
    """Return what has a bit for each candidate of any column, as little as it takes."""
    return np.min_scalar_type(2 ** max(size, default=0) - 1)


def _bytes(sets: _Bits) -> npt.NDArray[np.uint8]:
    """Return the bytes of sets, the first candidates first, shape ``(n_sets, n_bytes)``."""
    width = sets.dtype.itemsize
    low_first = np.ascontiguousarray(sets, dtype=sets.dtype.newbyteorder("<"))
    return low_first.view(np.uint8).reshape(-1, width)


def _flags(sets: _Bits, n: int) -> Flag:
    """Return sets of n candidates as rows of flags."""
    eight = _bytes(sets)
    return np.unpackbits(eight, axis=1, count=n, bitorder="little").view(np.bool_)


def _people(size: Wide, sets: _Bits, n: int) -> Float:
    """Return how many people are with each of n candidates: sets a byte at a time."""
    eight = _bytes(sets)
    every = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    parts = [np.bincount(eight[:, i], size, 256) @ every for i in range(-(-n // 8))]
    return np.concatenate(parts)[:n].astype(np.float64)


def _bits(flags: Flag) -> _Bits:
    """Return rows of at most 64 flags as whole numbers."""
    eight = np.zeros((len(flags), 8), dtype=np.uint8)
    eight[:, : -(-flags.shape[1] // 8)] = np.packbits(flags, axis=1, bitorder="little")
    return eight.view("<u8")[:, 0].astype(np.uint64)
