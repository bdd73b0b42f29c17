"""The node table of each tree of a forest is checked before anything is built from it."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from treeaudit.errors import ReadError
from treeaudit.readers import load

FOREST = RandomForestClassifier(30, max_depth=4, random_state=0).fit(
    *load_breast_cancer(return_X_y=True)
)


def _changed(model, number, **columns):
    """Return the same forest with other numbers in one of its trees."""
    copy = pickle.loads(pickle.dumps(model))
    tree = copy.estimators_[number].tree_
    state = tree.__getstate__()
    for name, (place, value) in columns.items():
        table = state["values"] if name == "values" else state["nodes"][name]
        table[place] = value
    tree.__setstate__(state)
    return copy


@pytest.mark.parametrize("number", [0, 11, 29])
@pytest.mark.parametrize(
    ("column", "place", "value"),
    [
        ("n_node_samples", 1, 7),
        ("n_node_samples", 0, -1),
        ("weighted_n_node_samples", 1, 0.25),
        ("weighted_n_node_samples", 0, np.nan),
        ("feature", 0, 30),
        ("feature", 0, -3),
        ("threshold", 0, np.nan),
        ("left_child", 0, 2),
        ("right_child", 0, 1),
        ("right_child", 0, -1),
        ("right_child", 0, 10_000),
        ("left_child", 0, -2),
        ("values", (0, 0, 0), np.inf),
        ("values", (0, 0, 0), -1.0),
    ],
)
def test_a_damaged_tree_among_others_is_refused(number, column, place, value) -> None:
    with pytest.raises(ReadError):
        list(load(_changed(FOREST, number, **{column: (place, value)})).trees)
