"""Class counts that the first round of boosting gives away.

How they follow, and when that is believed, is in `treeaudit.readers.first_round`; here are the
models of scikit-learn, with how their trees were boosted.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from treeaudit.arrays import Array
from treeaudit.model.source import Extra
from treeaudit.readers.first_round import SINGLE, Step, people_of_class
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.residual.targets import Leaves, has_numbers, is_one_of, leaves_of
from treeaudit.readers.walk import Place

_LARGEST = 1e300
_LOGISTIC = frozenset(
    {"log_loss", "deviance", "binary_crossentropy", "categorical_crossentropy", "auto"}
)
_EXPONENTIAL = frozenset({"exponential"})


def first_round(place: Place) -> Iterator[Extra]:
    """Yield the class counts that the first round of a boosted classifier gives away."""
    model = place.value
    steps = steps_of(model) if isinstance(model, Inert) else None
    if not isinstance(model, Inert) or steps is None:
        return
    name, people, leaves = "estimators_" if _first(model) else "_predictors", 0, 0
    for step, found in zip(steps, _leaves(model), strict=True):
        if found is None or found.value.shape[1] != 1:
            return
        if people_of_class(step, found.n, found.value[:, 0]) is None:
            return
        people, leaves = max(people, int(found.n.sum())), leaves + len(found.n)
    says = f"the {leaves:,} leaves of the first round give the exact number of people of each "
    says += f"class, {people:,} people in all"
    where = place.at(f"{name}[0]")
    yield Extra(kind="first-round-counts", where=where, n=people, says=says)


def open_round(place: Place) -> bool:
    """Tell whether it is open if the leaf values of a first round give labels away."""
    model = place.value
    if not isinstance(model, Inert) or model.get("loss") is None or model.get("classes_") is None:
        return False
    leaves = _leaves(model)
    if not leaves or steps_of(model) is None:
        return bool(leaves)
    share = model.get("subsample")
    if isinstance(share, float) and share < 1 and not any(one and one.n.any() for one in leaves):
        # Steps of samples of unknown size: they are shares, and exact for no people.
        return False
    return any(one is None or not one.n.all() for one in leaves)


def _leaves(model: Inert) -> list[Leaves | None]:
    trees = _first(model)
    return [leaves_of(tree) for tree in trees] if trees else list(_node_tables(model))


def steps_of(model: Inert) -> list[Step] | None:
    """Return what the trees of the first round are, in their order; None where it is not told."""
    if is_one_of(model, "loss", _EXPONENTIAL):
        return _exponential(model)
    if not is_one_of(model, "loss", _LOGISTIC):
        return None
    return _gradient_boosting(model) or _histogram_boosting(model)


def _first(model: Inert) -> list[object]:
    rounds = arrived(model.get("estimators_"))
    if not isinstance(rounds, np.ndarray) or rounds.ndim != 2 or not rounds.size:
        return []
    return [arrived(tree) for tree in rounds[0]]


def _gradient_boosting(model: Inert) -> list[Step] | None:
    k = len(_first(model))
    shares = _shares(arrived(model.get("init_")), k) if k else None
    if shares is None:
        return None
    learnt = model.get("subsample") == 1 and model.get("init_") != "zero"
    rate = 1.0 if k == 1 else (k - 1) / k
    return [Step(p=p, curvature=p * (1 - p), rate=rate, learnt=learnt) for p in shares]


def _exponential(model: Inert) -> list[Step] | None:
    """Return the steps of two classes where each person weighs e to the minus of their score."""
    steps = _gradient_boosting(model)
    if steps is None or len(steps) != 1 or not 0 < steps[0].p < 1:
        return None
    return [replace(steps[0], odds=steps[0].p / (1 - steps[0].p))]


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


def _as_float(number: object) -> float | None:
    """Return a number; None if it is none, or larger than any."""
    known = isinstance(number, int | float) and abs(number) <= _LARGEST
    return float(number) if known else None  # type: ignore[arg-type]


def _finite(array: Array) -> bool:
    return array.dtype.kind == "f" and bool(np.isfinite(array).all())


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if abs(x) < 500 else float(x > 0)


def _histogram_boosting(model: Inert) -> list[Step] | None:
    k, start = len(_predictors(model)), arrived(model.get("_baseline_prediction"))
    rate, shrink = _as_float(model.get("learning_rate")), _as_float(model.get("l2_regularization"))
    if not rate or shrink is None:
        return None
    begin = np.ravel(np.asarray(start)) if isinstance(start, np.ndarray | float) else np.empty(0)
    if len(begin) != k or not k or not _finite(begin):
        return None
    raised = np.exp(begin - begin.max())
    shares = [_sigmoid(float(begin[0]))] if k == 1 else (raised / raised.sum()).tolist()
    # Derivatives are stored as 32-bit numbers.
    return [
        Step(p=p, curvature=p * (1 - p), rate=rate, penalty=shrink, rounding=SINGLE) for p in shares
    ]


def _predictors(model: Inert) -> list[object] | tuple[object, ...]:
    rounds = arrived(model.get("_predictors"))
    first = rounds[0] if isinstance(rounds, list) and rounds else []
    return first if isinstance(first, list | tuple) else []


def _node_tables(model: Inert) -> Iterator[Leaves | None]:
    """Yield the leaves of the first trees of histogram boosting."""
    for tree in _predictors(model):
        nodes = arrived(tree.get("nodes")) if isinstance(tree, Inert) else None
        names = ("value", "count")
        if not isinstance(nodes, np.ndarray) or not has_numbers(nodes, names):
            yield None
            continue
        kind = nodes.dtype["is_leaf"].kind if "is_leaf" in (nodes.dtype.names or ()) else ""
        if not kind or kind not in "biu":
            yield None
            continue
        leaf = nodes["is_leaf"] != 0
        value, n = (nodes[name][leaf].astype(np.float64) for name in names)
        yield Leaves(n=n, weight=n, impurity=np.full(len(n), np.nan), value=value[:, None])
