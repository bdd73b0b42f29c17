"""Columns as a few public codes each, and class counts of many nodes in one pass.

A numeric column is cut at evenly spaced points of its public range; a category
is its own code; missing values have the code after the last. Where the points
lie does not depend on the data, so coding costs no epsilon.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Int, Wide
from treeaudit.model.schema import Schema
from treeaudit.trainers.training_rows import TrainingRows

__all__ = ["Cells", "Codes", "Move", "code_rows", "public_codes"]

_CHUNK = 1 << 14
_MOST_CELLS = 1 << 16
"""Of columns that are counted together: a table that stays at hand."""
_JOINED = 1 << 10
"""Of columns that are kept together."""
_MIDDLE = 0.5 - 1e-9
"""From the middle between two edges, in their distance; less than that by what is rounded here."""
_SMALL, _LARGE = 1e-200, 1e200
"""Beyond these a division might overflow."""

Group = tuple[int, ...]
"""Columns that are kept together."""
Move = tuple[int, Int]
"""The column that a node asks about, and where the records of each code go."""


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
        gaps = bool(missing.any())
        if self.edges is None:
            return (np.where(missing, self.n, values) if gaps else values).astype(np.int64)
        if self._are_even():
            code = self._guessed(np.where(missing, self.edges[0], values) if gaps else values)
        else:
            code = np.searchsorted(self.edges, values, side="left").astype(np.int64)
        if gaps:
            code[missing] = self.n
        return code

    def _are_even(self) -> bool:
        edges = np.zeros(0) if self.edges is None else self.edges
        if len(edges) < 2 or np.abs(edges[[0, -1]]).max() > _LARGE:
            return False
        width = np.diff(edges)
        return bool(_SMALL < width.max() < 1.5 * width.min())

    def _guessed(self, values: Float) -> Wide:
        """Divide by the width, and search for what is near an edge only: much faster."""
        edges = self.edges if self.edges is not None else np.zeros(0)
        step = (edges[-1] - edges[0]) / (len(edges) - 1)
        # Beyond the edges is as good as half a step beyond.
        place = np.clip((values - edges[0]) / step, -0.5, self.n - 1.5)
        number = np.ceil(place)
        np.subtract(number, place, out=place)
        place -= 0.5
        np.abs(place, out=place)
        code: Wide = number.astype(np.int64)
        # Rounding keeps the order: who is not between an edge and a whole number is certain.
        off = np.abs((edges - edges[0]) / step - np.arange(len(edges))).max()
        if not place.max(initial=0.0) < _MIDDLE - off:
            odd = (place >= _MIDDLE - off).nonzero()[0]
            code[odd] = np.searchsorted(edges, values.take(odd), side="left")
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
        Shape ``(n_features, n_records)``: ``code * n_classes + class``. Where columns are
        `joined`, a row for each group of them, whose code is that of all of them together.
    weight
        Shape ``(n_records,)``: a whole number that a record counts, one unless told. All of
        a sum must stay below 2^53.
    groups
        The columns of each row of ``cell``; each column alone unless told.
    """

    codes: tuple[Codes, ...]
    n_classes: int
    cell: npt.NDArray[np.unsignedinteger]
    weight: Float | Wide | None = None
    groups: tuple[Group, ...] = ()

    def __post_init__(self) -> None:
        if not self.groups:
            object.__setattr__(self, "groups", tuple((i,) for i in range(len(self.codes))))

    def __len__(self) -> int:
        return int(self.cell.shape[1])

    def drawn(self, times: Wide) -> "Cells":
        """Return those who are drawn at least once, each of whom weighs how often."""
        some = (times > 0).nonzero()[0]
        weight = times.take(some).astype(np.float64)
        return replace(self, cell=self.cell.take(some, axis=1), weight=weight)

    def joined(self) -> "Cells":
        """Return the same records with neighbouring columns of few codes in one row.

        For records that are gone through again and again: there is less to read and to count.
        """
        parts = self._together(_JOINED)
        groups = [tuple(i for row in rows for i in self.groups[row]) for rows in parts]
        most = max(map(self._width, groups), default=1)
        cell = np.empty((len(groups), len(self)), dtype=np.min_scalar_type(most))
        for piece in _pieces(len(self), _CHUNK):
            for held, rows in zip(cell, parts, strict=True):
                held[piece] = self._joint(rows, piece)
        return replace(self, cell=cell, groups=tuple(groups))

    def people(self, node: Int, n_nodes: int) -> Wide:
        """Count people, or what they weigh, by node, shape ``(n_nodes,)``."""
        if n_nodes == 1:
            return np.array([len(self) if self.weight is None else self.weight.sum()], np.int64)
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
        parts = self._together(min(_MOST_CELLS, len(self) // 8) // (n_slots + 1))
        groups = [tuple(i for row in rows for i in self.groups[row]) for rows in parts]
        width = [self._width(group) for group in groups]
        held = [np.zeros((n_slots + 1) * w, dtype=np.int64) for w in width]
        # As at a root.
        in_first = not slot_of.any()
        # Larger pieces where the tables are large, so that they are not added up too often.
        for piece in _pieces(len(self), max(_CHUNK, 4 * max(map(len, held), default=0))):
            slot = None if in_first else slot_of.take(node[piece])
            begin = {} if slot is None else {w: slot * w for w in set(width)}
            weight = None if self.weight is None else self.weight[piece]
            for counts, rows, w in zip(held, parts, width, strict=True):
                at = self._joint(rows, piece)
                found = np.bincount(begin[w] + at if begin else at, weight, minlength=len(counts))
                counts += found.astype(np.int64, copy=False)
        return [
            table
            for counts, group in zip(held, groups, strict=True)
            for table in self._apart(counts.reshape(n_slots + 1, -1)[:n_slots], group)
        ]

    def _width(self, columns: Sequence[int]) -> int:
        """Return how many cells some columns have together."""
        return math.prod(self.codes[i].n + 1 for i in columns) * self.n_classes

    def _together(self, most: int) -> list[list[int]]:
        """Return the rows in parts that are counted in one pass: so many cells, or one row."""
        parts: list[list[int]] = []
        width = most + 1
        for row, group in enumerate(self.groups):
            own = self._width(group)
            width *= own // self.n_classes
            if width <= most:
                parts[-1].append(row)
            else:
                parts.append([row])
                width = own
        return parts

    def _joint(self, rows: Sequence[int], piece: slice) -> npt.NDArray[np.unsignedinteger]:
        """Return the cells of some rows together, the last of which brings the class."""
        *others, last = rows
        if not others:
            return self.cell[last, piece]
        # All of them are fewer than `_MOST_CELLS`.
        at = np.zeros(piece.stop - piece.start, dtype=np.uint16)
        for row in others:
            at *= np.uint16(self._width(self.groups[row]) // self.n_classes)
            at += self.cell[row, piece] // self.cell.dtype.type(self.n_classes)
        at *= np.uint16(self._width(self.groups[last]))
        at += self.cell[last, piece]
        return at

    def _apart(self, counts: Wide, columns: Sequence[int]) -> list[Wide]:
        """Return for each of some columns its own table, from the one of them together."""
        shape = [self.codes[i].n + 1 for i in columns]
        table = counts.reshape(len(counts), *shape, self.n_classes)
        every = set(range(1, len(columns) + 1))
        return [table.sum(axis=tuple(every - {i})) for i in sorted(every)]

    def advance(self, node: Int, n_nodes: int, moves: Mapping[int, Move]) -> None:
        """Send every record to the next node, in place.

        Parameters
        ----------
        node
            Where each record is, of so many nodes.
        moves
            The nodes that are left: what each asks, and where the records of each code go.
        """
        row_of = {i: row for row, group in enumerate(self.groups) for i in group}
        rows = {here: row_of[column] for here, (column, _) in moves.items()}
        tables = {here: self._whole(rows[here], *move) - here for here, move in moves.items()}
        # Those who stay go no step.
        widest = max((self._width(group) for group in self.groups), default=0)
        steps = np.concatenate([*tables.values(), np.zeros(widest, dtype=np.int32)])
        ends = np.cumsum([len(table) for table in tables.values()], dtype=np.int64)
        start = np.full(n_nodes, len(steps) - widest)
        start[list(tables)] = np.concatenate([[0], ends[:-1]])
        offset = np.zeros(n_nodes, dtype=np.int64)
        offset[list(rows)] = np.array(list(rows.values()), dtype=np.int64) * len(self)
        flat, n_classes = self.cell.ravel(), self.cell.dtype.type(self.n_classes)
        for piece in _pieces(len(self), _CHUNK):
            here = node[piece]
            at = offset.take(here)
            at += np.arange(piece.start, piece.stop)
            to = start.take(here)
            to += flat.take(at) // n_classes
            here += steps.take(to)

    def _whole(self, row: int, column: int, next_of: Int) -> Int:
        """Return where the records of each code of a row go, from where those of a column do."""
        shape = [self.codes[i].n + 1 for i in self.groups[row]]
        place = [1] * len(shape)
        place[self.groups[row].index(column)] = -1
        return np.broadcast_to(next_of.reshape(place), shape).ravel()


def code_rows(rows: TrainingRows, codes: tuple[Codes, ...], later: Collection[int] = ()) -> Cells:
    """Return the records as cells, in pieces, so that no second copy of the table is held.

    The codes of some columns may be found ``later``: they are 0 until then.
    """
    # Where a number is predicted, all are of one class.
    n_classes = max(1, rows.n_classes)
    labels = rows.labels if rows.n_classes else np.zeros(len(rows), dtype=np.int64)
    most = max(((c.n + 1) * n_classes for c in codes), default=1)
    cell = np.empty((len(codes), len(rows)), dtype=np.min_scalar_type(most))
    for part in _pieces(len(rows), _CHUNK):
        cell[:, part] = labels[part].astype(cell.dtype)
        if len(later) == len(codes):
            continue
        block = np.ascontiguousarray(rows.values[part].T)
        for i, (column, held, values) in enumerate(zip(codes, cell, block, strict=True)):
            if i not in later:
                held[part] += (column.of(values) * n_classes).astype(cell.dtype)
    return Cells(codes=codes, n_classes=n_classes, cell=cell)


def _pieces(n: int, size: int) -> Iterator[slice]:
    return (slice(i, min(i + size, n)) for i in range(0, n, size))
