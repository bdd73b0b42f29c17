"""Columns as a few public codes each, and class counts of many nodes in one pass.

A numeric column is cut at evenly spaced points of its public range; a category
is its own code; missing values have the code after the last. Where the points
lie does not depend on the data, so coding costs no epsilon.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Int, Wide
from treeaudit.model.schema import Schema
from treeaudit.trainers.training_rows import TrainingRows

__all__ = ["Cells", "Codes", "code_rows", "public_codes"]

_CHUNK = 1 << 14
_MOST_CELLS = 1 << 16
"""Of columns that are counted together: a table that stays at hand."""
_SMALL, _LARGE = 1e-200, 1e200
"""Beyond these a division might overflow."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Codes:
    """The public codes of one column.

    Attributes
    ----------
    n
        How many, without the one for missing values, which is code n.
    edges
        Of a numeric column: code i holds ``edges[i - 1] < x <= edges[i]``,
        open at both ends. None for categories.
    """

    n: int
    edges: Float | None = None

    def of(self, values: Float) -> Wide:
        """Return the code of every value; categories are codes already.

        Examples
        --------
        >>> Codes(n=3, edges=np.array([10.0, 20.0])).of(np.array([10.0, 11.0, np.nan])).tolist()
        [0, 1, 3]
        """
        missing = np.isnan(values)
        if self.edges is None:
            return np.where(missing, self.n, values).astype(np.int64)
        if self._are_even():
            code = self._guessed(np.where(missing, self.edges[0], values))
        else:
            code = np.searchsorted(self.edges, values, side="left").astype(np.int64)
        code[missing] = self.n
        return code

    def _are_even(self) -> bool:
        edges = np.zeros(0) if self.edges is None else self.edges
        if len(edges) < 2 or np.abs(edges[[0, -1]]).max() > _LARGE:
            return False
        width = np.diff(edges)
        return bool(_SMALL < width.max() < 1.5 * width.min())

    def _guessed(self, values: Float) -> Wide:
        """Divide by the width, and correct what rounding put beyond an edge: much faster."""
        edges = self.edges if self.edges is not None else np.zeros(0)
        step = (edges[-1] - edges[0]) / (len(edges) - 1)
        code: Wide = np.clip((values - edges[0]) / step + 1, 0, self.n - 1).astype(np.int64)
        code += values > np.append(edges, np.inf)[code]
        code -= values <= np.insert(edges, 0, -np.inf)[code]
        return code


