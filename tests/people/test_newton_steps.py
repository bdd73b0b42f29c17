"""How the steps of boosting follow from labels: rates and penalties that libraries were told."""

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

import treeaudit as ta
from treeaudit.errors import DataError
from treeaudit.people.predict.newton_steps import Newton, means_from_steps, newton_of
from treeaudit.people.predict.predictions import target_values
from treeaudit.people.records import read_records

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 4)).round(1)
NUMBER = 3 * X[:, 0] + X[:, 1] ** 2 + RNG.normal(size=600)
THREE = np.searchsorted([0.0, 4.0], NUMBER)
TWO = (NUMBER > 1).astype(int)


def xgboost(kind: str, **options):
    return getattr(pytest.importorskip("xgboost"), kind)(n_estimators=8, n_jobs=1, **options)


def lightgbm(kind: str, **options):
    made = getattr(pytest.importorskip("lightgbm"), kind)
    return made(n_estimators=8, n_jobs=1, verbose=-1, **options)


MODELS = {
    "scikit-learn 2": (lambda: GradientBoostingClassifier(n_estimators=8), TWO, 1.0, 0.0),
    "scikit-learn 3": (lambda: GradientBoostingClassifier(n_estimators=8), THREE, 2 / 3, 0.0),
    "scikit-learn": (lambda: GradientBoostingRegressor(n_estimators=8), NUMBER, 1.0, 0.0),
    "histograms 2": (lambda: HistGradientBoostingClassifier(max_iter=8), TWO, 0.1, 0.0),
    "histograms 3": (lambda: HistGradientBoostingClassifier(max_iter=8), THREE, 0.1, 0.0),
    "histograms": (
        lambda: HistGradientBoostingRegressor(max_iter=8, l2_regularization=3, learning_rate=0.2),
        NUMBER,
        0.2,
        3.0,
    ),
    "XGBoost 2": (lambda: xgboost("XGBClassifier", base_score=0.4, reg_lambda=5), TWO, 0.3, 5.0),
    # Its curvature is twice p (1 - p).
    "XGBoost 3": (lambda: xgboost("XGBClassifier", learning_rate=0.5), THREE, 0.25, 0.5),
    "XGBoost": (lambda: xgboost("XGBRegressor", reg_lambda=2), NUMBER, 0.3, 2.0),
    "LightGBM 2": (lambda: lightgbm("LGBMClassifier", reg_lambda=2), TWO, 0.1, 2.0),
    # Its curvature is 3 / 2 p (1 - p).
    "LightGBM 3": (lambda: lightgbm("LGBMClassifier", reg_lambda=3), THREE, 0.2 / 3, 2.0),
    "LightGBM": (lambda: lightgbm("LGBMRegressor", boost_from_average=False), NUMBER, 0.1, 0.0),
}


@pytest.fixture(params=list(MODELS))
def boosted(request, tmp_path):
    """Return a fitted model, the audited file, its people, and what it was told."""
    make, wanted, rate, penalty = MODELS[request.param]
    model, path = make().fit(X, wanted), tmp_path / "model.txt"
    if request.param.startswith("XGBoost"):
        path = tmp_path / "model.ubj"
        model.save_model(path)
    elif request.param.startswith("LightGBM"):
        model.booster_.save_model(path)
    else:
        path = model
    forest = ta.load(path)
    return model, forest, read_records((X, wanted), forest), wanted, rate, penalty


def test_steps_say_what_the_labels_in_each_leaf_are_on_average(boosted) -> None:
    _, forest, people, *_ = boosted
    found = newton_of(forest, people.node, target_values(people))
    wanted, told = (
        found.wanted(target_values(people)),
        means_from_steps(forest, people.node, target_values(people)),
    )
    spread = 1.0 if people.targets is None else people.targets.std()
    for i, (tree, said) in enumerate(zip(forest.trees, told, strict=True)):
        at, each = people.node[:, i], wanted[:, i % wanted.shape[1]]
        held = np.bincount(at, minlength=tree.n_nodes)
        real = np.bincount(at, each, tree.n_nodes) / np.maximum(held, 1)
        assert said[held > 0] == pytest.approx(real[held > 0], abs=5e-3 * spread)


def test_steps_by_hand() -> None:
    two = Newton(start=np.zeros(1), shifted=False, rate=0.5, penalty=1.0, apart=1.0, squared=False)
    gradient, curvature = two.derivatives(np.zeros((4, 1)), two.wanted(np.array([1, 1, 0, 1])))
    assert gradient[:, 0].tolist() == [-0.5, -0.5, 0.5, -0.5]
    assert curvature[:, 0].tolist() == [0.25] * 4
    # Leaf 1 holds three people with G = -0.5, leaf 2 one with G = -0.5, leaf 3 nobody.
    steps = two.steps(np.array([1, 1, 1, 2]), gradient[:, 0], curvature[:, 0], 4)
    assert steps.tolist() == pytest.approx([0.0, 0.25 / 1.75, 0.25 / 1.25, 0.0])


def test_other_people_and_weights_are_refused() -> None:
    weighted = GradientBoostingClassifier(n_estimators=8)
    forest = ta.load(weighted.fit(X, TWO, sample_weight=1 + RNG.random(600)))
    people = read_records((X, TWO), forest)
    with pytest.raises(DataError, match="do not follow from the labels of these people"):
        newton_of(forest, people.node, people.labels)
    forest = ta.load(GradientBoostingClassifier(n_estimators=8).fit(X, TWO))
    with pytest.raises(DataError, match="do not follow from the labels of these people"):
        newton_of(forest, forest.apply(X[::2]), TWO[::2])
