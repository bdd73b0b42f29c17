"""Numbers that are nearly certain (TA109): few others in a leaf, as the file or people tell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from treeaudit.attacks.known_numbers.exceptions import most_exceptions

GROUP = np.repeat(np.arange(10), 100)
ROWS = GROUP[:, None].astype(float)


def _one_other(most: float, other: float) -> np.ndarray:
    """Return numbers of ten leaves of 100: in nine of them one person has another one."""
    numbers = np.full(1000, most)
    numbers[:900:100] = other
    numbers[900:950] = other
    return numbers


def _found(model, **options):
    return ta.scan(model, attacks=["TA109"], policy="observe", **options)["TA109"]


@pytest.mark.parametrize("values", [(1.0, 0.0), (1, 2), (7.5, 2.25), (250.0, 1000.0)])
def test_a_regressor_of_two_numbers_is_judged_as_a_classifier(values) -> None:
    numbers = _one_other(*values)
    model = DecisionTreeRegressor(min_samples_leaf=100).fit(ROWS, numbers)
    classes = DecisionTreeClassifier(min_samples_leaf=100).fit(ROWS, numbers.astype(str))
    expected = ta.scan(classes)["TA102"].details.nearly_certain_share
    for options in ({}, {"train": (ROWS, numbers)}):
        report = ta.scan(model, **options)
        assert report["TA109"].details.nearly_certain_share == expected == 0.9
        (check,) = (one for one in report.checks if one.name == "max-nearly-certain-share")
        assert (check.status, check.measured, check.attack) == ("fail", 0.9, "TA109")
        assert report.verdict == "fail"
    assert report["TA109"].summary.endswith(
        "That of 900 (90.0%) is nearly certain: all but few have the same in 9 leaves."
    )


def test_few_numbers_on_a_grid() -> None:
    # Nine leaves in which 99 of a hundred have the same number of visits, and one has one more.
    visits = GROUP % 4 + 1.0
    visits[:900:100] += 1
    visits[900:] = np.arange(100) % 7
    for numbers in (visits, visits * 0.25, visits * 500):
        model = DecisionTreeRegressor(min_samples_leaf=100).fit(ROWS, numbers)
        assert _found(model).details.nearly_certain_people == 900


def test_people_at_hand_tell_what_a_file_does_not() -> None:
    # 97 of a hundred within 0.1 of 5, three far off: no file tells that.
    rng = np.random.default_rng(0)
    numbers = rng.uniform(0, 100, 1000)
    numbers[:100] = np.r_[rng.uniform(4.9, 5.1, 97), 20, 50, 80]
    model = DecisionTreeRegressor(min_samples_leaf=100, max_leaf_nodes=10).fit(ROWS, numbers)
    assert _found(model, tolerance=0.1).details.nearly_certain_people == 0
    told = _found(model, tolerance=0.1, train=(ROWS, numbers)).details
    assert (told.nearly_certain_people, told.known_people) == (100, 0)


def test_honest_numbers_are_not_nearly_certain() -> None:
    rng = np.random.default_rng(0)
    for numbers in (rng.normal(size=1000), rng.poisson(3, 1000), rng.random(1000) < 0.3):
        model = DecisionTreeRegressor(min_samples_leaf=20).fit(ROWS, numbers)
        for options in ({}, {"train": (ROWS, numbers.astype(float))}):
            assert _found(model, **options).details.nearly_certain_people == 0


@given(
    seed=st.integers(0, 2**32 - 1),
    step=st.sampled_from([0.5, 1.0, 10.0, 0.3]),
    low=st.sampled_from([0.0, 1.0, -7.0]),
)
def test_no_more_people_differ_than_the_file_bounds(seed, step, low) -> None:
    # Leaves at random: a few that are picked for it add up like those of other numbers.
    rng = np.random.default_rng(seed)
    numbers = [low + step * rng.integers(0, 4, rng.integers(3, 30)) for _ in range(6)]
    value = np.array([one.mean() for one in numbers])
    spread = np.array([one.std() for one in numbers])
    size = np.array([len(one) for one in numbers])
    others = most_exceptions(value, spread, size, drawn=False)
    for bound, one in zip(others.tolist(), numbers, strict=True):
        most = np.unique(one, return_counts=True)[1].max()
        assert len(one) - most <= bound + 1e-9
