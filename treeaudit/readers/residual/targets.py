"""Training values that follow from the numbers in the nodes of a tree.

A regression leaf stores the mean of its targets and their variance, or their median and
how far they are from it. One person: that is the target. Two people: the targets are
``mean ± sqrt(variance)``. No variance, or hardly any beside that of everybody: everybody has
the mean. Where rows weigh differently, neither is of people.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from treeaudit.model.extras import Extra
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.residual.leaves import (
    ABSOLUTE,
    POISSON,
    SQUARED,
    Leaves,
    are_draws,
    are_equal,
    is_one_of,
    leaves_of,
    spread_of,
)
from treeaudit.readers.types import Float
from treeaudit.readers.walk import Place

_AGREE = 0.001
"""Targets agree whose standard deviation is this share of that of everybody."""
# Attributes of models whose trees are trained on something else than the target.
_OTHER_TARGETS = ("init_", "offset_", "one_hot_encoder_", "_baseline_prediction")


def targets(places: Sequence[Place]) -> tuple[list[Extra], bool]:
    """Return what regression trees tell about single targets, a line per model.

    Returns
    -------
    list of Extra, bool
        What they tell; and whether one has numbers in its leaves, but not how many people they
        are of. Those of single people may still be there: no more is known than that.
    """
    groups: dict[str, list[tuple[int, int]]] = {}
    untold = False
    for place in places:
        tree = place.value
        if isinstance(tree, Inert) and _knows_targets(place, tree):
            leaves = leaves_of(tree)
            untold |= leaves is None
            exact, pairs = _known_targets(tree, leaves, _how_drawn(place))
            if exact or pairs:
                groups.setdefault(_family(place), []).append((exact, pairs))
    found = [_targets(where, numbers) for where, numbers in groups.items()]
    return found + [one for place in places for one in _first_targets(place)], untold


def _targets(where: str, found: list[tuple[int, int]]) -> Extra:
    exact = sum(one for one, _ in found)
    pairs = sum(two for _, two in found)
    said = []
    if exact:
        said.append(f"the target of {exact:,} people is the value of their leaf")
    if pairs:
        leaf = (
            "1 leaf of two people gives" if pairs == 1 else f"{pairs:,} leaves of two people give"
        )
        said.append(f"{leaf} both targets by its value and its impurity")
    if len(found) > 1:
        said.append(f"over {len(found):,} trees, a person counted once in each")
    return Extra(kind="targets", where=where, n=exact + 2 * pairs, says="; ".join(said))


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


def _how_drawn(place: Place) -> Literal["rows", "weights"] | None:
    """Tell whether a person can be in the training rows twice, or weigh more (AdaBoost, bags)."""
    owners = list(place.owners())
    if any(owner.get("estimator_weights_") is not None for owner in owners):
        return "rows"
    return "weights" if any(owner.get("bootstrap") is True for owner in owners) else None


def _known_targets(
    tree: Inert, leaves: Leaves | None, drawn: Literal["rows", "weights"] | None = None
) -> tuple[int, int]:
    """Return people whose target is the value of their leaf, and leaves that give two."""
    if leaves is None:
        return 0, 0
    alone = leaves.n == 1
    square = _mean_squares(tree, leaves)
    if leaves.value.shape[1] > 1 or drawn == "rows" or square is None:
        return int(np.count_nonzero(alone)), 0
    mean = leaves.value[:, 0]
    people = np.array_equal(leaves.weight, leaves.n)
    if not people and drawn == "weights":
        people = are_draws(leaves.n, leaves.weight, leaves.n.sum(), leaves.weight.sum())
    same = are_equal(leaves.n, leaves.weight, mean, square) & (leaves.n > 1)
    if people:
        same |= (square <= _AGREE**2 * spread_of(replace(leaves, impurity=square))) & (leaves.n > 2)
    elif not is_one_of(tree, "criterion", SQUARED):
        same[:] = False
    pairs = (leaves.n == 2) & (leaves.weight == 2) & ~same & np.isfinite(square) & people
    exact = int(leaves.n[alone | same].sum())
    return exact, int(np.count_nonzero(pairs))


def _mean_squares(tree: Inert, leaves: Leaves) -> Float | None:
    """Return no less than the mean square of targets about their leaf; None where untold."""
    if is_one_of(tree, "criterion", SQUARED):
        return leaves.impurity
    # What is off on average may all be off in one of them.
    if is_one_of(tree, "criterion", ABSOLUTE):
        return leaves.impurity**2 * leaves.n
    if is_one_of(tree, "criterion", POISSON):
        # Half a deviance bounds the mean absolute deviation (Pinsker).
        return 2 * np.maximum(leaves.value[:, 0], 0.0) * leaves.impurity * leaves.n
    return None


def _first_targets(place: Place) -> Iterator[Extra]:
    """Yield targets from the first tree of boosted regression, which starts from the mean."""
    model = next(place.owners(), None)
    if model is None or place.step != "[0, 0]" or model.get("init_") is None:
        return
    if not is_one_of(model, "loss", SQUARED) or not isinstance(place.value, Inert):
        return
    start = arrived(model.get("init_"))
    if not isinstance(start, Inert) or start.kind not in ("DummyRegressor", "MeanEstimator"):
        return
    exact, pairs = _known_targets(place.value, leaves_of(place.value))
    if exact or pairs:
        yield _targets(place.at("tree_"), [(exact, pairs)])
