"""Making columns less general, one value at a time, in all rows alike: a partition of the people.

A value is a category, or a range of public codes of a number; all categories together are the most
general one. To specialize it means to tell apart what it holds: each category, or both halves of
a range. Where a value stands, all rows that hold it are told apart, in whatever group they are.

References
----------
Fung, Wang & Yu (2005), Top-down specialization for information and privacy preservation.
"""

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.model.tree import Tree
from treeaudit.trainers.private_tree_columns import Cells
from treeaudit.trainers.private_tree_growth import Growth
from treeaudit.trainers.private_tree_nodes import Nodes
from treeaudit.trainers.splits import Candidates

__all__ = ["Cut", "Value"]

_MOST_NODES = 200_000


@dataclass(frozen=True, slots=True)
class Value:
    """The codes from ``first`` to before ``end`` of a column, specialized ``level`` times."""

    column: int
    first: int
    end: int
    level: int = 0


@dataclass(slots=True, kw_only=True, eq=False)
class Cut:
    """What the columns are specialized to so far, and the tree of all groups.

    Attributes
    ----------
    cells
        The records by public codes; missing values count as the first code.
    max_level
        How often a value may be specialized; no bound where None.
    """

    cells: Cells
    max_level: int | None = None
    values: list[Value] = field(default_factory=list)
    growth: Growth = field(init=False)
    _held: list[Wide] = field(init=False)

    def __post_init__(self) -> None:
        node = np.zeros(len(self.cells), dtype=np.int32)
        self.growth = Growth(cells=self.cells, node=node)
        self.growth.plant()
        self.values = [Value(c, 0, codes.n) for c, codes in enumerate(self.cells.codes)]
        one = np.zeros(1, dtype=np.int64)
        self._held = [h[0] for h in self.cells.histograms(node, one, 1)]
        for held in self._held:
            held[0] += held[-1]

    def open(self) -> list[Value]:
        """Return the values that can be specialized, if the groups can be held then."""
        most = self.max_level
        left = [v for v in self.values if v.end - v.first > 1 and (most is None or v.level < most)]
        # Groups are all combinations of values.
        columns = Counter(v.column for v in self.values)
        n_groups, n_nodes = prod(columns.values()), len(self.growth.nodes)
        return [
            v
            for v in left
            if n_nodes + n_groups // columns[v.column] * len(self.parts(v)) <= _MOST_NODES
        ]

    def parts(self, value: Value) -> list[Value]:
        """Return what a value is specialized to."""
        if self.cells.codes[value.column].edges is None:
            ends = list(range(value.first, value.end + 1))
        else:
            ends = [value.first, (value.first + value.end) // 2, value.end]
        return [Value(value.column, a, b, value.level + 1) for a, b in pairwise(ends)]

    def classes(self, value: Value) -> Wide:
        """Count the people of each class who have a value."""
        found: Wide = self._held[value.column][value.first : value.end].sum(axis=0)
        return found

    def groups(self, value: Value | None = None) -> Wide:
        """Return how many people are in each group, once a value is specialized; no empty ones."""
        group = self.growth.node.astype(np.int64)
        if value is not None:
            parts = self.parts(value)
            code = self.cells.cell[value.column] // self.cells.n_classes
            code = np.where(code == self.cells.codes[value.column].n, 0, code)
            inside = (code >= value.first) & (code < value.end)
            part = np.searchsorted([p.first for p in parts], code, side="right") - 1
            group = group * (len(parts) + 1) + np.where(inside, part + 1, 0)
        _, found = np.unique(group, return_counts=True)
        return found

    def specialize(self, value: Value) -> None:
        """Tell apart what a value holds, in every group."""
        codes, column = self.cells.codes, value.column
        middle = (value.first + value.end) // 2 - 1
        how = Candidates(
            codes=codes,
            feature=np.array([column]),
            at=np.array([-1 if codes[column].edges is None else middle]),
            lost=np.zeros(1, dtype=np.int64),
        )
        front = [
            node
            for node, allowed in self.growth.allowed.items()
            if allowed[column][value.first] and allowed[column][value.end - 1]
        ]
        splits = [how.parts(0, self.growth.allowed[node][column]) for node in front]
        self.growth.split(front, splits)
        place = self.values.index(value)
        self.values[place : place + 1] = self.parts(value)

    def leaves(self) -> Flag:
        """Tell which nodes are groups."""
        return _are_leaves(self.growth.nodes)

    def tree(self, counts: Float) -> Tree:
        """Return the tree with class counts for all nodes."""
        return self.growth.nodes.trees(counts)[0]


def _are_leaves(nodes: Nodes) -> Flag:
    leaf: Flag = np.ones(len(nodes), dtype=np.bool_)
    leaf[[above for above in nodes.parent if above >= 0]] = False
    return leaf
