"""The equations of a forest on the labels of its people (TA106), and which models have any.

A leaf that tells the share of a label says what the labels of its people are on average, one
that tells a number what their numbers are, and one that tells a label which is the most frequent.
Leaves of nobody are left out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from treeaudit.arrays import Flag, Float, Index, Int, Wide, any_of_row, occupied_nodes
from treeaudit.attacks.case import Case, Need
from treeaudit.model.forest import Forest, all_count
from treeaudit.model.tree import Tree
from treeaudit.people.checks.leaf_values import changed_target
from treeaudit.people.predict.predictions import (
    adds_up,
    averages,
    column_of_each_tree,
    node_shares,
    said_by_nodes,
    start_of,
    target_values,
)
from treeaudit.people.records import Records

_MOST_PAIRS = 100_000_000
"""People times trees: 1.2 GB while they are put together."""

_JOINED = {
    "product": "their shares are multiplied, and sums and votes are what is taken apart",
    "weighted": "they do not vote by labels, as an AdaBoost of classes (SAMME): a random forest "
    "can pass",
}

_UNKNOWN = (
    "what joins their answers is not known: a random forest, or one of several models alone "
    "(--select), can pass"
)

_STEPS = ("LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT")


def is_random_forest(forest: Forest) -> bool:
    """Tell whether the trees of a boosting library are a random forest: one round, or a mean."""
    stated = forest.source.parameters
    parallel, outputs = stated.get("num_parallel_tree", 1), stated.get("n_outputs", 1)
    whole = isinstance(parallel, int) and isinstance(outputs, int) and parallel > 1
    return stated.get("average_output") is True or (whole and forest.n_trees == parallel * outputs)


def not_applicable(forest: Forest) -> str | None:
    """Say why there is nothing that trees could give away together; None where there may be."""
    if forest.n_trees == 1:
        return "not applicable: a single tree has nothing to be put together with"
    if forest.answers in ("path", "leaf"):
        return "not applicable: the trees were grown without labels"
    return None


def adds_steps(forest: Forest) -> bool:
    """Tell whether the trees of a model are a boosting: each goes on from those before it."""
    # An ONNX forest adds up shares: only what makes shares of a sum tells that it adds steps.
    source = forest.source
    boosted = (
        not source.estimator.startswith("TreeEnsemble")
        or source.parameters.get("post_transform") in _STEPS
    )
    return forest.answers == "sum" and boosted and not is_random_forest(forest)


def reweighs(forest: Forest) -> bool:
    """Tell whether each tree saw everybody, weighed by how often those before were wrong."""
    weighed = forest.answers == "weighted" and forest.trees[0].counts is not None
    return weighed and averages(forest) and forest.records_are == "all"


def _not_judged(forest: Forest) -> str | None:
    """Say why trees that may give something away together are not attacked."""
    said = "trees together were not judged: "
    if forest.schema.classes is None and changed_target(forest):
        return said + "the numbers in their leaves are in units of the changed target"
    if adds_steps(forest):
        if not adds_up(forest):
            return said + "by their loss, steps are not of the numbers that are predicted"
        told = column_of_each_tree(forest) is not None
        return None if told else said + "which class a tree is of is not told"
    if forest.tree_classes is not None:
        return said + "they tell different labels apart"
    at_once = forest.answers == "sum" and is_random_forest(forest)
    if at_once and not all_count(forest.trees):
        return said + "the class counts of some of them do not follow from their leaf values"
    if forest.answers == "sum" and not at_once:
        return said + "an ONNX file does not tell whether its leaves hold shares or steps"
    votes = forest.answers == "weighted" and averages(forest)
    joined = forest.answers in ("mean", "vote", "confidence") or votes
    if not at_once and not joined:
        return said + _JOINED.get(forest.answers, _UNKNOWN)
    if forest.schema.classes is None and _medians(forest):
        return said + "their leaves hold medians"
    tree = forest.trees[0]
    held = (tree.counts, tree.label) if forest.schema.classes is not None else (tree.value,)
    if all(one is None for one in held):
        return said + (forest.counts_reason or "their leaves hold no labels")
    return None


def _medians(forest: Forest) -> bool:
    """Tell whether trees were grown by absolute errors, also those of a bag."""
    stated = forest.source.parameters.get("criterion") in ("absolute_error", "mae")
    return (
        stated
        or forest.values_are == "medians"
        or any(tree.spread_is == "absolute" for tree in forest.trees)
    )


def _people(case: Case) -> str | None:
    if case.train is None:
        return "all trees are judged together only with the training people (--train)"
    if len(case.train) * case.forest.n_trees > _MOST_PAIRS:
        return (
            f"trees together were not judged: {len(case.train):,} people in "
            f"{case.forest.n_trees:,} trees are more than {_MOST_PAIRS:,} pairs"
        )
    return None


def _begins(case: Case) -> str | None:
    """Say why it is not known what a boosting answers."""
    each = target_values(case.people("train"))
    told = each is not None and start_of(case.forest, each) is not None
    if told or not adds_steps(case.forest):
        return None
    return "trees together were not judged: where the steps begin is not told"


def _answers(case: Case) -> str | None:
    train = case.train
    told = train is not None and (train.labels is not None or train.targets is not None)
    if train is None or told:
        return None
    no_column = f"{train.origin} has no column of what the model predicts; name it with --target"
    return train.unlabelled or no_column


NEEDS: tuple[Need, ...] = (
    Need(missing=lambda case: not_applicable(case.forest)),
    Need(missing=lambda case: _not_judged(case.forest)),
    Need(missing=_people, asks=("--train",)),
    Need(missing=_answers, asks=("--target",)),
    Need(missing=_begins),
)
"""In this order."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Said:
    """What the nodes of a forest say in which somebody ends: one entry each, tree after tree."""

    # `shares`: the mean of what is asked for; `labels`: the most frequent label; `numbers`: the
    # mean of the number that is predicted
    kind: Literal["shares", "labels", "numbers"]
    start: Wide  # Shape `(n_trees + 1,)`: the entries of tree t are `start[t]` to `start[t + 1]`
    # Shape `(n_people, n_trees)`: in which entry everybody ends, counted from the tree's first
    node: Int
    # Shape `(n_entries, n_columns)`: a column per class, that of the second class alone where
    # there are two, or the number
    mean: Float
    informative: Flag  # Whether the node is a leaf that says anything
    # Shape `(n_trees,)`: the one column of which a tree tells, in `mean[:, 0]`; None where every
    # tree tells of all
    column: Wide | None = None
    span: tuple[float, float] | None = None  # Between what numbers are; None where nobody can know

    @property
    def n_columns(self) -> int:
        """Columns in all."""
        return self.mean.shape[1] if self.column is None else int(self.column.max()) + 1

    def first(self, trees: int) -> "Said":
        """Return what the first trees say."""
        end, column = int(self.start[trees]), None if self.column is None else self.column[:trees]
        return replace(
            self,
            start=self.start[: trees + 1],
            node=self.node[:, :trees],
            mean=self.mean[:end],
            informative=self.informative[:end],
            column=column,
        )

    def of(self, trees: Wide) -> "Said":
        """Return what some trees say, of the one column of which they tell."""
        at = np.concatenate([np.arange(self.start[t], self.start[t + 1]) for t in trees])
        return replace(
            self,
            start=np.cumsum([0, *(self.start[trees + 1] - self.start[trees])]),
            node=self.node[:, trees],
            mean=self.mean[at],
            informative=self.informative[at],
            column=None,
        )


