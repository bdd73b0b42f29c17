"""Rates that the mechanisms are exact for, and the whole numbers that they stay within."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeaudit.dp import mechanisms
from treeaudit.dp.accounting import FINEST_CHOICE, FINEST_COUNT, dyadic
from treeaudit.dp.curator import Curator
from treeaudit.dp.mechanisms import IMPOSSIBLE, exponential_mechanism, permute_and_flip
from treeaudit.dp.subsampling import OperatingSystem, Seeded, below
from treeaudit.errors import PrivacyError
from treeaudit.trainers.splits import NORM

RATES = st.builds(Fraction, st.integers(1, 1 << 70), st.integers(1, 1 << 100))
FINEST = st.sampled_from([FINEST_COUNT, FINEST_CHOICE])


@given(RATES, FINEST)
def test_a_rate_is_rounded_down_to_few_digits(rate, finest) -> None:
    used = dyadic(rate, finest)
    assert 0 <= used <= rate
    assert used.denominator.bit_count() == 1
    assert used.denominator <= 1 << finest
    assert used.numerator < 1 << 24 or used == 1 << 20
    if rate <= 1 << 20:
        assert rate - used <= max(rate / (1 << 22), Fraction(1, 1 << finest))


@given(RATES, FINEST, st.lists(st.integers(0, (1 << 62) - 1), min_size=1, max_size=20))
def test_a_distance_times_a_rate_is_divided_exactly(rate, finest, distances) -> None:
    used = dyadic(rate, finest)
    whole, rest = mechanisms._divide(np.array(distances, dtype=np.int64), used)
    for distance, w, r in zip(distances, whole.tolist(), rest.tolist(), strict=True):
        exact = divmod(distance * used.numerator, used.denominator)
        assert r == exact[1]
        assert w == exact[0] or min(w, exact[0]) >= 1 << 31


@pytest.mark.parametrize("rate", [Fraction(1, 1 << 62), Fraction((1 << 24) - 1, 1 << 62)])
def test_the_coin_at_the_finest_rate(rate) -> None:
    distance = round(1 / rate)
    heads = mechanisms.bernoulli_exp(np.full(20_000, distance), rate, Seeded(5))
    assert heads.mean() == pytest.approx(math.exp(-1), abs=0.02)
    assert mechanisms.bernoulli_exp([(1 << 62) - 1, 0], rate, Seeded(6))[1]


def test_noise_stays_within_64_bits(monkeypatch) -> None:
    monkeypatch.setattr(mechanisms, "_geometric", lambda n, _: np.full(n, 1 << 62))
    noise = mechanisms.discrete_laplace(Fraction(1, 1 << FINEST_COUNT), 100, OperatingSystem())
    assert 0 < np.abs(noise).min() <= np.abs(noise).max() < 1 << 62
    answer = Curator().count("n", np.full(9, 1 << 31), Fraction(1, 1 << FINEST_COUNT))
    assert np.abs(answer).max() <= 1 << 52


def test_an_epsilon_that_is_too_small_is_refused_before_it_is_noted() -> None:
    curator = Curator(neighbours="replace-one", rows_per_person=1000)
    with pytest.raises(PrivacyError, match="too small"):
        curator.count("n", [1], Fraction(1, 1 << 45))
    with pytest.raises(ValueError, match="costs less than 0"):
        curator.choose("n", [[1, 2]], Fraction(-1))
    assert curator.queries == ()


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(1, 1 << 62), Fraction(3)])
def test_what_is_impossible_is_never_chosen(rate) -> None:
    rows = np.tile([IMPOSSIBLE, 5, IMPOSSIBLE, 0], (4000, 1))
    for choose in (permute_and_flip, exponential_mechanism):
        found = np.bincount(choose(rows, rate, Seeded(1)), minlength=4)
        assert found[[0, 2]].sum() == 0
        assert rate > 1 or found[1] == pytest.approx(2000, abs=200)


def test_no_choice_is_refused_however_small_its_epsilon_is() -> None:
    curator = Curator()
    curator.choose("n", [[1 << 51, 0]] * 50, Fraction(1, 1 << 200), sensitivity=1 << 20)
    assert (curator.queries[0].used, curator.queries[0].epsilon) == (0, Fraction(1, 1 << 200))


@given(st.lists(st.integers(0, 1 << 29), min_size=1, max_size=4))
def test_the_length_is_rounded_down_exactly(counts) -> None:
    exact = math.isqrt(sum(n * n for n in counts) << 40)
    assert NORM.of([counts]) == exact
    for i in range(len(counts)):
        more = [n + (i == j) for j, n in enumerate(counts)]
        assert 0 <= NORM.of([more]) - exact <= NORM.sensitivity(1)


def test_coins_of_a_long_series_stay_within_64_bits(monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(
        mechanisms, "below", lambda e, bound, n: asked.append(bound) or below(e, bound, n)
    )
    mechanisms.bernoulli_exp(np.full(10_000, 1 << 40), Fraction(1, 1 << 40), Seeded(2))
    assert max(asked) <= 1 << 62


def test_coins_of_one_are_those_of_the_fraction_that_is_one() -> None:
    """Draw for draw: what needs no denominator is left out, and nothing else."""
    one, other = Seeded(8), Seeded(8)
    heads = mechanisms._of_fraction(np.ones(30_000, dtype=np.int64), 1, one)
    assert np.array_equal(np.flatnonzero(heads), mechanisms._of_one(30_000, other))
    assert one.read(8) == other.read(8)
    assert heads.mean() == pytest.approx(math.exp(-1), abs=0.01)
