"""Members of scikit-learn models that hold trees of another library are models of their own."""

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.readers.damage import pickled
from treeaudit.audit.scan import audit_all
from treeaudit.errors import UnsupportedModelError
from treeaudit.findings.request import Request
from treeaudit.readers import load, load_all
from treeaudit.trainers.private_tree import PrivateTreeClassifier

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(400, 4)), columns=list("abcd"))
Y = np.where(X.a + RNG.normal(size=400) > 0, "ill", "well")


def tree():
    return DecisionTreeClassifier(max_depth=2, min_samples_leaf=60, random_state=0)


def light(**given):
    given = {"n_estimators": 2, "num_leaves": 4, "verbose": -1, "n_jobs": 1} | given
    return lgb.LGBMClassifier(**given)


def extreme():
    return xgb.XGBClassifier(n_estimators=2, max_depth=2, n_jobs=1)


def vote(member):
    return VotingClassifier([("t", tree()), ("x", member)], voting="soft")


def kept(tmp_path, model, target=Y):
    path = pickled(tmp_path, model.fit(X, target))
    return path


BESIDE = {
    "LightGBM": (vote(light()), ["estimators_[1]"]),
    "XGBoost": (vote(extreme()), ["estimators_[1]"]),
    "pipeline": (
        vote(make_pipeline(StandardScaler(), light())),
        ["estimators_[1].steps['lgbmclassifier']"],
    ),
    "bag": (
        vote(BaggingClassifier(extreme(), 2)),
        [f"estimators_[1].estimators_[{i}]" for i in (0, 1)],
    ),
    "one against the rest": (vote(OneVsRestClassifier(light())), ["estimators_[1].estimators_[0]"]),
    "calibrated": (
        vote(CalibratedClassifierCV(light(), cv=2)),
        [f"estimators_[1].calibrated_classifiers_[{i}].estimator" for i in (0, 1)],
    ),
    "stack": (StackingClassifier([("t", tree()), ("x", light())], cv=2), ["estimators_[1]"]),
    "last of a stack": (
        StackingClassifier([("t", tree())], final_estimator=light(), cv=2),
        ["final_estimator_"],
    ),
}


@pytest.mark.parametrize("kind", BESIDE)
def test_a_booster_inside_a_model_with_trees_is_a_model_of_its_own(kind, tmp_path) -> None:
    model, places = BESIDE[kind]
    path = kept(tmp_path, model)
    read = {one.source.inside: one for one in load_all(path)}
    assert sorted(read) == sorted(["", *places])
    for place in places:
        alone = load(path, select=place)
        assert alone.source.library in ("LightGBM", "XGBoost")
        assert alone.n_trees == read[place].n_trees == 2
        assert alone.schema.classes == ("ill", "well")
    # Who reads one model is told of the others.
    assert {one.where for one in load(path).extras if one.kind == "unseen"} == {*places}
    assert not any(place in said for said in read[""].warnings for place in places)


def test_leaves_of_one_person_inside_a_vote_fail_it(tmp_path) -> None:
    path = kept(tmp_path, vote(light(num_leaves=200, min_child_samples=1)))
    reports = audit_all(Request(model=path))
    assert [report.verdict for report in reports] == ["pass", "fail"]
    chosen = audit_all(Request(model=path, select="estimators_[1]"))
    assert [report.verdict for report in chosen] == ["fail"]


MADE_OF = {
    "vote": (VotingClassifier([("a", light()), ("b", extreme())]), 2),
    "stack": (StackingClassifier([("a", light())], cv=2), 1),
    "calibrated": (CalibratedClassifierCV(light(), cv=2), 2),
    "threshold": (FixedThresholdClassifier(light()), 1),
    "boosting": (AdaBoostClassifier(light(), n_estimators=2), 2),
    "behind a scaler": (make_pipeline(StandardScaler(), OneVsRestClassifier(light())), 1),
}


@pytest.mark.parametrize("kind", MADE_OF)
def test_what_is_made_of_boosters_alone_is_read_member_by_member(kind, tmp_path) -> None:
    model, n = MADE_OF[kind]
    read = load_all(kept(tmp_path, model))
    assert len(read) == n
    for one in read:
        assert one.schema.classes == ("ill", "well")
        assert list(one.schema.names) == list("abcd")
        assert not [left for left in one.extras if left.kind in ("unseen", "extra")]


def test_one_class_against_the_rest_is_called_by_it(tmp_path) -> None:
    three = np.array(["red", "green", "blue"])[RNG.integers(0, 3, 400)]
    read = load_all(kept(tmp_path, OneVsRestClassifier(light()), three))
    rest = [("not blue", "blue"), ("not green", "green"), ("not red", "red")]
    assert [one.schema.classes for one in read] == rest


def test_a_person_drawn_twice_counts_twice_in_a_bag(tmp_path) -> None:
    (bag,) = load_all(kept(tmp_path, BaggingClassifier(light(), 1, random_state=0)))
    assert (bag.records_are, bag.n_records) == ("bootstrap", None)


def test_a_fold_is_not_all_of_the_training_people(tmp_path) -> None:
    path = kept(tmp_path, CalibratedClassifierCV(light(), cv=2))
    assert [(one.records_are, one.n_records) for one in load_all(path)] == [("unknown", None)] * 2
    train = X.assign(y=Y)
    request = Request(model=path, train=train, target="y")
    assert {report.verdict for report in audit_all(request)} <= {"fail", "review"}


def test_a_changed_target_is_said(tmp_path) -> None:
    inner = lgb.LGBMRegressor(n_estimators=2, num_leaves=4, verbose=-1)
    model = TransformedTargetRegressor(inner, func=np.log1p, inverse_func=np.expm1)
    (read,) = load_all(kept(tmp_path, model, np.exp(X.a)))
    assert "the numbers in its leaves are in units of the changed target" in read.warnings
    assert not [left for left in read.extras if left.kind in ("unseen", "extra")]


def test_a_private_model_inside_a_vote_is_named_and_forbids_a_pass(tmp_path) -> None:
    columns = tuple(ta.Feature(name=name, low=-9, high=9) for name in "abcd")
    schema = ta.Schema(features=columns, classes=(0, 1))
    private = PrivateTreeClassifier(schema=schema, epsilon=1.0, max_depth=2)
    path = kept(tmp_path, vote(private))
    (read,) = load_all(path)
    assert [one.where for one in read.extras if one.kind == "unseen"] == ["estimators_[1]"]
    with pytest.raises(UnsupportedModelError, match="is a member of another model: save it alone"):
        load(path, select="estimators_[1]")
    assert audit_all(Request(model=path))[0].verdict != "pass"


def test_a_member_is_not_written_as_a_pickle_of_other_labels(tmp_path) -> None:
    read = load(kept(tmp_path, vote(light())), select="estimators_[1]")
    with pytest.raises(UnsupportedModelError, match="write the version-free form instead"):
        ta.save(read, tmp_path / "alone.pkl")
    again = ta.load(ta.save(read, tmp_path / "alone.json"))
    assert again.schema.classes == ("ill", "well")
