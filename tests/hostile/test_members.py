"""Rows of people in the settings of the trees of a forest, which are copies of one estimator."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

from treeaudit import load

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(600, 4))
Y = (X[:, 0] > 0).astype(int)
SECRET = X.ravel()


def _unexplained(model: Any) -> list[str]:
    return [one.where for one in load(model).leftovers.found if one.kind == "extra"]


def _whole(i: int) -> int:
    return int.from_bytes(SECRET[i].tobytes(), "little") >> 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, lambda i: float(SECRET[i])) for name in ("ccp_alpha", "min_impurity_decrease")),
        *((name, lambda i: float(SECRET[i])) for name in ("max_features", "min_samples_leaf")),
        *((name, _whole) for name in ("max_depth", "max_leaf_nodes", "min_samples_split")),
        ("class_weight", lambda i: {0: float(SECRET[2 * i]), 1: float(SECRET[2 * i + 1])}),
        ("monotonic_cst", lambda i: SECRET[4 * i : 4 * i + 4]),
        ("random_state", _whole),
        ("max_features_", _whole),
    ],
)
@pytest.mark.parametrize(
    "forest",
    [
        RandomForestClassifier(20, max_depth=2),
        GradientBoostingClassifier(n_estimators=20, max_depth=1),
    ],
)
def test_numbers_in_settings_of_members_are_named(
    forest: Any, name: str, value: Callable[[int], object]
) -> None:
    forest.fit(X, Y)
    assert _unexplained(forest) == []
    for i, member in enumerate(np.ravel(forest.estimators_)):
        setattr(member, name, value(i))
    assert any(name in where for where in _unexplained(forest))


def test_a_few_rounds_of_training_may_differ() -> None:
    forest = RandomForestClassifier(4, max_depth=2, warm_start=True).fit(X, Y)
    forest.set_params(n_estimators=8, max_depth=3).fit(X, Y)
    assert _unexplained(forest) == []


def test_a_tree_is_no_deeper_than_it_has_nodes() -> None:
    tree = RandomForestClassifier(1, max_depth=2).fit(X, Y).estimators_[0]
    state = tree.tree_.__getstate__()
    tree.tree_.__setstate__(state | {"max_depth": 123_456_789})
    assert len(_unexplained(tree)) == 1
