"""Training values that follow from the numbers in the nodes of a tree (TA202).

A regression leaf stores the mean of its targets and their variance, or their median and
how far they are from it. One person: that is the target. Two people: the targets are
``mean ± sqrt(variance)``, unless they have weights. Larger leaves of one number are known numbers
(TA109). A file may be damaged, so that every number is checked before it is used.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from treeaudit.arrays import Flag, Float, Table, Wide
from treeaudit.model.source import KINDS, Extra, Extras, Kind
from treeaudit.model.tree import Tree
from treeaudit.readers.pickle.arrays import arrived
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.residual.allow_list import library_of
from treeaudit.readers.walk import Place

SQUARED = frozenset({"squared_error", "mse", "friedman_mse", "ls"})
"""Losses by which the impurity of a node is the variance of its numbers."""
ABSOLUTE = frozenset({"absolute_error", "mae"})
"""Those by which it is their mean absolute deviation from the median."""
POISSON = frozenset({"poisson"})
"""Those by which it is half their mean deviance from the mean."""
_MOST_DRAWS = 3
"""Of a draw with replacement, draws per person; there are 1.6."""
_MOST_REPEATS = 10
"""By a mean weight above that a person of weight 1 may be lost to rounding."""
_ROUNDING = 1e-14
"""Of the square of a mean: what rounding leaves of a variance of zero."""
# Attributes of models whose trees are trained on something else than the target.
_OTHER_TARGETS = ("init_", "offset_", "one_hot_encoder_", "_baseline_prediction")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Leaves:
    """The leaves of one stored tree: people, their weight, the variance and mean of their targets.

    ``value`` has a column for each output.
    """

    n: Float
    weight: Float
    impurity: Float
    value: Float


def targets(places: Sequence[Place]) -> tuple[list[Extra], bool]:
    """Return what regression trees tell about single targets, a line per model.

    Also whether a tree has numbers in its leaves, but not how many people they are of: those of
    single people may still be there.
    """
    groups: dict[str, list[tuple[int, int]]] = {}
    unknown = False
    for place in places:
        tree = place.value
        if isinstance(tree, Inert) and _knows_targets(place, tree):
            leaves = leaves_of(tree)
            unknown |= leaves is None
            exact, pairs = _known_targets(tree, leaves, _how_drawn(place))
            if exact or pairs:
                groups.setdefault(_family(place), []).append((exact, pairs))
    found = [_targets(where, numbers) for where, numbers in groups.items()]
    return found + [one for place in places for one in _first_targets(place)], unknown


def _targets(where: str, found: list[tuple[int, int]]) -> Extra:
    # Trees share their people: those of the worst tree are different ones for certain.
    exact, pairs = max(found, key=lambda numbers: numbers[0] + 2 * numbers[1])
    says = []
    if exact:
        says.append(f"the target of {exact:,} people is the value of their leaf")
    if pairs:
        leaves = "1 leaf of two people gives"
        leaves = leaves if pairs == 1 else f"{pairs:,} leaves of two people give"
        says.append(f"{leaves} both targets by its value and its impurity")
    if len(found) > 1:
        says.append(f"in the worst of {len(found):,} trees")
    return Extra(kind="targets", where=where, n=exact + 2 * pairs, says="; ".join(says))


def _family(place: Place) -> str:
    """Name the tree, or all trees of its list at once."""
    if place.step.startswith("[") and place.above is not None:
        return place.above.at("[*]") + ".tree_"
    return place.at("tree_")


def _knows_targets(place: Place, tree: Inert) -> bool:
    if tree.get("classes_") is not None or tree.get("monotonic_cst") is not None:
        return False
    for owner in place.owners():
        known = library_of(owner) == "sklearn" or owner.get("bootstrap") is not None
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
    alone = int(np.count_nonzero(leaves.n == 1))
    known = SQUARED | ABSOLUTE | POISSON
    if leaves.value.shape[1] > 1 or drawn == "rows" or not is_one_of(tree, "criterion", known):
        return alone, 0
    people = np.array_equal(leaves.weight, leaves.n)
    if not people and drawn == "weights":
        people = are_draws(leaves.n, leaves.weight, leaves.n.sum(), leaves.weight.sum())
    pairs = (leaves.n == 2) & (leaves.weight == 2) & np.isfinite(leaves.impurity) & people
    return alone, int(np.count_nonzero(pairs))


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


def single_targets(trees: Iterable[Tree], *, means: bool) -> Extras:
    """Return the leaves of one person whose value is the target of that person.

    Examples
    --------
    >>> tree = Tree(parent=[-1], feature=[-1], low=[-9], high=[9], n_records=[1], value=[3.5])
    >>> [one.n for one in single_targets([tree], means=True).found]
    [1]
    >>> "targets" in single_targets([tree], means=False).looked_for
    False
    """
    alone = 0
    for tree in trees:
        if tree.n_records is None:
            return Extras(looked_for=KINDS - {"targets"})
        alone += int((tree.n_records[tree.leaves] == 1).sum())
    if not alone:
        return Extras(looked_for=KINDS)
    if not means:
        return Extras(looked_for=KINDS - {"targets"})
    says = f"the target of {alone:,} people is the value of their leaf"
    found = (Extra(kind="targets", where="values of leaves", n=alone, says=says),)
    return Extras(found=found, looked_for=KINDS)


def targets_in(sizes: Iterable[Wide | None]) -> frozenset[Kind]:
    """Return what the steps of a boosted model that predicts a number may tell of single people.

    Nothing if every tree states the people of its leaves and no leaf holds one person.
    """
    stated = all(size is not None and bool((size > 1).all()) for size in sizes)
    return frozenset() if stated else frozenset({"targets"})


def is_one_of(model: Inert, name: str, words: frozenset[str]) -> bool:
    """Tell whether an attribute is one of some words; it may be anything."""
    value = model.get(name)
    return isinstance(value, str) and value in words


def are_draws(
    n: Wide | Float, weight: Float, people: Wide | Float | float, total: Float | float
) -> bool:
    """Tell whether the weights of nodes can be draws with replacement, each of weight 1."""
    whole = bool(np.all((weight == np.rint(weight)) & (weight >= n)))
    return whole and bool(np.all(total <= _MOST_DRAWS * people))


def are_equal(n: Wide | Float, weight: Float, value: Float, square: Float) -> Flag:
    """Tell in which nodes all numbers are the same, also where people weigh 1 or more."""
    whole = (weight == np.rint(weight)) & (weight >= n) & (weight <= _MOST_REPEATS * n)
    equal: Flag = (square * weight <= _ROUNDING * value**2 * n) & bool(whole.all())
    return equal


def leaves_of(tree: object) -> Leaves | None:
    """Return the leaves of a fitted tree, or None if they cannot be made out."""
    record = arrived(tree.get("tree_")) if isinstance(tree, Inert) else None
    if not isinstance(record, Inert):
        return None
    nodes, values = arrived(record.get("nodes")), arrived(record.get("values"))
    count = record.get("node_count")
    names = ("left_child", "n_node_samples", "weighted_n_node_samples", "impurity")
    if not isinstance(nodes, np.ndarray) or not isinstance(values, np.ndarray):
        return None
    if not has_numbers(nodes, names) or values.ndim != 3 or values.dtype.kind != "f":
        return None
    if not isinstance(count, int) or not 0 < count <= min(len(nodes), len(values)):
        return None
    leaf = np.flatnonzero(nodes["left_child"][:count] < 0)
    if not leaf.size or not values[0].size:
        return None
    n, weight, impurity = (nodes[name][leaf].astype(np.float64) for name in names[1:])
    value = values[leaf].reshape(len(leaf), -1).astype(np.float64)
    usable = (n > 0) & (n < 1 << 53) & np.isfinite(value).all(axis=1)
    if not usable.any():
        return None
    return Leaves(
        n=n[usable], weight=weight[usable], impurity=impurity[usable], value=value[usable]
    )


def has_numbers(nodes: Table, names: Sequence[str]) -> bool:
    """Tell whether a table of nodes has these columns, all of them numbers."""
    stored = nodes.dtype.names or ()
    return nodes.ndim == 1 and all(
        name in stored and nodes.dtype[name].kind in "iuf" for name in names
    )
