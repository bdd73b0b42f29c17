"""Class counts that the first round of boosting gives away.

The first round of boosting starts from one number, the share ``p`` of a class
in the training data. Its leaves are Newton steps: with ``n`` people of whom
``c`` are of the class, the gradient sums to ``c - n p`` and the hessian to
``n p (1 - p)``, so that ``c = n p + step * n p (1 - p)``. It is believed only
where it gives whole numbers in every leaf.
"""

import math
from collections.abc import Iterator

import numpy as np

from treeaudit.model.leftovers import Leftover
from treeaudit.readers.leftovers.leaves import has_numbers, is_one_of, leaves_of
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Inert
from treeaudit.readers.types import Array, Float
from treeaudit.readers.walk import Place

__all__ = ["first_round"]

_LOGISTIC = frozenset(
    {"log_loss", "deviance", "binary_crossentropy", "categorical_crossentropy", "auto"}
)


def first_round(place: Place) -> Iterator[Leftover]:
    """Yield the class counts that the first round of a boosted classifier gives away."""
    model = place.value
    if not isinstance(model, Inert) or not is_one_of(model, "loss", _LOGISTIC):
        return
    found = _gradient_boosting(model) or _histogram_boosting(model)
    if found is None:
        return
    where, people, leaves = found
    yield Leftover(
        kind="first-round-counts",
        where=place.at(where),
        n=people,
        says=f"the {leaves:,} leaves of the first round give the exact number of people of each "
        f"class, {people:,} people in all",
    )


def _gradient_boosting(model: Inert) -> tuple[str, int, int] | None:
    rounds, start = arrived(model.get("estimators_")), arrived(model.get("init_"))
    if not isinstance(rounds, np.ndarray) or rounds.ndim != 2 or not rounds.size:
        return None
    trees = [arrived(tree) for tree in rounds[0]]
    shares = _shares(start, len(trees))
    if shares is None:
        return None
    k = len(trees)
    scale = 1.0 if k == 1 else k / (k - 1)
    people = leaves = 0
    for tree, p in zip(trees, shares, strict=True):
        found = leaves_of(tree)
        if found is None or found.value.shape[1] != 1:
            return None
        spread = found.n * p * (1 - p)
        if not _are_counts(found.n * p + found.value[:, 0] * scale * spread, found.n, 1e-6):
            return None
        people, leaves = max(people, int(found.n.sum())), leaves + len(found.n)
    return "estimators_[0]", people, leaves


def _shares(start: object, n_trees: int) -> list[float] | None:
    """Return the class shares from which boosting started, for each tree of a round."""
    if isinstance(start, str):
        return [0.5] if start == "zero" and n_trees == 1 else None
    if not isinstance(start, Inert):
        return None
    prior = arrived(start.get("class_prior_"))
    if isinstance(prior, np.ndarray) and prior.ndim == 1 and _finite(prior):
        shares: list[float] = prior.tolist()
        shares = shares[1:] if n_trees == 1 and len(shares) == 2 else shares
        return shares if len(shares) == n_trees else None
    log_odds = start.get("prior")
    return [_sigmoid(log_odds)] if isinstance(log_odds, float) and n_trees == 1 else None


def _finite(array: Array) -> bool:
    return array.dtype.kind == "f" and bool(np.isfinite(array).all())


def _softmax(scores: Float) -> Float:
    raised = np.exp(scores - scores.max())
    shares: Float = raised / raised.sum()
    return shares


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if abs(x) < 500 else float(x > 0)


def _histogram_boosting(model: Inert) -> tuple[str, int, int] | None:
    rounds, start = arrived(model.get("_predictors")), arrived(model.get("_baseline_prediction"))
    rate, shrink = model.get("learning_rate"), model.get("l2_regularization")
    if not isinstance(rounds, list) or not rounds or not isinstance(rounds[0], list | tuple):
        return None
    if not isinstance(rate, int | float) or not rate or not isinstance(shrink, int | float):
        return None
    begin = np.ravel(np.asarray(start)) if isinstance(start, np.ndarray | float) else np.empty(0)
    k = len(rounds[0])
    if len(begin) != k or not k or not _finite(begin):
        return None
    shares = [_sigmoid(float(begin[0]))] if k == 1 else _softmax(begin).tolist()
    people = leaves = 0
    for tree, p in zip(rounds[0], shares, strict=True):
        nodes = arrived(tree.get("nodes")) if isinstance(tree, Inert) else None
        if not isinstance(nodes, np.ndarray) or not has_numbers(nodes, ("value", "count")):
            return None
        if "is_leaf" not in (nodes.dtype.names or ()) or nodes.dtype["is_leaf"].kind not in "biu":
            return None
        leaf = nodes["is_leaf"] != 0
        n, value = nodes["count"][leaf].astype(np.float64), nodes["value"][leaf].astype(np.float64)
        # Gradients are summed from 32-bit numbers.
        counts = n * p + value / rate * (n * p * (1 - p) + shrink)
        if not _are_counts(counts, n, 1e-4 + 1e-6 * float(n.max(initial=0))):
            return None
        people, leaves = max(people, int(n.sum())), leaves + len(n)
    return "_predictors[0]", people, leaves


def _are_counts(counts: Float, n: Float, slack: float) -> bool:
    """Whether every leaf has a whole number of people, between nobody and all."""
    if len(counts) < 2 or slack > 0.1 or not np.all(np.isfinite(counts)):
        return False
    whole = np.rint(counts)
    return bool(
        np.all(np.abs(counts - whole) <= slack) and np.all(whole >= 0) and np.all(whole <= n)
    )
