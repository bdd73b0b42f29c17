"""The reconstructed anonymised table: one generalised row per leaf.

Wakabayashi et al. (2024), section 3.1: a released tree is a k-anonymous table
of its training data. `Table.expand` gives it person by person, as in their
Table 4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from treeaudit.errors import DataError
from treeaudit.groups import people_per_class
from treeaudit.rules import rules_of
from treeaudit.tree import Forest
from treeaudit.words import ANY, cells, label_text, sentence

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Table", "reconstruct", "rule_text"]

Wide = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """The leaves of a forest, row by row.

    Attributes
    ----------
    forest
        The model; rules are computed from it when they are asked for.
    tree, leaf
        Tree and node number of each row.
    n_records
        People per row, or None.
    counts
        Shape ``(n_rows, n_classes)``, or None; what they are is told by
        ``forest.counts_are``.
    value
        Predicted number per row, or None.
    label
        Predicted class per row where only labels are released, or None.
    """

    forest: Forest
    tree: npt.NDArray[np.int32]
    leaf: npt.NDArray[np.int32]
    n_records: Wide | None
    counts: Float | None
    value: Float | None
    label: npt.NDArray[np.int32] | None

    def __len__(self) -> int:
        return len(self.leaf)

    def people(self) -> Float:
        """Return people per class, shape ``(n_rows, n_classes)``; NaN where unknown."""
        width = len(self.forest.schema.classes or ())
        if self.counts is None or self.n_records is None:
            return np.full((len(self), width), np.nan)
        return people_per_class(self.counts, self.n_records, self.forest.counts_are)

    def to_frame(self, rows: npt.ArrayLike | None = None) -> "pd.DataFrame":
        """Return one row per leaf.

        Parameters
        ----------
        rows
            Positions of the rows wanted; all of them unless told.

        Returns
        -------
        pandas.DataFrame
            ``tree`` (for several trees), ``leaf``, one text column per feature
            (``*`` where the tree says nothing), ``people``, and one column per
            class: people where the file tells, otherwise what
            ``forest.counts_are`` says.

        Examples
        --------
        >>> from treeaudit.schema import Schema
        >>> from treeaudit.tree import Tree
        >>> stump = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-np.inf, -np.inf, 15],
        ...     high=[np.inf, 15, np.inf], n_records=[3, 1, 2], counts=[[1, 2], [1, 0], [0, 2]])
        >>> model = Forest(trees=(stump,), schema=Schema.numeric(["age"], ["no", "yes"]))
        >>> print(reconstruct(model).to_frame().to_string(index=False))
         leaf  age  people  label=no  label=yes
            1 ≤ 15       1       1.0        0.0
            2 > 15       2       0.0        2.0
        """
        import pandas as pd

        chosen = np.arange(len(self)) if rows is None else np.asarray(rows, dtype=np.int64)
        schema = self.forest.schema
        columns: dict[str, object] = {}
        if self.forest.n_trees > 1:
            columns["tree"] = self.tree[chosen]
        columns["leaf"] = self.leaf[chosen]
        grid = self._grid(chosen)
        for i, name in enumerate(schema.names):
            columns[_free(name, columns)] = grid[:, i]
        if self.n_records is not None:
            columns[_free("people", columns)] = self.n_records[chosen]
        if self.counts is not None and schema.classes is not None:
            for i, label in enumerate(schema.classes):
                name = _free(f"{schema.target}={label_text(label)}", columns)
                columns[name] = self.counts[chosen, i]
        if self.value is not None:
            columns[_free("value", columns)] = self.value[chosen]
        if self.label is not None and schema.classes is not None:
            labels = np.array([label_text(c) for c in schema.classes], dtype=object)
            columns[_free(schema.target, columns)] = labels[self.label[chosen]]
        return pd.DataFrame(columns)

    def expand(self, rows: npt.ArrayLike | None = None) -> "pd.DataFrame":
        """Return one row per person, the label last (the paper's Table 4).

        The label is empty where the file does not tell it person by person.

        Raises
        ------
        DataError
            If the model does not tell how many people are in a leaf.
        """
        import pandas as pd

        if self.n_records is None:
            raise DataError("the model does not tell how many people are in a leaf")
        chosen = np.arange(len(self)) if rows is None else np.asarray(rows, dtype=np.int64)
        schema = self.forest.schema
        size = self.n_records[chosen]
        people = self.people()[chosen]
        known = np.nan_to_num(people, nan=0).astype(np.int64)
        split = np.column_stack([known, size - known.sum(axis=1)])
        texts: list[object] = [label_text(c) for c in schema.classes or ()]
        names = np.array([*texts, None], dtype=object)
        labels = np.repeat(np.tile(names, len(chosen)), split.ravel())
        grid = np.repeat(self._grid(chosen), size, axis=0)
        columns: dict[str, object] = {}
        if self.forest.n_trees > 1:
            columns["tree"] = np.repeat(self.tree[chosen], size)
        for i, name in enumerate(schema.names):
            columns[_free(name, columns)] = grid[:, i]
        if schema.classes is not None:
            columns[_free(schema.target, columns)] = labels
        if self.value is not None:
            columns[_free("value", columns)] = np.repeat(self.value[chosen], size)
        return pd.DataFrame(columns)

    def _grid(self, chosen: Wide) -> npt.NDArray[np.object_]:
        grid = np.full((len(chosen), len(self.forest.schema.features)), ANY, dtype=object)
        for index in np.unique(self.tree[chosen]).tolist():
            here = np.flatnonzero(self.tree[chosen] == index)
            rules = rules_of(self.forest.trees[index], self.leaf[chosen[here]])
            grid[here[rules.row], rules.feature] = cells(rules, self.forest.schema)
        return grid


def _free(name: str, taken: dict[str, object]) -> str:
    """Return the name, with a number where two columns would share it."""
    free, i = name, 2
    while free in taken:
        free, i = f"{name} ({i})", i + 1
    return free


def reconstruct(forest: Forest, trees: Sequence[int] | None = None) -> Table:
    """Rebuild the anonymised table that a model gives away.

    Parameters
    ----------
    forest
        The model.
    trees
        Which trees; all of them unless told.

    Returns
    -------
    Table
        One row per leaf, in the order of the trees and of their nodes.

    Raises
    ------
    DataError
        If a tree is asked for that the model does not have.
    """
    wanted = range(forest.n_trees) if trees is None else trees
    for index in wanted:
        if not 0 <= index < forest.n_trees:
            raise DataError(f"there is no tree {index}: the model has {forest.n_trees}")
    parts = [_leaves(forest, index) for index in wanted]
    return Table(
        forest=forest,
        tree=np.concatenate([part.tree for part in parts]),
        leaf=np.concatenate([part.leaf for part in parts]),
        n_records=_stack([part.n_records for part in parts]),
        counts=_stack([part.counts for part in parts]),
        value=_stack([part.value for part in parts]),
        label=_stack([part.label for part in parts]),
    )


def _leaves(forest: Forest, index: int) -> Table:
    """Return the table of one tree."""
    tree = forest.trees[index]
    leaves = tree.leaves
    return Table(
        forest=forest,
        tree=np.full(len(leaves), index, dtype=np.int32),
        leaf=leaves,
        n_records=None if tree.n_records is None else tree.n_records[leaves],
        counts=None if tree.counts is None else tree.counts[leaves],
        value=None if tree.value is None else tree.value[leaves],
        label=None if tree.label is None else tree.label[leaves],
    )


def _stack(columns: "list[npt.NDArray[Number] | None]") -> "npt.NDArray[Number] | None":
    present = [column for column in columns if column is not None]
    return np.concatenate(present) if len(present) == len(columns) else None


def rule_text(forest: Forest, tree: int, leaf: int) -> str:
    """Return the rule of one leaf in words.

    Raises
    ------
    DataError
        If there is no such tree or node.
    """
    if not 0 <= tree < forest.n_trees:
        raise DataError(f"there is no tree {tree}: the model has {forest.n_trees}")
    model = forest.trees[tree]
    if not 0 <= leaf < model.n_nodes or not model.is_leaf[leaf]:
        raise DataError(f"node {leaf} is no leaf of tree {tree}; 'reconstruct' lists the leaves")
    return sentence(rules_of(model, [leaf]), forest.schema)
