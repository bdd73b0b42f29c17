"""Cells: the boxes of the domain that trees tell apart, and the people in them.

A cell is the part of the domain that has the same leaf in every tree so far: an intersection of
boxes, hence a box. A cell that some tree leaves without people of a class holds none of them, and
one that holds nobody is dropped, so that a domain of ten million records is never written out.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.inference.coding import Coded, Layout, Words, set_sizes
from treeaudit.inference.domain import Variable
from treeaudit.people.records import Records

_MOST_PAIRS = 250_000
_AT_ONCE = 30_000
"""Cells times trees that are looked at together."""
_FLAGS = 1 << 26
"""Flags that are looked at together."""
_SAMPLE, _ENOUGH = 16, 1_000
"""One cell in so many tells beforehand that there will be too many, where these are enough."""

Holds = Callable[[Float], Flag]
"""Tells from class counts of leaves, shape ``(n, n_classes)``, whether a cell inside may hold
people of a class."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """Boxes of a domain that trees tell apart; no two share a record."""

    layout: Layout  # Where the variables are
    sets: Words  # Shape ``(n_sets, n_cells, n_words)``: code sets
    # Shape ``(n_numbers, n_cells)``: codes from ``low`` to ``high - 1``
    low: Int
    high: Int
    leaf: Int  # Shape ``(n_trees, n_cells)``: the leaf of each tree so far, as a node of the tree
    alive: Flag  # Shape ``(n_cells, n_classes)``: whether people of a class may be in the cell

    def __len__(self) -> int:
        """Return how many cells there are."""
        return len(self.alive)

    @property
    def n_codes(self) -> Float:
        """How many codes each cell holds, over all variables: numbers count their intervals."""
        result: Float = (self.high - self.low).prod(axis=0, dtype=np.float64)
        for sets in self.sets:
            result *= set_sizes(sets)
        return result

    @classmethod
    def whole(cls, layout: Layout, n_classes: int) -> "Cells":
        """Return the domain as one cell, in which anybody may be."""
        sets, low, high = layout.whole()
        return cls(
            layout=layout,
            sets=sets[:, None],
            low=low[:, None],
            high=high[:, None],
            leaf=np.zeros((0, 1), dtype=np.int32),
            alive=np.ones((1, n_classes), dtype=np.bool_),
        )

    def part(self, at: npt.NDArray[np.generic]) -> "Cells":
        """Return some of the cells."""
        return Cells(
            layout=self.layout,
            sets=self.sets[:, at],
            low=self.low[:, at],
            high=self.high[:, at],
            leaf=self.leaf[:, at],
            alive=self.alive[at],
        )

    @property
    def n_records(self) -> Float:
        """How many records of the domain each cell holds; infinite for numbers without a grid."""
        result = np.ones(len(self))
        for variable, row in zip(
            self.layout.domain.variables, self.layout.row.tolist(), strict=False
        ):
            if variable.cuts is None:
                result *= set_sizes(self.sets[row])
            else:
                result *= variable.n_values(self.low[row], self.high[row])
        return result

    def codes(self, at: int) -> list[tuple[Variable, Sequence[int]]]:
        """Return every variable with its codes in one cell, ascending."""
        result: list[tuple[Variable, Sequence[int]]] = []
        for variable, row in zip(
            self.layout.domain.variables, self.layout.row.tolist(), strict=False
        ):
            if variable.cuts is None:
                bits = np.unpackbits(self.sets[row, at].view(np.uint8), bitorder="little")
                result.append((variable, np.flatnonzero(bits).tolist()))
            else:
                result.append((variable, range(int(self.low[row, at]), int(self.high[row, at]))))
        return result

    def meet(self, at: Wide, trees: Coded, node: Wide) -> "Cells":
        """Return the parts of some cells that are in some nodes, one each."""
        some = self.part(at)
        np.bitwise_and(some.sets, trees.sets[:, node], out=some.sets)
        np.maximum(some.low, trees.low[:, node], out=some.low)
        np.minimum(some.high, trees.high[:, node], out=some.high)
        return some


def _occupied(counts: Float) -> Flag:
    """Tell that people of a class may be where a leaf has some: all people are in every tree."""
    flags: Flag = counts > 0
    return flags


def refine(
    cells: Cells,
    trees: Coded,
    holds: Holds = _occupied,
    check: Callable[[int], None] = lambda _: None,
) -> Cells:
    """Return the cells that more trees tell apart.

    Raises OutOfBudgetError if they are more than may be held together.
    """
    result: list[Cells] = []
    step = max(min(_MOST_PAIRS, cells.layout.most) // trees.n_trees, 1)
    if len(cells) >= _SAMPLE * _ENOUGH:
        few = cells.part(np.arange(0, len(cells), _SAMPLE))
        expected = _SAMPLE * sum(map(len, _refined(few, trees, holds, check)))
        check(expected - expected // 10)
    for first in range(0, len(cells), step):
        part = cells.part(np.arange(first, min(first + step, len(cells))))
        for some in _refined(part, trees, holds, check):
            result.append(some)
            check(n := sum(map(len, result)))
            cells.layout.check(n)
    return _joined(result) if result else cells


def _refined(
    todo: Cells, trees: Coded, holds: Holds, check: Callable[[int], None]
) -> Iterator[Cells]:
    """Yield the parts of cells: first those that no tree cuts, then those of the others."""
    n_trees, may = trees.n_trees, holds(trees.counts)
    first = trees.start[:-1, None]
    # A bit a class: one look is at eight of them.
    bits = np.packbits(may, axis=1)
    while len(todo):
        n = len(todo)
        at, node = _route(todo, trees)
        tree = trees.tree[node]
        fan = np.bincount(tree * n + at, minlength=n_trees * n).reshape(n_trees, n)
        leaf = np.zeros((n_trees, n), dtype=np.int64)
        leaf[tree, at] = node
        single = fan == 1
        if trees.gaps:
            single &= _inside(todo, trees, leaf)
        loose = np.where(single, np.uint8(0), np.uint8(255))
        shared = [np.bitwise_and.reduce(one.take(leaf) | loose, axis=0) for one in bits.T]
        unpacked = np.unpackbits(np.stack(shared, axis=1), axis=1, count=may.shape[1])
        alive = todo.alive & unpacked.view(np.bool_)
        alive[(fan == 0).any(axis=0)] = False
        living, uncut = alive.any(axis=1), single.all(axis=0)
        todo = replace(todo, alive=alive)
        whole = np.flatnonzero(living & uncut)
        leaves = (leaf[:, whole] - first).astype(np.int32)
        part = todo.part(whole)
        yield replace(part, leaf=np.concatenate([part.leaf, leaves]))
        # The others are cut by the first tree that cuts them.
        cut = living & ~uncut
        by = np.where(cut, single.argmin(axis=0), -1)
        mine = np.flatnonzero(tree == by.take(at))
        at, node = at.take(mine), node.take(mine)
        some = np.flatnonzero(_both(todo.alive, at, may, node))
        at, node = at.take(some), node.take(some)
        todo.layout.check(len(at))
        check(len(at))
        todo = todo.meet(at, trees, node)
        todo = replace(todo, alive=todo.alive & may[node])
        if n_trees == 1:
            leaves = (node - first[0]).astype(np.int32)
            yield replace(todo, leaf=np.concatenate([todo.leaf, leaves[None]]))
            return


def _both(alive: Flag, at: Wide, may: Flag, node: Wide) -> Flag:
    """Tell of pairs of a cell and a node whether people of a class may be in both."""
    step = max(_FLAGS // max(alive.shape[1], 1), 1)
    parts = [slice(i, i + step) for i in range(0, len(at), step)]
    result = [(alive[at[some]] & may[node[some]]).any(axis=1) for some in parts]
    return np.concatenate([np.zeros(0, dtype=np.bool_), *result])


def _inside(cells: Cells, trees: Coded, leaf: Wide) -> Flag:
    """Tell for each tree and cell whether the cell is wholly in a node."""
    result = np.ones(leaf.shape, dtype=np.bool_)
    for i, node in enumerate(leaf):
        result[i] &= ~(cells.sets & ~trees.sets[:, node]).any(axis=(0, 2))
        result[i] &= (cells.low >= trees.low[:, node]).all(axis=0)
        result[i] &= (cells.high <= trees.high[:, node]).all(axis=0)
    return result


def _route(cells: Cells, trees: Coded) -> tuple[Wide, Wide]:
    """Return every pair of a cell and a leaf that share a record, in no order."""
    n, begin = len(cells), trees.start[:-1]
    step = max(_AT_ONCE // max(n, 1), 1)
    result = [_down(cells, trees, begin[i : i + step]) for i in range(0, trees.n_trees, step)]
    at, node = zip(*result, strict=True)
    return np.concatenate(at), np.concatenate(node)


def _down(cells: Cells, trees: Coded, roots: Wide) -> tuple[Wide, Wide]:
    """Return the pairs of a few trees, by their roots."""
    n = len(cells)
    at = np.tile(np.arange(n), len(roots))
    node = np.repeat(roots, n)
    found_at, found_node = [], []
    sets = cells.sets.reshape(-1, cells.sets.shape[2])
    low, high = cells.low.ravel(), cells.high.ravel()
    simple = not cells.layout.n_numbers and sets.shape[1] == 1
    while len(node):
        # All children of a node ask about one variable.
        asked = trees.child[0].take(node)
        at_leaf = asked < 0
        if at_leaf.any():
            found_at.append(at[at_leaf])
            found_node.append(node[at_leaf])
            inner = np.flatnonzero(~at_leaf)
            at, node, asked = at.take(inner), node.take(inner), asked.take(inner)
        place = trees.row.take(asked) * n + at
        words = sets[:, 0].take(place) if simple else None
        some_at, some_node = [], []
        for i, child in enumerate(trees.child):
            into = child.take(node) if i else asked
            passes: Flag
            if words is not None:
                passes = np.not_equal(words & trees.edge[:, 0].take(into), 0)
            elif not cells.layout.n_numbers:
                passes = _share(sets, place, trees, into)
            elif not cells.layout.n_sets:
                passes = _overlap(low, high, place, trees, into)
            else:
                number = trees.number[asked]
                a, b = np.flatnonzero(~number), np.flatnonzero(number)
                passes = np.empty(len(into), dtype=np.bool_)
                passes[a] = _share(sets, place[a], trees, into[a])
                passes[b] = _overlap(low, high, place[b], trees, into[b])
            if i:
                passes &= into >= 0
            passing = np.flatnonzero(passes)
            some_at.append(at.take(passing))
            some_node.append(into.take(passing))
        at, node = np.concatenate(some_at), np.concatenate(some_node)
    return np.concatenate(found_at), np.concatenate(found_node)


def _share(sets: Words, place: Wide, trees: Coded, into: Wide) -> Flag:
    shared = sets[place] & trees.edge[into]
    some: Flag = np.asarray(shared.max(axis=1) != 0)
    return some


def _overlap(low: Int, high: Int, place: Wide, trees: Coded, into: Wide) -> Flag:
    meets: Flag = np.maximum(low[place], trees.edge_low[into]) < np.minimum(
        high[place], trees.edge_high[into]
    )
    return meets


def _joined(parts: Sequence[Cells]) -> Cells:
    return Cells(
        layout=parts[0].layout,
        sets=np.concatenate([one.sets for one in parts], axis=1),
        low=np.concatenate([one.low for one in parts], axis=1),
        high=np.concatenate([one.high for one in parts], axis=1),
        leaf=np.concatenate([one.leaf for one in parts], axis=1),
        alive=np.concatenate([one.alive for one in parts]),
    )


_ANYWHERE = 0.02
"""Share of the people who may have any value, whatever the margins are."""


def leaf_keys(leaf: Int) -> npt.NDArray[np.uint64]:
    """Return a number per row of leaves, the same for the same leaves: a sum of 64 bits."""
    rng = np.random.default_rng(0)
    factor = rng.integers(1, 2**63, (leaf.shape[1], 1), dtype=np.uint64) | np.uint64(1)
    total = np.zeros(len(leaf), dtype=np.uint64)
    for i, one in enumerate(factor):
        total += (leaf[:, i].astype(np.uint64) + np.uint64(1)) * one
    return total


def people_per_place(cells: Cells, cell: Wide, label: Wide, people: Records) -> Float:
    """Return how many of some people are in each place: in a cell, with a class."""
    result, n_trees = np.zeros(len(cell)), len(cells.leaf)
    person, there = leaf_keys(people.node[:, :n_trees]), leaf_keys(cells.leaf.T)
    for one in np.unique(label).tolist():
        mine = np.sort(person[people.known_labels == one])
        at = np.flatnonzero(label == one)
        key = there[cell[at]]
        result[at] = np.searchsorted(mine, key, "right") - np.searchsorted(mine, key, "left")
    return result


def independent_shares(cells: Cells, cell: Wide, label: Wide, people: Float) -> Float:
    """Return shares of places as if values and label had nothing to do with each other.

    ``people``: shape ``(n_places,)``: people in each, of whom the margins are taken.

    The result: above 0; adds up to 1 over all the places there are.
    """
    shares = [one @ share for one, share in _margins(cells, cell, people)]
    of_label = np.bincount(label, people) / people.sum()
    of_label = (1 - _ANYWHERE) * of_label + _ANYWHERE / len(of_label)
    product = np.prod([*shares, of_label[label]], axis=0)
    result: Float = product / product.sum()
    return result


def likeliest_codes(cells: Cells, cell: Wide, people: Float, chosen: Wide) -> Int:
    """Return the likeliest code of every variable in some places, shape ``(n, n_variables)``."""
    return np.stack(
        [
            np.where(one[chosen] > 0, share, -1.0).argmax(axis=1)
            for one, share in _margins(cells, cell, people)
        ],
        axis=1,
    ).astype(np.int32)


def _margins(cells: Cells, cell: Wide, people: Float) -> list[tuple[Float, Float]]:
    """Return per variable which codes each place holds, and the shares of the codes."""
    result = []
    layout = cells.layout
    for variable, row in zip(layout.domain.variables, layout.row.tolist(), strict=False):
        codes = np.arange(variable.n_codes)
        if variable.cuts is None:
            sets = cells.sets[row, cell].view(np.uint8)
            inside = np.unpackbits(sets, axis=1, count=len(codes), bitorder="little")
        else:
            low, high = cells.low[row, cell][:, None], cells.high[row, cell][:, None]
            inside = (codes >= low) & (codes < high)
        one = inside.astype(np.float64)
        share = (people / one.sum(axis=1)) @ one
        share = (1 - _ANYWHERE) * share / share.sum() + _ANYWHERE / len(codes)
        result.append((one, share))
    return result
