"""Build a `Tree` from a stored node table."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.errors import DataError, ReadError
from treeaudit.model.schema import Label
from treeaudit.model.tree import SpreadIs, Tree, cut
from treeaudit.readers.links import Edges
from treeaudit.readers.sklearn.counts import Meaning, class_weights
from treeaudit.readers.sklearn.found import Seen
from treeaudit.readers.sklearn.node_table import NodeTable, row_of
from treeaudit.readers.sklearn.spreads import spread_of
from treeaudit.readers.together import SMALL
from treeaudit.readers.types import Float, Wide

_TOGETHER = 1 << 14
"""Nodes of trees that are built at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """Everything that building one of the trees takes.

    Attributes
    ----------
    records, meaning, seen
        Per tree: its node table, what its class numbers are, what it was trained on.
    columns
        Per tree the columns that it saw, where it did not see all.
    places
        Per tree where its classes stand among those of the model.
    classes
        Those of the model.
    spreads
        What impurities tell of the numbers of people; None where nothing.
    """

    records: Sequence[NodeTable]
    meaning: Sequence[Meaning]
    seen: Sequence[Seen]
    columns: Sequence[Wide] | None
    places: Sequence[Wide | None] | None
    classes: tuple[Label, ...] | None
    spreads: SpreadIs | None = None
    shelf: "_Shelf" = field(default_factory=lambda: _Shelf())


class _Shelf:
    """What was made for those behind the tree that was asked for, and of which it begins."""

    __slots__ = ("last", "row")

    def __init__(self) -> None:
        self.last = -1
        self.row: tuple[int, list[Tree] | None] = (0, None)


def built(stored: Stored, i: int) -> Tree:
    """Return one of the trees."""
    shelf = stored.shelf
    first, made = shelf.row
    following, shelf.last = i == shelf.last + 1, i
    if made is not None and 0 <= i - first < len(made):
        return made[i - first]
    # Who asks for one after the other is about to ask for those behind it.
    row = _row(stored, i) if following else None
    put = None if row is None else _apart(stored, row, i)
    if put is None:
        return _built(stored, i)
    shelf.row = i, put
    return put[0]


def _row(stored: Stored, i: int) -> NodeTable | None:
    """Return a tree and those behind it in a row, if they are small and alike."""
    if stored.columns is not None or stored.places is not None:
        return None
    some, total = list[NodeTable](), 0
    for at in range(i, len(stored.records)):
        record = stored.records[at]
        total += record.n_stored
        alike = stored.meaning[at] is stored.meaning[i]
        alike = alike and stored.seen[at].rows == stored.seen[i].rows and not record.stripped
        if total > _TOGETHER or record.n_stored > SMALL or not alike:
            break
        some.append(record)
    return row_of(some) if len(some) > 1 else None


def _apart(stored: Stored, row: NodeTable, i: int) -> list[Tree] | None:
    """Make the trees of a row; None where one of them is of another kind than the others."""
    try:
        edges, held = _parts(stored, row, i)
    except ReadError:
        return None
    if stored.spreads is not None and held["spread"] is None:
        return None
    start = row.start
    above = edges.parent - np.repeat(start, np.diff(start, append=len(edges.parent)))
    above[start] = -1
    arrays = {one.name: getattr(edges, one.name) for one in fields(edges)} | held
    arrays["parent"] = above.astype(np.int32)
    try:
        ends = [*start.tolist(), len(above)]
        return cut(arrays, ends, stored.spreads or "deviation")
    except DataError:
        return None


def _built(stored: Stored, i: int) -> Tree:
    record = stored.records[i]
    edges, held = _parts(stored, record, i)
    record.forget()
    record.early = None
    return edges.tree(**held, spread_is=stored.spreads or "deviation")  # type: ignore[arg-type]


def _parts(
    stored: Stored, record: NodeTable, i: int
) -> tuple[Edges, dict[str, npt.NDArray[Any] | None]]:
    """Return the edges of a tree, or of a row of which it is the first, and what nodes hold."""
    meaning, early = stored.meaning[i], record.early
    counts = value = spread = label = None
    if meaning.counts_are == "absent":
        if record.n_outputs == 1 and record.width == 1:
            value = record.value[:, 0]
            if stored.spreads is not None:
                drawn = stored.seen[i].rows == "bootstrap"
                spread = spread_of(record, stored.spreads, drawn=drawn)
    elif record.stripped:
        counts = _placed(record.shares, stored, i)
        if meaning.counts_are == "label-only":
            label, counts = counts.argmax(axis=1).astype(np.int32), None
    else:
        counts = early.weights if early else class_weights(record.value, record.weight)
        if meaning.per_weight is not None:
            ones = bool(np.all(meaning.per_weight == 1))
            counts = counts if ones else counts * meaning.per_weight
            counts = np.rint(counts, out=counts if counts.flags.writeable else None)
        counts = _placed(counts, stored, i)
    edges = early.edges if early else record.edges()
    if stored.columns is not None:
        feature = np.where(edges.feature < 0, -1, stored.columns[i][edges.feature])
        edges = replace(edges, feature=feature.astype(np.int32))
    untold = stored.seen[i].rows == "repeated" or record.stripped
    # A column keeps the memory of all of them.
    n_records = early.n_records if early else record.n_records.copy()
    return edges, {
        "n_records": None if untold else n_records,
        "counts": counts,
        "label": label,
        "value": value,
        "spread": spread,
    }


def _placed(counts: Float, stored: Stored, i: int) -> Float:
    """Put the columns of a tree that knows fewer classes where they belong."""
    places = None if stored.places is None else stored.places[i]
    if places is None or stored.classes is None:
        return counts
    wide = np.zeros((len(counts), len(stored.classes)))
    wide[:, places] = counts
    return wide
