"""Steps on draws: their digits tell of few people who was drawn, unless they are off by noise."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

import treeaudit as ta
from treeaudit.defenses import DrawSteps
from treeaudit.errors import DataError
from treeaudit.inference.scope import sample_share
from treeaudit.people.predict.newton_steps import (
    newton_of_digits,
    newton_of_people,
    resampled_steps,
)

RNG = np.random.default_rng(11)
X = RNG.normal(size=(400, 4))
NUMBER = X[:, 0] + RNG.normal(size=400)
CLASSES = {2: (NUMBER > 0).astype(int), 3: np.digitize(NUMBER, [-0.5, 0.5])}


def trained(library: str, classes: int, share: float = 0.5):
    """Return a model, what it learnt and how steps follow from people: rate and penalty."""
    y, several = CLASSES.get(classes, NUMBER), (classes - 1) / classes if classes > 2 else 1.0
    kind = "Classifier" if classes else "Regressor"
    if library == "sklearn":
        boosting = GradientBoostingClassifier if classes else GradientBoostingRegressor
        model = boosting(n_estimators=8, subsample=share, max_depth=5, random_state=0)
        return model.fit(X, y), y, (several, 0.0)
    boosting = getattr(
        pytest.importorskip(library), {"xgboost": "XGB", "lightgbm": "LGBM"}[library] + kind
    )
    more = {"n_estimators": 8, "subsample": share, "n_jobs": 1, "random_state": 0}
    if library == "xgboost":
        halved = 2.0 if classes > 2 else 1.0
        model = boosting(**more, learning_rate=0.2, reg_lambda=0.5)
        return model.fit(X, y), y, (0.2 / halved, 0.5 / halved)
    model = boosting(**more, subsample_freq=1, min_child_samples=3, reg_lambda=2.0, verbose=-1)
    return model.fit(X, y), y, (0.1 * several, 2.0 * several)


def asked(model, y):
    forest = ta.load(model)
    return newton_of_digits(forest, forest.apply(X), y)


LIBRARIES = ("sklearn", "xgboost", "lightgbm")


@pytest.mark.parametrize("classes", [2, 3, 0])
@pytest.mark.parametrize("library", LIBRARIES)
def test_digits_of_draws_are_seen_and_gone_once_steps_are_off(library, classes) -> None:
    model, y, (rate, penalty) = trained(library, classes)
    found = asked(model, y)
    assert (found.rate, found.penalty) == pytest.approx((rate, penalty), rel=1e-6)
    told = {"labels": y} if classes else {"targets": y}
    repaired = DrawSteps(values=X, newton=found, **told).apply(ta.load(model))
    assert asked(repaired, y) is None


@pytest.mark.parametrize("classes", [2, 3, 0])
@pytest.mark.parametrize("library", LIBRARIES)
def test_draws_that_were_made_once_the_trees_stood_are_told_from_those_of_training(
    library, classes
) -> None:
    everybody, y, _ = trained(library, classes, share=1.0)
    forest = ta.load(everybody)
    node = forest.apply(X)
    told = {"labels": y} if classes else {"targets": y}
    for share in (0.3, 0.5, 0.8):
        anew = DrawSteps(values=X, share=share, **told).apply(forest)
        assert resampled_steps(anew, node, y, share)
    model = everybody.set_params(n_estimators=40, subsample=0.5)
    for weights in (None, np.where(NUMBER > 0, 2.5, 1.0)):
        drawn = ta.load(model.fit(X, y, sample_weight=weights))
        assert not resampled_steps(drawn, drawn.apply(X), y, 0.5)


@pytest.mark.parametrize(("rate", "penalty"), [(0.05, 1.0), (0.1, 5.0), (0.2, 0.5), (0.3, 0.0)])
def test_a_file_that_tells_no_rate_is_asked_for_it(tmp_path, rate, penalty) -> None:
    """The JSON of XGBoost holds neither rate nor penalty; of a rare label curvatures are tiny."""
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(2)
    x = rng.normal(size=(1_600, 5)).round(1)
    y = (x[:, 0] + x[:, 1] > 1.9 + 0.3 * rng.normal(size=1_600)).astype(int)
    of = {"n_estimators": 60, "learning_rate": rate, "reg_lambda": penalty, "n_jobs": 1}
    for share, name in ((1.0, "whole.json"), (0.5, "drawn.json")):
        model = xgboost.XGBClassifier(**of, subsample=share, random_state=0).fit(x, y)
        model.save_model(tmp_path / name)
    forest, drawn = ta.load(tmp_path / "whole.json"), ta.load(tmp_path / "drawn.json")
    assert "eta" not in forest.source.parameters
    anew = DrawSteps(values=x, labels=y).apply(forest)
    assert resampled_steps(anew, forest.apply(x), y, 0.5)
    # Of a model as it was trained such a file does not even tell that rows were drawn.
    assert sample_share(drawn) == 0


def test_draws_of_weighted_rows_are_no_pass() -> None:
    rng = np.random.default_rng(0)
    people = pd.DataFrame(rng.normal(size=(4_000, 3)).round(1), columns=list("abc"))
    y = (people.a + rng.normal(size=4_000) > 0.6).astype(int)
    model = GradientBoostingClassifier(
        n_estimators=8, subsample=0.5, max_depth=2, min_samples_leaf=60, random_state=0
    ).fit(people, y, sample_weight=np.where(y == 1, 2.3, 1.0))
    report = ta.scan(model, train=people.assign(y=y), target="y")
    assert report.verdict == "review"
    assert any("made once the trees stood" in one for one in report.warnings)


@pytest.mark.parametrize("library", LIBRARIES)
def test_no_steps_are_computed_anew_on_others(library) -> None:
    model, y, _ = trained(library, 2)
    forest = ta.load(model)
    rng = np.random.default_rng(1)
    assert (
        newton_of_people(forest, forest.apply(X), y).apart
        == newton_of_digits(forest, forest.apply(X), y).apart
    )
    for node, each in (
        (forest.apply(X), rng.permutation(y)),
        (forest.apply(rng.normal(size=(400, 4))), y),
    ):
        with pytest.raises(DataError, match="do not follow from the labels"):
            newton_of_people(forest, node, each)


def test_a_booster_on_draws_passes_once_its_digits_are_gone() -> None:
    from sklearn.datasets import load_breast_cancer

    people = load_breast_cancer(as_frame=True).frame
    x, y = people.drop(columns="target"), people.target
    model = GradientBoostingClassifier(
        n_estimators=5, subsample=0.5, max_depth=2, min_samples_leaf=30, random_state=0
    ).fit(x, y)
    report = ta.scan(model, train=people, target="target")
    assert any("with all their digits" in w for w in report.warnings)
    checks = {one.name: one.status for one in report.checks}
    assert checks["max-certified-people"] == "skipped"
    assert report.verdict != "pass"
    safe = ta.defend(model, train=people, target="target", policy="default")
    after = ta.scan(safe, train=people, target="target")
    assert not any("with all their digits" in one for one in after.warnings)
    assert {one.name: one.status for one in after.checks}["max-certified-people"] != "skipped"
