"""Settings of the members of an ensemble, which are copies of one estimator."""

from collections.abc import Iterator

import numpy as np

from treeaudit.readers.leftovers.unexplained import size_of
from treeaudit.readers.pickles.arrays import arrived
from treeaudit.readers.pickles.inert import Inert

__all__ = ["unlike"]

_SETTINGS = (
    *("criterion", "splitter", "max_depth", "max_leaf_nodes", "max_features", "max_features_"),
    *("min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "ccp_alpha"),
    *("min_impurity_decrease", "min_impurity_split", "class_weight", "monotonic_cst"),
)
# Settings may be changed between the rounds of a warm start; a chain sees more columns each time.
_ROUNDS = 4


def unlike(model: Inert) -> Iterator[tuple[str, int]]:
    """Yield the settings in which the trees of an ensemble differ, with the bytes of the values.

    A few different values are what rounds of training leave; many are a message.
    """
    held = arrived(model.get("estimators_"))
    listed = held.ravel().tolist() if isinstance(held, np.ndarray) else held
    states = [
        member.state
        for one in (listed if isinstance(listed, list | tuple) else ())
        if isinstance(member := arrived(one), Inert) and isinstance(member.state, dict)
    ]
    if len(states) <= _ROUNDS:
        return
    chain = len({str(state.get("n_features_in_")) for state in states}) > 1
    for name in _SETTINGS:
        if name == "max_features_" and chain:
            continue
        values = {_key(value): value for state in states if (value := state.get(name)) is not None}
        if len(values) > _ROUNDS:
            yield name, sum(max(1, size_of(value)) for value in values.values())


def _key(value: object) -> object:
    value = arrived(value)
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    return value if isinstance(value, str | int | float) else repr(value)
