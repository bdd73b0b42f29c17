"""Searches over steps, and other ways to choose, explain themselves; what is planted is told."""

import pickle

import numpy as np
import pytest
from scipy.stats import randint, uniform
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta

X = np.random.default_rng(0).normal(size=(600, 5))
Y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)


def tree():
    return DecisionTreeClassifier(min_samples_leaf=20)


def piped(last=None):
    return Pipeline([("s", StandardScaler()), ("m", tree() if last is None else last)])


def weighed():
    return ColumnTransformer(
        [("n", StandardScaler(), [0, 1]), ("k", MinMaxScaler(), [2, 3])],
        transformer_weights={"n": 2.0, "k": 1},
    )


SEARCHES = {
    "scalers": lambda: GridSearchCV(
        piped(), {"s": [StandardScaler(), MinMaxScaler(), "passthrough"]}, cv=3
    ),
    "classifiers": lambda: GridSearchCV(
        piped(),
        [
            {"m": [tree()], "m__max_depth": [2, 3]},
            {"m": [RandomForestClassifier(3), LogisticRegression(C=0.5)]},
        ],
        cv=3,
    ),
    "pipelines": lambda: GridSearchCV(
        piped(), {"s": [make_pipeline(StandardScaler(), PCA(2)), weighed()]}, cv=3
    ),
    "fewer on more rows": lambda: HalvingRandomSearchCV(
        tree(),
        {"max_depth": randint(2, 6), "ccp_alpha": uniform(0, 0.01)},
        cv=3,
        random_state=0,
    ),
    "fewer in more trees": lambda: HalvingRandomSearchCV(
        piped(RandomForestClassifier(min_samples_leaf=20)),
        {"m__max_depth": randint(2, 6)},
        resource="m__n_estimators",
        max_resources=9,
        cv=3,
        random_state=0,
    ),
    "eliminated at once": lambda: HalvingGridSearchCV(
        tree(),
        {"max_depth": [2, 3, 4, 5], "min_samples_split": [2, 5, 9]},
        min_resources=150,
        aggressive_elimination=True,
        cv=3,
    ),
    "a threshold": lambda: TunedThresholdClassifierCV(piped(), store_cv_results=True, cv=3),
    "few thresholds": lambda: TunedThresholdClassifierCV(
        piped(), store_cv_results=True, thresholds=30, cv=3
    ),
    "given thresholds": lambda: TunedThresholdClassifierCV(
        piped(), store_cv_results=True, thresholds=[0.2, 0.4, 0.5, 0.8], cv=3
    ),
    "weights of columns": lambda: make_pipeline(weighed(), tree()),
    "weights of a union": lambda: make_pipeline(
        FeatureUnion(
            [("n", StandardScaler()), ("k", MinMaxScaler())], transformer_weights={"n": 0.5}
        ),
        tree(),
    ),
}


@pytest.fixture
def found(tmp_path):
    def told(model):
        path = tmp_path / "model.pkl"
        path.write_bytes(pickle.dumps(model))
        kinds = ("extra", "unseen", "records")
        return [one.where for one in ta.load(path).leftovers.found if one.kind in kinds]

    return told


@pytest.mark.parametrize("kind", SEARCHES)
def test_ordinary_searches_explain_themselves(kind, found) -> None:
    assert found(SEARCHES[kind]().fit(X, Y)) == []


AGES = [33.5, 54.25, 41.125, 29.0]


def noted(step, name, value):
    step.__dict__[name] = value
    return step


def changed(name, value):
    return lambda model: model.__dict__.__setitem__(name, value(getattr(model, name)))


def add_to_grid(made):
    return lambda model: model.param_grid["s"].append(made())


def scores(name, value):
    def plant(model) -> None:
        model.cv_results_[name] = value(model.cv_results_[name])

    return plant


def weights(value):
    return lambda model: model[0].__dict__.__setitem__("transformer_weights", value)


