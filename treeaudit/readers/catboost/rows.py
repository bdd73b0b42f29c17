"""The trees of a CatBoost model as they are looked at and built: one by one, or all in a row.

Trees that were taken from a text at once stay the arrays that they were taken in: what holds for
a row of them holds for each, and each is cut out of it.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from treeaudit.errors import ReadError
from treeaudit.model.tree import Tree
from treeaudit.readers.boosters.shelf import Shelf
from treeaudit.readers.catboost.columns import ColumnTable
from treeaudit.readers.catboost.text import TreesOfText
from treeaudit.readers.catboost.trees import StoredTree, unfolded
from treeaudit.readers.types import Array, Flag, Float, Wide

_Build = Callable[[int], Tree]


class StoredTrees(Protocol):
    """The checked trees of a model, in their order."""

    @property
    def weights(self) -> Float | None:
        """Of all leaves; None where the file does not tell of some."""

    @property
    def totals(self) -> set[float]:
        """What the weights of a tree add up to."""

    def __len__(self) -> int: ...
    def __getitem__(self, i: int) -> StoredTree: ...

    def asking_statistics(self, columns: ColumnTable) -> list[bool]:
        """Tell of each tree whether it asks about a statistic of categories."""

    def builder(self, columns: ColumnTable, people: Sequence[bool]) -> _Build:
        """Return what builds each of the trees, with its people where they are known."""


class EachTree(list[StoredTree]):
    """Trees one by one."""

    @property
    def weights(self) -> Float | None:
        """See `StoredTrees`."""
        told = [tree.weights for tree in self if tree.weights is not None]
        return np.concatenate(told) if len(told) == len(self) else None

    @property
    def totals(self) -> set[float]:
        """See `StoredTrees`."""
        return {float(tree.weights.sum()) for tree in self if tree.weights is not None}

    def asking_statistics(self, columns: ColumnTable) -> list[bool]:
        """See `StoredTrees`."""
        return [tree.asks_statistics(columns) for tree in self]

    def builder(self, columns: ColumnTable, people: Sequence[bool]) -> _Build:
        """See `StoredTrees`."""
        return lambda i: self[i].build(columns, people=people[i])


class TreesInRow:
    """Trees that were taken from a text at once, behind one another."""

    def __init__(self, text: TreesOfText, columns: ColumnTable) -> None:
        n_leaves = np.left_shift(1, text.depth)
        self.n_outputs = int(text.n_values[0] // n_leaves[0])
        self.weights: Float = text.weights
        self._depth = text.depth
        self._values = text.values.reshape(-1, self.n_outputs)
        self._questions = _asked(text, columns)
        self._leaf: Wide = np.append(0, np.cumsum(n_leaves))
        self._split: Wide = np.append(0, np.cumsum(text.depth))

    def __len__(self) -> int:
        return len(self._depth)

    def __getitem__(self, i: int) -> StoredTree:
        """Return one of the trees by itself."""
        form = unfolded(int(self._depth[i]))
        leaves = form.number + self._leaf[i]
        return StoredTree(
            parent=form.parent,
            question=form.question,
            answer=form.answer,
            questions=self._questions[self._split[i] : self._split[i + 1]],
            leaf=form.leaf,
            values=self._values[leaves],
            weights=self.weights[leaves],
            depth=int(self._depth[i]),
        )

    @cached_property
    def totals(self) -> set[float]:
        """See `StoredTrees`: whole numbers are exact in any order."""
        return {*np.add.reduceat(self.weights, self._leaf[:-1]).tolist()}

    def asking_statistics(self, columns: ColumnTable) -> list[bool]:
        """See `StoredTrees`."""
        asks = columns.questions["feature"][self._questions] >= columns.width
        return [*map(bool, np.logical_or.reduceat(asks, self._split[:-1]))]

    def builder(self, columns: ColumnTable, people: Sequence[bool]) -> _Build:
        """See `StoredTrees`."""

        def row(part: slice) -> dict[str, Array | None] | None:
            return self._row(part, columns, people[part])

        sizes = (np.left_shift(2, self._depth) - 1).tolist()
        return Shelf(sizes, row, lambda i: self[i].build(columns, people=people[i]))

    def _row(
        self, part: slice, columns: ColumnTable, people: Sequence[bool]
    ) -> dict[str, Array | None] | None:
        """Return the arrays of some trees behind one another; see `StoredTree.build`."""
        if len({*people}) > 1:
            return None
        depth = self._depth[part]
        forms = [unfolded(one) for one in depth.tolist()]
        n_nodes, n_leaves = np.left_shift(2, depth) - 1, np.left_shift(1, depth)
        parent, question, answer, leaf, number = (
            np.concatenate([getattr(form, name) for form in forms]) for name in _OF_FORM
        )
        start = np.cumsum(n_nodes) - n_nodes
        leaf += np.repeat(start, n_leaves)
        number += np.repeat(self._leaf[part.start : part.stop], n_leaves)
        question += np.repeat(np.cumsum(depth) - depth, n_nodes)
        first, last = self._split[[part.start, part.stop]]
        asked = columns.questions[self._questions[first:last]]
        if np.any(asked["code"] >= 0):
            return None
        below = np.flatnonzero(parent >= 0)
        question = question[below]
        yes, border, n = answer[below], asked["border"][question], len(parent)
        feature, low, high = np.full(n, -1, np.int32), np.full(n, -np.inf), np.full(n, np.inf)
        missing: Flag = np.zeros(n, dtype=np.bool_)
        feature[below] = asked["feature"][question]
        missing[below] = yes == asked["missing_yes"][question]
        low[below[yes]], high[below[~yes]] = border[yes], border[~yes]
        arrays: dict[str, Array | None] = {
            "parent": parent, "feature": feature, "low": low, "high": high, "missing": missing
        }  # fmt: skip
        if self.n_outputs == 1:
            value = np.zeros(n)
            value[leaf] = self._values[number, 0]
            arrays["value"] = value
        if people[0]:
            arrays["n_records"] = _people(depth, self.weights[number])
        for array in arrays.values():
            if array is not None:
                array.flags.writeable = False
        return arrays


_OF_FORM = ("parent", "question", "answer", "leaf", "number")


def _people(depth: Wide, leaves: Float) -> Wide:
    """Return the people in all nodes of some trees, given those in their leaves."""
    n_nodes, n_leaves = np.left_shift(2, depth) - 1, np.left_shift(1, depth)
    node, leaf = (np.cumsum(n) - n for n in (n_nodes, n_leaves))
    found = np.zeros(int(n_nodes.sum()))
    for one in {*depth.tolist()}:
        some = np.flatnonzero(depth == one)
        levels = [leaves[leaf[some][:, None] + np.arange(1 << one)]]
        for _ in range(one):
            levels.append(levels[-1][:, 0::2] + levels[-1][:, 1::2])
        at = node[some][:, None] + np.arange((2 << one) - 1)
        found[at] = np.concatenate(levels[::-1], axis=1)
    return found.astype(np.int64)


def _asked(text: TreesOfText, columns: ColumnTable) -> Wide:
    """Return the numbers of all questions, of which each that differs is asked once."""
    _, first, which = np.unique(text.number, return_index=True, return_inverse=True)
    alike = (text.feature == text.feature[first][which]) & (
        text.border == text.border[first][which]
    )
    if not alike.all():
        raise ReadError("a question of one number is another one elsewhere")
    found = np.zeros(len(first), dtype=np.int64)
    order = np.argsort(first)
    one = first[order]
    found[order] = columns.ask_numbers(text.feature[one], text.border[one], text.number[one])
    return found[which]
