"""Searches over steps, and other ways to choose, explain themselves; what is planted is told."""

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
from tests.readers.damage import pickled

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
            {"m": [RandomForestClassifier(3), LogisticRegression(C=1e-9)]},
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
        path = pickled(tmp_path, model)
        kinds = ("extra", "unseen", "records")
        return [one.where for one in ta.load(path).extras.found if one.kind in kinds]

    return told


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", SEARCHES)
def test_ordinary_searches_explain_themselves(kind, found) -> None:
    assert found(SEARCHES[kind]().fit(X, Y)) == []


def chosen():
    rng = np.random.default_rng(0)
    x = (rng.random((900, 33)) < 0.3).astype(float)
    y = (x[:, 0] + x[:, 3] * x[:, 5] + x[:, 7] > 0).astype(int)
    search = RFECV(DecisionTreeClassifier(min_samples_leaf=20, random_state=0), cv=3)
    return make_pipeline(search, tree()).fit(x, y)


def test_columns_left_out_one_after_the_other_tell_one_order(found) -> None:
    # The model of the search is another one.
    assert found(chosen()) == ["steps['rfecv'].estimator_"]
