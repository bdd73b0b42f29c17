"""Every model of a file is found, of all libraries together, wherever it hangs."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.readers.damage import pickled
from treeaudit.readers import load_all
from treeaudit.readers.choice import matching

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
Y = (X[:, 0] > 0).astype(int)
TREE = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(X, Y)
OTHER = DecisionTreeClassifier(random_state=0).fit(X[:100], Y[:100])


def beside(value, model=TREE):
    made = copy.deepcopy(model)
    made.note_ = value
    return made


def objects(*values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def stack():
    named = [("old", DecisionTreeClassifier(max_depth=2)), ("new", DecisionTreeClassifier())]
    return StackingClassifier(named, cv=2).fit(X, Y)


def kept(tmp_path, value):
    path = pickled(tmp_path, value)
    return path


FOUND = {
    "attribute": (beside(OTHER), ["", "note_"]),
    "list": (beside([1, OTHER]), ["", "note_[1]"]),
    "object array": (beside(objects(None, OTHER)), ["", "note_[1]"]),
    "namespace": (beside(SimpleNamespace(x=OTHER)), ["", "note_.x"]),
    "pipeline": (
        beside(make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2)).fit(X, Y)),
        ["", "note_.steps['decisiontreeclassifier']"],
    ),
    "arguments": (
        make_pipeline(FunctionTransformer(None, kw_args={"m": OTHER}), TREE),
        ["steps['decisiontreeclassifier']", "steps['functiontransformer'].kw_args['m']"],
    ),
    "step": (
        make_pipeline(
            SelectFromModel(RandomForestClassifier(2)), DecisionTreeClassifier(max_depth=2)
        ).fit(X, Y),
        ["steps['decisiontreeclassifier']", "steps['selectfrommodel'].estimator_"],
    ),
    "boosting in a step": (
        make_pipeline(
            SelectFromModel(GradientBoostingClassifier(n_estimators=3)), DecisionTreeClassifier()
        ).fit(X, Y),
        ["steps['decisiontreeclassifier']", "steps['selectfrommodel'].estimator_"],
    ),
    "boosting in a list": (
        beside([GradientBoostingRegressor(n_estimators=3).fit(X, Y)]),
        ["", "note_[0]"],
    ),
    "array at the top": ([TREE, objects(OTHER)], ["[0]", "[1][0]"]),
    "start of a boosting": (
        GradientBoostingClassifier(n_estimators=2, init=DecisionTreeClassifier(max_depth=2)).fit(
            X, Y
        ),
        ["", "init_"],
    ),
    "beside a stack": ({"s": stack(), "t": (OTHER,)}, ["['s']", "['t'][0]"]),
}


@pytest.mark.parametrize("name", FOUND)
def test_models_hang_anywhere(tmp_path, name) -> None:
    value, places = FOUND[name]
    path = kept(tmp_path, value)
    forests = load_all(path)
    assert [one.source.inside for one in forests] == places
    assert not any(one.others or _named(one) for one in forests)
    for place in places:
        chosen = ta.load(path, select=place)
        assert [*chosen.others] == _named(chosen) or "the file itself" in _named(chosen)
        assert {*chosen.others} == {*places} - {place}


def _named(forest):
    return [one.where for one in forest.extras.found if one.kind == "unseen"]


def test_what_only_calls_itself_a_member_is_another_model(tmp_path) -> None:
    tree = copy.deepcopy(TREE)
    tree.estimators_ = [OTHER]
    assert [one.source.inside for one in load_all(kept(tmp_path, tree))] == ["", "estimators_[0]"]


@pytest.mark.parametrize(
    "model",
    [
        TREE,
        RandomForestClassifier(3).fit(X, Y),
        GradientBoostingClassifier(n_estimators=2).fit(X, Y),
        VotingClassifier([("a", DecisionTreeClassifier()), ("b", RandomForestClassifier(2))]).fit(
            X, Y
        ),
        stack(),
        make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2)).fit(X, Y),
        GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=2).fit(X, Y),
    ],
    ids=lambda one: type(one).__name__,
)
def test_members_of_one_model_are_no_other_models(tmp_path, model) -> None:
    (one,) = load_all(kept(tmp_path, model))
    assert one.others == {}


@pytest.mark.libraries
def test_models_of_all_libraries(tmp_path) -> None:
    xgb, lgb = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
    x = xgb.XGBClassifier(n_estimators=2, max_depth=2).fit(X, Y)
    lg = lgb.LGBMClassifier(n_estimators=2, verbose=-1).fit(X, Y)
    held = {"a": TREE, "x": beside(OTHER, x), "l": beside([lg.booster_], lg)}
    places = ["['a']", "['x']", "['l']", "['x'].note_", "['l'].note_[0]"]
    assert [one.source.inside for one in load_all(kept(tmp_path, held))] == places


@pytest.mark.libraries
def test_a_model_that_cannot_be_read_forbids_a_pass(tmp_path) -> None:
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostClassifier(iterations=2, verbose=False, allow_writing_files=False)
    for held in (beside(model.fit(X, Y)), {"a": TREE, "c": model}):
        (one,) = load_all(kept(tmp_path, held))
        (left,) = (left for left in one.extras.found if left.kind == "unseen")
        assert "could not be read" in left.says
        assert "model.save_model('model.json', format='json')" in left.says
        policy = ta.Policy(name="mine", values={"max-extra-bytes": 0})
        assert ta.scan(one, policy=policy).verdict != "pass"


def test_plain_keys_choose(tmp_path) -> None:
    path = kept(tmp_path, {"s": stack(), "b": {"deep": OTHER}, "n": beside(TREE)})
    for select, place in {
        "s": "['s']",
        "deep": "['b']['deep']",
        "b.deep": "['b']['deep']",
        "['n']": "['n']",
        "s.old": "['s'].estimators_[0]",
        "['s'].estimators_[1]": "['s'].estimators_[1]",
        "s.estimators_.1": "['s'].estimators_[1]",
    }.items():
        assert ta.load(path, select=select).source.inside == place, select
    with pytest.raises(ta.UnsupportedModelError, match=r"x: the file holds \['s'\], \['b'\]\['de"):
        ta.load(path, select="x")


def test_a_name_that_can_mean_two_is_not_guessed(tmp_path) -> None:
    path = kept(tmp_path, {"a": {"x": TREE}, "b": {"x": OTHER}})
    with pytest.raises(ta.UnsupportedModelError, match=r"x: it can mean \['a'\]\['x'\], \['b'\]"):
        ta.load(path, select="x")
    assert ta.load(path, select="b.x").source.inside == "['b']['x']"


def test_the_name_of_the_top_is_taken_as_it_is_printed(tmp_path) -> None:
    path = kept(tmp_path, beside(OTHER))
    assert ta.load(path, select="the file itself").source.inside == ""
    with pytest.raises(ta.UnsupportedModelError, match="the file holds the file itself, note_"):
        ta.load(path, select="x")


def test_a_key_as_it_stands_goes_first() -> None:
    assert matching(["['a']", "a"], "a") == ["a"]
    assert matching(["['a']", "b['a']"], "a") == ["['a']"]
    assert matching(["['a.b']", "['a']['b']"], "a.b") == ["['a.b']", "['a']['b']"]
