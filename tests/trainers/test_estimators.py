"""The contract of scikit-learn, for every trainer."""

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import treeaudit as ta
from tests.strategies import one_in
from tests.trainers.people import (
    CLASSIFIERS,
    PURE,
    SCHEMA,
    answers_of,
    people,
    people_for,
    proved,
    schema_for,
)
from treeaudit.dp import Budget
from treeaudit.dp.claims import bounded, unbounded_because
from treeaudit.errors import DataError, PrivacyError, PrivacyWarning
from treeaudit.model.schema import Feature, Schema
from treeaudit.model.schema_file import schema_text
from treeaudit.trainers.algorithms import ALGORITHMS
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


@pytest.mark.sampled(3)
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


EVERY = pytest.mark.parametrize("trainer", ALGORITHMS, ids=lambda t: t.algorithm)
IN_PROCESSES = (pytest.mark.slow, pytest.mark.sampled)
CLASSES = pytest.mark.parametrize("trainer", CLASSIFIERS, ids=lambda t: t.algorithm)
FEW = {"n_estimators": 5, "min_records": 5, "n_public_trees": 5}


def make(trainer, **parameters):
    """A trainer with few trees and small leaves, where it has them to choose."""
    few = {k: v for k, v in FEW.items() if k in trainer().get_params()}
    return trainer(**({"schema": schema_for(trainer)} | few | parameters))


# With the noise of a small epsilon, 30 records may well never be given one of two labels.
@pytest.mark.slow
@pytest.mark.sampled(3)
@parametrize_with_checks(
    [make(t, schema="from-data", epsilon=100.0) for t in one_in(3, ALGORITHMS)]
)
def test_estimator_checks(estimator, check) -> None:
    check(estimator)


@EVERY
def test_frames_arrays_lists_and_missing_values_agree(trainer) -> None:
    X, y = people_for(trainer, 200)
    X.loc[::7, "age"] = np.nan
    X.loc[::5, "sex"] = None
    model = make(trainer, random_state=1).fit(X, y)
    shuffled = make(trainer, random_state=1).fit(X[["dose", "sex", "age"]], y)
    as_array = make(trainer, random_state=1).fit(X.to_numpy(dtype=object), y.tolist())
    expected = answers_of(model, X)
    assert np.array_equal(answers_of(shuffled, X[["dose", "sex", "age"]]), expected)
    assert np.array_equal(answers_of(as_array, X.to_numpy(dtype=object)), expected)
    assert model.feature_names_in_.tolist() == ["age", "sex", "dose"]
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert np.array_equal(answers_of(model, X.to_numpy(dtype=object)), expected)
    with pytest.raises(ValueError, match="same order"):
        model.predict(X[["dose", "sex", "age"]])


@EVERY
def test_columns_that_are_not_those_of_the_schema(trainer) -> None:
    X, y = people_for(trainer, 50)
    with pytest.raises(DataError, match="X has no column 'dose'"):
        make(trainer).fit(X[["age", "sex"]], y)
    with pytest.raises(DataError, match="the schema describes no column 'zip'"):
        make(trainer).fit(X.assign(zip=1), y)
    with pytest.raises(DataError, match="X has 2 columns"):
        make(trainer).fit(X.to_numpy(dtype=object)[:, :2], y)


@EVERY
def test_clone_pipeline_and_pickle(trainer) -> None:
    X, y = people_for(trainer, 300)
    model = make(trainer, epsilon=2.0)
    assert clone(model).get_params() == model.get_params()
    piped = make_pipeline(FunctionTransformer(), model).fit(X, y)
    again = pickle.loads(pickle.dumps(piped))
    assert np.array_equal(answers_of(again, X), answers_of(piped, X))
    copied = copy.deepcopy(piped)
    assert np.array_equal(copied.predict(X), piped.predict(X))
    assert copied[-1].privacy_ == piped[-1].privacy_
    with pytest.raises(NotFittedError):
        make(trainer).predict(X)
    with pytest.raises(NotFittedError):
        _ = make(trainer).privacy_


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore::treeaudit.errors.PrivacyWarning")
@pytest.mark.parametrize(
    ("trainer", "n_jobs"),
    [
        *(pytest.param(trainer, None, id=trainer.algorithm) for trainer in PURE),
        *(
            pytest.param(trainer, 2, id=f"{trainer.algorithm}, 2 processes", marks=IN_PROCESSES)
            for trainer in one_in(6, PURE)
        ),
    ],
)
def test_searches_spend_from_one_budget(trainer, n_jobs) -> None:
    X, y = people_for(trainer, 120)
    budget = Budget(6)
    model = make(trainer, budget=budget, epsilon=0.5)
    cross_val_score(model, X, y, cv=3, n_jobs=n_jobs)
    assert budget.spent == 1.5
    search = GridSearchCV(model, {"max_depth": [1, 2]}, cv=2, n_jobs=n_jobs).fit(X, y)
    assert budget.spent == 4.0
    winner = search.best_estimator_
    assert winner.privacy_.epsilon == 4
    assert not bounded(winner.forest_)
    with pytest.raises(ValueError, match="the budget does not cover it"):
        cross_val_score(model, X, y, cv=5, n_jobs=n_jobs, error_score="raise")
    assert budget.spent == 6.0


