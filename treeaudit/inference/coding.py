"""Trees in terms of the domain: what of every variable each node lets in."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Int, Wide
from treeaudit.errors import DataError
from treeaudit.inference.domain import Domain
from treeaudit.inference.questions import Nodes, nodes_of
from treeaudit.inference.scope import ANYBODY, OutOfBudgetError
from treeaudit.model.tree import Tree

Words = npt.NDArray[np.unsignedinteger[Any]]
"""Sets of codes, a bit each; in as few bytes as the widest variable needs."""
_KINDS = (np.uint8, np.uint16, np.uint32, np.uint64)
_MOST_BYTES = 1 << 29
"""What boxes that are looked at together may take."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layout:
    """Where each variable of a domain is in the arrays of boxes."""

    domain: Domain
    # Shape ``(n_variables + 1,)``; the last entry stands for no variable
    is_number: npt.NDArray[np.bool_]
    row: Wide  # The variable's row among the sets, or among the numbers; as long
    # Variables with sets of codes, words per set, and numbers
    n_sets: int
    n_words: int
    n_numbers: int
    kind: type[np.unsignedinteger[Any]]  # Of the words

    @classmethod
    def of(cls, domain: Domain) -> "Layout":
        """Return the layout of a domain."""
        number = np.array([one.cuts is not None for one in domain.variables], dtype=np.bool_)
        widest = max((v.n_codes for v in domain.variables if v.cuts is None), default=1)
        kind = next((k for k in _KINDS if 8 * np.dtype(k).itemsize >= widest), np.uint64)
        return cls(
            domain=domain,
            # One more entry, which trees without a question point to.
            is_number=np.append(number, False),
            row=np.append(np.where(number, np.cumsum(number), np.cumsum(~number)) - 1, 0),
            n_sets=int((~number).sum()),
            n_words=-(-widest // (8 * np.dtype(kind).itemsize)),
            n_numbers=int(number.sum()),
            kind=kind,
        )

    @property
    def most(self) -> int:
        """How many boxes may be held together: of many variables each is large."""
        width = self.n_sets * self.n_words * np.dtype(self.kind).itemsize + 8 * self.n_numbers
        return max(_MOST_BYTES // max(width, 1), 1)

    def check(self, boxes: int) -> None:
        """Refuse more boxes than may be held together.

        Raises OutOfBudgetError with how many of how many columns these are.
        """
        if boxes > self.most:
            columns = len(self.domain.variables)
            raise OutOfBudgetError(f"{self.most:,} cells of {columns:,} columns each")

    def whole(self) -> tuple[Words, Int, Int]:
        """Return the domain itself as a box: its sets, and the first and last codes."""
        sets = np.zeros((self.n_sets, self.n_words), dtype=self.kind)
        low = np.zeros(self.n_numbers, dtype=np.int32)
        high = np.zeros(self.n_numbers, dtype=np.int32)
        for variable, row in zip(self.domain.variables, self.row.tolist(), strict=False):
            if variable.cuts is None:
                sets[row] = self.words(np.ones(variable.n_codes, dtype=np.bool_))
            else:
                edges = variable.edges
                nonempty = np.flatnonzero(edges[1:] > edges[:-1])
                low[row], high[row] = nonempty[0], nonempty[-1] + 1
        return sets, low, high

    def words(self, codes: npt.NDArray[np.bool_]) -> Words:
        """Return sets of codes, a flag each on the last axis, as words."""
        width = 8 * self.n_words * np.dtype(self.kind).itemsize
        padded = np.zeros((*codes.shape[:-1], width), dtype=np.bool_)
        padded[..., : codes.shape[-1]] = codes
        return np.packbits(padded, axis=-1, bitorder="little").view(self.kind)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coded:
    """Some trees in terms of a domain, their nodes in a row."""

    # Shape ``(n_trees + 1,)``: the nodes of tree t are ``start[t]`` to ``start[t + 1]``
    start: Wide
    tree: Int  # The tree of every node
    counts: Float  # Shape ``(n_nodes, n_classes)``
    child: Int  # Shape ``(most children, n_nodes)``; -1 where there is none
    gaps: bool  # Whether some records that reach a node go to none of its children
    # Which variable leads into a node: whether it is a number, and its row
    number: npt.NDArray[np.bool_]
    row: Wide
    # The box of every node, shapes ``(n_sets, n_nodes, n_words)`` and ``(n_numbers,
    # n_nodes)``: code sets, and codes from ``low`` to ``high - 1``
    sets: Words
    low: Int
    high: Int
    # Of the variable that leads into a node, what the node's box lets in
    edge: Words
    edge_low: Int
    edge_high: Int

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.start) - 1

    @property
    def people(self) -> Float:
        """Shape ``(n_trees, n_classes)``: what the leaves of each tree that tell add up to."""
        known = (self.child[0] < 0)[:, None] & (self.counts < ANYBODY)
        counts = np.where(known, self.counts, 0.0)
        total: Float = np.add.reduceat(counts, self.start[:-1])
        return total


def coded(trees: Sequence[Tree], layout: Layout) -> Coded:
    """Put trees in terms of a domain.

    Raises DataError if the children of a node ask about different variables or share a value, so
    that leaves are no parts of the domain; or if the counts of a tree's leaves do not add up.
    Raises OutOfBudgetError if they have more nodes than may be held together.
    """
    layout.check(sum(tree.n_nodes for tree in trees))
    nodes = nodes_of(trees)
    n = len(nodes.parent)
    variable = _variable_of(layout.domain, nodes.feature)
    variable[nodes.parent < 0] = 0
    if (variable < 0).any():
        raise DataError("a tree asks about a column with no threshold and no category")
    own, first, last = _edges(nodes, layout, variable)
    number, row = layout.is_number[variable], layout.row[variable]
    sets = np.empty((layout.n_sets, n, layout.n_words), dtype=layout.kind)
    low = np.empty((layout.n_numbers, n), dtype=np.int32)
    high = np.empty((layout.n_numbers, n), dtype=np.int32)
    whole = layout.whole()
    root = nodes.start[:-1]
    sets[:, root], low[:, root], high[:, root] = (one[:, None] for one in whole)
    for level in nodes.levels:
        above = nodes.parent[level]
        sets[:, level], low[:, level], high[:, level] = (
            sets[:, above],
            low[:, above],
            high[:, above],
        )
        named, counted = level[~number[level]], level[number[level]]
        sets[row[named], named] &= own[named]
        low[row[counted], counted] = np.maximum(low[row[counted], counted], first[counted])
        high[row[counted], counted] = np.minimum(high[row[counted], counted], last[counted])
    every = np.arange(n)
    result = Coded(
        start=nodes.start,
        tree=nodes.tree,
        counts=nodes.counts,
        child=_children(nodes),
        gaps=False,
        number=number,
        row=row,
        sets=sets,
        low=low,
        high=high,
        edge=sets[np.where(number, 0, row), every] if layout.n_sets else own,
        edge_low=low[np.where(number, row, 0), every] if layout.n_numbers else first,
        edge_high=high[np.where(number, row, 0), every] if layout.n_numbers else last,
    )
    _checked(result, variable)
    return replace(result, gaps=_gaps(result, nodes.parent))


def _variable_of(domain: Domain, feature: Int) -> Wide:
    """Return the variable of columns of the model, -1 where there is none."""
    width = max((i for one in domain.variables for i in one.features), default=0) + 1
    result = np.full(width + 1, -1, dtype=np.int64)
    for i, variable in enumerate(domain.variables):
        result[list(variable.features)] = i
    return result[np.minimum(feature, width)]


def _edges(nodes: Nodes, layout: Layout, variable: Wide) -> tuple[Words, Int, Int]:
    """Return what the edge into each node lets in: a set of codes, or a first and a last code."""
    n = len(nodes.parent)
    own = np.zeros((n, layout.n_words), dtype=layout.kind)
    first, last = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
    inside = nodes.parent >= 0
    order = np.argsort(np.where(inside, variable, -1), kind="stable")
    ends = np.cumsum(np.bincount(variable[inside], minlength=len(layout.domain.variables)))
    ends = np.concatenate([[0], ends]) + int((~inside).sum())
    with_sets = np.bincount(nodes.owner, minlength=n) > 0
    for i, one in enumerate(layout.domain.variables):
        at = order[ends[i] : ends[i + 1]]
        low, high = nodes.low[at], nodes.high[at]
        if one.cuts is not None:
            # Above the cut of code c is code c + 1; up to it, c.
            first[at] = np.where(np.isneginf(low), 0, np.searchsorted(one.cuts, low) + 1)
            up_to = np.searchsorted(one.cuts, high) + 1
            last[at] = np.where(np.isposinf(high), one.n_codes, up_to)
            continue
        codes = np.arange(one.n_codes)
        if one.kind == "one-hot":
            member = np.zeros(max(one.features) + 1, dtype=np.int64)
            member[list(one.features)] = np.arange(len(one.features))
            is_one = member[nodes.feature[at]][:, None] == codes
            passes = np.where(is_one, ((low < 1) & (high >= 1))[:, None],
                              ((low < 0) & (high >= 0))[:, None])  # fmt: skip
        else:
            passes = (codes > low[:, None]) & (codes <= high[:, None])
            passes[with_sets[at]] = False
            place = np.full(n, -1)
            place[at] = np.arange(len(at))
            mine = place[nodes.owner] >= 0
            passes[place[nodes.owner[mine]], nodes.code[mine]] = True
        own[at] = layout.words(passes)
    return own, first, last


def _children(nodes: Nodes) -> Int:
    """Return the children of every node, one row per place among them."""
    n = len(nodes.parent)
    below = np.flatnonzero(nodes.parent >= 0)
    order = below[np.argsort(nodes.parent[below], kind="stable")]
    above = nodes.parent[order]
    fresh = np.diff(above, prepend=-1) != 0
    place = np.arange(len(above)) - np.maximum.accumulate(np.where(fresh, np.arange(len(above)), 0))
    child = np.full((int(place.max(initial=0)) + 1, n), -1)
    child[place, above] = order
    return child


def _checked(trees: Coded, variable: Wide) -> None:
    """Refuse nodes whose children ask about different variables or share a value."""
    for i, j in combinations(range(len(trees.child)), 2):
        both = np.flatnonzero(trees.child[j] >= 0)
        a, b = trees.child[i, both], trees.child[j, both]
        shared = np.where(
            trees.number[a],
            np.maximum(trees.edge_low[a], trees.edge_low[b])
            < np.minimum(trees.edge_high[a], trees.edge_high[b]),
            (trees.edge[a] & trees.edge[b]).any(axis=1),
        )
        if (variable[a] != variable[b]).any() or shared.any():
            raise DataError("the children of a node of the tree are no parts of it")


def _gaps(trees: Coded, parent: Wide) -> bool:
    """Tell whether the children of some node hold less than it does."""
    inner = np.flatnonzero(trees.child[0] >= 0)
    number, row = trees.number[trees.child[0, inner]], trees.row[trees.child[0, inner]]
    whole, parts = np.zeros(len(inner), np.int64), set_sizes(trees.edge)
    parts = np.where(trees.number, np.maximum(trees.edge_high - trees.edge_low, 0), parts)
    sets, numbers = np.flatnonzero(~number), np.flatnonzero(number)
    whole[sets] = set_sizes(trees.sets[row[sets], inner[sets]])
    at = row[numbers], inner[numbers]
    whole[numbers] = np.maximum(trees.high[at] - trees.low[at], 0)
    below = parent >= 0
    below_sum = np.bincount(parent[below], weights=parts[below], minlength=len(parent))
    return bool((below_sum[inner] < whole).any())


def set_sizes(sets: Words) -> Wide:
    """Return how many codes each set holds."""
    bits = np.unpackbits(np.ascontiguousarray(sets).view(np.uint8), axis=1)
    size: Wide = bits.sum(axis=1, dtype=np.int64)
    return size
