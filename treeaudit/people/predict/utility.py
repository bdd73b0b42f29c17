"""How useful a model is to people: how often it is right, and how well it ranks them."""

from dataclasses import dataclass

import numpy as np

from treeaudit.arrays import Float, Int
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.people.predict.predictions import answered_numbers, answered_shares
from treeaudit.people.records import Records
from treeaudit.stats import Estimate, wilson


@dataclass(frozen=True, slots=True, kw_only=True)
class Utility:
    """How useful a model is to people who were not in its training data."""

    accuracy: Estimate  # Share of the answered records whose label is right
    coverage: Estimate  # Share of the records that get an answer at all
    # Share of all records that are answered rightly: an unanswered record counts as wrong
    right_of_all: Estimate
    auc: float | None  # Area under the ROC curve of the answered records


def utility(forest: Forest, records: Records, train: Records | None = None) -> Utility:
    """Return how useful a model is to the records, which have labels.

    ``train``: its training people, who tell where some boostings start.
    """
    if records.labels is None:
        raise DataError(f"{records.origin} has no labels to compare the answers with")
    shares, answered = answered_shares(forest, records.node, train)
    n = int(answered.sum())
    right = int((shares.argmax(axis=1) == records.labels)[answered].sum())
    return Utility(
        accuracy=wilson(right, n) if n else Estimate(value=0.0, low=0.0, high=1.0, n=0),
        coverage=wilson(n, len(records)),
        right_of_all=wilson(right, len(records)),
        auc=_auc(shares[answered], records.labels[answered]),
    )


def explained(forest: Forest, records: Records, train: Records | None = None) -> Estimate:
    """Return R² of the numbers that a model answers, with its 95 % interval (delta method)."""
    if records.targets is None:
        raise DataError(f"{records.origin} has no numbers to compare the answers with")
    said = answered_numbers(forest, records.node, train)
    missed, spread = (said - records.targets) ** 2, (records.targets - records.targets.mean()) ** 2
    n, whole = len(records), float(spread.mean())
    if not whole:
        raise DataError(f"{records.origin} has one number only: there is nothing to predict")
    ratio = float(missed.mean()) / whole
    error = 1.96 * float(np.sqrt(np.mean((missed - ratio * spread) ** 2) / n)) / whole
    return Estimate(value=1 - ratio, low=1 - ratio - error, high=min(1.0, 1 - ratio + error), n=n)


def _auc(shares: Float, labels: Int) -> float | None:
    from scipy.stats import rankdata

    n_classes, each = shares.shape[1], []
    # Of several classes the mean over those with people in them, each against all others.
    for one in [1] if n_classes == 2 else range(n_classes):
        mine = labels == one
        n, others = int(mine.sum()), int((~mine).sum())
        if n and others:
            ranks = rankdata(shares[:, one])[mine].sum()
            each.append(float((ranks - n * (n + 1) / 2) / (n * others)))
    return sum(each) / len(each) if each else None