@EVERY
def test_searches_warn_and_their_winner_is_not_private(trainer) -> None:
    X, y = people_for(trainer, 120)
    model = make(trainer, epsilon=0.5)
    for fit in (
        lambda: cross_val_score(model, X, y, cv=2),
        lambda: GridSearchCV(make_pipeline(model), {}, cv=2).fit(X, y),
    ):
        with pytest.warns(PrivacyWarning, match="PrivateSearch chooses for one epsilon"):
            fitted = fit()
    (reason,) = fitted.best_estimator_[-1].privacy_.reasons
    assert "exact scores" in reason
    assert proved(model.fit(X, y))


@EVERY
def test_a_budget_takes_private_fits_only(trainer) -> None:
    X, y = people_for(trainer, 50)
    for parameters in ({"random_state": 0}, {"schema": "from-data"}, {"variant": "published"}):
        budget = Budget(5)
        with pytest.raises(PrivacyError, match="a budget counts fits that are private"):
            make(trainer, budget=budget, **parameters).fit(X, y)
        assert budget.spent == 0


@EVERY
def test_a_fit_that_would_leak_is_refused(trainer) -> None:
    X, y = people_for(trainer, 50)
    with pytest.raises(PrivacyError, match="needs a public schema"):
        make(trainer, schema=None).fit(X, y)
    for epsilon in (0, -1, np.inf, np.nan, "1"):
        with pytest.raises(PrivacyError, match="epsilon is"):
            make(trainer, epsilon=epsilon).fit(X, y)
    with pytest.raises(PrivacyError, match=r"lists no classes|has no bounds of the target"):
        make(trainer, schema=Schema(features=SCHEMA.features)).fit(X, y)
    bare = replace(schema_for(trainer), features=(Feature(name="x0"),))
    with pytest.raises(PrivacyError, match="column 'x0' has no public bounds"):
        make(trainer, schema=bare).fit([[1]], y[:1])
    with pytest.raises(PrivacyError, match="sample_weight is refused"):
        make(trainer).fit(X, y, sample_weight=np.ones(50))
    make(trainer).fit(X, y, sample_weight=None)
    with pytest.raises(TypeError, match="no 'check_input'"):
        make(trainer).fit(X, y, check_input=True)
    with pytest.raises(TypeError, match="must be a treeaudit"):
        make(trainer, schema={"columns": []}).fit(X, y)
    with pytest.raises(DataError, match="there is no file public; treeaudit schema DATA drafts"):
        make(trainer, schema="public").fit(X, y)
    with pytest.raises(TypeError, match=r"must be a treeaudit\.dp\.Budget"):
        make(trainer, budget=3.0).fit(X, y)
    for name in ("neighbours", "variant", "outside"):
        with pytest.raises(ValueError, match=f"{name} is 'other'"):
            make(trainer, **{name: "other"}).fit(X, y)
    with pytest.raises(ValueError, match=r"0 sample|minimum of 1"):
        make(trainer).fit(X[:0], y[:0])


OUTSIDE = [
    ({"age": 130.0}, "column 'age': 130.0 is not between 0 and 100"),
    ({"age": -np.inf}, r"infinity|-inf is not between"),
    ({"sex": "d"}, "column 'sex': 'd' is none of the categories"),
    ({"dose": "much"}, "column 'dose': 'much' is no number"),
]