def said_by(
    forest: Forest,
    node: Int,
    frequent: Float | None = None,
    beside: Callable[[int, Tree, Wide, Index], None] | None = None,
) -> Said:
    """Return what the leaves say of labels, or of the number that the model predicts."""
    n_classes = len(forest.schema.classes or ())
    # A forest of which every leaf holds one label only, by shares that are no counts, was made
    # to tell labels alone.
    only = bool(n_classes) and forest.counts_are not in ("exact", "likely", "noisy")
    ends = np.empty(node.shape, dtype=np.min_scalar_type(len(node)), order="F")
    parts, told = [], []
    for i, tree in enumerate(forest.trees):
        held, place = occupied_nodes(node[:, i], tree.n_nodes)
        ends[:, i] = place
        leaf = tree.is_leaf
        somebody = leaf if tree.n_records is None else leaf & (tree.n_records > 0)
        weights = None if frequent is None else _weights(tree, frequent, somebody)
        # A number is as exact as it is told; of shares, half the bytes are more than enough.
        mean = _mean(tree, n_classes, weights, held)
        parts.append(mean.astype(np.float32 if n_classes else None))
        told.append(leaf[held] & _tells(tree, held))
        if only:
            leaves = np.flatnonzero(leaf)
            of_all = _mean(tree, n_classes, weights, leaves[_tells(tree, leaves)])
            only = bool(np.isin(of_all, (0.0, 1.0)).all())
        if beside is not None:
            beside(i, tree, held, place)
    return Said(
        kind=("labels" if only else "shares") if n_classes else "numbers",
        start=np.cumsum([0, *map(len, parts)]),
        node=ends,
        mean=np.concatenate(parts),
        informative=np.concatenate(told),
    )


