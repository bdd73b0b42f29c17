"""What is made of a tree while its table is at hand is what is made of it without."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from treeaudit import load
from treeaudit.model import forest as kept
from treeaudit.readers.columns import gathered
from treeaudit.readers.estimators import grove, node_table
from treeaudit.readers.leftovers import nodes
from treeaudit.readers.leftovers.leftovers import leftovers
from treeaudit.readers.pickles.pickle_vm import read_pickle

X, Y = make_classification(9_000, 12, n_informative=9, n_classes=3, flip_y=0.5, random_state=0)
LARGE: dict[str, Any] = {
    "forest": RandomForestClassifier(3, random_state=0),
    "each row once": RandomForestClassifier(3, bootstrap=False, random_state=0),
    "weighed": RandomForestClassifier(3, class_weight={0: 2.0}, random_state=0),
    "every leaf of weight 1": RandomForestClassifier(3, max_samples=2, random_state=0),
    "tree": DecisionTreeClassifier(random_state=0),
    "numbers": DecisionTreeRegressor(random_state=0),
    "boosting": GradientBoostingRegressor(n_estimators=2, max_depth=14, random_state=0),
}
ARRAYS = ("parent", "feature", "low", "high", "missing", "n_records", "counts", "value", "spread")


def _odd(path: Path, n: int | None) -> list[Any]:
    """Return what is found in a file without what its reader of trees knows."""
    file = read_pickle(path.read_bytes())
    return list(leftovers(file.root, n, file.mentioned).found)


@pytest.fixture(params=LARGE)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    made = LARGE[request.param].fit(X, Y)
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(made))
    return tmp_path / "m.pkl"


def test_trees_are_the_same_where_there_is_no_room(path: Path, monkeypatch) -> None:
    early = load(path)
    monkeypatch.setattr(grove, "ROOM", 0)
    monkeypatch.setattr(kept, "ROOM", 0)
    late = load(path)
    assert (early.counts_are, early.counts_reason) == (late.counts_are, late.counts_reason)
    for one, other, again in zip(early.trees, late.trees, late.trees, strict=True):
        for name in ARRAYS:
            arrays = [getattr(tree, name) for tree in (one, other, again)]
            if arrays[0] is None:
                assert arrays == [None] * 3
            else:
                assert all(a.dtype == arrays[0].dtype for a in arrays)
                assert all(np.array_equal(a, arrays[0]) for a in arrays)


def test_large_trees_are_looked_at_once(path: Path, monkeypatch) -> None:
    def twice(tree: object, owners: object) -> None:
        raise AssertionError("looked at again")

    monkeypatch.setattr(nodes, "unused_in_tree", twice)
    load(path)


def test_trees_keep_no_column_that_they_were_built_from(path: Path, monkeypatch) -> None:
    columns = list[np.ndarray]()

    def noted(*given: Any) -> Any:
        found = gathered(*given)
        columns.extend(found.values())
        return found

    monkeypatch.setattr(node_table, "gathered", noted)
    for room in (grove.ROOM, 0):
        monkeypatch.setattr(grove, "ROOM", room)
        for tree in load(path).trees:
            held = [getattr(tree, name) for name in ARRAYS if getattr(tree, name) is not None]
            assert not any(np.may_share_memory(one, two) for one in held for two in columns)
    assert columns


HIDDEN = {"threshold": 0.125, "feature": 3, "impurity": 0.125}


@pytest.mark.parametrize("field", HIDDEN)
def test_what_a_node_hides_is_found_all_the_same(field: str, path: Path) -> None:
    model = pickle.loads(path.read_bytes())
    member = next(iter(np.ravel(getattr(model, "estimators_", [model]))))
    state = member.tree_.__reduce__()[2]
    table = state["nodes"]
    node = 0 if field == "impurity" else np.flatnonzero(table["left_child"] < 0)[0]
    table[field][node] = HIDDEN[field]
    member.tree_.__setstate__(state)
    path.write_bytes(pickle.dumps(model))
    forest = load(path)
    found = forest.leftovers.found
    assert any(one.kind == "extra" and field in one.where for one in found)
    assert {*_odd(path, forest.n_records)} <= {*found}
