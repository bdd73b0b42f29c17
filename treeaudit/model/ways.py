"""Send many records down many trees, several levels in one step.

The ways out of the upper levels of a tree are bits of one word. Which of them a value of a
feature leaves open is looked up, for many trees at once; one is left by all features together.
The next levels are tables of complete trees, in which the next place follows from the last one.

References
----------
Lucchese et al. (2015), QuickScorer: a fast algorithm to rank documents with additive ensembles of
regression trees.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Index, Wide
from treeaudit.model.lower import Lower, lower_of
from treeaudit.model.walk import Walk

__all__ = ["Room", "Ways", "ways_of"]

_Words = npt.NDArray[np.uint64]

_WORD = 64
_ALL = ~np.uint64(0)
_TOGETHER = 40
"""Trees whose words lie side by side, at most."""
_FEW = 2048
"""Records for which tables are not worth their making."""
_PLACED, _LOOKED_UP = 6.0, 0.1
"""What it costs to find the place of a value, and to look up a word, in steps from node to node."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Asked:
    """What the values of a feature leave open.

    Attributes
    ----------
    thresholds
        Those of all trees, in order; None for categories, whose codes are their places.
    n_places
        Of values; the place after them is for missing ones.
    tables
        For trees side by side: which row each place has, and by row the ways of each tree.
    """

    feature: int
    thresholds: Float | None
    n_places: int
    tables: tuple[tuple[Wide, _Words], ...]

    def places(self, values: Float) -> Wide:
        gone = np.isnan(values)
        if self.thresholds is None:
            return np.where(gone, self.n_places, values).astype(np.int64)
        found = np.searchsorted(self.thresholds, values).astype(np.int64, copy=False)
        found[gone] = self.n_places
        return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Room:
    """Arrays that are written into: two words by record and tree, and where records end."""

    words: _Words
    ends: Wide


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ways:
    """The upper levels of several trees; what is below them is walked.

    Attributes
    ----------
    walk
        The trees.
    asked
        The features that the upper levels ask about.
    all_open
        All ways out of each tree.
    node
        Shape ``(n_trees * 64,)``: where each way leads to.
    whole
        Whether there is nothing below the upper levels.
    lower
        What is below them.
    """

    walk: Walk
    asked: tuple[_Asked, ...]
    all_open: _Words
    node: Wide
    whole: bool
    lower: Lower

    def room(self, n: int) -> "Room":
        """Return what `down` writes into for so many records, or fewer."""
        n_trees = len(self.walk.root) - 1
        widest = max(last - first for first, last in _together(n_trees))
        words = np.empty((2, n * widest), dtype=np.uint64)
        return Room(words=words, ends=np.empty(n * n_trees, dtype=np.int64))

    def down(self, values: Float, room: "Room | None" = None) -> Wide:
        """Return the node in which each record ends, as `Walk.down` does.

        With a room the result is good until that is used again: memory that is asked for again
        and again costs more than what is put into it.
        """
        n_trees, n = len(self.walk.root) - 1, len(values)
        room = room or self.room(n)
        plain = not self.whole and not np.isnan(values).any()
        places = [one.places(values[:, one.feature]) for one in self.asked]
        ends = room.ends[: n_trees * n].reshape(n_trees, n)
        for part, (first, last) in enumerate(_together(n_trees)):
            left, more = room.words[:, : n * (last - first)].reshape(2, n, last - first)
            left[:] = self.all_open[first:last]
            for one, place in zip(self.asked, places, strict=True):
                row, table = one.tables[part]
                table.take(row.take(place), axis=0, out=more, mode="clip")
                np.bitwise_and(left, more, out=left)
            # One bit is left: a power of two, which a floating-point number holds by its exponent.
            more.view(np.float64)[:] = left
            bit = more.view(np.int64)
            bit >>= 52
            base = np.arange(first, last)[:, None] * _WORD - 1023
            way = left.view(np.int64).reshape(last - first, n)
            np.add(bit.T, base, out=way)
            if plain:
                self.lower.down(values, way, out=ends[first:last])
            else:
                self.node.take(way, out=ends[first:last], mode="clip")
        if self.whole or (plain and self.lower.whole):
            return ends
        on = self.walk.descend(values, ends.ravel(), np.tile(np.arange(n), n_trees))
        return on.reshape(n_trees, n)


