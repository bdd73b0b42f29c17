"""A selection by the importances of a model is undone from what the model stores."""

import pickle

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from treeaudit.readers import load
from treeaudit.readers.pickle.pickle_vm import read_pickle
from treeaudit.readers.sklearn.encoders import CannotUndoError
from treeaudit.readers.sklearn.steps import by_importances

RNG = np.random.default_rng(0)
NAMES = [f"c{i}" for i in range(8)]
X = pd.DataFrame(RNG.normal(size=(400, 8)), columns=NAMES)
SCORE = X.c1 + 0.6 * X.c4 + 0.3 * X.c6 + 0.5 * RNG.normal(size=400)
Y = (SCORE > 0).astype(int)

MODELS = {
    "linear": LogisticRegression(),
    "three classes": LogisticRegression(),
    "lasso": Lasso(0.1),
    "ridge": Ridge(),
    "tree": DecisionTreeClassifier(random_state=0),
    "forest": ExtraTreesClassifier(7, max_depth=3, random_state=0),
    "forest of numbers": RandomForestRegressor(5, max_depth=4, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=4, random_state=0),
}


def target(kind):
    return Y + (SCORE > 1) if kind == "three classes" else SCORE if kind == "lasso" else Y


def undone(selection):
    record = read_pickle(pickle.dumps(selection)).root
    return by_importances(record.attributes, NAMES)


@pytest.mark.parametrize("asked", [None, "mean", "1.25*mean", "0.5 * median", 0.05, -np.inf])
@pytest.mark.parametrize("kind", MODELS)
def test_the_columns_are_those_that_scikit_learn_keeps(kind, asked) -> None:
    for most in (None, 2, 8):
        selection = SelectFromModel(MODELS[kind], threshold=asked, max_features=most, norm_order=2)
        selection.fit(X, target(kind))
        assert undone(selection) == list(selection.get_feature_names_out())


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**31), most=st.none() | st.integers(1, 8), times=st.floats(0.1, 3))
def test_random_trees_select_the_same_or_are_not_undone(seed, most, times) -> None:
    rng = np.random.default_rng(seed)
    columns = pd.DataFrame(rng.integers(0, 4, (60, 8)), columns=NAMES)
    tree = DecisionTreeRegressor(max_depth=4, random_state=seed)
    selection = SelectFromModel(tree, threshold=f"{times}*mean", max_features=most)
    selection.fit(columns, rng.normal(size=60))
    assert undone(selection) == list(selection.get_feature_names_out())


def test_what_is_on_the_threshold_is_not_undone() -> None:
    twins = X.assign(c2=X.c1)
    ridge = Ridge().fit(twins, Y)
    ridge.coef_[2] = ridge.coef_[1]
    selection = SelectFromModel(ridge, prefit=True, threshold=float(abs(ridge.coef_[1])))
    with pytest.raises(CannotUndoError):
        undone(selection.fit(twins))
    with pytest.raises(CannotUndoError):
        undone(SelectFromModel(ridge, prefit=True, max_features=2).fit(twins))


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("model", [LogisticRegression(), DecisionTreeClassifier(random_state=0)])
def test_a_pipeline_with_it_takes_its_training_people(model, scaled, tmp_path) -> None:
    tree = DecisionTreeClassifier(max_depth=2, min_samples_leaf=40, random_state=0)
    steps = [StandardScaler()] if scaled else []
    pipeline = make_pipeline(*steps, SelectFromModel(model, max_features=2), tree)
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(pipeline.fit(X, Y)))
    forest = load(path)
    assert not [one for one in forest.extras if one.kind == "extra"]
    assert not [said for said in forest.warnings if "SelectFromModel" in said]
    kept = list(pipeline[-2].get_feature_names_out(NAMES))
    assert ta.scan(path, train=X.assign(y=Y), target="y").forest.schema.names == kept


def test_a_booster_that_selects_is_a_model_of_its_own_and_explains_its_names(tmp_path) -> None:
    tree = DecisionTreeClassifier(max_depth=2, min_samples_leaf=40, random_state=0)
    boosted = lgb.LGBMClassifier(n_estimators=2, num_leaves=3, verbose=-1)
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(make_pipeline(SelectFromModel(boosted), tree).fit(X, Y)))
    assert not [one for one in load(path).extras if one.kind == "extra"]
