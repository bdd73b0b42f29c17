"""Areas and rates: literal numbers, pairs counted one by one, coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri
from sklearn.metrics import roc_auc_score

from treeaudit.attacks.membership_inference.roc import (
    area,
    control_size,
    rate_at,
    threshold_at,
)

SCORES = st.lists(st.integers(-3, 3) | st.just(-np.inf), min_size=1, max_size=12).map(
    lambda values: np.array(values, dtype=float)
)


def test_the_interval_of_delong_by_hand() -> None:
    """Members 3, 1 and control 2, 0: placements 1, ½ and 1, ½, so both variances are 1/8."""
    found = area(np.array([3.0, 1.0]), np.array([2.0, 0.0]))
    half = 1.959964 * np.sqrt(1 / 8 / 2 + 1 / 8 / 2) / (0.75 * 0.25)
    logit = np.log(3)
    assert found.value == 0.75
    assert found.low == pytest.approx(1 / (1 + np.exp(half - logit)), abs=1e-6)
    assert found.high == pytest.approx(1 / (1 + np.exp(-half - logit)), abs=1e-6)


def test_the_area_is_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    members, control = rng.normal(0.5, 1, 300).round(1), rng.normal(0, 1, 200).round(1)
    truth = np.repeat([1, 0], [300, 200])
    assert area(members, control).value == pytest.approx(
        roc_auc_score(truth, np.concatenate([members, control]))
    )


def test_the_interval_covers() -> None:
    """Normal scores one apart: the area is Φ(1/√2) = 0.7602."""
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(400):
        found = area(rng.normal(1, 1, 60), rng.normal(0, 1, 60))
        inside += found.low <= 0.7602 <= found.high
    assert 0.92 <= inside / 400 <= 0.98


def test_perfect_separation_is_not_certainty() -> None:
    found = area(np.array([5.0, 6.0]), np.array([1.0, 2.0]))
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(0.025 ** (1 / 2))


def test_rates_are_refused_without_ten_false_alarms() -> None:
    assert (control_size(0.01), control_size(0.001)) == (1_000, 10_000)
    assert rate_at(np.zeros(5), np.zeros(999), 0.01) is None
    assert rate_at(np.zeros(5), np.zeros(1000), 0.01) is not None


@given(st.integers(0, 2**16), st.sampled_from([0.01, 0.05]))
def test_no_more_false_alarms_than_asked_for(seed, most) -> None:
    control = np.random.default_rng(seed).integers(0, 20, 1000).astype(float)
    assert (control > threshold_at(control, most)).mean() <= most


def covered(shift, n_control, grid, times, seed=0):
    """Return in how many draws the rate at 1 % lies in its interval, and lies above it."""
    rng, edge = np.random.default_rng(seed), ndtri(0.99)
    if grid:
        # Rounded scores: the threshold is a multiple, whatever reaches half a step above it.
        edge = grid * (np.ceil(edge / grid - 0.5) + 0.5)
    truth, inside, above = 1 - ndtr(edge - shift), 0, 0
    for _ in range(times):
        scores = rng.normal(shift, 1, 2_000), rng.normal(0, 1, n_control)
        members, control = (np.round(s / grid) if grid else s for s in scores)
        found = rate_at(members, control, 0.01)
        inside += found.low <= truth <= found.high
        above += truth > found.high
    return inside / times, above / times


@pytest.mark.parametrize("shift", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("n_control", [1_000, 2_000, 5_000])
def test_the_interval_of_a_rate_holds_what_the_threshold_may_be(shift, n_control) -> None:
    """Taken as given, the threshold left 31 to 61 of 100 truths outside."""
    inside, above = covered(shift, n_control, 0.0, 150)
    assert inside >= 0.94
    assert above <= 0.04


@given(SCORES, st.integers(0, 2**16))
def test_a_rate_lies_in_its_interval(members, seed) -> None:
    control = np.random.default_rng(seed).integers(-3, 3, 1000).astype(float)
    found = rate_at(members, control, 0.01)
    assert 0 <= found.low <= found.value <= found.high <= 1
    wider = rate_at(members, control, 0.01, confidence=0.99)
    assert wider.low <= found.low
    assert found.high <= wider.high
