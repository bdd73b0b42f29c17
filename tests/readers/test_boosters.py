"""Boosters of other libraries in pickles: bare, in pipelines, searches and bundles."""

import pickle

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import treeaudit as ta
from tests.libraries import library
from tests.readers.damage import pickled, same_trees
from tests.readers.sklearn.test_preprocessing import encode, labels, people

pytestmark = pytest.mark.libraries
xgboost = library("xgboost")
lightgbm = library("lightgbm")

BOOSTERS = [
    lambda: xgboost.XGBClassifier(n_estimators=4, max_depth=3, n_jobs=1),
    lambda: lightgbm.LGBMClassifier(n_estimators=4, max_depth=3, n_jobs=1, verbose=-1),
]


@pytest.fixture(params=BOOSTERS, ids=["xgboost", "lightgbm"])
def booster(request):
    return request.param()


def target(_: object) -> np.ndarray:
    return (labels(people()) == "yes").astype(int)


def test_wrappers_give_the_trees_of_the_bare_model(booster, tmp_path) -> None:
    frame = people()[["age", "income"]]
    booster.fit(frame, target(frame))
    bare = ta.load(booster)
    assert bare.schema.names == ["age", "income"]
    for wrapped in ({"model": booster}, [booster], (1, {"deep": booster})):
        path = pickled(tmp_path, wrapped)
        same_trees(ta.load(path), bare)


def test_a_search(booster) -> None:
    frame = people()[["age", "income"]]
    grid = GridSearchCV(booster, {"max_depth": [2]}, cv=2).fit(frame, target(frame))
    same_trees(ta.load(grid), ta.load(grid.best_estimator_))


def test_a_pipeline_is_undone() -> None:
    frame = people()
    prepare = make_column_transformer(
        ("passthrough", ["age", "income"]),
        (OneHotEncoder(sparse_output=False), ["job", "size"]),
    )
    booster = xgboost.XGBClassifier(n_estimators=4, max_depth=3, n_jobs=1)
    model = make_pipeline(prepare, booster).fit(frame, target(frame))
    forest = ta.load(model)
    assert forest.schema.names == ["age", "income", "job", "size"]
    seen = ta.load(booster).apply(prepare.transform(frame))
    assert np.array_equal(forest.apply(encode(frame, forest.schema)), seen)


def test_several_need_a_choice(booster) -> None:
    frame = people()[["age", "income"]]
    booster.fit(frame, target(frame))
    two = {"a": booster, "b": pickle.loads(pickle.dumps(booster))}
    with pytest.raises(ta.UnsupportedModelError, match="holds 2 models") as refused:
        ta.load(two)
    assert "['a'], ['b']" in str(refused.value)
    same_trees(ta.load(two, select="['b']"), ta.load(booster))


def test_unfitted_ones_are_named(booster) -> None:
    with pytest.raises(ta.UnsupportedModelError, match="never fitted"):
        ta.load(booster)


def test_catboost_is_told_how_to_export() -> None:
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostClassifier(iterations=2, verbose=0, allow_writing_files=False)
    frame = people()[["age", "income"]]
    with pytest.raises(ta.UnsupportedModelError, match="format='json'"):
        ta.load(model.fit(frame, target(frame)))


def test_members_of_a_bag_that_see_some_columns_name_them(booster) -> None:
    frame = people()[["age", "income"]].assign(size=range(len(people())))
    bag = BaggingClassifier(booster, 3, max_features=2, random_state=0).fit(frame, target(frame))
    names = list(frame.columns)
    for i, chosen in enumerate(bag.estimators_features_):
        forest = ta.load(bag, select=f"estimators_[{i}]")
        asked = {forest.schema.names[one] for t in forest.trees for one in t.feature if one >= 0}
        assert forest.schema.named
        assert set(forest.schema.names) <= set(names)
        assert asked
        assert asked <= {names[one] for one in chosen}
