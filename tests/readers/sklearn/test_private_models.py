"""Private models inside other objects, and notes beside them, which no ledger accounts for."""

import pickle
import re

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import treeaudit as ta
from tests.readers.damage import pickled
from tests.trainers.people import SCHEMA, people
from treeaudit.errors import PrivacyWarning, UnsupportedModelError
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers import PrivateSearch, save_trained
from treeaudit.trainers.private_tree import PrivateTreeClassifier

X, Y = people(200)
NUMBERED = Schema(features=SCHEMA.features, classes=(0, 1), target="ill")
BY_POSITION = Schema(
    features=tuple(Feature(name=f"x{i}", low=0.0, high=100.0) for i in range(2)),
    classes=(0, 1),
    named=False,
)
AGES = np.c_[X["age"], X["age"]]
ILL = (Y == "yes").astype(int)


def tree(schema=SCHEMA) -> PrivateTreeClassifier:
    return PrivateTreeClassifier(schema=schema, max_depth=2)


def calibrated() -> CalibratedClassifierCV:
    # Each fold is fitted on its own.
    with pytest.warns(PrivacyWarning):
        return CalibratedClassifierCV(tree(), cv=2).fit(X, Y)


MADE = {
    "VotingClassifier": lambda: VotingClassifier([("a", tree(NUMBERED))]).fit(X, ILL),
    "BaggingClassifier": lambda: BaggingClassifier(tree(BY_POSITION), 2).fit(AGES, ILL),
    "CalibratedClassifierCV": lambda: calibrated(),
    "FrozenEstimator": lambda: FrozenEstimator(tree().fit(X, Y)),
}


def refusal(held, path) -> str:
    path.write_bytes(pickle.dumps(held))
    with pytest.raises(UnsupportedModelError) as refused:
        ta.load(path)
    return str(refused.value)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("held", [lambda m: m, lambda m: {"model": m}, make_pipeline])
def test_what_is_made_of_private_models(name, held, tmp_path) -> None:
    path = tmp_path / "model.pkl"
    says = refusal(held(MADE[name]()), path)
    assert says.startswith(
        "the file holds a private model (PrivateTreeClassifier) inside another object, and "
        "treeaudit audits it alone: save it with treeaudit.trainers.save_trained, or choose it "
        "with --select "
    )
    chosen = re.search(r"--select (['\"])(.*)\1$", says)[2]
    assert ta.load(path, select=chosen).source.inside == chosen


def test_a_private_search(tmp_path) -> None:
    search = PrivateSearch(estimator=tree(), candidates=[{"max_depth": 1}, {"max_depth": 2}])
    path = tmp_path / "model.pkl"
    assert "no tree model" in refusal(search, path)
    search.fit(X, Y)
    assert "a private model (PrivateTreeClassifier) inside another" in refusal(search, path)
    saved = save_trained(search.best_estimator_, tmp_path / "model.json")
    assert ta.scan(saved, policy="private").verdict == "pass"


def test_the_winner_of_a_private_search_is_not_said_to_lie_beside_scores(tmp_path) -> None:
    search = PrivateSearch(estimator=tree(), candidates=[{"max_depth": 1}, {"max_depth": 2}])
    path = pickled(tmp_path, search.fit(X, Y))
    forest = ta.load(path, select="best_estimator_")
    assert not any("scores of a search" in warning for warning in forest.warnings)
    clean = ta.save(forest, tmp_path / "clean.json")
    assert ta.scan(clean, policy="private").verdict == "pass"
    # What another search keeps stands in the file all the same.
    with pytest.warns(PrivacyWarning):
        grid = GridSearchCV(search, {"held_out": [0.2, 0.3]}, cv=2).fit(X, Y)
    path.write_bytes(pickle.dumps(grid))
    forest = ta.load(path, select="best_estimator_.best_estimator_")
    assert any("scores of a search" in warning for warning in forest.warnings)


def test_other_models_are_told_as_before(tmp_path) -> None:
    says = refusal(LogisticRegression().fit(AGES, ILL), tmp_path / "model.pkl")
    assert "LogisticRegression, which is no tree model" in says
    assert "was never fitted" in refusal(tree(), tmp_path / "model.pkl")


@pytest.mark.parametrize("beside", [{"n_train": 300}, {"counts": [151, 149]}], ids=str)
def test_the_private_policy_allows_no_notes(beside, tmp_path) -> None:
    path, model = tmp_path / "m.pkl", tree().fit(X, Y)
    path.write_bytes(pickle.dumps({"model": model, **beside}))
    assert ta.scan(path, policy="private").verdict == "fail"
    path.write_bytes(pickle.dumps(model))
    assert ta.scan(path, policy="private").verdict == "pass"
