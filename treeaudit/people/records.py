"""People as the model sees them: a table, checked, coded and routed through the trees.

Columns are found by name; a model that knows no names takes them in their order. A feature
``occupation_Sales`` that is no column is read off the column ``occupation``, as
``pandas.get_dummies`` makes it.
"""

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Int, Wide
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.people.coding.coder import check_met, coder_of
from treeaudit.people.coding.columns import as_called, counts_others, target_among
from treeaudit.people.input.cell_parsing import NO_NAMES, no_single
from treeaudit.people.input.columns import Column
from treeaudit.people.input.table_input import InputTable, read_table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeafCounts:
    """People counted by the node in which they end, in every tree."""

    n: int  # People counted
    root: Wide  # Shape ``(n_trees + 1,)``: where the nodes of each tree start
    # Shape ``(n_nodes, n_classes)``: people of each label, trees one after the other; one column
    # where no labels are known
    counts: Wide

    def __post_init__(self) -> None:
        self.counts.flags.writeable = False

    @classmethod
    def of(cls, node: Int | Wide, labels: Int | None, root: Wide, n_classes: int) -> "LeafCounts":
        """Count people."""
        counts = np.zeros((int(root[-1]), n_classes), dtype=np.int64)
        count_into(counts, node, labels, root)
        return cls(n=len(node), root=root, counts=counts)

    def __add__(self, other: "LeafCounts") -> "LeafCounts":
        """Count the people of both."""
        return LeafCounts(n=self.n + other.n, root=self.root, counts=self.counts + other.counts)

    def in_tree(self, tree: int) -> Wide:
        """Return the people of each label, shape ``(n_nodes, n_classes)`` of one tree."""
        return self.counts[self.root[tree] : self.root[tree + 1]]


def count_into(counts: Wide, node: Int | Wide, labels: Int | None, root: Wide) -> None:
    """Add people to counts that are still being made; `LeafCounts.of` says what is what."""
    n_classes, flat = counts.shape[1], counts.reshape(-1)
    for tree, first in enumerate(root[:-1].tolist()):
        key = (node[:, tree].astype(np.int64) + first) * n_classes
        if labels is not None:
            key += labels
        size = (int(root[tree + 1]) - first) * n_classes
        if size <= 4 * len(key):
            start = first * n_classes
            flat[start : start + size] += np.bincount(key - start, minlength=size)
        else:
            # A few people in very many leaves: only these leaves are touched.
            where, times = np.unique(key, return_counts=True)
            flat[where] += times