def public_codes(schema: Schema, n_bins: int) -> tuple[Codes, ...]:
    """Return the codes of every column: so many equal bins of its range, or its categories.

    Examples
    --------
    >>> from treeaudit.model.schema import Feature
    >>> age = Feature(name="age", low=0, high=100)
    >>> public_codes(Schema(features=(age,)), 4)[0].edges.tolist()
    [25.0, 50.0, 75.0]
    """
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
    """Every record as one small number per column: its code and its class.

    Attributes
    ----------
    codes
        What the codes stand for.
    n_classes
        How many classes there are.
    cell
        Shape ``(n_features, n_records)``: ``code * n_classes + class``.
    weight
        Shape ``(n_records,)``: a whole number that a record counts, one unless told. All of
        a sum must stay below 2^53.
    """

    codes: tuple[Codes, ...]
    n_classes: int
    cell: npt.NDArray[np.unsignedinteger]
    weight: Float | Wide | None = None

    def __len__(self) -> int:
        return int(self.cell.shape[1])

    def drawn(self, times: Wide) -> "Cells":
        """Return those who are drawn at least once, each of whom weighs how often."""
        some = np.flatnonzero(times)
        weight = times[some].astype(np.float64)
        return replace(self, cell=self.cell.take(some, axis=1), weight=weight)

    def people(self, node: Int, n_nodes: int) -> Wide:
        """Count people, or what they weigh, by node, shape ``(n_nodes,)``."""
        found = np.bincount(node, self.weight, minlength=n_nodes)
        return found.astype(np.int64, copy=False)

    def by_node(self, node: Int, n_nodes: int) -> Wide:
        """Count people, or what they weigh, by node and class, shape ``(n_nodes, n_classes)``."""
        label = self.cell[0] % self.cell.dtype.type(self.n_classes)
        key = node.astype(np.int64) * self.n_classes + label
        found = np.bincount(key, self.weight, minlength=n_nodes * self.n_classes)
        return found.astype(np.int64, copy=False).reshape(n_nodes, self.n_classes)

    def histograms(self, node: Int, slot_of: Wide, n_slots: int) -> list[Wide]:
        """Count people, or what they weigh, by node, code and class, for every column.

        Parameters
        ----------
        node
            Shape ``(n_records,)``: where each record is.
        slot_of
            Per node, the row of the result, or ``n_slots`` for none.
        n_slots
            Rows of the result.

        Returns
        -------
        list of numpy.ndarray
            Per column, shape ``(n_slots, n_codes + 1, n_classes)``.
        """
        groups = self._together(n_slots)
        width = [self._width(columns) for columns in groups]
        held = [np.zeros((n_slots + 1) * w, dtype=np.int64) for w in width]
        # Larger pieces where the tables are large, so that they are not added up too often.
        for rows in _pieces(len(self), max(_CHUNK, 4 * max(map(len, held), default=0))):
            slot = slot_of[node[rows]]
            weight = None if self.weight is None else self.weight[rows]
            for counts, columns, w in zip(held, groups, width, strict=True):
                at = slot * w + self._joint(columns, rows)
                found = np.bincount(at, weight, minlength=len(counts))
                counts += found.astype(np.int64, copy=False)
        return [
            table
            for counts, columns in zip(held, groups, strict=True)
            for table in self._apart(counts.reshape(n_slots + 1, -1)[:n_slots], columns)
        ]

    def _width(self, columns: Sequence[int]) -> int:
        """Return how many cells some columns have together."""
        return math.prod(self.codes[i].n + 1 for i in columns) * self.n_classes

    def _together(self, n_slots: int) -> list[list[int]]:
        """Return columns in groups that are counted together: one pass for all of a group."""
        most = min(_MOST_CELLS, len(self) // 8) // (n_slots + 1)
        groups: list[list[int]] = []
        for column in range(len(self.codes)):
            if groups and self._width([*groups[-1], column]) <= most:
                groups[-1].append(column)
            else:
                groups.append([column])
        return groups

    def _joint(self, columns: Sequence[int], rows: slice) -> npt.NDArray[np.unsignedinteger]:
        """Return the cells of some columns together, the last of which brings the class."""
        *others, last = columns
        if not others:
            return self.cell[last, rows]
        # All of them are fewer than `_MOST_CELLS`.
        at = np.zeros(rows.stop - rows.start, dtype=np.uint16)
        for i in others:
            at *= np.uint16(self.codes[i].n + 1)
            at += self.cell[i, rows] // self.cell.dtype.type(self.n_classes)
        at *= np.uint16(self._width([last]))
        at += self.cell[last, rows]
        return at

    def _apart(self, counts: Wide, columns: Sequence[int]) -> list[Wide]:
        """Return for each of some columns its own table, from the one of them together."""
        shape = [self.codes[i].n + 1 for i in columns]
        table = counts.reshape(len(counts), *shape, self.n_classes)
        every = set(range(1, len(columns) + 1))
        return [table.sum(axis=tuple(every - {i})) for i in sorted(every)]

    def advance(self, node: Int, feature: Wide, start: Wide, next_of: Int) -> None:
        """Send every record to the next node, in place.

        Parameters
        ----------
        node
            Where each record is.
        feature
            Per node, the column asked about; any where records stay.
        start
            Per node, where its part of ``next_of`` begins.
        next_of
            ``next_of[start + code]`` is where a record goes.
        """
        flat = self.cell.ravel()
        offset = feature * len(self)
        for rows in _pieces(len(self), _CHUNK):
            here = node[rows]
            at = offset[here] + np.arange(rows.start, rows.stop)
            code = flat[at] // self.cell.dtype.type(self.n_classes)
            node[rows] = next_of[start[here] + code]


def code_rows(rows: TrainingRows, codes: tuple[Codes, ...]) -> Cells:
    """Return the records as cells, in pieces, so that no second copy of the table is held."""
    # Where a number is predicted, all are of one class.
    n_classes = max(1, rows.n_classes)
    labels = rows.labels if rows.n_classes else np.zeros(len(rows), dtype=np.int64)
    most = max(((c.n + 1) * n_classes for c in codes), default=1)
    cell = np.empty((len(codes), len(rows)), dtype=np.min_scalar_type(most))
    for part in _pieces(len(rows), _CHUNK):
        block = np.ascontiguousarray(rows.values[part].T)
        for column, held, values in zip(codes, cell, block, strict=True):
            code = column.of(values)
            held[part] = code * n_classes + labels[part]
    return Cells(codes=codes, n_classes=n_classes, cell=cell)


def _pieces(n: int, size: int) -> Iterator[slice]:
    return (slice(i, min(i + size, n)) for i in range(0, n, size))
