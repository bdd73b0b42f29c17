"""Parameters are checked before anything is spent: after that nothing fails, whatever the data."""

import pickle
from dataclasses import fields

import numpy as np
import pytest

import treeaudit as ta
from tests.trainers.people import PURE, people, people_for
from tests.trainers.test_estimators import make
from treeaudit.dp import Budget
from treeaudit.dp.claims import unbounded_because
from treeaudit.errors import PrivacyError
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers.private_additive_tree import PrivateAdditiveTreeClassifier
from treeaudit.trainers.private_forest import PrivateForestClassifier
from treeaudit.trainers.private_regressors import PrivateForestRegressor, PrivateTreeRegressor
from treeaudit.trainers.private_tree import PrivateTreeClassifier
from treeaudit.trainers.semi_supervised_forest import SemiSupervisedForestClassifier
from treeaudit.trainers.smooth_sensitivity_forest import SmoothSensitivityForestClassifier

BY_EPSILON = pytest.mark.parametrize("trainer", PURE, ids=lambda t: t.algorithm)
OWN = [
    (trainer, one.name)
    for trainer in PURE
    for one in fields(trainer)
    if one.init and one.type in (int, int | None, float, float | None, bool)
    if one.name not in ("epsilon", "rows_per_person")
]
STRANGE = [0, -1, 0.5, 2.5, "x", np.nan, np.inf, 1e-300, 1e300, 10**30, 10**400, True, [1], b"1"]


def test_a_model_of_numbers_of_numpy_passes(tmp_path) -> None:
    frame, ill = people(90)
    given = {"n_estimators": np.int64(3), "max_depth": np.int8(2)}
    model = make(SmoothSensitivityForestClassifier, **given).fit(frame, ill)
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(model))
    assert ta.scan(tmp_path / "m.pkl", policy="private").verdict == "pass"


@pytest.mark.parametrize(
    ("trainer", "name"), OWN, ids=lambda one: str(getattr(one, "algorithm", one))
)
def test_a_parameter_is_refused_before_anything_is_spent(trainer, name) -> None:
    frame, target = people_for(trainer, 40)
    gaps = frame.assign(age=frame["age"].where(frame.index > 0))
    for strange in STRANGE:
        became = set()
        for rows in (frame, gaps, frame[:1]):
            budget = None if name == "delta" else Budget(1)
            try:
                make(trainer, budget=budget, **{name: strange}).fit(rows, target[: len(rows)])
                became.add("fitted")
            except ValueError:
                assert budget is None or not budget.spent
                became.add("refused")
        assert len(became) == 1


@pytest.mark.parametrize(
    "trainer", [SmoothSensitivityForestClassifier, SemiSupervisedForestClassifier]
)
@pytest.mark.parametrize(
    "more", [{}, {"max_leaves": None}, {"n_estimators": 2000, "max_depth": 64}]
)
def test_as_many_leaves_grow_as_can_be_held(trainer, more, monkeypatch) -> None:
    monkeypatch.setattr("treeaudit.trainers.random_trees._MOST_NODES", 100_000)
    features = tuple(Feature(name=f"x{i}", categories=("a", "b")) for i in range(200))
    schema = Schema(features=features, classes=(0, 1))
    budget = Budget(1)
    model = make(trainer, schema=schema, budget=budget, **more)
    model.fit(np.full((4, 200), "a", dtype=object), [0, 1, 0, 1])
    assert budget.spent == 1
    forests = 1 + (trainer is SemiSupervisedForestClassifier)
    assert sum(tree.n_nodes for tree in model.forest_.trees) <= forests * 100_000


@pytest.mark.parametrize(
    ("trainer", "depth"),
    [
        (PrivateTreeClassifier, 44),
        (PrivateForestClassifier, 44),
        (PrivateAdditiveTreeClassifier, 44),
        (PrivateTreeRegressor, 52),
        (PrivateForestRegressor, 52),
    ],
)
def test_levels_that_would_be_asked_at_nothing_are_refused(trainer, depth) -> None:
    frame, target = people_for(trainer, 40)
    for deep in (depth, 64):
        budget = Budget(1)
        with pytest.raises(PrivacyError, match=f"max_depth is {deep}: of an epsilon"):
            make(trainer, epsilon=1, max_depth=deep, budget=budget).fit(frame, target)
        assert budget.spent == 0


@BY_EPSILON
@pytest.mark.parametrize("epsilon", [1, 1e-4])
def test_what_is_fitted_is_bounded_however_deep(trainer, epsilon) -> None:
    if "max_depth" not in trainer().get_params():
        pytest.skip("it has no depth to choose")
    frame, target = people_for(trainer, 40)
    for depth in (30, 42):
        budget = Budget(1)
        model = make(trainer, epsilon=epsilon, max_depth=depth, budget=budget)
        try:
            model.fit(frame, target)
        except ValueError:
            assert budget.spent == 0
        else:
            assert unbounded_because(model.forest_) is None
