"""Numbers of persons with several records, and of members that predict others (TA109)."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.multioutput import MultiOutputRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta

GROUP = np.repeat(np.arange(10), 20)


def _checks(model, **options):
    return {one.name: one for one in ta.scan(model, **options).checks}


def test_with_the_people_two_records_may_be_one_exception() -> None:
    # 18 of the 20 records of a leaf are within the tolerance of one number, two are far off.
    numbers = GROUP * 100 + np.tile(np.arange(20) * 0.01, 10)
    numbers[np.arange(200) % 20 >= 18] += 37.5
    table = pd.DataFrame({"x": GROUP, "y": numbers, "who": np.arange(200) // 2})
    model = DecisionTreeRegressor(min_samples_leaf=20).fit(table[["x"]], table["y"])
    told = ("x", "y")
    as_records = _checks(model, train=table[[*told]], target="y")
    as_pairs = _checks(model, train=table[[*told]], target="y", rows_per_person=2)
    named = _checks(model, train=table, target="y", person="who")
    measured = [one["max-nearly-certain-share"].measured for one in (as_records, as_pairs, named)]
    assert measured == [0.0, 1.0, 1.0]


def test_with_the_people_two_records_may_be_nine_tenths_of_a_total() -> None:
    numbers = np.where(np.arange(200) % 20 < 2, 5000.0, 5.0) + np.arange(200) % 7
    rows = GROUP[:, None]
    model = DecisionTreeRegressor(min_samples_leaf=20).fit(rows, numbers)
    plain = _checks(model, train=(rows, numbers))["max-dominating-people"]
    pairs = _checks(model, train=(rows, numbers), rows_per_person=2)["max-dominating-people"]
    assert (plain.status, plain.measured, pairs.status) == ("pass", 0.0, "skipped")
    assert pairs.reason is not None
    assert pairs.reason.startswith("of 10 leaves the file does not tell whether one person has")


@given(
    labels=st.lists(st.integers(0, 1), min_size=40, max_size=80),
    most=st.integers(2, 4),
    seed=st.integers(0, 99),
)
@settings(max_examples=30, deadline=None)
def test_a_share_is_no_larger_whoever_has_the_records(labels, most, seed) -> None:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"x": np.arange(len(labels)) // 5 * 1.0, "y": labels})
    table.loc[:4, "y"] = [0, 1, 0, 1, 1]
    model = DecisionTreeClassifier(min_samples_leaf=4).fit(table[["x"]], table["y"])
    bound = _checks(model, rows_per_person=most)["max-certain-share"]
    who = rng.permutation(np.arange(len(table)) // most)
    named = _checks(model, train=table.assign(who=who), target="y", person="who")
    assert named["max-certain-share"].measured <= bound.measured + 1e-12


@pytest.mark.parametrize("named", ["smooth", "rough"])
def test_numbers_of_one_output_say_nothing_of_another(named) -> None:
    group = np.repeat(np.arange(10), 100)
    rough = 30.0 + 3 * group
    rough[::100] += 5
    # Of the same mean and deviation, and in no leaf nearly the same.
    smooth = np.random.default_rng(0).permutation(rough)
    model = MultiOutputRegressor(DecisionTreeRegressor(min_samples_leaf=100))
    model.fit(group[:, None], np.column_stack([smooth, rough]))
    table = pd.DataFrame({"x": group, "smooth": smooth, "rough": rough})
    options = {"train": table, "target": named, "repeats": "people"}
    check = _checks(model, **options)["max-nearly-certain-share"]
    assert check.status == ("skipped" if named == "smooth" else "fail")


def test_totals_of_one_output_are_not_those_of_all() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 2))
    even = 50 + 10 * rows[:, 0] + rng.normal(size=400)
    skewed = np.where(np.arange(400) % 50 == 0, 1e6, 1.0) + rng.random(400)
    model = MultiOutputRegressor(DecisionTreeRegressor(min_samples_leaf=20, random_state=0))
    model.fit(rows, np.column_stack([even, skewed]))
    table = pd.DataFrame({"x": rows[:, 0], "z": rows[:, 1], "even": even, "skewed": skewed})
    options = {"train": table, "target": "even", "policy": "acro"}
    check = _checks(model, **options)["max-nk-leaves"]
    assert (check.status, check.reason) == (
        "skipped",
        "the model predicts 2 numbers, and those of even alone were looked at: name the columns "
        "of the others (--sensitive)",
    )
    assert _checks(model, sensitive=["skewed"], **options)["max-nk-leaves"].status == "fail"
