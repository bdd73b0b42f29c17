"""Steps on draws: their digits tell of few people who was drawn, unless they are off by noise."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

import treeaudit as ta
from treeaudit.defenses import DrawSteps
from treeaudit.people.predict.newton_steps import (
    newton_of_digits,
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