def ways_of(walk: Walk, values: Float) -> Ways | None:
    """Return the ways through trees, or None where it costs less to walk the records.

    Parameters
    ----------
    walk
        Of the trees.
    values
        Those who are to go down, shape ``(n_records, n_features)``.

    Examples
    --------
    >>> from treeaudit.model.schema import Schema
    >>> from treeaudit.model.tree import Tree
    >>> from treeaudit.model.walk import walk_of
    >>> inf = np.inf
    >>> stump = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-inf, -inf, 1.5],
    ...              high=[inf, 1.5, inf])
    >>> walk = walk_of([stump] * 100, Schema.numeric(1))
    >>> ways = ways_of(walk, np.zeros((10_000, 1)))
    >>> ways.down(np.array([[1.0], [2.0]]))[:2].tolist()
    [[1, 2], [4, 5]]
    """
    if len(values) < _FEW or not _everywhere(walk, values):
        return None
    n_trees = len(walk.root) - 1
    ends, levels = _upper(walk)
    asking = np.unique(np.concatenate([above for above, _ in levels]))
    features = np.unique(walk.feature[asking])
    steps = sum(len(np.unique(_tree_of(walk, above))) for above, _ in levels) / n_trees
    if len(features) * (_PLACED / n_trees + _LOOKED_UP) >= steps:
        return None
    tree = _tree_of(walk, ends)
    bit = np.arange(len(ends)) - np.searchsorted(tree, tree)
    node = np.zeros(n_trees * _WORD, dtype=np.int64)
    node[tree * _WORD + bit] = ends
    word = np.zeros(len(walk.feature), dtype=np.uint64)
    word[ends] = np.left_shift(np.uint64(1), bit.astype(np.uint64))
    for above, below in levels[::-1]:
        np.bitwise_or.at(word, above, word[below])
    asked = []
    for feature in features.tolist():
        mine = asking[walk.feature[asking] == feature]
        named = np.isnan(walk.threshold[mine[0]])
        asked.append((_names if named else _numbers)(walk, feature, mine, word))
    return Ways(
        walk=walk,
        asked=tuple(asked),
        all_open=word[walk.root[:-1]],
        node=node,
        whole=bool((walk.feature[ends] < 0).all()),
        lower=lower_of(walk, node),
    )


def _everywhere(walk: Walk, values: Float) -> bool:
    """Tell whether no inner node stops anybody."""
    inner = np.flatnonzero(walk.feature >= 0)
    numbers = inner[~np.isnan(walk.threshold[inner])]
    if (walk.child.reshape(-1, 2)[numbers] < 0).any() or (walk.next_of < 0).any():
        return False
    return bool((walk.missing[inner] >= 0).all() or not np.isnan(values).any())


def _tree_of(walk: Walk, nodes: Wide | Index) -> Index:
    return np.searchsorted(walk.root, nodes, side="right") - 1


def _upper(walk: Walk) -> tuple[Wide, list[tuple[Wide, Wide]]]:
    """Return the nodes that the upper levels of all trees lead to, and their edges by level.

    A tree has as many levels as its word has bits for.
    """
    front = walk.root[:-1]
    ends: list[Wide] = []
    levels: list[tuple[Wide, Wide]] = []
    ended = np.zeros(len(front), dtype=np.int64)
    while len(front):
        leaf = walk.feature[front] < 0
        ended += np.bincount(_tree_of(walk, front[leaf]), minlength=len(ended))
        above, below = _below(walk, front[~leaf])
        into = np.unique(below)
        n_ends = ended + np.bincount(_tree_of(walk, into), minlength=len(ended))
        fits = n_ends <= _WORD
        ends.append(front[leaf | ~fits[_tree_of(walk, front)]])
        on = fits[_tree_of(walk, below)]
        levels.append((above[on], below[on]))
        front = into[fits[_tree_of(walk, into)]]
    return np.sort(np.concatenate(ends)), levels


