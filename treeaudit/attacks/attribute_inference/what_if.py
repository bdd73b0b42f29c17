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
from treeaudit.attacks.attribute_inference.edges import Edges
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree
from treeaudit.model.walk import walk_or_none

__all__ = ["MOST_CANDIDATES", "Hidden", "Paths"]

Bits = npt.NDArray[np.uint64]
States = tuple[Index, Wide, Index, Bits]
"""People, columns, nodes and candidates."""
Table = npt.NDArray[np.floating[Any]]

Hidden = tuple[Sequence[int], Float]
"""Features of a column, and what may be in them: shape ``(n_candidates, len(features))``."""

MOST_CANDIDATES = 64
"""One bit each."""

_LEAF = -2


class Paths:
    """A tree, made ready to be asked what would happen if.

    Parameters
    ----------
    tree
        The tree.
    schema
        What it asks about.
    columns
        What may be hidden, one column at a time; no two share a feature.

    Examples
    --------
    >>> stump = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0],
    ...              low=[-np.inf, -np.inf, 1.5], high=[np.inf, 1.5, np.inf])
    >>> paths = Paths(stump, Schema.numeric(1), [((0,), np.array([[1.0], [3.0]]))])
    >>> values = np.array([[1.0], [2.0]])
    >>> paths.what_if(values, stump.apply(values)).tolist()
    [[1, 2], [1, 2]]
    """

    def __init__(self, tree: Tree, schema: Schema, columns: Sequence[Hidden]) -> None:
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
        self._edge = np.zeros(tree.n_nodes, dtype=np.uint64)
        for c, (_, candidates) in enumerate(columns):
            nodes = np.flatnonzero(own == c).astype(np.int32)
            asked = candidates.T[place[tree.feature[nodes]]]
            self._edge[nodes] = _bits(self._condition.passes(nodes[:, None], asked))
        self._leave, self._people = self._along(own)
        inner = np.flatnonzero(self._fan)
        self._asks = np.full(tree.n_nodes, _LEAF)
        self._asks[inner] = own[self._child[self._start[inner]]]
        self._walk = walk_or_none([tree], schema)

    def what_if(self, values: Table, node: Int) -> Int:
        """Return where each person would end with each candidate.

        Parameters
        ----------
        values
            Shape ``(n, n_features)``: what the model knows of the people.
        node
            Shape ``(n,)``: where they end as they are.

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
        while len(states[0]):
            states = self._descend(values, self._part(states, found), found)
        return found

    def people_with(self) -> Float:
        """Return how many people are in leaves that a person with each candidate can reach.

        Shape ``(n_candidates,)``. 0 where the tree does not count people.
        """
        return self._people

    def _along(self, own: Wide) -> tuple[Bits, Float]:
        """Return per node which candidates leave a path there, and see `people_with`."""
        tree, leaf = self.tree, self._fan == 0
        leave, people = np.zeros(tree.n_nodes, dtype=np.uint64), np.zeros(self._first[-1])
        left = np.empty((tree.n_nodes, len(self._size)), dtype=np.uint64)
        left[0] = [2**n - 1 for n in self._size]
        for nodes in _levels(tree)[1:]:
            here = left.take(self._parent[nodes], axis=0)
            asking = np.flatnonzero(own[nodes] >= 0)
            place, edge = (asking, own[nodes[asking]]), self._edge[nodes[asking]]
            leave[nodes[asking]] = here[place] & ~edge
            here[place] &= edge
            left[nodes] = here
        if tree.n_records is not None:
            sets, size = left[leaf], tree.n_records[leaf]
            parts = [_people(size, sets[:, c], n) for c, n in enumerate(self._size)]
            people = np.concatenate([np.zeros(0), *parts])
        return leave, people

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

    def _again(self, values: Table) -> Int:
        """Return the same as `what_if`, each candidate on its own."""
        found = np.empty((len(values), self._first[-1]), dtype=np.int32)
        each = ((one, row) for one, candidates in self._columns for row in candidates)
        for v, (features, candidate) in enumerate(each):
            changed = values.astype(np.float64)
            changed[:, list(features)] = candidate
            found[:, v] = self.tree.apply(changed)
        return found

    def _leaving(self, rows: Index, at: Index) -> States:
        """Return who leaves their path at which nodes, with which candidates."""
        parts: list[States] = []
        while not parts or len(rows):
            on, above = self._leave[at] > 0, self._parent[at]
            parts.append((rows[on], self._asks[above[on]], above[on], self._leave[at[on]]))
            rows, at = rows[above > 0], above[above > 0]
        return _join(parts)

    def _part(self, states: States, found: Int) -> States:
        """Follow the edges whose condition is on the hidden column."""
        parts = []
        for i in range(int(self._fan[states[2]].max())):
            rows, columns, at, sets = states
            into = self._child[self._start[at] + i]
            going, staying = sets & self._edge[into], sets & ~self._edge[into]
            parts.append(_take((rows, columns, into, going), going > 0))
            states = _take((rows, columns, at, staying), staying > 0)
            last = self._fan[states[2]] == i + 1
            self._settle(found, _take(states, last))
            states = _take(states, ~last)
        return _join(parts)

    def _descend(self, values: Table, states: States, found: Int) -> States:
        """Go on to where the hidden column is asked about; write down who ended before."""
        rows, columns, at, _ = states
        asks = self._asks.take(at)
        ended = asks == _LEAF
        moving = np.flatnonzero(~ended & (asks != columns))
        here, who, column = at.take(moving), rows.take(moving), columns.take(moving)
        while len(moving):
            into = self._next(values, who, here)
            stuck = into < 0
            np.copyto(into, here, where=stuck)
            asks = self._asks.take(into)
            ends = stuck | (asks == _LEAF)
            stops = ends | (asks == column)
            there, on = np.flatnonzero(stops), np.flatnonzero(~stops)
            at[moving.take(there)] = into.take(there)
            ended[moving.take(there)] = ends.take(there)
            moving, here, who, column = (one.take(on) for one in (moving, into, who, column))
        self._settle(found, _take(states, ended))
        return _take(states, ~ended)

    def _next(self, values: Table, rows: Index, at: Index) -> Index:
        """Return the next node of everybody; -1 where there is none."""
        if self._walk is not None:
            place = rows * values.shape[1]
            place += self._walk.feature.take(at)
            return self._walk.next(at, values.reshape(-1).take(place))
        begin, last = self._start[at], self._fan[at] - 1
        into = np.full(len(at), -1)
        x = values[rows, self.tree.feature[self._child[begin]]]
        for i in range(int(last.max()) + 1):
            child = self._child[begin + np.minimum(i, last)]
            into = np.where((into < 0) & self._condition.passes(child, x), child, into)
        return into

    def _settle(self, found: Int, states: States) -> None:
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


def _take(states: States, which: Flag) -> States:
    rows, columns, at, sets = states
    chosen = np.flatnonzero(which)
    return rows.take(chosen), columns.take(chosen), at.take(chosen), sets.take(chosen)


def _join(parts: list[States]) -> States:
    rows, columns, at, sets = (np.concatenate(column) for column in zip(*parts, strict=True))
    return rows, columns, at, sets


def _flags(sets: Bits, n: int) -> Flag:
    """Return sets of n candidates as rows of flags."""
    eight = sets.astype("<u8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(eight, axis=1, count=n, bitorder="little").view(np.bool_)


def _people(size: Wide, sets: Bits, n: int) -> Float:
    """Return how many people are with each of n candidates: sets a byte at a time."""
    eight = np.ascontiguousarray(sets.astype("<u8")).view(np.uint8).reshape(-1, 8)
    every = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    parts = [np.bincount(eight[:, i], size, 256) @ every for i in range(-(-n // 8))]
    return np.concatenate(parts)[:n].astype(np.float64)


def _bits(flags: Flag) -> Bits:
    """Return rows of at most 64 flags as whole numbers."""
    eight = np.zeros((len(flags), 8), dtype=np.uint8)
    eight[:, : -(-flags.shape[1] // 8)] = np.packbits(flags, axis=1, bitorder="little")
    return eight.view("<u8")[:, 0].astype(np.uint64)
