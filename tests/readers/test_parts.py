"""Large tables are worked on in parts: wherever one ends, the same is told of them."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tests.strategies import examples
from treeaudit import ReadError, load
from treeaudit.readers import columns, links
from treeaudit.readers.columns import gathered
from treeaudit.readers.sklearn import counts, grove, node_table

X, Y = make_classification(300, 6, n_informative=5, n_redundant=0, flip_y=0.3, random_state=0)
SMALL: dict[str, Any] = {
    "classes": DecisionTreeClassifier(max_depth=6, random_state=0).fit(X, Y),
    "weighed": DecisionTreeClassifier(max_depth=6, class_weight={0: 2.0}).fit(X, Y),
    "entropy": DecisionTreeClassifier(max_depth=5, criterion="entropy").fit(X, Y),
    "outputs": DecisionTreeClassifier(max_depth=4).fit(X, np.column_stack([Y, X[:, 0] > 0])),
    "numbers": DecisionTreeRegressor(max_depth=6, random_state=0).fit(X, X[:, 0] + Y),
}
NODES = SMALL["classes"].tree_.__getstate__()["nodes"].dtype
NUMBERS = (0.0, -1.0, -2.0, 0.5, 1.0, 2.5, 1e9, 1e300, np.nan, np.inf)
ARRAYS = ("parent", "feature", "low", "high", "missing", "n_records", "counts", "value", "spread")


def _told(model: object) -> Any:
    """Return everything that is read of an estimator, or why nothing is."""
    try:
        forest = load(model)
        held = [getattr(forest.trees[0], name) for name in ARRAYS]
    except ReadError as error:
        return str(error)
    beside = (forest.counts_are, forest.counts_reason, forest.n_records, forest.extras.found)
    return beside, [None if one is None else (one.dtype, one.tobytes()) for one in held]


def _doctored(name: str, column: str, node: int, number: float) -> object:
    """Return a model of which one number is another one."""
    model = pickle.loads(pickle.dumps(SMALL[name]))
    state = model.tree_.__getstate__()
    if column == "values":
        state["values"].reshape(-1)[node % state["values"].size] = number
    elif NODES[column].kind == "f":
        state["nodes"][column][node % len(state["nodes"])] = number
    elif np.isfinite(number) and abs(number) < 1e10:
        kept = np.array(number).astype(NODES[column])
        state["nodes"][column][node % len(state["nodes"])] = kept
    model.tree_.__setstate__(state)
    return model


@pytest.fixture(scope="module")
def in_parts():
    """Return what makes all parts as small as they can be, or nothing kept for later."""

    def small(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(columns, "_BLOCK", 5)
        patch.setattr(links, "_PART", 3)
        patch.setattr(node_table, "_PART", 3)
        patch.setattr(counts, "_BLOCK", 7)

    def late(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(grove, "ROOM", 0)

    return small, late


@examples(200)
@given(
    name=st.sampled_from(sorted(SMALL)),
    column=st.sampled_from([*(NODES.names or ()), "values"]),
    node=st.integers(0, 500),
    number=st.sampled_from(NUMBERS) | st.floats(-3, 100),
)
def test_a_doctored_tree_is_the_same_in_parts(in_parts, name, column, node, number) -> None:
    model = _doctored(name, column, node, number)
    whole = _told(model)
    for change in in_parts:
        with pytest.MonkeyPatch.context() as patch:
            change(patch)
            assert _told(model) == whole


def test_a_tree_that_was_not_changed_is_the_same_in_parts(in_parts) -> None:
    for model in SMALL.values():
        whole = _told(model)
        assert not isinstance(whole, str)
        with pytest.MonkeyPatch.context() as patch:
            in_parts[0](patch)
            assert _told(model) == whole


def test_large_tables_are_gathered_whole() -> None:
    table = np.zeros(150_000, NODES)
    for i, name in enumerate(NODES.names or ()):
        table[name] = np.arange(len(table)) * (i + 1)
    found = gathered(table, (*(NODES.names or ()), "no such column"))
    assert list(found) == list(NODES.names or ())
    assert all(np.array_equal(found[name], table[name]) for name in found)