_OWN = "every tree of the model counts labels of its own, which no column of a table holds for all"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Records:
    """People, as rows that a model can be asked about."""

    # Shape ``(n_records, n_features)``: numbers, categories as codes, missing values as NaN; in the
    # precision in which the model compares
    values: npt.NDArray[np.floating[Any]]
    # Shape ``(n_records,)``: position of the label in ``schema.classes``, or None where the data
    # has no labels or the model predicts a number
    labels: Int | None
    targets: Float | None  # Shape ``(n_records,)``: the number to predict, or None
    node: Int  # Shape ``(n_records, n_trees)``: where each record ends in each tree
    frame: "pd.DataFrame"  # The table as it was given, for columns that the model does not use
    origin: str  # What to call it in messages, such as ``train.csv``
    # Shape ``(n_records,)``: a number per person, whose record it is; None where a record is a
    # person
    persons: Int | None = None
    # Counts of all the people of the table, of whom these are a sample; None where these are all
    whole: LeafCounts | None = None
    # Shape ``(n_records,)``: how many people each row stands for; None for one
    times: Wide | None = None
    # Shape ``(n_records,)``: where each label stands among the classes that one member of a
    # one-vs-rest knows apart, -1 for a class of none; None for other models
    members: Int | None = None
    # Why labels that the table has are not taken for theirs; empty where they are, or none are
    unlabelled: str = ""

    def __len__(self) -> int:
        """Return how many records there are."""
        return len(self.values)

    def only(self, kept: npt.NDArray[np.bool_]) -> "Records":
        """Return some of the records."""
        return Records(
            values=self.values[kept],
            labels=None if self.labels is None else self.labels[kept],
            targets=None if self.targets is None else self.targets[kept],
            node=self.node[kept],
            frame=self.frame[kept].reset_index(drop=True),
            origin=self.origin,
            persons=None if self.persons is None else self.persons[kept],
            times=None if self.times is None else self.times[kept],
            members=None if self.members is None else self.members[kept],
            unlabelled=self.unlabelled,
        )

    @property
    def n_people(self) -> int:
        """How many records the table has, be these all or a sample."""
        return len(self) if self.whole is None else self.whole.n

    def in_tree(self, tree: int, n_nodes: int, n_classes: int = 0) -> Wide:
        """Count all people of the table by the node in which they end in a tree."""
        if self.whole is not None:
            found = self.whole.in_tree(tree)
            return found if n_classes else found.sum(axis=1)
        key, n = self.node[:, tree].astype(np.int64), n_nodes * max(n_classes, 1)
        if not n_classes:
            return np.bincount(key, minlength=n)
        key = key * n_classes + self.known_labels
        return np.bincount(key, minlength=n).reshape(n_nodes, n_classes)

    def in_leaves(self) -> "Records":
        """Return all people of the table by leaf, where these are a sample of one tree."""
        if self.whole is None or self.node.shape[1] != 1:
            return self
        node, label = np.nonzero(self.whole.counts)
        return Records(
            values=np.zeros((len(node), 0), self.values.dtype),
            labels=None if self.labels is None else label.astype(np.int32),
            targets=None,
            node=node.astype(np.int32)[:, None],
            frame=self.frame[:0],
            origin=self.origin,
            times=self.whole.counts[node, label],
        )

    @property
    def known_labels(self) -> Int:
        """The labels of people who have them."""
        if self.labels is None:
            no_column = f"{self.origin} has no column of labels; name it with --target"
            raise DataError(self.unlabelled or no_column)
        return self.labels


def read_records(
    data: object,
    forest: Forest,
    *,
    target: str | None = None,
    person: str | None = None,
    origin: str = "the data",
    texts: Collection[str] = (),
) -> Records:
    """Fit a table of people to a model and route them through it."""
    sheet = checked_table(data, forest, target=target, person=person, origin=origin, texts=texts)
    frame = sheet.frame
    names = [str(name) for name in frame.columns]
    coder = coder_of(
        names, forest, target=target, person=person, origin=sheet.origin, paired=sheet.paired
    )
    found = coder.code(lambda place: Column(frame.iloc[:, place]), len(frame))
    check_met(found.met, sheet.origin)
    return Records(
        values=found.values,
        labels=found.labels,
        targets=found.targets,
        node=forest.apply(found.values),
        frame=frame,
        origin=sheet.origin,
        members=found.members,
        unlabelled=_OWN if counts_others(forest) else "",
    )


def checked_table(
    data: object,
    forest: Forest,
    *,
    target: str | None = None,
    person: str | None = None,
    origin: str = "the data",
    texts: Collection[str] = (),
) -> InputTable:
    """Return a table of people, its columns held against a model before a row is read."""
    where = Path(data).name if isinstance(data, str | os.PathLike) else origin

    def plan(names: list[str]) -> tuple[list[int], list[int]]:
        coder = coder_of(names, forest, target=target, person=person, origin=where)
        numbers, told = coder.numbers, {person, *texts}
        plain = [i for i, name in enumerate(names) if name in told and i not in numbers]
        return [*coder.texts, *plain], []

    return read_table(data, origin, plan)


def target_of(
    frame: "pd.DataFrame", forest: Forest, target: str | None, origin: str = "the data"
) -> str | None:
    """Return which column holds the labels; None where none does."""
    names = [str(name) for name in frame.columns]
    called = as_called(names, forest)
    meant = called[names.index(target)] if target in names else target
    place = target_among(called, forest, meant, origin)
    return None if place is None else names[place]


def names_in(series: "pd.Series[Any]", nothing: str | None = None) -> npt.NDArray[np.object_]:
    """Return values as the texts that categories are named by, and what stands for nothing."""
    try:
        codes, values = Column(series).distinct()
    except NO_NAMES:
        raise no_single(f"column {series.name!r}") from None
    names = np.array([*values, nothing], dtype=object)
    return np.asarray(names[codes])
