"""Parameters are checked before anything is spent: after that nothing fails, whatever the data."""

import pickle
from dataclasses import fields, replace

import joblib
import numpy as np
import pandas as pd
import pytest

import treeaudit as ta
from tests.trainers.people import CLASSIFIERS, PURE, people, people_for, schema_for
from tests.trainers.test_estimators import make
from treeaudit.dp import Budget
from treeaudit.dp.claims import unbounded_because
from treeaudit.errors import DataError, PrivacyError
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers import PrivateSearch
from treeaudit.trainers.private_additive_tree import PrivateAdditiveTreeClassifier
from treeaudit.trainers.private_forest import PrivateForestClassifier
from treeaudit.trainers.private_regressors import PrivateForestRegressor, PrivateTreeRegressor
from treeaudit.trainers.private_tree import PrivateTreeClassifier
from treeaudit.trainers.random_count_forest import RandomCountForestClassifier
from treeaudit.trainers.semi_supervised_forest import SemiSupervisedForestClassifier
from treeaudit.trainers.smooth_sensitivity_forest import SmoothSensitivityForestClassifier
from treeaudit.trainers.threshold_forest import ThresholdForestClassifier

BY_EPSILON = pytest.mark.parametrize("trainer", PURE, ids=lambda t: t.algorithm)
WHOLE = [
    (trainer, one.name)
    for trainer in PURE
    for one in fields(trainer)
    if one.init and one.type in (int, int | None)
]
OWN = [
    (trainer, one.name)
    for trainer in PURE
    for one in fields(trainer)
    if one.init and one.type in (int, int | None, float, float | None, bool)
    if one.name not in ("epsilon", "rows_per_person")
]
STRANGE = [0, -1, 0.5, 2.5, "x", np.nan, np.inf, 1e-300, 1e300, 10**30, 10**400, True, [1], b"1"]


@pytest.mark.parametrize(
    ("trainer", "name"), WHOLE, ids=lambda one: str(getattr(one, "algorithm", one))
)
@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint8, np.uint64])
def test_whole_numbers_of_numpy_are_whole_numbers(trainer, name, kind) -> None:
    value = 127 if name == "max_records" else 3
    frame, target = people_for(trainer, 90)
    whose = np.arange(90) if name == "rows_per_person" else None
    budget = Budget(1)
    model = make(trainer, epsilon=1, budget=budget, **{name: kind(value)})
    model.fit(frame, target, person=whose)
    assert budget.spent == 1
    told = model.forest_.source.parameters
    assert name == "n_jobs" or type(told[name]) is int
    held = pickle.loads(pickle.dumps(model))
    assert type(getattr(held, name)) is int
    assert held.predict(frame[:2]).tolist() == model.predict(frame[:2]).tolist()


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


@BY_EPSILON
@pytest.mark.parametrize("n_jobs", [0, "x", 2.5, True, 10**9, -(10**9), 1025])
def test_threads_are_a_number_of_them(trainer, n_jobs) -> None:
    budget = Budget(1)
    with pytest.raises(
        ValueError, match=r"n_jobs is .*: it must be None, a whole number from 1 to"
    ):
        make(trainer, budget=budget, n_jobs=n_jobs).fit(*people_for(trainer, 20))
    assert budget.spent == 0


@pytest.mark.parametrize("n_jobs", [None, 1, 2, np.int64(3), -1, -1000, 1024])
def test_threads_change_nothing_whatever_else_is_set(n_jobs) -> None:
    schema = Schema(features=tuple(Feature(name=n, low=0, high=1) for n in "ab"), classes=(0, 1))
    X = np.random.default_rng(0).random((9000, 2))
    y = (X[:, 0] > 0.5).astype(int)
    given = {"epsilon": 50, "schema": schema, "random_state": 0, "n_estimators": 2}
    alone = RandomCountForestClassifier(**given).fit(X, y)
    # Workers that share no memory would fill in copies of their own.
    with joblib.parallel_config(backend="loky"):
        other = RandomCountForestClassifier(**given, n_jobs=n_jobs).fit(X, y)
        assert np.array_equal(other.predict_proba(X), alone.predict_proba(X))


@BY_EPSILON
@pytest.mark.parametrize("rows", [1, 30])
def test_the_widest_bounds_are_bounds(trainer, rows) -> None:
    known = schema_for(trainer)
    wide = replace(known, features=(Feature(name="x", low=-1e308, high=1e308),))
    values = np.random.default_rng(0).choice([-1e308, 0.0, 1e308, np.nan], rows)
    budget = Budget(1)
    model = make(trainer, schema=wide, budget=budget)
    model.fit(pd.DataFrame({"x": values}), people_for(trainer, rows)[1])
    assert budget.spent == 1


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


def test_public_records_are_records() -> None:
    budget = Budget(1)
    for given in ("d.csv", b"d.csv"):
        model = make(SemiSupervisedForestClassifier, public_records=given, budget=budget)
        with pytest.raises(DataError, match=r"public_records is .*: give the records themselves"):
            model.fit(*people(20))
    assert budget.spent == 0


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


@pytest.mark.parametrize("name", ["choice", "held_out"])
@pytest.mark.parametrize("value", ["x", 0, 1, True, None, np.nan])
def test_shares_of_a_search(name, value) -> None:
    search = PrivateSearch(
        estimator=make(PrivateTreeClassifier), candidates=[{"max_depth": 1}], **{name: value}
    )
    with pytest.raises(ValueError, match=f"{name} is .*: it must be above 0 and below 1"):
        search.fit(*people(20))


@pytest.mark.parametrize("value", ["x", 0, 1, True, np.nan])
def test_shares_of_a_sample(value) -> None:
    with pytest.raises(ValueError, match=r"delta is .*: it must be above 0 and below 1"):
        make(ThresholdForestClassifier, delta=value).fit(*people(20))
    with pytest.raises(PrivacyError, match=r"sampling_rate is .*: it must be above 0 and at most"):
        make(ThresholdForestClassifier, sampling_rate=value).fit(*people(20))
    with pytest.raises(ValueError, match="delta is None"):
        make(ThresholdForestClassifier, delta=None).fit(*people(20))
    with pytest.raises(PrivacyError, match=r"sampling_rate is 0\.999"):
        make(ThresholdForestClassifier, sampling_rate=0.999).fit(*people(20))


def test_flags_are_true_or_false() -> None:
    for trainer in CLASSIFIERS:
        for one in fields(trainer):
            if one.type is bool and one.init:
                with pytest.raises(ValueError, match=f"{one.name} is 'no': it must be True or"):
                    make(trainer, **{one.name: "no"}).fit(*people(20))
