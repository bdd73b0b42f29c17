"""Whether what CatBoost keeps of a leaf are people, and of which class they are.

``leaf_weights`` (or ``weight`` of a leaf) is the weight of all training rows in
a leaf, whatever sample a tree was grown from: where rows weigh 1 it is people.
The file does not say whether rows had weights of their own. Weights that are
whole numbers without a common divisor, with the same sum in every tree, and no
class weights among the options, are taken as people. Not so in trees that ask
about statistics of categories: while CatBoost trains, a row's statistic comes
from the rows before it, so a row was counted in another leaf than it ends in.

The first tree of a two-class model starts from one half for everybody. Its
leaves are one Newton step from there, ``value = rate * (n1 - n/2) / (n/4 +
l2)``, so ``n1``, the people of the second class, follows; it is believed if it
comes out whole in every leaf.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeaudit.model.schema import Label
from treeaudit.readers.catboost.columns import nested
from treeaudit.readers.catboost.trees import StoredTree
from treeaudit.readers.limits import Most
from treeaudit.readers.types import Float


@dataclass(frozen=True, slots=True)
class People:
    """Whether the leaf weights are people, and why."""

    known: bool
    total: int | None
    reason: str


def people_of(stored: Sequence[StoredTree], params: Mapping[str, Any]) -> People:
    """Decide whether the leaf weights are people."""
    options = nested(params, "data_processing_options")
    weighted = options.get("auto_class_weights") not in (None, "None")
    weighted = weighted or bool(options.get("class_weights"))
    if weighted or "scale_pos_weight" in nested(params, "flat_params"):
        return People(False, None, "its leaf weights are not people, as classes are weighted")
    weights = [tree.weights for tree in stored if tree.weights is not None]
    if len(weights) < len(stored):
        return People(False, None, "it does not tell how much weight is in each leaf")
    flat = np.concatenate(weights)
    if np.any((flat < 0) | (flat > Most.people) | (flat != np.rint(flat))):
        return People(False, None, "its leaf weights are not whole: rows had weights of their own")
    totals = {float(one.sum()) for one in weights}
    if len(totals) > 1 or not 0 < max(totals) <= Most.people:
        return People(False, None, "its leaf weights differ in their sum from tree to tree")
    whole = flat[flat > 0].astype(np.int64)
    if len(whole) > len(stored) and int(np.gcd.reduce(whole)) > 1:
        return People(False, None, "its leaf weights have a common divisor: rows had weights")
    return People(
        True,
        int(max(totals)),
        "leaf weights are taken as people, as they are whole and have one sum in every tree",
    )


def first_counts(
    tree: StoredTree, params: Mapping[str, Any], classes: tuple[Label, ...] | None
) -> Float | None:
    """Return people per class in the leaves of the first tree, where they follow."""
    boosting = nested(params, "boosting_options")
    learner = nested(params, "tree_learner_options")
    rate, l2 = boosting.get("learning_rate"), learner.get("l2_leaf_reg")
    one_step = (
        classes is not None
        and len(classes) == 2
        and tree.values.shape[1] == 1
        and nested(params, "loss_function").get("type") == "Logloss"
        and learner.get("leaf_estimation_method") == "Newton"
        and learner.get("leaf_estimation_iterations") == 1
        and boosting.get("boost_from_average") is False
    )
    if not one_step or tree.weights is None:
        return None
    if not isinstance(rate, int | float) or not isinstance(l2, int | float):
        return None
    if not (0 < rate <= 1e6 and 0 <= l2 <= 1e9):
        return None
    n, value = tree.weights, tree.values[:, 0]
    if np.any(np.abs(value) > 1e9):
        return None
    second = n / 2 + value / rate * (n / 4 + l2)
    whole = np.rint(second)
    if np.any(np.abs(second - whole) > 1e-5) or np.any((whole < 0) | (whole > n)):
        return None
    return np.column_stack([n - whole, whole])


def reason_of(people: People, first: Float | None) -> str:
    """Say why the counts of classes are known, or not."""
    if first is None:
        return f"the file holds no counts per class; {people.reason}"
    return (
        "the class counts of the first tree follow from its leaf values, the other trees hold "
        f"none; {people.reason}"
    )
