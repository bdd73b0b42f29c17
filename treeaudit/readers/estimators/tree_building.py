"""Build a `Tree` from a stored node table."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from treeaudit.model.schema import Label
from treeaudit.model.tree import Tree
from treeaudit.readers.estimators.counts import Meaning, class_weights
from treeaudit.readers.estimators.found import Seen
from treeaudit.readers.estimators.node_table import NodeTable

__all__ = ["Stored", "built"]

Float = npt.NDArray[np.float64]
Wide = npt.NDArray[np.int64]


class Stored:
    """Everything that building one of the trees takes.

    Parameters
    ----------
    records, meaning, seen
        Per tree: its node table, what its class numbers are, what it was trained on.
    columns
        Per tree the columns that it saw, where it did not see all.
    places
        Per tree where its classes stand among those of the model.
    classes
        Those of the model.
    """

    __slots__ = ("classes", "columns", "meaning", "places", "records", "seen")

    def __init__(
        self,
        records: Sequence[NodeTable],
        meaning: Sequence[Meaning],
        seen: Sequence[Seen],
        columns: Sequence[Wide] | None,
        places: Sequence[Wide | None] | None,
        classes: tuple[Label, ...] | None,
    ) -> None:
        self.records, self.meaning, self.seen = records, meaning, seen
        self.columns, self.places, self.classes = columns, places, classes


def built(stored: Stored, i: int) -> Tree:
    """Return one of the trees."""
    record, meaning = stored.records[i], stored.meaning[i]
    counts = value = None
    if meaning.counts_are == "absent":
        if record.n_outputs == 1 and record.width == 1:
            value = record.value[:, 0]
    else:
        counts = class_weights(record.value, record.weight)
        if meaning.per_weight is not None:
            counts = np.rint(counts * meaning.per_weight)
        counts = _placed(counts, stored, i)
    edges = record.edges()
    feature = edges.feature
    if stored.columns is not None:
        feature = np.where(feature < 0, -1, stored.columns[i][feature]).astype(np.int32)
    tree = Tree(
        parent=edges.parent,
        feature=feature,
        low=edges.low,
        high=edges.high,
        missing=edges.missing,
        n_records=None if stored.seen[i].rows == "repeated" else record.n_records,
        counts=counts,
        value=value,
    )
    record.forget()
    return tree


def _placed(counts: Float, stored: Stored, i: int) -> Float:
    """Put the columns of a tree that knows fewer classes where they belong."""
    places = None if stored.places is None else stored.places[i]
    if places is None or stored.classes is None:
        return counts
    wide = np.zeros((len(counts), len(stored.classes)))
    wide[:, places] = counts
    return wide