def _below(walk: Walk, nodes: Wide) -> tuple[Wide, Wide]:
    """Return inner nodes and where their values lead: a pair for each side or category."""
    named = np.isnan(walk.threshold[nodes])
    numbers = nodes[~named]
    above, _, at = _codes(walk, nodes[named])
    sides = [walk.child[2 * numbers], walk.child[2 * numbers + 1], walk.next_of[at].astype(np.intp)]
    return np.concatenate([numbers, numbers, above]), np.concatenate(sides)


def _codes(walk: Walk, nodes: Wide) -> tuple[Wide, Wide, Wide]:
    """Return nodes that ask for a category, with each code, and its entry in ``next_of``."""
    width = walk.start[nodes + 1] - walk.start[nodes]
    code = np.arange(width.sum()) - np.repeat(np.cumsum(width) - width, width)
    above = np.repeat(nodes, width)
    return above, code, walk.start[above] + code


def _parts(walk: Walk, nodes: Wide) -> Iterator[tuple[Wide, Index, int]]:
    """Yield nodes for trees side by side, with the place of the tree, and the number of trees."""
    tree, n_trees = _tree_of(walk, nodes), len(walk.root) - 1
    for first, last in _together(n_trees):
        here = (tree >= first) & (tree < last)
        yield nodes[here], tree[here] - first, last - first


def _together(n_trees: int) -> list[tuple[int, int]]:
    """Return the first and the last of trees side by side, in parts of about the same size."""
    n_parts = -(-n_trees // _TOGETHER)
    bounds = [n_trees * part // n_parts for part in range(n_parts + 1)]
    return list(pairwise(bounds))


def _numbers(walk: Walk, feature: int, nodes: Wide, word: _Words) -> _Asked:
    thresholds = np.unique(walk.threshold[nodes])
    tables = []
    for mine, tree, n in _parts(walk, nodes):
        own, at = np.unique(walk.threshold[mine], return_inverse=True)
        # Up to a threshold nothing beyond it is open, and the other way round.
        low = np.full((len(own) + 2, n), _ALL)
        high = low.copy()
        np.bitwise_and.at(low, (at, tree), ~word[walk.child[2 * mine + 1]])
        np.bitwise_and.at(high, (at + 1, tree), ~word[walk.child[2 * mine]])
        open_: _Words = np.bitwise_and.accumulate(low[::-1], axis=0)[::-1].copy()
        open_ &= np.bitwise_and.accumulate(high, axis=0)
        open_[-1] = _missing(walk, mine, tree, n, word)
        row = np.append(np.searchsorted(own, thresholds), [len(own), len(own) + 1])
        tables.append((row, open_))
    n_places = len(thresholds) + 1
    return _Asked(feature=feature, thresholds=thresholds, n_places=n_places, tables=tuple(tables))


def _names(walk: Walk, feature: int, nodes: Wide, word: _Words) -> _Asked:
    n_places = int(walk.start[nodes[0] + 1] - walk.start[nodes[0]])
    tables = []
    for mine, tree, n in _parts(walk, nodes):
        open_ = np.full((n_places + 1, n), _ALL)
        above, code, at = _codes(walk, mine)
        closed = word[above] & ~word[walk.next_of[at]]
        np.bitwise_and.at(open_, (code, np.repeat(tree, n_places)), ~closed)
        open_[-1] = _missing(walk, mine, tree, n, word)
        tables.append((np.arange(n_places + 1), open_))
    return _Asked(feature=feature, thresholds=None, n_places=n_places, tables=tuple(tables))


def _missing(walk: Walk, nodes: Wide, tree: Index, n_trees: int, word: _Words) -> _Words:
    """Return the ways that are open without a value."""
    open_ = np.full(n_trees, _ALL)
    np.bitwise_and.at(open_, tree, ~(word[nodes] & ~word[walk.missing[nodes]]))
    return open_