def said_by_people(
    forest: Forest, people: Records, column: Wide, step_means: Sequence[Float] | None = None
) -> Said:
    """Return what the leaves of a boosting can say at most: what those are who end in them."""
    if forest.schema.classes is None:
        each = np.zeros((len(people), 1)) if people.targets is None else people.targets[:, None]
    else:
        labels = people.known_labels
        two = not column.any()
        each = (labels[:, None] == (1 if two else np.arange(column.max() + 1))).astype(np.float64)
    ends = np.empty(people.node.shape, dtype=np.min_scalar_type(len(people)), order="F")
    means, told = [], []
    for i, tree in enumerate(forest.trees):
        held, ends[:, i] = occupied_nodes(people.node[:, i], tree.n_nodes)
        total = np.bincount(ends[:, i], each[:, column[i]])
        means.append(total / np.bincount(ends[:, i]) if step_means is None else step_means[i][held])
        # A tree that answers everybody alike says nothing of anybody.
        says = tree.value is not None and np.ptp(tree.value[tree.is_leaf]) > 0
        told.append(tree.is_leaf[held] & says)
    return Said(
        kind="numbers" if forest.schema.classes is None else "shares",
        start=np.cumsum([0, *map(len, means)]),
        node=ends,
        mean=np.concatenate(means)[:, None],
        informative=np.concatenate(told),
        column=column if column.any() else None,
    )


def nodes_of_alike(forest: Forest, node: Int) -> Wide:
    """Return the nodes in which people end, apart where a tree before answered otherwise.

    ``node``: shape ``(n_people, n_trees)``, as what is returned.
    """
    n_classes = len(forest.schema.classes or ())
    alike, found = np.zeros(len(node), dtype=np.int64), np.empty(node.shape, dtype=np.int64)
    for i, tree in enumerate(forest.trees):
        found[:, i] = alike * tree.n_nodes + node[:, i]
        answer = said_by_nodes(forest, tree, i).argmax(axis=1)
        alike = alike * n_classes + answer[node[:, i]]
        alike = np.unique(alike, return_inverse=True)[1].reshape(-1)
    return found


def said_by_weighted(forest: Forest, people: Records) -> Said:
    """Return what the leaves of an AdaBoost can say at most: how often each label is in them.

    What people weigh in a leaf follows from their labels and the answers of the trees before: at
    most, a leaf says how often each label is among those whom all of these answered alike.
    """
    n_classes = len(forest.schema.classes or ())
    each = np.eye(n_classes)[people.known_labels][:, 1 if n_classes == 2 else 0 :]
    ends = np.empty(people.node.shape, dtype=np.min_scalar_type(len(people)), order="F")
    means = []
    for i, node in enumerate(nodes_of_alike(forest, people.node).T):
        _, at, size = np.unique(node, return_inverse=True, return_counts=True)
        ends[:, i] = at.reshape(-1)
        means.append(np.column_stack([np.bincount(ends[:, i], one) / size for one in each.T]))
    start = np.cumsum([0, *map(len, means)])
    told = np.ones(start[-1], dtype=np.bool_)
    return Said(kind="shares", start=start, node=ends, mean=np.concatenate(means), informative=told)


def entries_of(forest: Forest, train: Int, other: Int) -> tuple[Int, Flag]:
    """Return in which entries other people end, and who ends where training people do in all.

    ``train``, ``other``: shape ``(n_people, n_trees)``: the nodes in which they end.
    """
    if reweighs(forest):
        both = nodes_of_alike(forest, np.vstack([train, other]))
        both = np.unique(both, return_inverse=True)[1].reshape(both.shape)
        train, other = both[: len(train)].astype(np.int32), both[len(train) :].astype(np.int32)
    place, known = np.zeros(other.shape, dtype=np.int32), np.ones(len(other), dtype=np.bool_)
    for i, (node, ends) in enumerate(zip(train.T, other.T, strict=True)):
        held = np.unique(node)
        at = np.minimum(np.searchsorted(held, ends), len(held) - 1)
        known &= held[at] == ends
        place[:, i] = at
    return place, known


def _weights(tree: Tree, frequent: Float, somebody: Flag) -> tuple[float, ...] | None:
    """Return what a person of each class weighs so that they are as frequent as they are."""
    if tree.counts is None:
        return None
    here = somebody.astype(np.float64) @ np.maximum(tree.counts, 0)
    return tuple((frequent / np.where(here > 0, here, 1)).tolist())


def _mean(tree: Tree, n_classes: int, weights: tuple[float, ...] | None, nodes: Wide) -> Float:
    if n_classes:
        shares = node_shares(tree, n_classes, weights, nodes)
        return shares[:, 1:] if n_classes == 2 else shares
    value = np.zeros(len(nodes)) if tree.value is None else tree.value[nodes]
    return value[:, None]


def _tells(tree: Tree, nodes: Wide) -> Flag:
    if tree.counts is not None:
        # A leaf of nobody stands for one that was taken out: it says what is above it.
        somebody = True if tree.n_records is None else tree.n_records[nodes] > 0
        return np.asarray(any_of_row(tree.counts[nodes] > 0) & somebody)
    return np.full(len(nodes), tree.label is not None or tree.value is not None)
