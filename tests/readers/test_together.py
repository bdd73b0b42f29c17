"""Small trees that are read in a row say what each says alone."""

import pickle
from dataclasses import fields

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)

from treeaudit.errors import ReadError
from treeaudit.model.tree import Tree
from treeaudit.readers import load
from treeaudit.readers.together import in_rows, together

X, Y = load_breast_cancer(return_X_y=True)
MODELS = [
    RandomForestClassifier(30, max_depth=4, random_state=0).fit(X, Y),
    RandomForestClassifier(30, max_depth=4, class_weight="balanced", random_state=0).fit(X, Y),
    ExtraTreesClassifier(30, max_depth=4, random_state=0).fit(X, Y),
    ExtraTreesClassifier(20, max_depth=4, class_weight={0: 3.0}, random_state=0).fit(X, Y),
    RandomForestRegressor(20, max_depth=4, random_state=0).fit(*load_diabetes(return_X_y=True)),
    GradientBoostingRegressor(n_estimators=20).fit(*load_diabetes(return_X_y=True)),
    IsolationForest(n_estimators=20, random_state=0).fit(X),
]


def _same(one: Tree, other: Tree) -> bool:
    assert one.spread_is == other.spread_is
    names = [part.name for part in fields(Tree) if part.name != "spread_is"]
    pairs = [(getattr(one, name), getattr(other, name)) for name in names]
    return all(
        a is b is None
        or (a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
        for a, b in pairs
    )


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_trees_in_a_row_are_those_read_alone(model, monkeypatch) -> None:
    row = load(model)
    in_order = list(row.trees)
    monkeypatch.setattr("treeaudit.readers.sklearn.node_table.in_rows", _alone)
    apart = load(model)
    backwards = [apart.trees[i] for i in reversed(range(apart.n_trees))][::-1]
    assert all(map(_same, in_order, backwards))
    assert (apart.counts_are, apart.counts_reason) == (
        row.counts_are,
        row.counts_reason,
    )
    assert (apart.n_records, apart.records_are) == (row.n_records, row.records_are)
    assert apart.class_weights == row.class_weights
    assert apart.extras.found == row.extras.found


def _alone(sizes):
    return (slice(i, i + 1) for i in range(len(sizes)))


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
        list(load(_changed(MODELS[0], number, **{column: (place, value)})).trees)


def test_trees_of_other_forms_are_not_put_together() -> None:
    trees = [one.tree_.__getstate__() for one in MODELS[0].estimators_[:3]]
    nodes, values = [one["nodes"] for one in trees], [one["values"] for one in trees]
    row = together(nodes, values)
    assert row is not None
    assert len(row.nodes) == sum(map(len, nodes))
    assert together(nodes, [*values[:2], values[2][:, :, :1]]) is None
    assert together(nodes, [*values[:2], values[2].astype(np.float32)]) is None
    assert together([*nodes[:2], nodes[2][:-1]], [*values[:2], values[2][:-1]]) is None
    assert together([nodes[0], nodes[1][:0]], [values[0], values[1][:0]]) is None


def test_every_tree_is_in_one_row() -> None:
    sizes = [5, 40_000, 3, 3, 2_000, *[20] * 5_000]
    covered = [i for row in in_rows(sizes) for i in range(row.start, row.stop)]
    assert covered == list(range(len(sizes)))
    assert list(in_rows([])) == []
