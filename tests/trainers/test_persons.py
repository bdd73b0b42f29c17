"""Persons as what epsilon protects: whose rows are used, and what is said of it."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import treeaudit as ta
from tests.trainers.people import REGRESSORS, SCHEMA, people_for
from tests.trainers.test_estimators import EVERY, make
from treeaudit.dp import Budget
from treeaudit.errors import DataError, PrivacyError
from treeaudit.reports.formats import render
from treeaudit.trainers import train
from treeaudit.trainers import training_rows as module
from treeaudit.trainers.train import save_trained
from treeaudit.trainers.training_rows import first_rows, persons_of


def visits(
    n_persons: int = 60, each: int = 5, trainer: Any = None
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    X, y = people_for(trainer, n_persons * each)
    return X, y, np.tile(np.arange(n_persons), each)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=30),
    st.integers(1, 4),
    st.integers(0, 5),
)
def test_whose_rows_are_used_depends_on_that_person_alone(rows, most, gone) -> None:
    person = np.array([p for p, _ in rows], dtype=np.int64)
    fit = np.array([f for _, f in rows], dtype=bool)
    used = first_rows(person, fit, most)
    expected, seen = [], dict.fromkeys(range(6), 0)
    for who, fits in rows:
        expected.append(fits and seen[who] < most)
        seen[who] += fits
    assert used.tolist() == expected
    others = person != gone
    assert first_rows(person[others], fit[others], most).tolist() == used[others].tolist()


def test_a_person_is_one_however_the_number_is_written() -> None:
    assert persons_of([7, "7", 7.0, " 7", "B"], 5).tolist() == [0, 0, 0, 0, 1]
    assert persons_of(pd.Series([3, 3, 4], dtype="Int64"), 3).tolist() == [0, 0, 1]
    assert persons_of(pd.Categorical(["a", "b", "a"]), 3).tolist() == [0, 1, 0]
    for lost in (None, np.nan, pd.NA, pd.NaT):
        with pytest.raises(DataError, match=r"row 2 names no person.*curator only"):
            persons_of([1, lost, 2], 3)


@pytest.mark.parametrize("person", ["x", [1, 2], [[1]] * 3, None, pd.DataFrame({"a": [1, 2, 3]})])
def test_what_names_no_persons(person) -> None:
    with pytest.raises(DataError, match="one name or number for each of the 3 rows"):
        persons_of(person, 3)


@EVERY
def test_so_many_rows_of_each_person_are_used_and_the_ledger_says_so(trainer, monkeypatch) -> None:
    kept = []
    made = module.TrainingRows

    def spy(**parts):
        kept.append(parts["values"])
        return made(**parts)

    monkeypatch.setattr(module, "TrainingRows", spy)
    X, y, person = visits(trainer=trainer)
    model = make(trainer, rows_per_person=2).fit(X, y, person=person)
    assert np.array_equal(kept[0][:, 0], X["age"][:120])
    ledger = model.privacy_
    assert (ledger.unit, ledger.rows_per_person) == ("person, at most 2 rows", 2)
    assert (ledger.epsilon, ledger.not_private) == (1, False)
    assert {q.sensitivity % 2 for q in ledger.queries} == {0}
    assert make(trainer).fit(X, y).privacy_.unit == "record"
    # A row of a label that nobody knows is gone before rows are counted.
    unknown = np.nan if trainer in REGRESSORS else "perhaps"
    strange = np.where(np.arange(len(y)) < 60, unknown, y)
    make(trainer, rows_per_person=2, outside="clip").fit(X, strange, person=person)
    assert np.array_equal(kept[-1][:, 0], X["age"][60:180])


@EVERY
def test_persons_without_a_bound_and_a_bound_without_persons(trainer) -> None:
    X, y, person = visits(trainer=trainer)
    budget = Budget(1)
    with pytest.raises(PrivacyError, match="say with rows_per_person"):
        make(trainer, budget=budget).fit(X, y, person=person)
    with pytest.raises(PrivacyError, match=r"fit\(X, y, person=\.\.\.\)"):
        make(trainer, budget=budget, rows_per_person=2).fit(X, y)
    with pytest.raises(DataError, match="each of the 300 rows"):
        make(trainer, budget=budget, rows_per_person=2).fit(X, y, person=person[:9])
    for most in (0, -1, 1.5, True, "2"):
        with pytest.raises(ValueError, match="rows_per_person is"):
            make(trainer, budget=budget, rows_per_person=most).fit(X, y, person=person)
    assert budget.spent == 0


@EVERY
@pytest.mark.filterwarnings("ignore::treeaudit.errors.PrivacyWarning")
def test_pipelines_searches_and_clones_hand_persons_on(trainer) -> None:
    X, y, person = visits(trainer=trainer)
    model = make(trainer, rows_per_person=3, epsilon=0.5)
    assert clone(model).rows_per_person == 3
    name = trainer.__name__.lower()
    piped = make_pipeline(FunctionTransformer(), model).fit(X, y, **{f"{name}__person": person})
    assert piped[-1].privacy_.unit == "person, at most 3 rows"
    search = GridSearchCV(model, {"max_depth": [1, 2]}, cv=GroupKFold(2), error_score="raise")
    search.fit(X, y, groups=person, person=person)
    assert search.best_estimator_.privacy_.rows_per_person == 3
    with pytest.raises(PrivacyError, match="fit was not told"):
        search.fit(X, y, groups=person)


@pytest.mark.parametrize("suffix", [".json", ".pkl"])
def test_reports_and_policies_read_the_unit(tmp_path, suffix) -> None:
    X, y, person = visits()
    table = X.assign(ill=y, patient=person)
    units = {"person": 5, "record": None}
    for unit, most in units.items():
        whose = {"person": "patient", "rows_per_person": most} if most else {}
        model = train(table, epsilon=0.5, schema=SCHEMA, **whose)
        path = save_trained(model, tmp_path / f"{unit}{suffix}")
        report = ta.scan(path, train=table, person="patient", policy="private")
        epsilon = {c.name: c for c in report.checks}["max-epsilon"]
        # Five visits of a person, each protected by half: two and a half together.
        assert (epsilon.measured, epsilon.status) == ((0.5, "pass") if most else (2.5, "fail"))
        assert report.epsilon == epsilon.measured
        text, page = render(report, "text"), render(report, "html")
        said = {
            "person": "its epsilon is for one person, at most 5 rows",
            "record": "its epsilon is for one record, and 5 times that for a person",
        }[unit]
        assert said in " ".join(text.split())
        assert said in page
        alone = ta.scan(path, policy="private")
        assert math.isclose(alone.epsilon, 0.5)
        means = f"epsilon 0.5 for one {unit} more or less (add-remove)"
        assert means in " ".join(render(alone, "text").split())
        assert ("a record is the unit" in " ".join(render(alone, "text").split())) == (not most)


def test_the_person_is_no_feature() -> None:
    X, y, person = visits()
    table = X.assign(ill=y, patient=person)
    derived = train(
        table, epsilon=1.0, schema="from-data", target="ill", person="patient", rows_per_person=2
    )
    assert "patient" not in derived.forest_.schema.names
    with pytest.raises(DataError, match=r"no column 'none'.* \(--person\)"):
        train(table, epsilon=1.0, schema=SCHEMA, person="none", rows_per_person=2)
    with pytest.raises(DataError, match="both the person"):
        train(table, epsilon=1.0, schema=SCHEMA, person="ill", rows_per_person=2)
    with pytest.raises(DataError, match="the schema describes 'age', whose each row is"):
        train(table, epsilon=1.0, schema=SCHEMA, person="age", rows_per_person=2)
