"""A table that is made less general step by step, published with noisy counts, and its tree.

The groups of the table are the leaves of the tree: `treeaudit.reconstruct` prints them.

References
----------
Mohammed, Chen, Fung & Yu (2011), Differentially private data release for data mining (DiffGen),
algorithm 1. Fletcher & Islam (2019), a survey, section 5.
"""

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import ClassVar

import numpy as np

from treeaudit.arrays import Float, Wide
from treeaudit.defenses.tree_edits import summed
from treeaudit.dp.curator import Curator
from treeaudit.dp.scores import MAX, UNIT
from treeaudit.model.forest import Noise
from treeaudit.model.tree import Tree
from treeaudit.trainers.answers import PrivateClassifier
from treeaudit.trainers.growth import Growth, note_unspent
from treeaudit.trainers.histograms import Cells, code_rows, public_codes
from treeaudit.trainers.private_trees import Grown, Listed
from treeaudit.trainers.splits import Candidates
from treeaudit.trainers.training_rows import TrainingRows

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

    A value is a category, or a range of public codes of a number; all categories together are the
    most general one. To specialize it is to split it, in all groups alike, into its categories or
    both halves of its range. Missing values count as the first code; no value is specialized more
    often than ``max_level``, if that is given.
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

    def tree(self, counts: Float) -> Tree:
        """Return the tree with class counts for all nodes."""
        return self.growth.nodes.trees(counts)[0]


@dataclass(kw_only=True, eq=False, repr=False)
class TopDownSpecializationClassifier(PrivateClassifier):
    """A private table of generalized people, and the tree that has its groups as leaves.

    Notes
    -----
    Half of epsilon goes to h choices of a value, epsilon / 2h each, half to the class counts of
    the groups. The score of a value is the sum, over what it would be specialized to, of the
    largest class (Max, algorithm 1 and section 4): one record more raises it by 0 or 1 in one
    value of each column, never lowers it, so a choice with exp(epsilon' q) costs epsilon'
    (`treeaudit.dp.scores.MAX`). Choices are about all people (sequential composition); groups
    are disjoint parts. Numbers are halved at public points, where the paper draws a point.

    Examples
    --------
    >>> import treeaudit as ta
    >>> from treeaudit.model.schema import Feature, Schema
    >>> sex = Feature(name="sex", categories=("f", "m"))
    >>> schema = Schema(features=(sex,), classes=(0, 1), target="ill")
    >>> model = TopDownSpecializationClassifier(epsilon=20, schema=schema)
    >>> model = model.fit([["f"], ["m"]] * 300, [0, 1] * 300)
    >>> ta.reconstruct(model.forest_).to_frame()["sex"].tolist()
    ['f', 'm']
    """

    algorithm: ClassVar[str] = "top-down-specialization"
    listed: ClassVar[Listed] = Listed(
        paper="Mohammed, Chen, Fung & Yu 2011",
        query="β/2h, groups β/2",
        tree="greedy, one cut for all rows",
        depth="10 specializations",
        trees="1, and its table",
        numbers="public bins, halved",
        published="β, with twice the sensitivity",
    )

    n_specializations: int = 10
    max_depth: int | None = None
    n_bins: int = 16

    def _least(self, rows: TrainingRows, epsilon: Fraction) -> Fraction:
        return epsilon / 2

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        published, steps = self.variant == "published", int(self.n_specializations)
        cells = code_rows(rows, public_codes(rows.schema, int(self.n_bins)))
        cut = Cut(cells=cells, max_level=self.max_depth)
        for step in range(steps):
            values = cut.open()
            if not values:
                break
            told = [[cut.classes(part) for part in cut.parts(value)] for value in values]
            scores = [int(MAX.of(np.array(counts))) for counts in told]
            chosen = curator.choose(
                f"specialization {step + 1}",
                [scores],
                epsilon / (2 * steps),
                sensitivity=MAX.sensitivity(1) * (2 if published else 1),
                unit=UNIT,
                mechanism="exponential mechanism" if published else "permute-and-flip",
            )
            cut.specialize(values[int(chosen[0])])
        leaf, growth = cut.growth.nodes.is_leaf, cut.growth
        counts = np.zeros((len(leaf), rows.n_classes))
        true = rows.by_node(growth.node, len(leaf))[leaf]
        counts[leaf] = curator.count("groups", true, epsilon / 2)
        note_unspent(curator, epsilon)
        return Grown(
            trees=(cut.tree(summed(cut.tree(counts), counts)),),
            counts_reason=f"discrete Laplace noise for an epsilon of {epsilon / 2} on every group",
            answers="mean",
            noise=Noise(rate=float(curator.rate(epsilon / 2)), counts="leaves"),
        )
