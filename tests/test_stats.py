"""Intervals against published values and against brute force."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from treeaudit.stats import difference, exact, fact, residual, wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    # Newcombe (1998), Two-sided confidence intervals for the single proportion, table I:
    # method 3 (Wilson) and method 5 (Clopper-Pearson).
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_as_published(successes, n, low, high) -> None:
    found = wilson(successes, n)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (81, 263, 0.2527, 0.3676),
        (15, 148, 0.0578, 0.1617),
        (0, 20, 0.0000, 0.1684),
        (1, 29, 0.0009, 0.1776),
    ],
)
def test_clopper_pearson_as_published(successes, n, low, high) -> None:
    found = exact(successes, n)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@pytest.mark.parametrize(
    ("a", "m", "b", "n", "low", "high"),
    # Newcombe (1998), Interval estimation for the difference between independent
    # proportions, table II, method 10.
    [
        (56, 70, 48, 80, 0.0524, 0.3339),
        (9, 10, 3, 10, 0.1705, 0.8090),
        (6, 7, 2, 7, 0.0582, 0.8062),
        (5, 56, 0, 29, -0.0381, 0.1926),
        (10, 10, 0, 10, 0.6075, 1.0000),
    ],
)
def test_difference_as_published(a, m, b, n, low, high) -> None:
    found = difference(wilson(a, m), wilson(b, n))
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_intervals_agree_with_scipy(pair) -> None:
    successes, n = pair
    for ours, method in ((wilson, "wilson"), (exact, "exact")):
        theirs = binomtest(successes, n).proportion_ci(0.95, method=method)
        found = ours(successes, n)
        assert found.low == pytest.approx(theirs.low, abs=1e-9)
        assert found.high == pytest.approx(theirs.high, abs=1e-9)
        assert found.low <= found.value <= found.high


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5])
def test_clopper_pearson_covers_at_least_what_it_says(share) -> None:
    n = 40
    covered = sum(
        binom.pmf(x, n, share) for x in range(n + 1) if exact(x, n).low <= share <= exact(x, n).high
    )
    assert covered >= 0.95


def test_a_share_of_nobody_is_refused() -> None:
    with pytest.raises(ValueError, match="nobody"):
        wilson(0, 0)
    with pytest.raises(ValueError, match="not a share"):
        exact(3, 2)


def test_a_counted_number_has_no_width() -> None:
    one = fact(0.25, 8)
    assert one.low == one.value == one.high == 0.25
    apart = difference(one, wilson(3, 10))
    assert math.isclose(apart.value, -0.05)
    assert apart.low < apart.value < apart.high


def test_the_residual_risk_is_anonymeters() -> None:
    """Of 40 of 100 who fail without, the attack finds 20: one half."""
    found = residual(wilson(80, 100), wilson(60, 100))
    assert found.value == pytest.approx((0.8 - 0.6) / (1 - 0.6))
    assert 0 <= found.low < found.value < found.high <= 1
    assert residual(wilson(80, 100), wilson(10, 10)) is None
    assert residual(wilson(10, 100), wilson(60, 100)).value == 0
    all_right = residual(fact(1.0, 50), wilson(60, 100))
    assert (all_right.low, all_right.value, all_right.high) == (1, 1, 1)


@pytest.mark.parametrize(("attack", "control"), [(0.9, 0.6), (0.5, 0.45), (0.98, 0.9)])
def test_the_interval_of_the_residual_risk_covers(attack, control) -> None:
    rng, inside = np.random.default_rng(7), 0
    for _ in range(500):
        found = residual(
            wilson(int(rng.binomial(300, attack)), 300),
            wilson(int(rng.binomial(200, control)), 200),
        )
        inside += found.low <= (attack - control) / (1 - control) <= found.high
    assert inside / 500 >= 0.93
