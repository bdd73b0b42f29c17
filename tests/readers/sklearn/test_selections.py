"""The model that a selection among the steps of a pipeline keeps is told in columns of the data."""

import pickle

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, SelectKBest
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from tests.cli.run import run
from tests.readers.damage import pickled, same_ends
from treeaudit.people.records import read_records
from treeaudit.readers import load, load_all
from treeaudit.readers.pickle.pickle_vm import read_pickle
from treeaudit.readers.sklearn.encoders import CannotUndoError
from treeaudit.readers.sklearn.steps import by_importances

LABELS = ("--target", "ill")


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    n = 400
    frame = pd.DataFrame(
        {"size": rng.integers(1, 7, n), "pay": rng.integers(10, 99, n), "age": rng.normal(50, 9, n)}
    )
    return frame.assign(ill=((frame.pay + frame.age + rng.integers(0, 40, n)) > 110).astype(int))


def tree():
    return DecisionTreeClassifier(max_depth=3, min_samples_leaf=20, random_state=0)


def few():
    return xgb.XGBClassifier(n_estimators=2, max_depth=2)


PIPELINES = {
    "rfe": lambda: make_pipeline(RFE(tree(), n_features_to_select=2), tree()),
    "scaled": lambda: make_pipeline(StandardScaler(), RFE(tree(), n_features_to_select=2), tree()),
    "rfecv": lambda: make_pipeline(StandardScaler(), RFECV(tree(), cv=2), tree()),
    "forest": lambda: make_pipeline(
        StandardScaler(), RFE(RandomForestClassifier(2, max_depth=2)), tree()
    ),
    "boosted": lambda: make_pipeline(
        StandardScaler(), SelectKBest(k=2), RFE(few(), n_features_to_select=1), few()
    ),
    "inside": lambda: make_pipeline(
        StandardScaler(),
        RFE(
            make_pipeline(StandardScaler(), tree()), n_features_to_select=2,
            importance_getter="named_steps.decisiontreeclassifier.feature_importances_",
        ),
        tree(),
    ),
    "nested": lambda: Pipeline([
        ("a", make_pipeline(StandardScaler(), StandardScaler())),
        ("b", RFE(tree(), n_features_to_select=2)), ("c", BaggingClassifier(tree(), 2)),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("name", PIPELINES)
def test_rows_end_where_the_selections_model_sends_them(name, people, tmp_path) -> None:
    X, y = people.drop(columns="ill"), people.ill
    pipe = PIPELINES[name]().fit(X, y)
    path = pickled(tmp_path, pipe)
    (forest,) = [one for one in load_all(path) if ".estimator_" in one.source.inside]
    place = next(i for i, (_, step) in enumerate(pipe.steps) if hasattr(step, "support_"))
    seen, inner = pipe[: place + 1].transform(X), pipe[place].estimator_
    if isinstance(inner, Pipeline):
        seen, inner = inner[:-1].transform(seen), inner[-1]
    theirs = inner.apply(seen).reshape(len(X), -1)
    mine = read_records(people, forest, target="ill")
    assert set(forest.schema.names) <= {"size", "pay", "age"}
    for i in range(forest.n_trees):
        same_ends(mine.node[:, i], theirs[:, i])


@pytest.mark.parametrize("name", ["rfe", "scaled", "rfecv", "inside"])
def test_training_data_of_the_pipeline_are_those_of_both(name, people, tmp_path) -> None:
    pipe = PIPELINES[name]().fit(people.drop(columns="ill"), people.ill)
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(pipe))
    people.to_csv(tmp_path / "people.csv", index=False)
    done = run("scan", tmp_path / "model.pkl", "--train", tmp_path / "people.csv", *LABELS)
    assert not done.stderr
    assert done.returncode in (0, 1)
    assert "2 models" in done.stdout
    wrong = people.assign(pay=people.pay[::-1].to_numpy())
    wrong.to_csv(tmp_path / "wrong.csv", index=False)
    done = run("scan", tmp_path / "model.pkl", "--train", tmp_path / "wrong.csv", *LABELS)
    assert done.returncode == 2
    assert "is not the training data" in done.stderr


def test_columns_behind_a_model_that_chose_by_weight_are_those_in_front_of_it(
    people, tmp_path
) -> None:
    pipe = make_pipeline(StandardScaler(), SelectFromModel(tree()), tree())
    (tmp_path / "model.pkl").write_bytes(
        pickle.dumps(pipe.fit(people.drop(columns="ill"), people.ill))
    )
    forest = next(f for f in load_all(tmp_path / "model.pkl") if ".estimator_" in f.source.inside)
    assert forest.schema.names == ["size", "pay", "age"]
    theirs = pipe[1].estimator_.apply(pipe[0].transform(people.drop(columns="ill")))
    same_ends(read_records(people, forest, target="ill").node[:, 0], theirs)


def test_members_of_a_vote_have_steps_of_their_own(people, tmp_path) -> None:
    parts = [("a", PIPELINES["scaled"]()), ("b", PIPELINES["rfe"]())]
    vote = VotingClassifier(parts).fit(people.drop(columns="ill"), people.ill)
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(vote))
    people.to_csv(tmp_path / "people.csv", index=False)
    for forest in load_all(tmp_path / "model.pkl"):
        if ".estimator_" in forest.source.inside:
            counted = read_records(people, forest, target="ill").in_tree(0, forest.trees[0].n_nodes)
            leaves = forest.trees[0].leaves
            assert counted[leaves].tolist() == forest.trees[0].n_records[leaves].tolist()


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


@pytest.mark.sampled(2)
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
    path = pickled(tmp_path, pipeline.fit(X, Y))
    forest = load(path)
    assert not [one for one in forest.extras if one.kind == "extra"]
    assert not [said for said in forest.warnings if "SelectFromModel" in said]
    kept = list(pipeline[-2].get_feature_names_out(NAMES))
    assert ta.scan(path, train=X.assign(y=Y), target="y").forest.schema.names == kept


def test_a_booster_that_selects_is_a_model_of_its_own_and_explains_its_names(tmp_path) -> None:
    tree = DecisionTreeClassifier(max_depth=2, min_samples_leaf=40, random_state=0)
    boosted = lgb.LGBMClassifier(n_estimators=2, num_leaves=3, verbose=-1)
    path = pickled(tmp_path, make_pipeline(SelectFromModel(boosted), tree).fit(X, Y))
    assert not [one for one in load(path).extras if one.kind == "extra"]
