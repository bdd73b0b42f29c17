"""How often the answers of a model are right: those of `treeaudit.people.predict.predictions`."""

from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Float, Int
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.words import an
from treeaudit.people.predict.predictions import class_shares
from treeaudit.people.records import Records
from treeaudit.people.units import changed_target
from treeaudit.stats import Estimate, wilson

__all__ = ["Utility", "explained", "utility"]


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


def utility(forest: Forest, records: Records) -> Utility:
    """Return how useful a model is to the records, which have labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from treeaudit import load
    >>> from treeaudit.people.records import read_records
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


def explained(forest: Forest, records: Records) -> Estimate:
    """Return R² of the numbers that a model answers, with its 95 % interval (delta method).

    Raises
    ------
    DataError
        If the records tell no numbers, all are the same, or the trees alone do not tell what the
        model answers.
    """
    if records.targets is None:
        raise DataError(f"{records.origin} has no numbers to compare the answers with")
    if changed_target(forest):
        raise DataError(
            "the numbers in the leaves are in units of the changed target: treeaudit cannot tell "
            "from the file what the model predicts"
        )
    values = [tree.value for tree in forest.trees]
    if forest.answers != "mean" or any(one is None for one in values):
        raise DataError(
            f"{an(forest.source.estimator)} does not answer with the mean over its trees: "
            "treeaudit cannot tell from the file what it predicts"
        )
    said = np.mean([v[records.node[:, i]] for i, v in enumerate(values) if v is not None], axis=0)
    missed, spread = (said - records.targets) ** 2, (records.targets - records.targets.mean()) ** 2
    n, whole = len(records), float(spread.mean())
    if not whole:
        raise DataError(f"{records.origin} has one number only: there is nothing to predict")
    ratio = float(missed.mean()) / whole
    error = 1.96 * float(np.sqrt(np.mean((missed - ratio * spread) ** 2) / n)) / whole
    return Estimate(value=1 - ratio, low=1 - ratio - error, high=min(1.0, 1 - ratio + error), n=n)


def _auc(shares: Float, labels: Int) -> float | None:
    from scipy.stats import rankdata

    if shares.shape[1] != 2:
        return None
    first, second = int((labels == 0).sum()), int((labels == 1).sum())
    if not first or not second:
        return None
    ranks = rankdata(shares[:, 1])[labels == 1].sum()
    return float((ranks - second * (second + 1) / 2) / (first * second))
