"""Training values that follow from the numbers in the nodes of a tree.

A regression leaf stores the mean of its targets and their variance. One person:
the mean is the target. Two people: the targets are ``mean ± sqrt(variance)``.
No variance: everybody has the mean.

The first round of boosting starts from one number, the share ``p`` of a class
in the training data. Its leaves are Newton steps: with ``n`` people of whom
``c`` are of the class, the gradient sums to ``c - n p`` and the hessian to
``n p (1 - p)``, so that ``c = n p + step * n p (1 - p)``. It is believed only
where it gives whole numbers in every leaf.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treeaudit.readers.arrays import arrived
from treeaudit.readers.inert import Inert
from treeaudit.readers.walk import Place
from treeaudit.tree import Leftover

__all__ = ["first_round", "targets"]

Float = npt.NDArray[np.float64]

_SQUARED = frozenset({"squared_error", "mse", "friedman_mse", "ls"})
_LOGISTIC = frozenset(
    {"log_loss", "deviance", "binary_crossentropy", "categorical_crossentropy", "auto"}
)
# Attributes of models whose trees are trained on something else than the target.
_OTHER_TARGETS = ("init_", "offset_", "one_hot_encoder_", "_baseline_prediction")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Leaves:
    """The leaves of one stored tree: people, weight, variance, mean per output."""

    n: Float
    weight: Float
    impurity: Float
    value: Float


def targets(places: Sequence[Place]) -> Iterator[Leftover]:
    """Yield what regression trees tell about single targets, a line per model.

    Parameters
    ----------
    places
        Every object of the file that has a ``tree_``.
    """
    groups: dict[str, list[tuple[int, int]]] = {}
    for place in places:
        tree = place.value
        if isinstance(tree, Inert) and _knows_targets(place, tree):
            exact, pairs = _known_targets(tree, _drawn_rows(place))
            if exact or pairs:
                groups.setdefault(_family(place), []).append((exact, pairs))
    for where, found in groups.items():
        yield _targets(where, found)
    for place in places:
        yield from _first_targets(place)


def _targets(where: str, found: list[tuple[int, int]]) -> Leftover:
    exact = sum(one for one, _ in found)
    pairs = sum(two for _, two in found)
    said = []
    if exact:
        said.append(f"the target of {exact:,} people is the value of their leaf")
    if pairs:
        leaf = (
            "1 leaf of two people gives" if pairs == 1 else f"{pairs:,} leaves of two people give"
        )
        said.append(f"{leaf} both targets as mean ± square root of the impurity")
    if len(found) > 1:
        said.append(f"over {len(found):,} trees, a person counted once in each")
    return Leftover(kind="targets", where=where, n=exact + 2 * pairs, says="; ".join(said))


def _family(place: Place) -> str:
    """Name the tree, or all trees of its list at once."""
    if place.step.startswith("[") and place.above is not None:
        return place.above.at("[*]") + ".tree_"
    return place.at("tree_")


def _knows_targets(place: Place, tree: Inert) -> bool:
    if tree.get("classes_") is not None or tree.get("monotonic_cst") is not None:
        return False
    for owner in place.owners():
        known = (
            owner.cls.module.partition(".")[0] == "sklearn" or owner.get("bootstrap") is not None
        )
        if not known or any(owner.get(name) is not None for name in _OTHER_TARGETS):
            return False
    return True


def _drawn_rows(place: Place) -> bool:
    """Whether a person can be in the training rows twice (AdaBoost draws them)."""
    return any(owner.get("estimator_weights_") is not None for owner in place.owners())


def _known_targets(tree: Inert, drawn: bool) -> tuple[int, int]:
    """Return people whose target is the value of their leaf, and leaves that give two."""
    leaves = _leaves(tree)
    if leaves is None:
        return 0, 0
    alone = leaves.n == 1
    if leaves.value.shape[1] > 1 or drawn or not _is_one_of(tree, "criterion", _SQUARED):
        return int(np.count_nonzero(alone)), 0
    mean = leaves.value[:, 0]
    # What rounding leaves of a variance of zero grows with the square of the mean.
    same = (leaves.impurity <= 1e-14 * mean**2) & (leaves.n > 1)
    pairs = (leaves.n == 2) & (leaves.weight == 2) & ~same & np.isfinite(leaves.impurity)
    exact = int(leaves.n[alone | same].sum())
    return exact, int(np.count_nonzero(pairs))


def _is_one_of(model: Inert, name: str, words: frozenset[str]) -> bool:
    value = model.get(name)
    return isinstance(value, str) and value in words


def _leaves(tree: object) -> _Leaves | None:
    """Return the leaves of a fitted tree, or None where they cannot be made out."""
    record = arrived(tree.get("tree_")) if isinstance(tree, Inert) else None
    if not isinstance(record, Inert):
        return None
    nodes, values = arrived(record.get("nodes")), arrived(record.get("values"))
    count = record.get("node_count")
    needed = ("left_child", "n_node_samples", "weighted_n_node_samples", "impurity")
    if not isinstance(nodes, np.ndarray) or not isinstance(values, np.ndarray):
        return None
    if not _has_numbers(nodes, needed) or values.ndim != 3 or values.dtype.kind != "f":
        return None
    if not isinstance(count, int) or not 0 < count <= min(len(nodes), len(values)):
        return None
    leaf = np.flatnonzero(nodes["left_child"][:count] < 0)
    n, weight, impurity = (nodes[name][leaf].astype(np.float64) for name in needed[1:])
    usable = (n > 0) & (n < 1 << 53) & np.isfinite(values[leaf]).all(axis=(1, 2))
    value = values[leaf][usable].astype(np.float64)
    if not value.size:
        return None
    value = value.reshape(len(value), -1)
    return _Leaves(n=n[usable], weight=weight[usable], impurity=impurity[usable], value=value)


def _has_numbers(nodes: npt.NDArray[np.void], names: Sequence[str]) -> bool:
    stored = nodes.dtype.names or ()
    return nodes.ndim == 1 and all(
        name in stored and nodes.dtype[name].kind in "iuf" for name in names
    )


def _first_targets(place: Place) -> Iterator[Leftover]:
    """Yield targets from the first tree of boosted regression, which starts from the mean."""
    model = next(place.owners(), None)
    if model is None or place.step != "[0, 0]" or model.get("init_") is None:
        return
    if not _is_one_of(model, "loss", _SQUARED) or not isinstance(place.value, Inert):
        return
    start = arrived(model.get("init_"))
    if not isinstance(start, Inert) or start.kind not in ("DummyRegressor", "MeanEstimator"):
        return
    exact, pairs = _known_targets(place.value, drawn=False)
    if exact or pairs:
        yield _targets(place.at("tree_"), [(exact, pairs)])


def first_round(place: Place) -> Iterator[Leftover]:
    """Yield the class counts that the first round of a boosted classifier gives away."""
    model = place.value
    if not isinstance(model, Inert) or not _is_one_of(model, "loss", _LOGISTIC):
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
        found = _leaves(tree)
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


def _finite(array: npt.NDArray[np.generic]) -> bool:
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
        if not isinstance(nodes, np.ndarray) or not _has_numbers(nodes, ("value", "count")):
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
