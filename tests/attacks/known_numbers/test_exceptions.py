"""How few can have another number, by the file (TA109): a pass is not shown where few can."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

import treeaudit as ta
from treeaudit.attacks.known_numbers.exceptions import fewest_exceptions

WARD = np.repeat(np.arange(12), 100)
ROWS = WARD[:, None].astype(float)
POLICY = ta.Policy(name="nearly", values={"max-nearly-certain-share": 0.05})


def _check(model, **options):
    (check,) = ta.scan(model, policy=POLICY, attacks=["TA109"], **options).checks
    return check.status, check.measured


def test_one_of_a_hundred_who_has_more_than_all_others() -> None:
    numbers = np.where(WARD < 6, 36.0 + WARD, np.random.default_rng(0).integers(36, 76, 1200))
    numbers[:600:100] += [8, 12, 20, 15, 11, 9]
    model = DecisionTreeRegressor(min_samples_leaf=100, random_state=0).fit(ROWS, numbers)
    (check,) = ta.scan(model, policy=POLICY, attacks=["TA109"]).checks
    assert (check.status, check.reason) == (
        "skipped",
        "of 50.0% of the people the file does not tell how many have another number than most of "
        "their leaf: give the training data (--train)",
    )
    assert _check(model, train=(ROWS, numbers)) == ("fail", 0.5)


@pytest.mark.parametrize("criterion", ["poisson", "absolute_error"])
def test_other_criteria_are_left_open_without_the_people(criterion) -> None:
    for seed, status in ((0, "pass"), (None, "fail")):
        numbers = np.where(np.arange(1200) % 100 < 3, 7.0, 3.0)
        if seed is not None:
            numbers = np.random.default_rng(seed).normal(size=1200) ** 2
        model = DecisionTreeRegressor(criterion=criterion, min_samples_leaf=100, random_state=0)
        assert _check(model.fit(ROWS, numbers))[0] == "skipped"
        assert _check(model, train=(ROWS, numbers))[0] == status


@given(
    most=st.integers(0, 60),
    others=st.lists(st.integers(0, 80), min_size=1, max_size=1),
    n=st.integers(3, 200),
    unit=st.sampled_from([1.0, 0.5, 0.01, 10.0]),
)
def test_one_exception_on_a_grid_is_seen(most, others, n, unit) -> None:
    numbers = np.r_[np.full(n - 1, most), others] * unit
    value, spread = np.array([numbers.mean()]), np.array([numbers.std()])
    if others != [most]:
        found = fewest_exceptions(value, spread, np.array([n]), drawn=False)
        assert found[0] <= 1


@given(
    n=st.integers(5, 400),
    most=st.integers(0, 99),
    other=st.integers(0, 99),
    unit=st.sampled_from([1.0, 3.0, 1000.0, 2500.0, 1e5]),
    more=st.sampled_from([0.0, 52_340.0]),
)
def test_one_exception_is_seen_however_large_the_numbers_are(n, most, other, unit, more) -> None:
    if most == other:
        other += 1
    numbers = np.full(n, most * unit + more)
    numbers[0] = other * unit + more
    mean = numbers.mean()
    spread = np.sqrt((numbers**2).mean() - mean**2)
    # A file has the variance as a difference of squares: beyond its digits nothing is seen.
    assume(numbers.var() > 1e-13 * n * mean**2)
    column = np.array([mean]), np.array([spread]), np.array([n])
    assert fewest_exceptions(*column, drawn=False).tolist() == [1.0]
