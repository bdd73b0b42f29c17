"""A control that holds training rows would call memory a fact: they are left out and counted."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta

RANDOM = np.random.default_rng(7)
N = 200
X = RANDOM.normal(size=(2 * N, 3)).round(4)
Y = (X[:, 0] + RANDOM.normal(size=2 * N) > 0).astype(int)
TREE = DecisionTreeClassifier(min_samples_leaf=3, random_state=0).fit(X[:N], Y[:N])
TRAIN = (X[:N], Y[:N])


def _scan(rows: np.ndarray, **more) -> ta.Report:
    test = (X[rows], Y[rows])
    return ta.scan(TREE, train=TRAIN, test=test, policy="observe", **more)


def test_three_training_rows_among_fifty_are_left_out_and_named() -> None:
    rows = np.arange(N, N + 50)
    rows[[4, 9, 30]] = [0, 1, 2]
    report = _scan(rows)
    assert report.people["test"] == ("test", 47)
    (said,) = (w for w in report.warnings if "left out" in w)
    assert said == (
        "3 of the 50 rows of test (6.0%) stand in train too (rows 5, 10, 31) and were left out of "
        "the control"
    )
    clean = _scan(np.delete(rows, [4, 9, 30]))
    assert report["TA101"].controls == clean["TA101"].controls
    assert report["TA105"].details == clean["TA105"].details


def test_what_is_left_out_changes_no_control() -> None:
    for shared in (1, 20, 60):
        rows = np.r_[np.arange(shared), np.arange(N, 2 * N)]
        assert _scan(rows).people["test"] == ("test", N)


def test_the_training_data_itself_is_refused() -> None:
    with pytest.raises(ta.DataError, match="150 of the 200 people of test stand in train too"):
        _scan(np.r_[np.arange(150), np.arange(N, N + 50)])


def test_rows_that_are_alike_by_chance_stay() -> None:
    x = RANDOM.integers(0, 2, size=(2 * N, 2))
    y = RANDOM.integers(0, 2, size=2 * N)
    tree = DecisionTreeClassifier(max_depth=1).fit(x[:N], y[:N])
    report = ta.scan(tree, train=(x[:N], y[:N]), test=(x[N:], y[N:]), repeats="people")
    assert report.people["test"] == ("test", N)
    assert not any("left out" in warning for warning in report.warnings)
