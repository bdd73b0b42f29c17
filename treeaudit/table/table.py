"""The reconstructed anonymised table: one generalised row per leaf. It feeds the attacks.

Wakabayashi et al. (2024), section 3.1: a released tree is a k-anonymous table
of its training data. A few numbers per leaf are kept (seven million leaves: 0.4 GB,
while they are put together 0.5); the rest is read off the trees for the rows asked for.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Int, Wide
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.model.words import number_of
from treeaudit.table.frame import (
    Column,
    Columns,
    Rows,
    Tested,
    bounds,
    in_words,
    per_leaf,
    per_person,
    tested_by,
)
from treeaudit.table.labels import Labels, LazyLabels, people_per_class

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeafRows:
    """A row per leaf."""

    start: Wide  # Shape `(n_trees + 1,)`: rows `start[t]` to `start[t + 1]` belong to tree t
    leaf: Int  # Shape `(n_rows,)`: the node of each row in its tree, ascending within a tree

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.leaf)

    def tree_of(self, rows: npt.ArrayLike) -> Wide:
        """Return the tree of some rows."""
        return np.searchsorted(self.start, np.asarray(rows), side="right") - 1

    def rows_of(self, tree: int) -> slice:
        """Return the rows of a tree."""
        return slice(int(self.start[tree]), int(self.start[tree + 1]))

    def positions(self, tree: int, nodes: npt.ArrayLike) -> Wide:
        """Return the rows of some nodes of a tree, or -1."""
        leaves, nodes = self.leaf[self.rows_of(tree)], np.asarray(nodes)
        if not len(leaves):
            return np.full(len(nodes), -1, dtype=np.int64)
        if len(nodes) < len(leaves):
            at = np.minimum(np.searchsorted(leaves, nodes), len(leaves) - 1)
            return np.where(leaves[at] == nodes, at + int(self.start[tree]), -1)
        # Of many nodes: one look-up each.
        row = np.full(1 + max(int(leaves[-1]), int(nodes.max())), -1, dtype=np.int64)
        row[leaves] = np.arange(int(self.start[tree]), int(self.start[tree + 1]))
        found: Wide = row.take(nodes)
        return found

    def per_tree(self, values: npt.ArrayLike) -> Wide:
        """Sum a whole number per row over each tree."""
        told = np.flatnonzero(np.diff(self.start))
        total = np.zeros(len(self.start) - 1, dtype=np.int64)
        if len(told):
            added = np.asarray(values)
            if added.dtype != np.bool_:
                added = added.astype(np.int64, copy=False)
            # Each from where it begins to the next tree that has rows.
            total[told] = np.add.reduceat(added, self.start[told], dtype=np.int64)
        return total

    def by_tree(self, rows: npt.ArrayLike | None = None) -> Iterator[tuple[int, Wide]]:
        """Yield each tree of some rows (all unless told), and where its rows stand in ``rows``."""
        tree = self.tree_of(self._chosen(rows))
        order = np.argsort(tree, kind="stable")
        found, first = np.unique(tree[order], return_index=True)
        yield from zip(found.tolist(), np.split(order, first)[1:], strict=True)

    def _chosen(self, rows: npt.ArrayLike | None) -> Wide:
        return np.arange(len(self)) if rows is None else np.asarray(rows, dtype=np.int64)


_SHOWN = 10
See = Callable[[Tree, Wide, Int], None]
"""Takes a tree, where its rows stand among those asked for, and their leaves."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table(LeafRows):
    """The leaves of a forest, row by row.

    Attributes
    ----------
    n_nodes, n_leaves
        Of the trees that were looked at, whether their leaves are rows or not.
    n_silent
        Trees that do not tell how many people are in their leaves.
    tells_people
        Whether the people of every row are told; False without rows.
    """

    forest: Forest = field(repr=False)
    n_nodes: int
    n_leaves: int
    n_silent: int
    tells_people: bool
    # -1 in rows of trees that do not tell.
    _size: Wide = field(repr=False)
    _labels: LazyLabels = field(repr=False)
    # Of the training people, where the file weighs them.
    _labels_of_people: LazyLabels | None = field(default=None, repr=False)
    # Persons and records in all; None where a record is a person.
    _counted: tuple[int | None, int | None] | None = field(default=None, repr=False)

    @property
    def depth(self) -> int | None:
        """Of a single tree; None for a forest."""
        forest = self.forest
        return int(forest.trees[0].depths.max()) if forest.n_trees == 1 else None

    @property
    def size(self) -> Wide:
        """People per row.

        Raises
        ------
        DataError
            If a tree does not tell; never in `groups`.
        """
        if len(self) and not self.tells_people:
            raise DataError("the model does not tell how many people are in a leaf")
        return self._size

    @property
    def n_people(self) -> int | None:
        """The people the model was trained on: persons where they are counted, else records."""
        return self.n_records if self._counted is None else self._counted[0]

    @property
    def n_records(self) -> int | None:
        """The records the model was trained on, where the file tells."""
        if self._counted is not None:
            return self._counted[1]
        told = self.forest.n_records
        if told is None and self.tells_people and self.forest.n_trees == 1:
            return int(self._size.sum())
        return told

    @property
    def in_persons(self) -> bool:
        """Whether persons are counted, of whom there can be fewer than records."""
        return self._counted is not None

    @property
    def tells_labels(self) -> bool:
        """Whether class counts tell of the labels of people."""
        return self._labels() is not None

    @property
    def labels(self) -> Labels:
        """What the class counts say, one entry per row.

        Raises
        ------
        DataError
            If the model holds no class counts of people.
        """
        labels = self._labels()
        if labels is None:
            raise DataError("the model does not tell the labels of the people in its leaves")
        return labels

    @property
    def labels_counted(self) -> bool:
        """Whether `labels_of_people` are those of the training people and not of the file."""
        return self._labels_of_people is not None

    @property
    def labels_of_people(self) -> Labels:
        """The labels of the training people where the file weighs them, else what it says."""
        counted = None if self._labels_of_people is None else self._labels_of_people()
        return self.labels if counted is None else counted

    @property
    def first_round(self) -> tuple[int, ...]:
        """The trees of a boosting that tell labels: those of its first round, others hold steps.

        Empty where trees do not add up steps, so that each could tell labels.
        """
        labels = self._labels()
        if labels is None or self.forest.answers != "sum":
            return ()
        told = tuple(i for i, worst in enumerate(labels.trees) if worst is not None)
        return told if len(told) < len(labels.trees) else ()

    @property
    def groups(self) -> "Table":
        """The rows that hold people, as far as the model tells: what is attacked."""
        held = self._size > 0
        if held.all():
            return self
        return replace(
            self,
            start=np.concatenate([[0], np.cumsum(held)])[self.start],
            leaf=self.leaf[held],
            tells_people=bool(held.any()),
            _size=self._size[held],
            _labels=LazyLabels(partial(_labels_of, self._labels, held)),
            _labels_of_people=(
                None
                if self._labels_of_people is None
                else LazyLabels(partial(_labels_of, self._labels_of_people, held))
            ),
        )

    def counts(self, rows: npt.ArrayLike | None = None) -> Float | None:
        """Return class counts, shape ``(n_rows, n_classes)``, or None where there are none.

        What they are is told by ``forest.counts_are``.
        """
        return self._read(rows, "counts")[0]

    def value(self, rows: npt.ArrayLike | None = None) -> Float | None:
        """Return the predicted number per row, or None without."""
        return self._read(rows, "value")[0]

    def people(self, rows: npt.ArrayLike | None = None) -> Float:
        """Return people per class, shape ``(n_rows, n_classes)``; NaN where unknown."""
        chosen = self._chosen(rows)
        counts = self.counts(chosen) if self.tells_people else None
        if counts is None:
            return np.full((len(chosen), len(self.forest.schema.classes or ())), np.nan)
        return people_per_class(counts, self._size[chosen], self.forest.counts_are)

    def to_frame(self, rows: npt.ArrayLike | None = None, *, words: bool = False) -> "pd.DataFrame":
        """Return one row per leaf, at some positions of rows or for all.

        Parameters
        ----------
        words
            What a leaf says of a feature as one text (``> 2.5, ≤ 4``) for all features, ``*``
            where it says nothing.

        Returns
        -------
        pandas.DataFrame
            ``tree`` (for several trees), ``leaf``, for each feature that the model tests
            ``NAME_low`` and ``NAME_high`` (``low < x <= high``, infinite where open), or the
            categories that pass as a text, ``*`` where nothing is said, and ``NAME_missing``
            where the model sends missing values somewhere; ``people``, and one column per
            class: people where the file tells, otherwise what ``forest.counts_are`` says.

        Examples
        --------
        >>> import treeaudit as ta
        >>> stump = ta.Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-np.inf, -np.inf, 15],
        ...     high=[np.inf, 15, np.inf], n_records=[3, 1, 2], counts=[[1, 2], [1, 0], [0, 2]])
        >>> model = ta.Forest(trees=(stump,), schema=ta.Schema.numeric(["age"], ["no", "yes"]))
        >>> print(ta.reconstruct(model).to_frame().to_string(index=False))
         leaf  age_low  age_high  people  label=no  label=yes
            1     -inf      15.0       1       1.0        0.0
            2     15.0       inf       2       0.0        2.0
        >>> print(ta.reconstruct(model).to_frame(words=True).to_string(index=False))
         leaf  age  people  label=no  label=yes
            1 ≤ 15       1       1.0        0.0
            2 > 15       2       0.0        2.0
        """
        import pandas as pd

        return pd.DataFrame(per_leaf(self._rows(self._chosen(rows), words=words)), copy=False)

    def blocks(self, *, words: bool = False, most: int = 100_000) -> Iterator[Columns]:
        """Yield the columns of `to_frame` for some rows after the other, read tree by tree.

        Parameters
        ----------
        most
            Rows at a time, at most; whole trees where they are smaller.
        """
        tested = None if words else tested_by(self._trees(), self.forest.schema)
        first = 0
        while first < len(self) or first == 0:
            last = int(np.searchsorted(self.start, first + most, side="right")) - 1
            end = int(self.start[last]) if self.start[last] > first else first + most
            end = min(end, len(self))
            yield per_leaf(self._rows(np.arange(first, end), words=words, tested=tested))
            first = max(end, 1)

    def __repr__(self) -> str:
        """Return what it is, and how to see it."""
        n, trees = len(self), number_of(self.forest.n_trees, "tree", "trees")
        return f"Table of {number_of(n, 'leaf', 'leaves')} of {trees}: to_frame() shows them"

    def _repr_html_(self) -> str:
        from html import escape  # notebooks alone show it

        rows = np.arange(min(len(self), _SHOWN))
        first = self.to_frame(rows, words=True).to_html(index=False)
        return f"<p>{escape(repr(self))}</p>{first}"

    def expand(self, rows: npt.ArrayLike | None = None) -> "pd.DataFrame":
        """Return one row per person, the label last (the paper's Table 4).

        The label is empty where the file does not tell it person by person.

        Raises
        ------
        DataError
            If the model does not tell how many people are in a leaf.
        """
        import pandas as pd

        chosen = self._chosen(rows)
        told = self._rows(chosen, words=True)
        return pd.DataFrame(per_person(told, self.size[chosen], self.people(chosen)), copy=False)

    def _read(
        self, rows: npt.ArrayLike | None, *names: str, see: See | None = None
    ) -> list[Column | None]:
        """Read arrays of the trees at some rows, None where one has none; show each tree."""
        chosen = self._chosen(rows)
        found: dict[str, Column] = {}
        lacking: set[str] = set()
        # A tree tells the form of its arrays even where no row is asked for.
        for index, here in list(self.by_tree(chosen)) or [(0, chosen)]:
            tree, leaves = self.forest.trees[index], self.leaf[chosen[here]]
            for name in names:
                array: Column | None = getattr(tree, name)
                if array is None:
                    lacking.add(name)
                    continue
                if name not in found:
                    blank = np.nan if array.dtype.kind == "f" else 0
                    found[name] = np.full((len(chosen), *array.shape[1:]), blank, array.dtype)
                found[name][here] = array[leaves]
            if see is not None:
                see(tree, here, leaves)
        # The later trees of a boosting hold no counts: their rows stay blank.
        lacking -= {"counts"} if self.first_round else set()
        return [None if name in lacking else found.get(name) for name in names]

    def _trees(self) -> Iterator[Tree]:
        """Yield the trees that have rows."""
        return (self.forest.trees[i] for i in np.flatnonzero(np.diff(self.start)).tolist() or [0])

    def _rows(self, chosen: Wide, *, words: bool, tested: Tested | None = None) -> Rows:
        schema = self.forest.schema
        found: Columns = {}
        numbers = None if words else tested or tested_by(self._trees(), schema)

        def see(tree: Tree, here: Wide, leaves: Int) -> None:
            if numbers is None:
                told = in_words(tree, leaves, schema)
            else:
                told = bounds(tree, leaves, schema, numbers)
            for name, column in told.items():
                if name not in found:
                    found[name] = np.empty(len(chosen), column.dtype)
                found[name][here] = column

        counts, value, label = self._read(chosen, "counts", "value", "label", see=see)
        return Rows(
            schema=schema,
            tree=self.tree_of(chosen) if self.forest.n_trees > 1 else None,
            leaf=self.leaf[chosen],
            rules=found,
            size=self._size[chosen] if self.tells_people else None,
            # Columns of one class and all others are none of the classes of the model.
            counts=None if self.first_round and self.forest.tree_classes else counts,
            value=value,
            label=label,
        )


def _labels_of(labels: LazyLabels, held: Flag) -> Labels | None:
    return None if (every := labels()) is None else every.only(held)
