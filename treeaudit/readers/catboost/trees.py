"""Trees of a CatBoost JSON model: oblivious ones are unfolded, others are walked.

An oblivious tree asks the same question in every node of a level: ``d``
questions make ``2 ** d`` leaves, and bit ``i`` of the number of a leaf is the
answer to question ``i``. Leaves that no row can reach are kept; they hold nobody.

Counts: whether what CatBoost keeps of a leaf are people, and of which class they are.
``leaf_weights`` (or ``weight`` of a leaf) is the weight of all training rows in
a leaf, whatever sample a tree was grown from: where rows weigh 1 it is people.
The file does not say whether rows had weights of their own. Weights that are
whole numbers without a common divisor, with the same sum in every tree, and no
class weights among the options, are taken as people. Not so in trees that ask
about statistics of categories: while CatBoost trains, a row's statistic comes
from the rows before it, so a row was counted in another leaf than it ends in.

The first tree of a two-class model starts from one half for everybody. Its
leaves are one Newton step from there, ``value = rate * (n1 - n/2) / (n/4 +
l2)``, so ``n1``, the people of the second class, follows; it is believed if it
comes out whole in every leaf.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from treeaudit.arrays import Flag, Float, Int, Table, Wide
from treeaudit.errors import (
    MalformedModelError,
    ModelTooLargeError,
    ReadError,
    UnsupportedModelError,
)
from treeaudit.model.schema import Label
from treeaudit.model.tree import CategorySets, Tree
from treeaudit.readers.boosters import check_number, reading
from treeaudit.readers.catboost.columns import ColumnTable, nested
from treeaudit.readers.limits import Deepest, Most
from treeaudit.readers.links import category_sets, sums

# Questions of a tree whose form is kept for the next one: CatBoost asks six unless told.
_USUAL = 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredTree:
    """One tree as nodes that name the question above them and their answer to it."""

    parent: Int  # Shape ``(n_nodes,)``, parents first
    question: Wide  # Position in ``questions`` of what the parent asks; -1 at the root
    answer: Flag  # Whether the answer is yes
    questions: Wide  # Positions in the column table
    leaf: Wide  # Nodes that are leaves, in the order of ``values``
    values: Float  # Shape ``(n_leaves, n_outputs)``
    weights: Float | None  # Shape ``(n_leaves,)``, or None where the file does not tell
    depth: int | None = None  # How many questions every path asks; None where paths differ

    def asks_statistics(self, columns: ColumnTable) -> bool:
        """Tell whether a question is about a statistic of categories."""
        asked = self.questions[self.questions >= 0]
        return bool(np.any(columns.questions["feature"][asked] >= columns.width))

    def build(
        self, columns: ColumnTable, *, people: bool, class_counts: Float | None = None
    ) -> Tree:
        """Return the tree; with the people in its leaves if they are known."""
        n = len(self.parent)
        asked = columns.questions[self.questions[self.question[1:]] if n > 1 else []]
        yes, in_set = self.answer[1:], asked["code"] >= 0
        feature, low, high = np.full(n, -1), np.full(n, -np.inf), np.full(n, np.inf)
        feature[1:] = asked["feature"]
        low[1:] = np.where(yes & ~in_set, asked["border"], -np.inf)
        high[1:] = np.where(yes | in_set, np.inf, asked["border"])
        missing = np.zeros(n, dtype=np.bool_)
        missing[1:] = yes == asked["missing_yes"]
        value = None
        if self.values.shape[1] == 1:
            value = np.zeros(n)
            value[self.leaf] = self.values[:, 0]
        records = None
        if people and self.weights is not None:
            records = self.sums(self.weights[:, None])[:, 0].astype(np.int64)
        return Tree(
            parent=self.parent,
            feature=feature.astype(np.int32),
            low=low,
            high=high,
            categories=self._sets(columns, asked, yes) if np.any(in_set) else None,
            missing=missing,
            n_records=records,
            counts=None if class_counts is None else self.sums(class_counts),
            value=value,
        )

    def sums(self, leaves: Float) -> Float:
        """Sum numbers of leaves, shape ``(n_leaves, n)``, up to the root."""
        if self.depth is not None:
            levels = [leaves]
            for _ in range(self.depth):
                levels.append(levels[-1][0::2] + levels[-1][1::2])
            return np.concatenate(levels[::-1])
        total = np.zeros((len(self.parent), leaves.shape[1]))
        total[self.leaf] = leaves
        return sums(self.parent, total)

    def _sets(self, columns: ColumnTable, asked: Table, yes: Flag) -> CategorySets:
        n_categories = columns.n_categories
        if max(n_categories.values(), default=0) * len(asked) > Most.codes:
            raise ModelTooLargeError("the trees name more categories than treeaudit takes in")
        sets: list[Sequence[int]] = [()]
        for (feature, _, code, _), answer in zip(asked.tolist(), yes.tolist(), strict=True):
            if code < 0 or answer:
                sets.append((code,) if code >= 0 else ())
            else:
                sets.append([c for c in range(n_categories[feature]) if c != code])
        return category_sets(sets)


def read_trees(data: Mapping[str, Any], columns: ColumnTable) -> list[StoredTree]:
    """Return the trees of the file, in order."""
    oblivious, free = data.get("oblivious_trees"), data.get("trees")
    stored = oblivious if oblivious is not None else free
    if not isinstance(stored, list):
        raise ReadError("the CatBoost model is damaged: its trees are no list")
    if not stored:
        raise UnsupportedModelError("the CatBoost model has no trees: it was trained to none")
    check_number(len(stored), "CatBoost")
    trees: list[StoredTree] = []
    for i, tree in enumerate(stored):
        with reading(f"tree {i} of the CatBoost model"):
            read = _oblivious if oblivious is not None else _free
            trees.append(read(tree, columns))
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
    if depth > Deepest.oblivious or not len(values) or len(values) % (1 << depth):
        raise MalformedModelError(
            f"it is damaged: {len(values):,} leaf values do not fit {depth} splits"
        )
    n_leaves = 1 << depth
    if weights is not None and (not isinstance(weights, np.ndarray) or len(weights) != n_leaves):
        raise ReadError(f"it is damaged: it has {n_leaves:,} leaves and other leaf weights")
    questions = np.array([columns.ask(split) for split in splits], dtype=np.int64)
    form = unfolded(depth)
    return StoredTree(
        parent=form.parent,
        question=form.question,
        answer=form.answer,
        questions=questions,
        leaf=form.leaf,
        values=values.reshape(n_leaves, -1)[form.number],
        weights=None if weights is None else weights[form.number],
        depth=depth,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Unfolded:
    """What all oblivious trees of so many questions have in common."""

    # As in `StoredTree`
    parent: Int
    question: Wide
    answer: Flag
    leaf: Wide
    number: Wide  # The number in the file of each leaf


def unfolded(depth: int) -> Unfolded:
    """Return the nodes of a tree of so many questions, without them."""
    return _usual(depth) if depth <= _USUAL else _unfolded(depth)


def _unfolded(depth: int) -> Unfolded:
    n_leaves = 1 << depth
    node = np.arange(2 * n_leaves - 1)
    number, place = np.zeros(n_leaves, dtype=np.int64), np.arange(n_leaves)
    for i in range(depth):
        number |= (place >> (depth - 1 - i) & 1) << i
    made = Unfolded(
        parent=((node - 1) // 2).astype(np.int32),
        question=np.repeat(np.arange(-1, depth), 1 << np.arange(depth + 1)),
        answer=(node % 2 == 0) & (node > 0),
        leaf=node[n_leaves - 1 :],
        number=number,
    )
    for array in (made.parent, made.question, made.answer, made.leaf, made.number):
        array.flags.writeable = False
    return made


_usual = lru_cache(_USUAL + 1)(_unfolded)


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


@dataclass(frozen=True, slots=True)
class People:
    """Whether the leaf weights are people, and why."""

    known: bool
    total: int | None
    reason: str


def people_of(stored: Sequence[StoredTree], params: Mapping[str, Any]) -> People:
    """Decide whether the leaf weights are people."""
    options = nested(params, "data_processing_options")
    weighted = options.get("auto_class_weights") not in (None, "None")
    weighted = weighted or bool(options.get("class_weights"))
    if weighted or "scale_pos_weight" in nested(params, "flat_params"):
        return People(False, None, "its leaf weights are not people, as classes are weighted")
    weights = [tree.weights for tree in stored if tree.weights is not None]
    if len(weights) < len(stored):
        return People(False, None, "it does not tell how much weight is in each leaf")
    flat = np.concatenate(weights)
    if np.any((flat < 0) | (flat > Most.people) | (flat != np.rint(flat))):
        return People(False, None, "its leaf weights are not whole: rows had weights of their own")
    totals = {float(one.sum()) for one in weights}
    if len(totals) > 1 or not 0 < max(totals) <= Most.people:
        return People(False, None, "its leaf weights differ in their sum from tree to tree")
    whole = flat[flat > 0].astype(np.int64)
    if len(whole) > len(stored) and int(np.gcd.reduce(whole)) > 1:
        return People(False, None, "its leaf weights have a common divisor: rows had weights")
    return People(
        True,
        int(max(totals)),
        "leaf weights are taken as people, as they are whole and have one sum in every tree",
    )


def first_counts(
    tree: StoredTree, params: Mapping[str, Any], classes: tuple[Label, ...] | None
) -> Float | None:
    """Return people per class in the leaves of the first tree, where they follow."""
    boosting = nested(params, "boosting_options")
    learner = nested(params, "tree_learner_options")
    rate, l2 = boosting.get("learning_rate"), learner.get("l2_leaf_reg")
    one_step = (
        classes is not None
        and len(classes) == 2
        and tree.values.shape[1] == 1
        and nested(params, "loss_function").get("type") == "Logloss"
        and learner.get("leaf_estimation_method") == "Newton"
        and learner.get("leaf_estimation_iterations") == 1
        and boosting.get("boost_from_average") is False
    )
    if not one_step or tree.weights is None:
        return None
    if not isinstance(rate, int | float) or not isinstance(l2, int | float):
        return None
    if not (0 < rate <= 1e6 and 0 <= l2 <= 1e9):
        return None
    n, value = tree.weights, tree.values[:, 0]
    if np.any(np.abs(value) > 1e9):
        return None
    second = n / 2 + value / rate * (n / 4 + l2)
    whole = np.rint(second)
    if np.any(np.abs(second - whole) > 1e-5) or np.any((whole < 0) | (whole > n)):
        return None
    return np.column_stack([n - whole, whole])


def reason_of(people: People, first: Float | None) -> str:
    """Say why the counts of classes are known, or not."""
    if first is None:
        return f"the file holds no counts per class; {people.reason}"
    return (
        "the class counts of the first tree follow from its leaf values, the other trees hold "
        f"none; {people.reason}"
    )
