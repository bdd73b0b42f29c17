"""Build a `Tree` from a stored node table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from treeaudit.model.schema import Label
from treeaudit.model.tree import Tree
from treeaudit.readers.estimators.counts import Meaning, class_weights
from treeaudit.readers.estimators.found import Seen
from treeaudit.readers.estimators.node_table import NodeTable
from treeaudit.readers.types import Float, Wide

__all__ = ["Stored", "built"]


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
        Whether impurities are variances of what the trees were grown to predict.
    """

    records: Sequence[NodeTable]
    meaning: Sequence[Meaning]
    seen: Sequence[Seen]
    columns: Sequence[Wide] | None
    places: Sequence[Wide | None] | None
    classes: tuple[Label, ...] | None
    spreads: bool = False


def built(stored: Stored, i: int) -> Tree:
    """Return one of the trees."""
    record, meaning = stored.records[i], stored.meaning[i]
    counts = value = spread = label = None
    if meaning.counts_are == "absent":
        if record.n_outputs == 1 and record.width == 1:
            value = record.value[:, 0]
            spread = record.spread if stored.spreads else None
    elif record.stripped:
        counts = _placed(record.shares, stored, i)
        if meaning.counts_are == "label-only":
            label, counts = counts.argmax(axis=1), None
    else:
        counts = class_weights(record.value, record.weight)
        if meaning.per_weight is not None:
            counts = np.rint(counts * meaning.per_weight)
        counts = _placed(counts, stored, i)
    edges = record.edges()
    if stored.columns is not None:
        feature = np.where(edges.feature < 0, -1, stored.columns[i][edges.feature])
        edges = replace(edges, feature=feature.astype(np.int32))
    untold = stored.seen[i].rows == "repeated" or record.stripped
    n_records = None if untold else record.n_records
    tree = edges.tree(
        n_records=n_records,
        counts=counts,
        label=None if label is None else label.astype(np.int32),
        value=value,
        spread=spread,
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
