"""Where a person would end if one of their values were another.

All candidate values travel down a tree together, as one set of bits per person,
and part only where the tree asks about the hidden column. A person whose path
does not ask about it is not routed again at all.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Index, Int
from treeaudit.attacks.attribute_inference.edges import Edges
from treeaudit.model.tree import Tree

__all__ = ["MOST_CANDIDATES", "Paths"]

Bits = npt.NDArray[np.uint64]
States = tuple[Index, Int, Bits]
Table = npt.NDArray[np.floating[Any]]

MOST_CANDIDATES = 64
"""One bit each."""

_ONE = np.uint64(1)


class Paths:
    """A tree, made ready to be asked what would happen if.

    Parameters
    ----------
    tree
        The tree.

    Examples
    --------
    >>> stump = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0],
    ...              low=[-np.inf, -np.inf, 1.5], high=[np.inf, 1.5, np.inf])
    >>> values = np.array([[1.0], [2.0]])
    >>> Paths(stump).what_if(values, stump.apply(values), (0,), np.array([[1.0], [3.0]])).tolist()
    [[1, 2], [1, 2]]
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._condition = Edges(tree)
        self._start, self._child = tree.children()
        self._fan = np.diff(self._start)
        self._jumps = []
        jump = np.maximum(tree.parent, 0)
        while jump.any():
            self._jumps.append(jump)
            jump = jump[jump]
        self._jumps.append(jump)

    def what_if(
        self, values: Table, node: Int, features: tuple[int, ...], candidates: Float
    ) -> Int:
        """Return where each person would end with each candidate.

        Parameters
        ----------
        values
            Shape ``(n, n_features)``: what the model knows of the people.
        node
            Shape ``(n,)``: where they end as they are.
        candidates
            Shape ``(n_candidates, len(features))``, at most 64: what may be
            in them.

        Returns
        -------
        numpy.ndarray
            Shape ``(n, n_candidates)``.
        """
        n = len(candidates)
        everything = _bits(np.ones((1, n), dtype=np.bool_))[0]
        asks = np.isin(self.tree.feature, features)
        asks[0] = False
        found = np.repeat(node[:, None], n, axis=1)
        first = self._first_asking(asks)[node]
        rows = np.flatnonzero(first >= 0)
        edge = self._edges(asks, features, candidates)
        states = (rows, first[rows], np.full(len(rows), everything))
        ended = []
        while len(states[0]):
            leaf = self._fan[states[1]] == 0
            ended.append(_take(states, leaf))
            states, stuck = self._step(values, _take(states, ~leaf), asks, edge)
            ended.append(stuck)
        if ended:
            _settle(found, _join(ended))
        return found

    def people_with(self, features: tuple[int, ...], candidates: Float) -> Float:
        """Return how many people are in leaves that a person with each candidate can reach.

        Shape ``(n_candidates,)``. 0 where the tree does not count people.
        """
        if self.tree.n_records is None:
            return np.zeros(len(candidates))
        asks = np.isin(self.tree.feature, features)
        asks[0] = False
        open_to = self._edges(asks, features, candidates)
        for jump in self._jumps:
            open_to = open_to & open_to[jump]
        leaf = self._fan == 0
        people, sets = self.tree.n_records[leaf], open_to[leaf]
        return np.array(
            [people[_has(sets, v)].sum() for v in range(len(candidates))], dtype=np.float64
        )

    def _first_asking(self, asks: Flag) -> Int:
        """Return, per node, the topmost node on its path that asks; -1 where none does."""
        first = np.where(asks, self.tree.parent, -1).astype(np.int32)
        for jump in self._jumps:
            above = first[jump]
            first = np.where(above >= 0, above, first)
        return first

    def _edges(self, asks: Flag, features: tuple[int, ...], candidates: Float) -> Bits:
        """Return, per node, the candidates that pass the edge into it."""
        everything = np.ones((1, len(candidates)), dtype=np.bool_)
        edge = np.repeat(_bits(everything), self.tree.n_nodes)
        nodes = np.flatnonzero(asks).astype(np.int32)
        column = np.zeros(1 + max(features), dtype=np.intp)
        column[list(features)] = np.arange(len(features))
        which = column[self.tree.feature[nodes]]
        passing = np.empty((len(nodes), len(candidates)), dtype=np.bool_)
        for v, values in enumerate(candidates):
            passing[:, v] = self._condition.passes(nodes, values[which])
        edge[nodes] = _bits(passing)
        return edge

    def _step(self, values: Table, states: States, asks: Flag, edge: Bits) -> tuple[States, States]:
        """Move everybody one edge down, who splits as several; return also who is stuck."""
        rows, at, sets = states
        parts = [_take(states, np.zeros(len(rows), dtype=np.bool_))]
        begin, fan = self._start[at], self._fan[at]
        for i in range(int(fan.max(initial=0))):
            open_ = np.flatnonzero((sets > 0) & (i < fan))
            into = self._child[begin[open_] + i]
            known = self._condition.passes(into, values[rows[open_], self.tree.feature[into]])
            going = np.where(asks[into] | known, edge[into], np.uint64(0)) & sets[open_]
            on = going > 0
            parts.append((rows[open_[on]], into[on], going[on]))
            sets[open_] &= ~going
        return _join(parts), _take((rows, at, sets), sets > 0)


def _take(states: States, which: Flag) -> States:
    rows, at, sets = states
    return rows[which], at[which], sets[which]


def _join(parts: list[States]) -> States:
    rows, at, sets = (np.concatenate(column) for column in zip(*parts, strict=True))
    return rows, at, sets


def _settle(found: Int, states: States) -> None:
    """Write down where which candidates of whom end."""
    rows, at, sets = states
    for v in range(found.shape[1]):
        here = _has(sets, v)
        found[rows[here], v] = at[here]


def _has(sets: Bits, v: int) -> Flag:
    return np.asarray((sets >> np.uint64(v)) & _ONE > 0)


def _bits(flags: Flag) -> Bits:
    """Return rows of at most 64 flags as whole numbers."""
    places = _ONE << np.arange(flags.shape[1], dtype=np.uint64)
    return np.asarray((flags * places).sum(axis=1, dtype=np.uint64))
