"""Node tables of scikit-learn, put together anew: nothing is carried over by accident.

The record type is taken from a tree that the installed scikit-learn has just
grown on made-up data, so that every version gets its own layout.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.defenses.tree_edits import averaged
from treeaudit.errors import UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.people.predict.predictions import node_shares

JSON = "write the version-free form instead (-o model.treeaudit.json)"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Splits:
    """Binary splits, one entry per inner node."""

    inner: Wide  # Node numbers
    # left, right: their children: ``x <= threshold`` goes left
    left: Wide
    right: Wide
    # feature, threshold, missing_left: the test, and whether missing values pass it
    feature: Wide
    threshold: Float
    missing_left: Flag


def splits_of(tree: Tree) -> Splits:
    """Return the binary splits of a tree."""
    start, child = tree.children()
    fan = np.diff(start)
    if np.any(fan == 1):
        raise UnsupportedModelError(
            "scikit-learn has no tree that leaves records unanswered: use --unanswered parent, or "
            + JSON
        )
    inner = np.flatnonzero(fan)
    sets = tree.categories is not None and len(tree.categories.codes) > 0
    if np.any(fan > 2) or sets:
        raise UnsupportedModelError(
            "scikit-learn has no tree that branches more than twice or by categories: " + JSON
        )
    first, second = child[start[inner]], child[start[inner] + 1]
    swapped = np.isfinite(tree.low[first]) | (tree.low[first] == np.inf)
    left = np.where(swapped, second, first).astype(np.int64)
    right = np.where(swapped, first, second).astype(np.int64)
    threshold = tree.high[left]
    fits = (tree.feature[left] == tree.feature[right]) & (threshold == tree.low[right])
    if not np.all(fits & (tree.low[left] == -np.inf) & (tree.high[right] == np.inf)):
        raise UnsupportedModelError(
            "a node of the tree is not one question with two answers, as scikit-learn has it: "
            + JSON
        )
    missing = np.zeros(len(inner), np.bool_) if tree.missing is None else tree.missing[left]
    return Splits(
        inner=inner,
        left=left,
        right=right,
        feature=tree.feature[left].astype(np.int64),
        threshold=threshold,
        missing_left=missing,
    )


_NEXT_TO_NOTHING = 1e-7


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """What the nodes of one tree answer."""

    people: Wide  # Shape ``(n_nodes,)``; 0 where the model does not tell
    weight: Float  # Shape ``(n_nodes,)``: weight of these people
    value: Float  # Shape ``(n_nodes, width)``: shares of the classes, or the number
    # Shape ``(n_nodes,)``: of the shares; NaN for numbers, whose spread would say more about people
    # than a prediction needs, and a spread of 0 that everybody in a leaf has its number.
    impurity: Float


def people_of(tree: Tree) -> Wide:
    """Return how many people are in each node, 0 where the tree does not tell."""
    return np.zeros(tree.n_nodes, np.int64) if tree.n_records is None else tree.n_records


def answers_of(tree: Tree, forest: Forest, index: int, criterion: object = None) -> Answers:
    """Return what the nodes of one tree of a forest answer.

    The ``criterion`` is that of the model unless told.
    """
    n, people = tree.n_nodes, people_of(tree)
    # A boosted tree answers with its value, whatever is known of the labels of its people.
    if tree.value is not None or (tree.counts is None and tree.label is None):
        if tree.value is None:
            raise UnsupportedModelError("the model holds no answers that could be written back")
        return Answers(
            people=people,
            weight=people.astype(np.float64),
            value=averaged(tree, tree.value, people.astype(np.float64))[:, None],
            impurity=np.full(n, np.nan),
        )
    per_person = None if forest.class_weights is None else forest.class_weights[index]
    shares = node_shares(tree, len(forest.schema.classes or ()), per_person)
    counts = shares if tree.counts is None else np.maximum(tree.counts, 0)
    total = counts.sum(axis=1) if per_person is None else (counts * per_person).sum(axis=1)
    told = forest.counts_are not in ("label-only", "absent") and (
        tree.n_records is not None or forest.counts_are == "noisy"
    )
    weight = total if told else np.zeros(n)
    # Whoever is answered by the node above is not counted once more.
    weight = np.where((people == 0) & (tree.n_records is not None), 0.0, weight)
    impurity = impurity_of(shares, criterion or forest.source.parameters.get("criterion"))
    return Answers(people=people, weight=weight, value=shares, impurity=impurity)


def impurity_of(shares: Float, criterion: object) -> Float:
    """Return the impurity of nodes by the shares of their classes, shape ``(n, n_classes)``."""
    if criterion not in ("entropy", "log_loss"):
        plain: Float = np.maximum(1 - (shares**2).sum(axis=1), 0)
        return plain
    terms = np.zeros_like(shares)
    np.log2(shares, out=terms, where=shares > 0)
    told: Float = np.maximum(-(shares * terms).sum(axis=1), 0)
    return told


def grown(example: Any, tree: Tree, answers: Answers, n_features: int) -> Any:  # noqa: ANN401
    """Return a tree of the type of ``example`` with the splits and answers given."""
    splits = splits_of(tree)
    state = example.__getstate__()
    nodes = np.zeros(tree.n_nodes, dtype=state["nodes"].dtype)
    nodes["left_child"], nodes["right_child"] = -1, -1
    nodes["feature"], nodes["threshold"] = -2, -2.0
    nodes["left_child"][splits.inner] = splits.left
    nodes["right_child"][splits.inner] = splits.right
    nodes["feature"][splits.inner] = splits.feature
    nodes["threshold"][splits.inner] = splits.threshold
    nodes["impurity"] = answers.impurity
    nodes["n_node_samples"] = answers.people
    nodes["weighted_n_node_samples"] = answers.weight
    if "missing_go_to_left" in (nodes.dtype.names or ()):
        nodes["missing_go_to_left"][splits.inner] = splits.missing_left
    value = answers.value
    if value.shape[1] > 1 and state["values"][0].sum() > 1.5:
        value = value * legacy_weight(answers)[:, None]
    made = type(example)(n_features, np.array([value.shape[1]], dtype=np.intp), 1)
    made.__setstate__(
        {
            "max_depth": int(tree.depths.max()),
            "node_count": tree.n_nodes,
            "nodes": nodes,
            "values": np.ascontiguousarray(value[:, None, :], dtype=np.float64),
        }
    )
    return made


def legacy_weight(answers: Answers) -> Float:
    """Turn shares into the weights that scikit-learn before 1.4 stores."""
    if not answers.weight.any():
        return np.ones(len(answers.weight))
    return np.where(answers.weight > 0, answers.weight, _NEXT_TO_NOTHING)


def predictor(example: Any, tree: Tree) -> Any:  # noqa: ANN401
    """Return one tree of a histogram boosting, of the type of ``example``."""
    if tree.value is None:
        raise UnsupportedModelError("the model holds no numbers to predict: " + JSON)
    splits = splits_of(tree)
    leaf = tree.is_leaf
    nodes = np.zeros(tree.n_nodes, dtype=example.nodes.dtype)
    nodes["value"] = np.where(leaf, tree.value, 0.0)
    nodes["count"] = 0 if tree.n_records is None else tree.n_records
    nodes["depth"] = tree.depths
    nodes["is_leaf"] = leaf
    nodes["feature_idx"][splits.inner] = splits.feature
    nodes["num_threshold"][splits.inner] = splits.threshold
    nodes["missing_go_to_left"][splits.inner] = splits.missing_left
    nodes["left"][splits.inner] = splits.left
    nodes["right"][splits.inner] = splits.right
    none = np.zeros((0, 8), dtype=np.uint32)
    return type(example)(nodes, none, none)


NOT_SIZED = (
    "an isolation forest answers by the people in its leaves, and a leaf has none: repair "
    f"it with --method merge-siblings, without --strip, or {JSON}"
)


def path_length(people: npt.ArrayLike) -> Float:
    """Return how deep a tree is expected to go on below a leaf of so many people.

    The mean length of an unsuccessful search in a binary search tree, as in Liu,
    Ting and Zhou (2008), Isolation Forest, equation 1.
    """
    n = np.asarray(people, dtype=np.float64)
    length = np.where(n == 2, 1.0, 0.0)
    many = n[n > 2]
    length[n > 2] = 2.0 * (np.log(many - 1.0) + np.euler_gamma) - 2.0 * (many - 1.0) / many
    return length


def is_sized(tree: Tree) -> bool:
    """Tell whether every leaf has people, and the tree says how many."""
    return tree.n_records is not None and bool(np.all(tree.n_records[tree.is_leaf] > 0))
