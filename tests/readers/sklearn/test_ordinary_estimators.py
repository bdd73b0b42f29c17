"""What people train with scikit-learn, with settings that they use: no false alarm."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.people.records import read_records

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5))
Y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
WEIGHT = RNG.random(300)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
MEMBERS = [("tree", DecisionTreeClassifier(max_depth=2)), ("line", LogisticRegression())]

MODELS = {
    **{
        f"columns above {threshold}": lambda one=threshold: make_pipeline(
            SelectFromModel(LogisticRegression(), threshold=one), DecisionTreeClassifier()
        ).fit(X, Y)
        for threshold in ("1.25*mean", "0.5 * median", "mean", 0.01, None)
    },
    **{
        f"stack of {first}{', handed through' * through}": lambda m=m, p=through: (
            StackingClassifier(m, cv=2, passthrough=p).fit(X, THREE)
        )
        for first, m in (("a tree first", MEMBERS), ("a tree last", MEMBERS[::-1]))
        for through in (False, True)
    },
    "weights": lambda: HistGradientBoostingClassifier(max_iter=4).fit(X, Y, sample_weight=WEIGHT),
    "weights of numbers": lambda: HistGradientBoostingRegressor(max_iter=4).fit(
        X, X[:, 0], sample_weight=WEIGHT
    ),
    "stopped by a score": lambda: HistGradientBoostingClassifier(
        max_iter=20, early_stopping=True, scoring="roc_auc"
    ).fit(X, Y),
    "columns that may meet": lambda: HistGradientBoostingClassifier(
        max_iter=4, interaction_cst=[{0, 1}, {2, 3, 4}], monotonic_cst=[1, 0, 0, 0, -1]
    ).fit(X, Y),
    "out of bag": lambda: ExtraTreesRegressor(9, bootstrap=True).fit(X, X[:, 0]),
    "half of the rows": lambda: GradientBoostingClassifier(n_estimators=4, subsample=0.5).fit(X, Y),
    "stopped": lambda: GradientBoostingClassifier(n_estimators=30, n_iter_no_change=3).fit(X, Y),
    "bags of columns": lambda: BaggingClassifier(
        DecisionTreeClassifier(), 4, max_features=0.6, bootstrap_features=True
    ).fit(X, Y),
    "grid": lambda: GridSearchCV(
        RandomForestClassifier(3),
        {"max_depth": [2, None], "criterion": ["gini", "entropy"]},
        cv=3,
        scoring="roc_auc",
    ).fit(X, Y),
    "ranges": lambda: RandomizedSearchCV(
        DecisionTreeClassifier(), {"max_depth": range(2, 9), "min_samples_leaf": [1, 5]}, n_iter=4
    ).fit(X, Y),
}


def found(model):
    loaded = ta.load(pickle.loads(pickle.dumps(model)))
    return [one.where for one in loaded.extras.found if one.kind in ("extra", "unseen", "notes")]


@pytest.mark.parametrize("kind", MODELS)
def test_ordinary_models_explain_themselves(kind) -> None:
    assert found(MODELS[kind]()) == []


def test_a_selection_of_columns_is_another_model_and_nothing_else() -> None:
    chosen = SelectFromModel(RandomForestClassifier(3), max_features=3)
    model = make_pipeline(chosen, DecisionTreeClassifier(max_depth=3)).fit(X, Y)
    assert found(model) == ["steps['selectfrommodel'].estimator_"]


def test_a_method_of_another_model_is_told() -> None:
    model = MODELS["stopped by a score"]()
    other = HistGradientBoostingClassifier(max_iter=4).fit(X, 1 - Y)
    model._raw_predict = other._raw_predict
    assert any("_raw_predict" in where for where in found(model))


def test_a_range_hides_no_more_than_numbers() -> None:
    model = MODELS["ranges"]()
    model.param_distributions["max_depth"] = range(10**30)
    assert any("max_depth" in where for where in found(model))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("gap", [None, np.nan, "missing", "None"], ids=str)
@pytest.mark.parametrize("by", ["column", "type"])
def test_histograms_over_categories_with_gaps(seed, gap, by) -> None:
    rng = np.random.default_rng(seed)
    job = pd.Series(rng.choice([*"abc"], 300)).astype(object)
    job[rng.random(300) < 0.2] = gap
    if gap == "None":
        job[rng.random(300) < 0.1] = None
    x = pd.DataFrame({"age": rng.integers(18, 90, 300), "job": job})
    y = (40 * job.isna() + x["age"] + 20 * (job == "b") > 70).astype(int)
    if by == "type":
        x["job"] = x["job"].astype("category")
    chosen = ["job"] if by == "column" else "from_dtype"
    model = HistGradientBoostingClassifier(max_iter=3, categorical_features=chosen).fit(x, y)
    loaded = ta.load(pickle.loads(pickle.dumps(model)))
    node = read_records(x.assign(label=y), loaded, target="label").node
    steps = sum(tree.value[node[:, i]] for i, tree in enumerate(loaded.trees))
    odds = model.decision_function(x)
    assert np.ptp(odds - steps) < 1e-6


def test_histograms_over_categories_that_are_called_missing() -> None:
    job = np.array([*["None", "missing", None, "a"] * 60], dtype=object)
    x = pd.DataFrame({"job": pd.Series(job, dtype=object), "age": np.arange(240) % 50})
    y = (x["job"].isna() | (x["age"] > 30)).astype(int)
    model = HistGradientBoostingClassifier(max_iter=2, categorical_features=["job"]).fit(x, y)
    names = ta.load(model).schema.features[0].categories
    assert names == ("None", "a", "missing", "missing (no value)")


def test_histograms_of_numbers_over_categories() -> None:
    x = pd.DataFrame({"job": pd.Categorical([*"abcd"] * 60), "age": np.arange(240) % 50})
    y = x["age"] + 9.0 * (x["job"] == "b")
    assert found(HistGradientBoostingRegressor(max_iter=2).fit(x, y)) == []
