"""Numbers of the node table that follow from others: whatever else stands there is named."""

import pickle

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.tree._tree import Tree

import treeaudit as ta

N = 3_000
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
R = 3 * X[:, 0] + RNG.normal(size=N) + 5
W = RNG.lognormal(size=N)
SMALL = {"max_leaf_nodes": 8, "min_samples_leaf": 200, "random_state": 0}


def _of(kind, target, weights=None, **options):
    return lambda: kind(**SMALL, **options).fit(X, target, sample_weight=weights)


MODELS = {
    "gini": _of(DecisionTreeClassifier, Y),
    "entropy": _of(DecisionTreeClassifier, Y, W, criterion="entropy"),
    "log loss": _of(DecisionTreeClassifier, Y + (R > 7), criterion="log_loss"),
    "several": _of(DecisionTreeClassifier, np.c_[Y, Y + (R > 7)]),
    "pruned": _of(DecisionTreeClassifier, Y, ccp_alpha=1e-3),
    "squares": _of(DecisionTreeRegressor, R, W),
    "several numbers": _of(DecisionTreeRegressor, np.c_[R, Y]),
    "poisson": _of(DecisionTreeRegressor, np.abs(R), W, criterion="poisson"),
    "medians": _of(DecisionTreeRegressor, R, criterion="absolute_error"),
    "bounded": _of(DecisionTreeClassifier, Y, monotonic_cst=[1, 0, 0, -1]),
    "forest": _of(RandomForestRegressor, R, n_estimators=2),
    "boosting": _of(GradientBoostingClassifier, Y, n_estimators=2),
    "isolation": lambda: IsolationForest(n_estimators=2, random_state=0).fit(X),
}  # fmt: skip


def _random(nodes, values, inner) -> None:
    nodes["impurity"] = RNG.random(len(nodes)) * nodes["impurity"].max()


def _one(nodes, values, inner) -> None:
    nodes["impurity"][inner[1]] *= 1 + 1e-6


def _missing(nodes, values, inner) -> None:
    nodes["impurity"] = (0x7FF8 << 48 | np.arange(len(nodes))).astype("u8").view("f8")


def _value(nodes, values, inner) -> None:
    values[inner[0]] = values[inner[0]][:, ::-1] if values.shape[2] > 1 else -9.0


def _flag(nodes, values, inner) -> None:
    nodes["missing_go_to_left"][inner] = 65


PLANTS = {"random": _random, "one": _one, "missing": _missing, "value": _value, "flag": _flag}
# What their numbers leave open; see SECURITY.md.
OPEN = {("medians", "one"), ("bounded", "one"), ("bounded", "value"), ("isolation", "one")}


def _planted(model, plant):
    member = model if hasattr(model, "tree_") else np.ravel(model.estimators_)[0]
    tree, state = member.tree_, member.tree_.__getstate__()
    # A copy by numpy would leave what lay in memory between the columns.
    nodes = np.zeros(len(state["nodes"]), state["nodes"].dtype)
    for name in nodes.dtype.names:
        nodes[name] = state["nodes"][name]
    plant(nodes, state["values"], np.flatnonzero(nodes["left_child"] >= 0))
    state["nodes"] = nodes
    made = Tree(tree.n_features, np.atleast_1d(tree.n_classes).astype(np.intp), tree.n_outputs)
    made.__setstate__(state)
    member.tree_ = made
    return model


def _unexplained(model, path):
    path.write_bytes(pickle.dumps(model))
    try:
        found = ta.load(path).leftovers.found
    except ta.ReadError:
        return ["refused"]
    return [one.where for one in found if one.kind == "extra"]


@pytest.mark.parametrize("name", MODELS)
def test_what_follows_from_other_numbers(name, tmp_path) -> None:
    assert _unexplained(_planted(MODELS[name](), lambda *_: None), tmp_path / "m") == []
    for plant, do in PLANTS.items():
        if (name, plant) not in OPEN:
            found = _unexplained(_planted(MODELS[name](), do), tmp_path / "m")
            assert found, plant


def test_flags_of_histogram_boosting(tmp_path) -> None:
    small = {"max_iter": 2, "max_leaf_nodes": 4, "min_samples_leaf": 300}
    model = HistGradientBoostingClassifier(**small).fit(X, Y)
    assert _unexplained(model, tmp_path / "m") == []
    for name in ("missing_go_to_left", "is_categorical", "is_leaf"):
        model = HistGradientBoostingClassifier(**small).fit(X, Y)
        model._predictors[0][0].nodes[name][:] *= 65
        model._predictors[0][0].nodes[name][0] = 65
        assert _unexplained(model, tmp_path / "m") != [], name


@pytest.mark.parametrize("name", ["depth", "bin_threshold", "bitset_idx", "num_threshold"])
def test_columns_of_histogram_boosting_that_follow_from_others(name, tmp_path) -> None:
    columns = np.c_[X, RNG.integers(0, 6, N)]
    told = (columns[:, 4] % 2 == (X[:, 0] > 0)).astype(int)
    small = {"max_iter": 2, "max_leaf_nodes": 8, "min_samples_leaf": 100}
    model = HistGradientBoostingClassifier(**small, categorical_features=[4]).fit(columns, told)
    assert _unexplained(model, tmp_path / "m") == []
    nodes = model._predictors[0][0].nodes
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    by_set = nodes["is_categorical"][inner] != 0
    assert by_set.any()
    assert not by_set.all()
    # The sets are numbered one after the other, and the bound of a number is the model.
    planted = {"bitset_idx": inner[~by_set], "num_threshold": inner[by_set]}
    for node in planted.get(name, inner):
        before = nodes[name][node]
        nodes[name][node] = before + 3
        assert _unexplained(model, tmp_path / "m") != [], node
        nodes[name][node] = before
    assert _unexplained(model, tmp_path / "m") == []


def test_what_a_copy_leaves_between_the_columns(tmp_path) -> None:
    model = DecisionTreeClassifier(**SMALL).fit(X, Y)
    nodes = model.tree_.__getstate__()["nodes"]
    raw = nodes.view("u1").reshape(len(nodes), -1)
    raw[:, -7:] = np.frombuffer(b"Ann;33;", "u1")
    assert _unexplained(_with_nodes(model, nodes), tmp_path / "m")[0].startswith("byte ")


def _with_nodes(model, nodes):
    state = model.tree_.__getstate__()
    made = Tree(4, np.array([2], dtype=np.intp), 1)
    made.__setstate__(state | {"nodes": nodes})
    model.tree_ = made
    return model
