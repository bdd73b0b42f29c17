"""What a forest answers, and how often that is right.

Only for models whose classes follow from their trees alone (`treeaudit.model.forest.Answers`):
single trees, random forests, extra trees, bagged trees and the private ones of treeaudit. Of a
boosting, what its steps add up to: every tree moves the score of one class (the second of two, or
one of several in turn) or the number that is predicted; where scores begin is not in the trees.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Index, Int, Wide, occupied_nodes, sum_of_row
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.routing import in_chunks, router_of
from treeaudit.model.tree import Tree
from treeaudit.model.words import an
from treeaudit.people.checks.leaf_values import changed_target
from treeaudit.people.records import Records

_NEVER = 2.0**-52
"""What a share counts at least where shares are multiplied."""


def averages(forest: Forest) -> bool:
    """Tell whether the trees alone tell which classes a model answers."""
    weighted = forest.answers == "weighted" and forest.tree_weights is not None
    return (
        (weighted or forest.answers in ("mean", "vote", "confidence", "product"))
        and forest.schema.classes is not None
        and forest.counts_are != "absent"
    )


def class_shares(
    forest: Forest, records: Records | npt.NDArray[np.integer[Any]]
) -> tuple[Float, Flag]:
    """Return how likely a model calls each class for each record.

    ``forest``: a model that `averages`. ``records``: routed through it; or the node in which each
    ends in each tree, of shape ``(n_records, n_trees)``.

    Returns shares of shape ``(n_records, n_classes)``, and of shape ``(n_records,)`` whether the
    record is answered: a record that every tree leaves at an inner node is not.
    """
    node = records.node if isinstance(records, Records) else records
    answers = Answers(forest, len(node))
    for i, tree in enumerate(forest.trees):
        answers.add(i, tree, *occupied_nodes(node[:, i], tree.n_nodes))
    return answers.shares()


class Answers:
    """The `class_shares` of records, where somebody else goes through the trees."""

    def __init__(self, forest: Forest, n_records: int) -> None:
        if not averages(forest):
            raise _no_answer(forest)
        self._forest = forest
        self._total = np.zeros((n_records, len(forest.schema.classes or ())))
        self._answers = np.zeros(n_records)

    def add(self, i: int, tree: Tree, held: Wide, place: Index) -> None:
        """Add what a tree says, each node of `occupied_nodes` once, in their order."""
        answered = tree.is_leaf[held].take(place)
        said = said_by_nodes(self._forest, tree, i, held).take(place, axis=0)
        self._total += said if answered.all() else said * answered[:, None]
        self._answers += answered

    def shares(self) -> tuple[Float, Flag]:
        """Return what `class_shares` does, once every tree was added."""
        return _normal(self._total, self._forest), self._answers > 0


def _normal(total: Float, forest: Forest) -> Float:
    if forest.answers == "product":
        total = np.exp(total - total.max(axis=1, keepdims=True))
    sums = total.sum(axis=1, keepdims=True)
    shares: Float = total / np.where(sums > 0, sums, 1.0)
    if forest.answers != "weighted":
        return shares
    n = shares.shape[1]
    raised = np.exp(shares * n / max(n - 1, 1) ** 2)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def predict_shares(forest: Forest, values: Float, n_jobs: int | None = None) -> Float:
    """Return the `class_shares` of records that are not routed yet, part by part.

    Values are of shape ``(n_records, n_features)``; categories as codes, missing as NaN.
    """
    said = [said_by_nodes(forest, tree, i) for i, tree in enumerate(forest.trees)]
    return _normal(_summed(forest, values, said, n_jobs), forest)


def predict_numbers(forest: Forest, values: Float, n_jobs: int | None = None) -> Float:
    """Return the mean over the trees of the values of the leaves, shape ``(n_records,)``."""
    said = [np.zeros((t.n_nodes, 1)) if t.value is None else t.value[:, None] for t in forest.trees]
    most = max(float(np.fmax.reduce(np.abs(each), axis=None)) for each in said)
    if not most > np.finfo(np.float64).max / len(said):
        mean: Float = _summed(forest, values, said, n_jobs)[:, 0] / len(said)
        return mean
    # Their sum would be infinite, and so may that of parts be, by rounding.
    with np.errstate(over="ignore"):
        total = _summed(forest, values, [each / len(said) for each in said], n_jobs)
    return np.clip(total[:, 0], -most, most)


def _summed(forest: Forest, values: Float, said: list[Float], n_jobs: int | None) -> Float:
    """Add up what the leaves say, by tree of shape ``(n_nodes, n_answers)``, part by part."""
    router = router_of(forest.trees, forest.schema)
    # An inner node answers nothing.
    leaves = [each * tree.is_leaf[:, None] for each, tree in zip(said, forest.trees, strict=True)]
    total = np.zeros((len(values), leaves[0].shape[1]))

    def add_up(rows: slice) -> None:
        for each, ends in zip(leaves, router.ends(values[rows]).T, strict=True):
            total[rows] += each.take(ends, axis=0)

    in_chunks(add_up, len(values), n_jobs)
    return total


def said_by_nodes(forest: Forest, tree: Tree, i: int, nodes: Wide | slice = slice(None)) -> Float:
    """Return what some nodes of a tree add to the answer, shape ``(n_nodes, n_classes)``."""
    weights = None if forest.class_weights is None else forest.class_weights[i]
    shares = node_shares(tree, len(forest.schema.classes or ()), weights, nodes)
    if forest.answers == "weighted":
        weight = 1.0 if forest.tree_weights is None else forest.tree_weights[i]
        votes: Float = weight * np.eye(shares.shape[1])[shares.argmax(axis=1)]
        return votes
    if forest.answers == "product":
        return np.log(np.maximum(shares, _NEVER))
    if forest.answers == "mean" or tree.counts is None:
        return shares
    every, best = np.arange(len(shares)), shares.argmax(axis=1)
    said = np.zeros_like(shares)
    said[every, best] = 1.0 if forest.answers == "vote" else shares[every, best]
    return said


def node_shares(
    tree: Tree,
    n_classes: int,
    weights: tuple[float, ...] | None = None,
    nodes: Wide | slice = slice(None),
) -> Float:
    """Return the share of each class in some nodes, as far as the tree tells.

    Counts below zero are noise and count as zero; ``weights`` is what one person of each class
    weighs. A node that tells nothing holds all classes alike; one of nobody stands for what a
    repair took out, and answers what is above it.
    """
    if tree.counts is not None:
        counts = np.maximum(tree.counts[nodes], 0) * (1.0 if weights is None else np.array(weights))
        total = sum_of_row(counts)
        told = total > 0
        if not told.all() and not isinstance(nodes, slice):
            # What is above them may be none of those that are asked for.
            return node_shares(tree, n_classes, weights)[nodes]
        shares = counts / np.where(told, total, 1)[:, None]
        shares[~told] = 1 / n_classes
        return _answered(tree, shares, told)
    n_nodes = len(tree.parent[nodes])
    if tree.label is not None:
        alone: Float = np.eye(n_classes)[tree.label[nodes]]
        return alone
    return np.full((n_nodes, n_classes), 1 / n_classes)


def _answered(tree: Tree, shares: Float, told: Flag) -> Float:
    """Give nodes of nobody that tell nothing the shares of the nearest node above that does."""
    if told.all() or tree.n_records is None or not (gone := ~told & (tree.n_records == 0)).any():
        return shares
    source = np.where(gone & (tree.parent >= 0), tree.parent, np.arange(tree.n_nodes))
    while (source[source] != source).any():
        source = source[source]
    return shares[source]


def answered_shares(forest: Forest, node: Int, train: Records | None = None) -> tuple[Float, Flag]:
    """Return what `class_shares` does, of boostings as well.

    ``node``: shape ``(n_records, n_trees)``: where each ends. ``train``: the training people, who
    tell where some boostings start.

    Raises DataError where the file does not tell what the model answers.
    """
    scores = None if averages(forest) else _scores(forest, node, train)
    if scores is None:
        return class_shares(forest, node)
    shares = shares_of(scores)
    if shares.shape[1] == 1:
        shares = np.hstack([1 - shares, shares])
    return shares, np.ones(len(node), np.bool_)


def answered_numbers(forest: Forest, node: Int, train: Records | None = None) -> Float:
    """Return the numbers that a model answers, shape ``(n_records,)``; as `answered_shares`."""
    if changed_target(forest):
        raise DataError(
            "the numbers in the leaves are in units of the changed target: treeaudit cannot tell "
            "from the file what the model predicts"
        )
    values, scores = [tree.value for tree in forest.trees], _scores(forest, node, train)
    if scores is not None and scores.shape[1] == 1:
        return scores[:, 0]
    if forest.answers != "mean" or any(one is None for one in values):
        raise _no_answer(forest)
    said = [v[node[:, i]] for i, v in enumerate(values) if v is not None]
    return np.asarray(np.mean(said, axis=0))


def _no_answer(forest: Forest) -> DataError:
    anybody = np.arange(max(1, len(forest.schema.classes or ())), dtype=np.int32)
    if forest.answers == "sum" and start_of(forest, anybody) is not None:
        return DataError(
            "the file does not tell what this boosting starts from, and so not what it predicts; "
            "its training people do (--train)"
        )
    return DataError(
        f"{an(forest.source.estimator)} does not answer with the mean over its trees: treeaudit "
        "cannot tell from the file what it predicts"
    )


_LOGISTIC = ("binary:logistic", "binary:logitraw", "reg:logistic")
_SOFTMAX = ("multi:softprob", "multi:softmax")
_SQUARED = ("reg:squarederror", "reg:linear")
_ADDED_UP = ("squared_error", "ls", "least_squares", "regression", "regression_l2")
"""Losses of numbers by which steps add up to what is answered, and tell what numbers add up to."""


def column_of_each_tree(forest: Forest) -> Wide | None:
    """Return which score each tree moves, shape ``(n_trees,)``; None where that is not told."""
    n_classes = len(forest.schema.classes or ())
    stated = forest.source.parameters
    width = max(n_classes, 1) if n_classes != 2 or stated.get("n_outputs") == 2 else 1
    parallel = stated.get("num_parallel_tree", 1) != 1
    if forest.n_trees % width or parallel or len(forest.members) > 1:
        return None
    if forest.trees[0].value is None:
        return None
    return np.arange(forest.n_trees) % width


def start_of(forest: Forest, each: Float | Int | None) -> Float | None:
    """Return the scores before the first tree; None where neither file nor people tell them."""
    column, stated = column_of_each_tree(forest), forest.source.parameters
    if column is None or not adds_up(forest):
        return None
    none: Float = np.zeros(int(column.max()) + 1)
    match forest.source.library:
        case "LightGBM":
            return none
        case "XGBoost":
            base = np.ravel(stated.get("base_score", 0.5)).astype(np.float64)
            if stated.get("objective") in _LOGISTIC and 0 < base[0] < 1:
                return none + float(np.log(base[0] / (1 - base[0])))
            if stated.get("objective") in (*_SOFTMAX, *_SQUARED):
                return none + (base if len(base) in (1, len(none)) else 0.0)
        case "gbm":
            first = stated.get("initF")
            return None if first is None else none + first
        case "scikit-learn" if stated.get("init") == "zero":
            return none
        case "scikit-learn" if "init" in stated or "max_iter" in stated:
            return begins_with(forest, each) if stated.get("loss") != "exponential" else None
    return None


def adds_up(forest: Forest) -> bool:
    """Tell whether steps are of numbers themselves: not of their logarithm, nor medians."""
    if forest.schema.classes is not None or forest.source.library == "XGBoost":
        return True
    stated = forest.source.parameters
    loss = stated.get("loss", stated.get("objective"))
    return loss is None or str(loss).split(" ")[0] in _ADDED_UP


def begins_with(forest: Forest, each: Float | Int | None) -> Float | None:
    """Return the scores that answer everybody with what is most frequent, or the mean."""
    classes = forest.schema.classes
    if each is None:
        return None if forest.boosting is None else np.array(forest.boosting.start)
    if classes is None:
        return np.array([float(np.mean(each))])
    held = np.bincount(each.astype(np.intp), minlength=len(classes)) / len(each)
    if (held == 0).any():
        return None
    score: Float = np.log(held)
    return score if len(classes) > 2 else np.array([score[1] - score[0]])


def rate_apart(forest: Forest) -> float:
    """Return what the values of a tree are multiplied with before they are added."""
    rate = forest.source.parameters.get("learning_rate", 1.0)
    stated = forest.source.parameters
    # The values of histogram boosting hold it already.
    apart = forest.source.library == "scikit-learn" and "subsample" in stated
    apart = apart and "max_iter" not in stated
    return float(rate) if apart and isinstance(rate, int | float) else 1.0


def target_values(people: Records) -> Float | Int | None:
    """Return the number that is predicted, or the labels, of people; None where not told."""
    return people.labels if people.targets is None else people.targets


def scores_of(forest: Forest, people: Records, train: Records | None = None) -> Float | None:
    """Return the scores of training people, shape ``(n_people, n_columns)``; None if not told.

    ``train``: those who tell where steps begin, unless they are these.
    """
    each = target_values(people if train is None else train)
    return None if each is None else _added_up(forest, people.node, start_of(forest, each))


def _scores(forest: Forest, node: Int, train: Records | None) -> Float | None:
    """Return the scores of anybody, as far as the file or its training people tell the start."""
    if forest.answers != "sum":
        return None
    return _added_up(
        forest, node, start_of(forest, None if train is None else target_values(train))
    )


def _added_up(forest: Forest, node: Int, start: Float | None) -> Float | None:
    column = column_of_each_tree(forest)
    if start is None or column is None:
        return None
    total = np.tile(start, (len(node), 1))
    rate = rate_apart(forest)
    if forest.source.parameters.get("average_output") is True:
        rate = total.shape[1] / forest.n_trees
    for i, tree in enumerate(forest.trees):
        if tree.value is not None:
            total[:, column[i]] += rate * tree.value[node[:, i]]
    return total


def shares_of(scores: Float) -> Float:
    """Return the share of each score's class: of the second of two, or of each of several."""
    if scores.shape[1] == 1:
        return 1 / (1 + np.exp(-np.clip(scores, -700, 700)))
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Float = raised / raised.sum(axis=1, keepdims=True)
    return shares


def called(scores: Float) -> Int:
    """Return the label of the largest score, as a position."""
    return scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(np.intp)
