"""How far the numbers of the people in a node are from its value, as impurities tell it.

The impurity is a variance only where the tree was grown by squared errors, on the numbers
themselves, and where nobody weighs more than others.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from treeaudit.model.tree import SpreadIs
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.residual.targets import (
    ABSOLUTE,
    POISSON,
    SQUARED,
    are_draws,
    are_equal,
    is_one_of,
)
from treeaudit.readers.sklearn.node_table import NodeTable
from treeaudit.readers.types import Float

_WORDS: Mapping[SpreadIs, frozenset[str]] = {
    "deviation": SQUARED,
    "absolute": ABSOLUTE,
    "poisson": POISSON,
}
_ROUNDING = 1e-14
"""Of a mean: what rounding leaves of a deviance of zero."""


def kind_of_spread(model: Inert, trees: Sequence[Inert]) -> SpreadIs | None:
    """Return what the impurities of regression trees tell of numbers; None where nothing."""
    # Boosting by another loss grows its trees on signs, or on numbers that were cut off.
    if model.kind.startswith("GradientBoosting") and not is_one_of(model, "loss", SQUARED):
        return None
    for kind, words in _WORDS.items():
        if all(is_one_of(tree, "criterion", words) for tree in trees):
            return kind
    return None


def spread_of(record: NodeTable, kind: SpreadIs, *, drawn: bool) -> Float | None:
    """Return the spread per node, as `Tree.spread` has it; None where one is no number."""
    impurity = record.impurity
    if impurity is None or not np.isfinite(impurity).all():
        return None
    # Rounding leaves some below zero.
    impurity = np.maximum(impurity, 0.0)
    n, weight, value = record.n_records, record.weight, record.value[:, 0]
    if kind == "deviation":
        spread = np.sqrt(impurity)
    elif kind == "absolute":
        spread = impurity
    else:
        # Pinsker: the mean absolute deviation is no more than that, which to the second order
        # is the standard deviation.
        of_mean = np.where(impurity <= _ROUNDING * value, 0.0, impurity)
        spread = np.sqrt(2 * np.maximum(value, 0.0) * of_mean)
    if np.array_equal(weight, n):
        return spread
    if drawn and are_draws(n, weight, n[record.start], weight[record.start]):
        return spread
    if kind != "deviation":
        return np.full(len(n), np.nan)
    return np.where(are_equal(n, weight, value, impurity), 0.0, np.nan)
