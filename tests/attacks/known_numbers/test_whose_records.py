"""Numbers of persons with several records, and of members that predict others (TA109)."""

import numpy as np
import pandas as pd
from sklearn.multioutput import MultiOutputRegressor
from sklearn.tree import DecisionTreeRegressor

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
