"""Every mechanism draws from its stated law."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from tests.dp import laws
from treeaudit.dp.mechanisms import (
    bernoulli_exp,
    discrete_laplace,
    exponential_mechanism,
    permute_and_flip,
)
from treeaudit.dp.subsampling import OperatingSystem, Seeded
from treeaudit.trainers.smooth_sensitivity_forest import smooth_label

N = 100_000


def fits(drawn: np.ndarray, log_law: np.ndarray) -> bool:
    """Whether what was drawn can come from the law; rare outcomes are pooled."""
    expected = np.exp(log_law) * len(drawn)
    seen = np.bincount(drawn, minlength=len(expected))
    rare = expected < 10
    if rare.any():
        expected = np.append(expected[~rare], max(expected[rare].sum(), 1e-300))
        seen = np.append(seen[~rare], seen[rare].sum())
        if expected[-1] < 10:
            assert seen[-1] < 40
            expected, seen = expected[:-1], seen[:-1]
    if len(seen) < 2:
        return bool(seen.sum() > 0)
    return bool(chisquare(seen, expected * seen.sum() / expected.sum()).pvalue > 1e-3)


@pytest.mark.parametrize("rate", ["0", "1/1000000", "1/10", "1/2", "1", "7/3", "12"])
@pytest.mark.parametrize("distance", [0, 1, 3])
def test_the_coin(rate, distance) -> None:
    heads = bernoulli_exp(np.full(N, distance), Fraction(rate), Seeded([1, distance]))
    p = float(np.exp(-float(Fraction(rate)) * distance))
    assert abs(heads.mean() - p) < 4 * np.sqrt(p * (1 - p) / N) + 1e-9


def test_the_coin_at_its_limits() -> None:
    rate = Fraction(10**9 + 7, 10**6)
    heads = bernoulli_exp([0, 1 << 60], rate, OperatingSystem())
    assert heads.tolist() == [True, False]
    # Beyond 64 bits the same law is worked out with Python's whole numbers.
    tiny = Fraction(1, 1 << 61)
    p = bernoulli_exp(np.full(20_000, 1 << 61), tiny, Seeded(3)).mean()
    assert p == pytest.approx(np.exp(-1), abs=0.02)
    assert bernoulli_exp(np.zeros((2, 3)), Fraction(1), OperatingSystem()).shape == (2, 3)


@pytest.mark.parametrize("rate", ["1/10", "1", "7/3", "3/100"])
def test_discrete_laplace(rate) -> None:
    drawn = discrete_laplace(Fraction(rate), N, Seeded([2, len(rate)]))
    reach = int(np.ceil(20 / float(Fraction(rate))))
    assert np.abs(drawn).max() <= reach
    law = laws.discrete_laplace_law(np.arange(-reach, reach + 1), Fraction(rate))
    assert fits(drawn + reach, law)


SCORES = [[0, 0], [3, 1, 0], [5, 5, 4, 4, 0], [100, 0, 0], [7]]


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("rate", ["1/10", "1/2", "5/3"])
def test_permute_and_flip(scores, rate) -> None:
    rows = np.tile(scores, (N, 1))
    drawn = permute_and_flip(rows, Fraction(rate), Seeded([4, len(scores)]))
    assert fits(drawn, laws.permute_and_flip_law(scores, Fraction(rate)))


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("weights", [None, [3, 1, 0, 2, 5]])
def test_exponential_mechanism(scores, weights) -> None:
    mass = None if weights is None else weights[: len(scores)]
    rows, rate = np.tile(scores, (N, 1)), Fraction(1, 2)
    drawn = exponential_mechanism(rows, rate, Seeded([5, len(scores)]), mass)
    assert fits(drawn, laws.exponential_mechanism_law(scores, rate, mass))


def test_one_row_of_many_candidates() -> None:
    scores = np.zeros((1, 5000), dtype=np.int64)
    scores[0, 4321] = 1000
    assert exponential_mechanism(scores, Fraction(1), OperatingSystem()).tolist() == [4321]
    assert permute_and_flip(scores, Fraction(1), OperatingSystem()).tolist() == [4321]


def test_rows_do_not_share_their_choice() -> None:
    drawn = permute_and_flip(np.zeros((1000, 2)), Fraction(1), Seeded(6))
    assert 400 < drawn.sum() < 600


@pytest.mark.parametrize("counts", [[1, 0], [2, 0], [2, 2, 0], [0, 0, 0], [40, 0]])
def test_the_label_as_printed(counts) -> None:
    drawn = smooth_label(np.tile(counts, (N, 1)), 0.5, Seeded([7, *counts]))
    assert fits(drawn, laws.smooth_label_law(counts, 0.5))


def test_nobody_is_asked() -> None:
    assert len(discrete_laplace(Fraction(1), 0, OperatingSystem())) == 0
    assert len(permute_and_flip(np.zeros((0, 2)), Fraction(1), OperatingSystem())) == 0
    assert len(exponential_mechanism(np.zeros((0, 2)), Fraction(1), OperatingSystem())) == 0
