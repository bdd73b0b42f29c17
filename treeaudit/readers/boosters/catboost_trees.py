"""Trees of a CatBoost JSON model: oblivious ones are unfolded, others are walked.

An oblivious tree asks the same question in every node of a level: ``d``
questions make ``2 ** d`` leaves, and bit ``i`` of the number of a leaf is the
answer to question ``i``. Leaves that no row can reach are kept; they hold nobody.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.errors import ModelTooLargeError, ReadError, UnsupportedModelError
from treeaudit.model.tree import CategorySets, Tree
from treeaudit.readers.boosters.catboost_columns import ColumnTable

__all__ = ["StoredTree", "stored_trees"]

Wide = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
Flag = npt.NDArray[np.bool_]

_DEEPEST = 24
_MOST_CODES = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredTree:
    """One tree as nodes that name the question above them and their answer to it.

    Attributes
    ----------
    parent
        Shape ``(n_nodes,)``, parents first.
    question
        Position in ``questions`` of what the parent asks; -1 at the root.
    answer
        Whether the answer is yes.
    questions
        Positions in the column table.
    leaf
        Nodes that are leaves, in the order of ``values``.
    values
        Shape ``(n_leaves, n_outputs)``.
    weights
        Shape ``(n_leaves,)``, or None where the file does not tell.
    """

    parent: npt.NDArray[np.int32]
    question: Wide
    answer: Flag
    questions: Wide
    leaf: Wide
    values: Float
    weights: Float | None

    def asks_statistics(self, columns: ColumnTable) -> bool:
        """Tell whether a question is about a statistic of categories."""
        asked = self.questions[self.questions >= 0]
        return bool(np.any(columns.feature[asked] >= columns.width))

    def build(
        self, columns: ColumnTable, *, people: bool, class_counts: Float | None = None
    ) -> Tree:
        """Return the tree; with the people in its leaves if they are known."""
        n = len(self.parent)
        asked = self.questions[self.question[1:]] if n > 1 else self.question[1:]
        yes = self.answer[1:]
        feature, low, high = np.full(n, -1), np.full(n, -np.inf), np.full(n, np.inf)
        feature[1:] = columns.feature[asked]
        border = columns.border[asked]
        low[1:] = np.where(yes, border, -np.inf)
        high[1:] = np.where(yes, np.inf, border)
        in_set = columns.code[asked] >= 0
        low[1:][in_set], high[1:][in_set] = -np.inf, np.inf
        missing = np.zeros(n, dtype=np.bool_)
        missing[1:] = yes == columns.missing_yes[asked]
        value = None
        if self.values.shape[1] == 1:
            value = np.zeros(n)
            value[self.leaf] = self.values[:, 0]
        records = None
        if people and self.weights is not None:
            records = self._sum(self.weights[:, None])[:, 0].astype(np.int64)
        return Tree(
            parent=self.parent,
            feature=feature.astype(np.int32),
            low=low,
            high=high,
            categories=self._sets(columns, asked, yes) if np.any(in_set) else None,
            missing=missing,
            n_records=records,
            counts=None if class_counts is None else self._sum(class_counts),
            value=value,
        )

    def _sum(self, leaves: Float) -> Float:
        """Sum numbers of leaves up to the root."""
        total = np.zeros((len(self.parent), leaves.shape[1]))
        total[self.leaf] = leaves
        depth, above = (self.parent >= 0).astype(np.int64), self.parent
        while np.any(above >= 0):
            depth += np.where(above >= 0, depth[above], 0)
            above = np.where(above >= 0, above[above], -1)
        for level in range(int(depth.max()), 0, -1):
            here = np.flatnonzero(depth == level)
            np.add.at(total, self.parent[here], total[here])
        return total

    def _sets(self, columns: ColumnTable, asked: Wide, yes: Flag) -> CategorySets:
        widest = max(columns.n_categories.values(), default=0)
        if widest * len(asked) > _MOST_CODES:
            raise ModelTooLargeError("the trees name more categories than treeaudit takes in")
        sets: list[Sequence[int]] = [()]
        for question, answer in zip(asked.tolist(), yes.tolist(), strict=True):
            code, feature = int(columns.code[question]), int(columns.feature[question])
            if code < 0:
                sets.append(())
            elif answer:
                sets.append((code,))
            else:
                sets.append([c for c in range(columns.n_categories[feature]) if c != code])
        start = np.concatenate([[0], np.cumsum([len(codes) for codes in sets])])
        flat = np.array([code for codes in sets for code in codes], dtype=np.int32)
        return CategorySets(start=start, codes=flat)


def stored_trees(data: Mapping[str, Any], columns: ColumnTable) -> list[StoredTree]:
    """Return the trees of the file, in order.

    Parameters
    ----------
    data
        The JSON object.
    columns
        Collects what the trees ask.

    Raises
    ------
    ReadError
        If a tree is damaged; names it.
    """
    oblivious, free = data.get("oblivious_trees"), data.get("trees")
    stored = oblivious if oblivious is not None else free
    if not isinstance(stored, list):
        raise ReadError("the CatBoost model is damaged: its trees are no list")
    if not stored:
        raise UnsupportedModelError("the CatBoost model has no trees: it was trained to none")
    trees: list[StoredTree] = []
    for i, tree in enumerate(stored):
        try:
            found = _oblivious(tree, columns) if oblivious is not None else _free(tree, columns)
        except ReadError as error:
            raise type(error)(f"tree {i} of the CatBoost model: {error}") from None
        trees.append(found)
    if len({tree.values.shape[1] for tree in trees}) > 1:
        raise ReadError("the CatBoost model is damaged: its trees differ in outputs")
    return trees


def _oblivious(tree: object, columns: ColumnTable) -> StoredTree:
    if not isinstance(tree, dict):
        raise ReadError("it is damaged: no object")
    splits = tree.get("splits") or []
    values, weights = tree.get("leaf_values"), tree.get("leaf_weights")
    if not isinstance(splits, list) or not isinstance(values, np.ndarray):
        raise ReadError("it is damaged: it has no splits or no leaf values")
    depth = len(splits)
    if depth > _DEEPEST or not len(values) or len(values) % (1 << depth):
        raise ReadError(f"it is damaged: {len(values):,} leaf values do not fit {depth} splits")
    n_leaves = 1 << depth
    if weights is not None and (not isinstance(weights, np.ndarray) or len(weights) != n_leaves):
        raise ReadError(f"it is damaged: it has {n_leaves:,} leaves and other leaf weights")
    questions = np.array([columns.ask(split) for split in splits], dtype=np.int64)
    node = np.arange(2 * n_leaves - 1)
    level = np.repeat(np.arange(depth + 1), 1 << np.arange(depth + 1))
    number, place = np.zeros(n_leaves, dtype=np.int64), np.arange(n_leaves)
    for i in range(depth):
        number |= (place >> (depth - 1 - i) & 1) << i
    return StoredTree(
        parent=((node - 1) // 2).astype(np.int32),
        question=level - 1,
        answer=(node % 2 == 0) & (node > 0),
        questions=questions,
        leaf=node[n_leaves - 1 :],
        values=values.reshape(n_leaves, -1)[number],
        weights=None if weights is None else weights[number],
    )


def _free(tree: object, columns: ColumnTable) -> StoredTree:
    """Walk a tree of nested nodes; parents come first."""
    parent: list[int] = []
    answer: list[bool] = []
    question: list[int] = []
    leaf: list[int] = []
    values: list[Any] = []
    weights: list[Any] = []
    todo: list[tuple[object, int, int, bool]] = [(tree, -1, -1, False)]
    while todo:
        node, above, asked, yes = todo.pop()
        if not isinstance(node, dict):
            raise ReadError("it is damaged: a node is no object")
        me = len(parent)
        parent.append(above)
        question.append(asked)
        answer.append(yes)
        if "split" in node:
            asks = columns.ask(node["split"])
            todo += [(node.get("right"), me, asks, True), (node.get("left"), me, asks, False)]
            continue
        leaf.append(me)
        value = node.get("value")
        values.append(value if isinstance(value, list) else [value])
        weights.append(node.get("weight"))
    table = _numbers(values, 2)
    if table is None:
        raise ReadError("it is damaged: a leaf has no value")
    position = np.unique(question)
    return StoredTree(
        parent=np.array(parent, dtype=np.int32),
        question=np.searchsorted(position, question),
        answer=np.array(answer, dtype=np.bool_),
        questions=position,
        leaf=np.array(leaf, dtype=np.int64),
        values=table,
        weights=_numbers(weights, 1),
    )


def _numbers(values: list[Any], ndim: int) -> Float | None:
    try:
        array = np.array(values)
    except (ValueError, OverflowError):
        return None
    if array.ndim != ndim or array.dtype.kind not in "iuf" or not np.all(np.isfinite(array)):
        return None
    return array.astype(np.float64)