@pytest.mark.sampled(2)
@EVERY
@pytest.mark.parametrize(("values", "says"), OUTSIDE)
def test_values_outside_the_schema(trainer, values, says) -> None:
    X, y = people_for(trainer, 40)
    X = X.astype({"dose": object}) if "dose" in values else X
    for name, value in values.items():
        X.loc[3, name] = value
    with pytest.raises(ValueError, match=says) as caught:
        make(trainer).fit(X, y)
    if "infinity" not in str(caught.value):
        assert "for the eyes of its curator only" in str(caught.value)
    model = make(trainer, outside="clip").fit(X, y)
    released = [(f.name, f.low, f.high, f.categories) for f in model.forest_.schema.features]
    assert released == [(f.name, f.low, f.high, f.categories) for f in SCHEMA.features]
    model.predict(X)


@CLASSES
def test_labels_outside_the_schema(trainer) -> None:
    X, y = people(40)
    y = y.astype(object)
    y[3] = "perhaps"
    with pytest.raises(DataError, match=r"label 'perhaps' is none .* curator only"):
        make(trainer).fit(X, y)
    for strange in (None, np.nan, 3):
        y[3] = strange
        assert make(trainer, outside="clip").fit(X, y).classes_.tolist() == ["no", "yes"]
    assert make(trainer, outside="clip").fit(X, ["none of them"] * 40).predict(X).shape == (40,)


@CLASSES
def test_data_without_a_class_or_a_category_fits_like_any_other(trainer) -> None:
    X, _ = people(40)
    model = make(trainer).fit(X, ["no"] * 40)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.predict_proba(X).shape == (40, 2)
    make(trainer).fit(X[:1], ["yes"])
    bare = Schema(features=(Feature(name="x", low=1, high=1),), classes=("no", "yes"))
    assert make(trainer, schema=bare).fit([[1.0]] * 40, ["no", "yes"] * 20).predict([[1.0]]).size


@EVERY
def test_marks(trainer) -> None:
    X, y = people_for(trainer, 60)
    assert not make(trainer).fit(X, y).privacy_.not_private
    for parameters, reason in (
        ({"random_state": 3}, "random_state was set"),
        ({"random_state": np.random.RandomState(3)}, "random_state was set"),
        ({"schema": "from-data"}, "taken from the private data"),
    ):
        ledger = make(trainer, **parameters).fit(X, y).privacy_
        assert ledger.not_private
        assert reason in ledger.reasons[0]


@pytest.mark.sampled(2)
@EVERY
@pytest.mark.filterwarnings("ignore::treeaudit.errors.PrivacyWarning")
@pytest.mark.parametrize("variant", ["sound", "published"])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_ledger_sums_to_the_claim(trainer, variant, neighbours) -> None:
    X, y = people_for(trainer, 60)
    model = make(trainer, epsilon=0.7, variant=variant, neighbours=neighbours).fit(X, y)
    ledger = model.privacy_
    assert ledger.epsilon == sum(query.cost for query in ledger.queries)
    assert model.forest_.privacy["epsilon"] == float(ledger.epsilon)
    assert (ledger.variant, ledger.neighbours) == (variant, neighbours)
    if variant == "sound":
        assert 0 < ledger.epsilon <= ledger.budget
        assert not ledger.not_private
    if ledger.not_private:
        with pytest.warns(PrivacyWarning, match="as published"):
            make(trainer, variant=variant).fit(X, y)


@pytest.mark.sampled(2)
@pytest.mark.slow
@EVERY
def test_threads_change_nothing(trainer) -> None:
    X, y = people_for(trainer, 200)
    X, y = pd.concat([X] * 200, ignore_index=True), np.tile(y, 200)
    one = make(trainer, random_state=0).fit(X, y)
    two = make(trainer, random_state=0, n_jobs=2).fit(X, y)
    assert np.array_equal(answers_of(one, X), answers_of(two, X))


@EVERY
def test_a_schema_may_be_the_path_of_a_confirmed_file(trainer, tmp_path) -> None:
    X, y = people_for(trainer, 60)
    draft = schema_text(schema_for(trainer))
    path = tmp_path / "schema.toml"
    path.write_text(draft)
    with pytest.raises(PrivacyError, match="is a draft"):
        make(trainer, schema=path).fit(X, y)
    path.write_text(draft.replace("confirmed = false", "confirmed = true"))
    for where in (path, str(path)):
        model = make(trainer, schema=where).fit(X, y)
        assert proved(model)
        assert str(path).encode() not in pickle.dumps(model)
        assert clone(model).fit(X, y).forest_.schema.names == model.forest_.schema.names
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == model.predict(X).tolist()
