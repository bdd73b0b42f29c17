"""Columns as a few public codes each, and class counts of many nodes in one pass.

A numeric column is cut at evenly spaced points of its public range; a category
is its own code; missing values have the code after the last. Where the points
lie does not depend on the data, so coding costs no epsilon.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Int, Wide
from treeaudit.model.schema import Schema
from treeaudit.trainers.training_rows import TrainingRows

Move = tuple[int, Int]
"""The column that a node asks about, and where the records of each code go."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Codes:
    """The public codes of one column."""

    n: int  # How many, without the one for missing values, which is code n
    # Of a numeric column: code i holds ``edges[i - 1] < x <= edges[i]``, open at both ends. None
    # for categories.
    edges: Float | None = None

    def of(self, values: Float) -> Wide:
        """Return the code of every value; categories are codes already."""
        missing = np.isnan(values)
        if self.edges is None:
            return np.where(missing, self.n, values).astype(np.int64)
        code: Wide = np.searchsorted(self.edges, values, side="left").astype(np.int64)
        code[missing] = self.n
        return code


def public_codes(schema: Schema, n_bins: int) -> tuple[Codes, ...]:
    """Return the codes of every column: so many equal bins of its range, or its categories."""
    found = []
    for feature in schema.features:
        if feature.categories is not None:
            found.append(Codes(n=len(feature.categories)))
            continue
        low, high = float(feature.low or 0.0), float(feature.high or 0.0)
        share = np.arange(1, n_bins) / n_bins
        # As a mean of both ends, which cannot overflow.
        edges = np.unique(low * (1 - share) + high * share) if low < high else np.zeros(0)
        found.append(Codes(n=len(edges) + 1, edges=edges))
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """Every record as one small number per column: its code and its class."""

    codes: tuple[Codes, ...]  # What the codes stand for
    n_classes: int  # How many classes there are
    # Shape ``(n_features, n_records)``: ``code * n_classes + class``
    cell: npt.NDArray[np.unsignedinteger]
    # Shape ``(n_records,)``: a whole number that a record counts, one unless told. All of a sum
    # must stay below 2^53.
    weight: Float | Wide | None = None

    def __len__(self) -> int:
        return int(self.cell.shape[1])

    def drawn(self, times: Wide) -> "Cells":
        """Return those who are drawn at least once, each of whom weighs how often."""
        some = np.flatnonzero(times)
        return replace(self, cell=self.cell[:, some], weight=times[some].astype(np.float64))

    def people(self, node: Int, n_nodes: int) -> Wide:
        """Count people, or what they weigh, by node, shape ``(n_nodes,)``."""
        return np.bincount(node, self.weight, minlength=n_nodes).astype(np.int64)

    def by_node(self, node: Int, n_nodes: int) -> Wide:
        """Count people, or what they weigh, by node and class, shape ``(n_nodes, n_classes)``."""
        key = node.astype(np.int64) * self.n_classes + self.cell[0] % self.n_classes
        found = np.bincount(key, self.weight, minlength=n_nodes * self.n_classes)
        return found.astype(np.int64).reshape(n_nodes, self.n_classes)

    def histograms(self, node: Int, slot_of: Wide, n_slots: int) -> list[Wide]:
        """Count people, or what they weigh, by node, code and class, for every column.

        ``node``: shape ``(n_records,)``: where each record is. ``slot_of``: per node, the row of
        the result, or ``n_slots`` for none. ``n_slots``: rows of the result.

        One per column, shape ``(n_slots, n_codes + 1, n_classes)``.
        """
        slot, tables = slot_of[node], []
        for codes, cell in zip(self.codes, self.cell, strict=True):
            shape = n_slots + 1, codes.n + 1, self.n_classes
            key = slot * (shape[1] * shape[2]) + cell
            found = np.bincount(key, self.weight, minlength=math.prod(shape))
            tables.append(found.astype(np.int64).reshape(shape)[:n_slots])
        return tables

    def advance(self, node: Int, n_nodes: int, moves: Mapping[int, Move]) -> None:
        """Send every record to the next node, in place."""
        tables = [table for _, table in moves.values()]
        column, start = np.full((2, n_nodes), -1)
        column[list(moves)] = [feature for feature, _ in moves.values()]
        start[list(moves)] = np.cumsum([0, *map(len, tables)])[:-1]
        going = np.flatnonzero(column[node] >= 0)
        at = node[going]
        code = self.cell[column[at], going] // self.n_classes
        node[going] = np.concatenate(tables)[start[at] + code]


def code_rows(rows: TrainingRows, codes: tuple[Codes, ...], later: Collection[int] = ()) -> Cells:
    """Return the records as cells; the codes of some columns are found ``later``, and 0 so far."""
    # Where a number is predicted, all are of one class.
    n_classes = max(1, rows.n_classes)
    labels = rows.labels if rows.n_classes else np.zeros(len(rows), dtype=np.int64)
    most = max(((c.n + 1) * n_classes for c in codes), default=1)
    cell = np.empty((len(codes), len(rows)), dtype=np.min_scalar_type(most))
    for i, column in enumerate(codes):
        cell[i] = labels if i in later else column.of(rows.values[:, i]) * n_classes + labels
    return Cells(codes=codes, n_classes=n_classes, cell=cell)
