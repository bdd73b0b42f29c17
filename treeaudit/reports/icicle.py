"""Where each node of a tree goes in an icicle of at most so many columns.

One column of the same width per leaf, whatever its size: drawn to scale, one
person among thousands would be thinner than a hair. Subtrees that do not fit
are folded into one column; those with the most small leaves unfold first.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Int, Wide
from treeaudit.model.tree import Tree

STARTS = (1, 2, 5, 10, 50)
"""Sizes of groups at which a new level begins, the most exposed first."""


def level_of(size: npt.ArrayLike, starts: Sequence[int] = STARTS) -> Wide:
    """Return the level of some sizes; empty leaves count as smallest."""
    return np.searchsorted(np.array(starts[1:]), np.asarray(size), side="right").astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subtrees:
    """What lies below each node of a tree, arrays of length ``n_nodes``."""

    n_leaves: Wide  # Leaves with people in them; at least 1
    small: Wide  # Those among them that are smaller than k
    one_label: Wide  # Those among them in which everybody has the same label
    # smallest, largest: people in the smallest and the largest of them
    smallest: Wide
    largest: Wide
    levels: Wide  # Shape ``(n_nodes, n_levels)``: leaves by size


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One rectangle of the drawing."""

    node: int
    depth: int
    first: int
    width: int
    # ``inner`` for a question, ``leaf``, or ``fold`` for a subtree that is drawn as one column.
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layout:
    """Every rectangle, and how many rows and columns they take."""

    cells: tuple[Cell, ...]
    columns: int
    rows: int
    below: Subtrees

    @property
    def ends(self) -> tuple[Cell, ...]:
        """The cells that end a column, from left to right."""
        return tuple(cell for cell in self.cells if cell.kind != "inner")


def measure_subtrees(tree: Tree, k: int, starts: Sequence[int] = STARTS) -> Subtrees:
    """Add up the leaves below every node, level by level; those below k are small."""
    size = np.zeros(tree.n_nodes, np.int64) if tree.n_records is None else tree.n_records
    leaf = tree.is_leaf & (size > 0)
    smallest = np.where(leaf, size, np.iinfo(np.int64).max)
    largest = np.where(leaf, size, 0)
    sums = np.zeros((tree.n_nodes, 3 + len(starts)), dtype=np.int64)
    sums[:, 0] = leaf
    sums[:, 1] = leaf & (size < k)
    if tree.counts is not None:
        sums[:, 2] = leaf & ((tree.counts > 0).sum(axis=1) == 1)
    sums[np.flatnonzero(leaf), 3 + level_of(size[leaf], starts)] = 1
    depth = tree.depths
    order = np.argsort(depth, kind="stable")
    rows = np.searchsorted(depth[order], np.arange(1, int(depth.max()) + 2))
    for begin, end in zip(rows[-2::-1].tolist(), rows[:0:-1].tolist(), strict=True):
        level = order[begin:end]
        above = tree.parent[level]
        np.add.at(sums, above, sums[level])
        np.minimum.at(smallest, above, smallest[level])
        np.maximum.at(largest, above, largest[level])
    return Subtrees(
        n_leaves=sums[:, 0],
        small=sums[:, 1],
        one_label=sums[:, 2],
        smallest=np.where(largest > 0, smallest, 0),
        largest=largest,
        levels=sums[:, 3:],
    )


def lay_out(
    tree: Tree,
    k: int,
    starts: Sequence[int] = STARTS,
    *,
    most_columns: int = 150,
    most_rows: int = 16,
) -> Layout:
    """Choose what to unfold and give every cell its place."""
    below = measure_subtrees(tree, k, starts)
    start, child = tree.children()
    rows = most_rows * (2 if below.n_leaves[0] <= most_columns else 1)
    opened = _unfold(below, start, child, most_columns, rows)
    widths = _widths(opened, start, child)
    cells: list[Cell] = []
    todo = [(0, 0, 0)]
    while todo:
        node, depth, first = todo.pop()
        kind = "inner" if node in opened else "fold" if start[node] < start[node + 1] else "leaf"
        width = widths.get(node, 1)
        cells.append(Cell(node=node, depth=depth, first=first, width=width, kind=kind))
        if kind == "inner":
            below_it = []
            for inner in child[start[node] : start[node + 1]].tolist():
                below_it.append((inner, depth + 1, first))
                first += widths.get(inner, 1)
            todo.extend(reversed(below_it))
    return Layout(
        cells=tuple(cells),
        columns=widths.get(0, 1),
        rows=max(cell.depth for cell in cells) + 1,
        below=below,
    )


def _unfold(below: Subtrees, start: Wide, child: Int, columns: int, rows: int) -> set[int]:
    """Return the nodes to draw as questions, the subtrees with most small leaves first."""

    def rank(node: int, depth: int) -> tuple[int, int, int, int]:
        return (-int(below.small[node]), -int(below.n_leaves[node]), node, depth)

    opened: set[int] = set()
    left = columns - 1
    heap = [rank(0, 0)]
    while heap:
        *_, node, depth = heapq.heappop(heap)
        inner = child[start[node] : start[node + 1]].tolist()
        if not inner or len(inner) - 1 > left or depth + 1 >= rows:
            continue
        opened.add(node)
        left -= len(inner) - 1
        for one in inner:
            heapq.heappush(heap, rank(one, depth + 1))
    return opened


def _widths(opened: set[int], start: Wide, child: Int) -> dict[int, int]:
    """Return the columns of every opened node; all others take one."""
    widths: dict[int, int] = {}
    # Parents come before children, so that going backwards meets children first.
    for node in sorted(opened, reverse=True):
        inner = child[start[node] : start[node + 1]].tolist()
        widths[node] = sum(widths.get(one, 1) for one in inner)
    return widths