PLANTS = {
    "a fitted step": ("scalers", "param_grid", add_to_grid(lambda: StandardScaler().fit(X))),
    "a fitted step in a step": (
        "scalers",
        "param_grid",
        add_to_grid(lambda: make_pipeline(StandardScaler().fit(X), PCA(2))),
    ),
    "a note": (
        "scalers",
        "param_grid",
        add_to_grid(lambda: noted(StandardScaler(), "note", "Ann Lee, 33, ill")),
    ),
    "people as a setting": (
        "scalers",
        "param_grid",
        add_to_grid(lambda: noted(StandardScaler(), "with_mean", AGES * 20)),
    ),
    "many steps": (
        "scalers",
        "param_grid",
        lambda model: model.param_grid["s"].extend(PCA(i) for i in range(1, 90)),
    ),
    "a person's resource": ("fewer on more rows", "resource", changed("resource", lambda _: "Ann")),
    "a way of many words": (
        "fewer on more rows",
        "resource",
        changed("resource", lambda _: "__".join(["max_depth", "gini", "tol"] * 3)),
    ),
    "resources": (
        "fewer on more rows",
        "n_resources_",
        changed("n_resources_", lambda told: [*told[:-1], told[-1] + 1]),
    ),
    "candidates": (
        "fewer on more rows",
        "n_candidates_",
        changed("n_candidates_", lambda told: [33, 54, 41, 29, *told]),
    ),
    "people to draw from": (
        "fewer on more rows",
        "param_distributions",
        lambda model: model.param_distributions["max_depth"].kwds.update(low=AGES * 20),
    ),
    "uneven thresholds": (
        "a threshold",
        "cv_results_",
        scores("thresholds", lambda told: np.sort(np.random.default_rng(0).random(len(told)))),
    ),
    "a better score": ("a threshold", "cv_results_", scores("scores", lambda told: told + 33)),
    "many scores": ("a threshold", "cv_results_", scores("scores", lambda told: np.tile(told, 9))),
    "scores of people": (
        "a threshold",
        "cv_results_",
        lambda model: model.cv_results_.update({"Ann Lee": np.array(AGES)}),
    ),
    "a weight of nobody": (
        "weights of columns", "transformer_weights", weights({"Ann Lee": 33.5})
    ),
    "a text for a weight": ("weights of columns", "transformer_weights", weights({"n": "Ann"})),
    "rows for a weight": ("weights of columns", "transformer_weights", weights({"n": AGES * 9})),
    "a large weight": ("weights of columns", "transformer_weights", weights({"n": 1 << 60})),
}  # fmt: skip


@pytest.mark.parametrize("where", PLANTS)
def test_what_is_planted_there_is_told(where, found) -> None:
    kind, name, plant = PLANTS[where]
    model = SEARCHES[kind]().fit(X, Y)
    assert found(model) == []
    plant(model)
    assert any(name in at for at in found(model))


def chosen():
    rng = np.random.default_rng(0)
    x = (rng.random((900, 33)) < 0.3).astype(float)
    y = (x[:, 0] + x[:, 3] * x[:, 5] + x[:, 7] > 0).astype(int)
    search = RFECV(DecisionTreeClassifier(min_samples_leaf=20, random_state=0), cv=3)
    return make_pipeline(search, tree()).fit(x, y)


def test_columns_left_out_one_after_the_other_tell_one_order(found) -> None:
    # The model of the search is another one.
    assert found(chosen()) == ["steps['rfecv'].estimator_"]


@pytest.mark.parametrize("name", ["split0_ranking", "split1_support"])
def test_a_table_in_the_place_of_an_order_is_told(name, found) -> None:
    model = chosen()
    table = model[0].cv_results_[name]
    drawn = np.random.default_rng(1).integers(0, 2 if table.dtype == bool else 99, table.shape)
    for each in ("split0", "split1", "split2"):
        model[0].cv_results_[f"{each}_{name[7:]}"] = drawn.astype(table.dtype)
    assert "what no tree needs" in found(model)
