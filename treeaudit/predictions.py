"""What a forest answers, and how often that is right.

Only for models whose answer is the mean over their trees: single trees, random
forests, extra trees, bagged trees and the private ones of treeaudit. What
boosting adds up is not held in the trees alone.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.errors import DataError
from treeaudit.records import Records
from treeaudit.stats import Estimate, wilson
from treeaudit.tree import Forest, Tree

__all__ = ["Utility", "averages", "class_shares", "utility"]

Float = npt.NDArray[np.float64]
Flag = npt.NDArray[np.bool_]

_MEAN = (
    "DecisionTreeClassifier",
    "ExtraTreeClassifier",
    "RandomForestClassifier",
    "ExtraTreesClassifier",
    "BaggingClassifier",
    "Tree",
)


_CONFIDENT = ("DPDFClassifier",)
"""Each tree votes for its largest class alone, with the share of that class as weight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Utility:
    """How useful a model is to people who were not in its training data.

    Attributes
    ----------
    accuracy
        Share of the answered records whose label is right.
    coverage
        Share of the records that get an answer at all.
    right_of_all
        Share of all records that are answered rightly: an unanswered record
        counts as wrong.
    auc
        Area under the ROC curve of the answered records, for two classes.
    """

    accuracy: Estimate
    coverage: Estimate
    right_of_all: Estimate
    auc: float | None


def averages(forest: Forest) -> bool:
    """Tell whether the answer of a model is the mean over its trees."""
    return (
        forest.schema.classes is not None
        and forest.tree_classes is None
        and (forest.source.estimator in _MEAN or forest.source.library == "treeaudit")
        and forest.counts_are != "absent"
    )


def class_shares(forest: Forest, records: Records) -> tuple[Float, Flag]:
    """Return how likely a model calls each class for each record.

    Parameters
    ----------
    forest
        A model that `averages`.
    records
        Routed through it.

    Returns
    -------
    tuple of numpy.ndarray
        Shares of shape ``(n_records, n_classes)``, and of shape
        ``(n_records,)`` whether the record is answered: a record that every
        tree leaves at an inner node is not.

    Raises
    ------
    DataError
        If the answer of the model is not the mean over its trees.
    """
    if not averages(forest):
        raise DataError(
            f"a {forest.source.estimator} does not answer with the mean over its trees: "
            "treeaudit cannot tell from the file what it predicts"
        )
    n_classes = len(forest.schema.classes or ())
    total = np.zeros((len(records), n_classes))
    answers = np.zeros(len(records))
    for i, tree in enumerate(forest.trees):
        weights = None if forest.class_weights is None else forest.class_weights[i]
        shares = _shares(tree, n_classes, weights)
        if forest.source.estimator in _CONFIDENT:
            shares = np.where(shares == shares.max(axis=1, keepdims=True), shares, 0.0)
        node = records.node[:, i]
        # Private models answer everywhere; in others a missing child is a missing answer.
        answered = tree.is_leaf[node] | (forest.source.library == "treeaudit")
        total[answered] += shares[node[answered]]
        answers += answered
    sums = total.sum(axis=1, keepdims=True)
    return total / np.where(sums > 0, sums, 1.0), answers > 0


def _shares(tree: Tree, n_classes: int, weights: tuple[float, ...] | None) -> Float:
    if tree.counts is None:
        shares = np.zeros((tree.n_nodes, n_classes))
        if tree.label is not None:
            shares[np.arange(tree.n_nodes), tree.label] = 1
        return shares
    counts = np.maximum(tree.counts, 0)
    counts = counts if weights is None else counts * np.array(weights)
    total = counts.sum(axis=1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1), 1 / n_classes)


def utility(forest: Forest, records: Records) -> Utility:
    """Return how useful a model is to the records, which have labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from treeaudit import load
    >>> from treeaudit.records import read_records
    >>> x, y = load_iris(return_X_y=True)
    >>> forest = load(DecisionTreeClassifier(max_depth=1).fit(x, y))
    >>> found = utility(forest, read_records((x, y), forest))
    >>> round(found.accuracy.value, 3), found.coverage.value
    (0.667, 1.0)
    """
    if records.labels is None:
        raise DataError(f"{records.origin} has no labels to compare the answers with")
    shares, answered = class_shares(forest, records)
    n = int(answered.sum())
    right = int((shares.argmax(axis=1) == records.labels)[answered].sum())
    return Utility(
        accuracy=wilson(right, n) if n else Estimate(value=0.0, low=0.0, high=1.0, n=0),
        coverage=wilson(n, len(records)),
        right_of_all=wilson(right, len(records)),
        auc=_auc(shares[answered], records.labels[answered]),
    )


def _auc(shares: Float, labels: npt.NDArray[np.int32]) -> float | None:
    from scipy.stats import rankdata

    if shares.shape[1] != 2:
        return None
    first, second = int((labels == 0).sum()), int((labels == 1).sum())
    if not first or not second:
        return None
    ranks = rankdata(shares[:, 1])[labels == 1].sum()
    return float((ranks - second * (second + 1) / 2) / (first * second))
