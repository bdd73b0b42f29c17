"""Counts of samples: the printed delta, the exact one, and what thresholds on totals tell."""

import math
import os
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, chisquare

from treeaudit.dp import subsampling
from treeaudit.dp.curator import Curator
from treeaudit.dp.ledger import Ledger
from treeaudit.dp.subsampling import (
    OperatingSystem,
    Seeded,
    below,
    least_threshold,
    loose_threshold_delta,
    permutation,
    poisson,
    poisson_epsilon,
    thinned,
    threshold_delta,
    tree_of_each,
    unit,
)


@pytest.mark.parametrize("bound", [2, 3, 7, 256, 257, 1000])
def test_all_numbers_are_equally_likely(bound) -> None:
    drawn = below(Seeded(1), bound, 200_000)
    assert drawn.min() >= 0
    assert drawn.max() < bound
    assert chisquare(np.bincount(drawn, minlength=bound)).pvalue > 1e-3


def test_large_bounds_reach_the_top() -> None:
    drawn = below(Seeded(2), 1 << 63, 4000)
    assert drawn.min() >= 0
    assert drawn.max() > 1 << 62
    with pytest.raises(ValueError, match="between 1 and"):
        below(Seeded(2), (1 << 63) + 1, 1)


def test_words_below_the_bound_are_taken_as_they_come() -> None:
    # Bound 5 needs three bits: 7 is refused, and drawn again.
    assert below(_Given(bytes([1, 7, 4]), bytes([0])), 5, 3).tolist() == [1, 0, 4]


def test_the_operating_system_is_asked_each_time(monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(os, "urandom", lambda n: asked.append(n) or bytes(n))
    below(OperatingSystem(), 10, 4)
    below(OperatingSystem(), 10, 4)
    assert asked == [4, 4]


def test_a_seed_repeats_and_the_system_does_not() -> None:
    assert below(Seeded(3), 1 << 60, 4).tolist() == below(Seeded(3), 1 << 60, 4).tolist()
    assert (
        below(OperatingSystem(), 1 << 60, 4).tolist()
        != below(OperatingSystem(), 1 << 60, 4).tolist()
    )


def test_nothing_is_drawn_for_nobody() -> None:
    assert below(Seeded(0), 10, 0).tolist() == []
    assert permutation(Seeded(0), 0).tolist() == []


def test_orders_and_shares() -> None:
    assert sorted(permutation(Seeded(4), 50).tolist()) == list(range(50))
    shares = unit(Seeded(5), 10_000)
    assert 0 <= shares.min() < 0.01
    assert 0.99 < shares.max() < 1


LAWS = [(3, 0.1, 0.5), (5, 0.1, 1.0), (5, 0.5, 1.0), (4, 0.2, 0.25), (2, 0.05, 3.0), (7, 0.9, 2.5)]


def test_the_delta_of_the_issue() -> None:
    assert f"{threshold_delta(10, 0.1, 1.0):.1e}" == "1.0e-08"
    assert f"{loose_threshold_delta(10, 0.1, 1.0):.1e}" == "6.8e-08"


@pytest.mark.parametrize(
    ("rate", "epsilon", "printed"),
    [(0.1, 0.5, ["1.8e-04", "6.7e-07", "2.6e-11"]), (0.1, 1, ["2.8e-05", "1.0e-08", "2.8e-15"]),
     (0.2, 1, ["7.3e-04", "3.8e-06", "2.8e-10"]), (0.5, 1, ["3.1e-02", "3.4e-03", "1.1e-04"])],
)  # fmt: skip
def test_deltas_of_several_laws(rate, epsilon, printed) -> None:
    assert [f"{threshold_delta(k, rate, epsilon):.1e}" for k in (5, 10, 20)] == printed


def told(n: int, k: int, rate: float) -> np.ndarray:
    """The law of what is told of a cell of n people: 0, or a count of at least k."""
    law = binom.pmf(np.arange(n + 1), n, rate)
    law[0] += law[1:k].sum()
    law[1:k] = 0
    return law


@pytest.mark.parametrize(("k", "rate", "epsilon"), LAWS)
def test_it_is_the_worst_of_all_neighbours(k, rate, epsilon) -> None:
    """Both ways, over every answer of every two cells that one person tells apart."""
    worst = 0.0
    for n in range(1, 40 * k):
        one, other = told(n, k, rate), np.append(told(n - 1, k, rate), 0.0)
        for p, q in ((one, other), (other, one)):
            worst = max(worst, float(np.maximum(p - math.exp(epsilon) * q, 0).sum()))
    assert threshold_delta(k, rate, epsilon) == pytest.approx(worst, rel=1e-6, abs=1e-14)
    assert worst <= loose_threshold_delta(k, rate, epsilon) * (1 + 1e-9)


@pytest.mark.parametrize(("k", "rate", "epsilon"), LAWS)
def test_the_inverse(k, rate, epsilon) -> None:
    delta = threshold_delta(k, rate, epsilon)
    assert least_threshold(rate, epsilon, delta * 1.0001) == k
    assert least_threshold(rate, epsilon, delta * 0.9999) == k + 1


@pytest.mark.parametrize("epsilon", [1e-13, 1e-9, 1e-6, 1e-3, 0.1, 1, 20, 1e9])
def test_any_epsilon_has_a_threshold(epsilon) -> None:
    rate = min(epsilon / 2, 0.5)
    k = least_threshold(rate, epsilon, 1e-7)
    assert 0 <= threshold_delta(k, rate, epsilon) <= 1e-7


def test_a_threshold_on_the_total_of_a_leaf_is_a_trap() -> None:
    """A leaf of many, told with its classes: a class of one person shows at the sampling rate.

    For every epsilon: without the person, the count of that class is never above 0.
    """
    k, rate, many = 10, 0.1, 1000
    reached = binom.sf(k - 2, many, rate)
    seen_with, seen_without = rate * reached, 0.0
    for epsilon in (0.5, 1, 10, 100):
        assert seen_with - math.exp(epsilon) * seen_without > 0.0999
    # Per cell, the same leaf tells nothing of that class.
    assert told(1, k, rate)[1] == 0
    assert threshold_delta(k, rate, 1.0) < 1e-7


@pytest.mark.parametrize(("rate", "epsilon"), [(0.5, 0.5), (0, 1), (1, 1), (-0.1, 1)])
def test_a_rate_that_no_epsilon_covers(rate, epsilon) -> None:
    with pytest.raises(ValueError, match="is not between 0 and"):
        threshold_delta(10, rate, epsilon)


class _Given:
    """Entropy of which every byte is told."""

    def __init__(self, *drawn: bytes) -> None:
        self.left = list(drawn)

    def read(self, n: int) -> bytes:
        given = self.left.pop(0)
        assert len(given) == n
        return given


@pytest.mark.parametrize("k", range(6))
def test_levels_of_62_bits_tell_how_often_a_record_is_taken(k) -> None:
    level = int(subsampling._LEVELS[k])
    for drawn, times in ((level - 1, k), (level, k + 1)):
        given = _Given(drawn.to_bytes(8, "little"))
        assert poisson(given, 1).tolist() == [times]
        assert not given.left


def test_samples_have_their_law() -> None:
    entropy, n = OperatingSystem(), 200_000
    times = poisson(entropy, n)
    share = np.bincount(times, minlength=6)[:5] / n
    law = [math.exp(-1) / math.factorial(i) for i in range(5)]
    assert np.abs(share - law).max() < 0.01
    kept = thinned([[n, 0], [3, n]], Fraction(1, 4), entropy)
    assert kept[0, 1] == 0
    assert kept[1, 0] <= 3
    assert abs(kept[0, 0] / n - 0.25) < 0.01
    assert thinned([[0, 0]], Fraction(1, 4), entropy).tolist() == [[0, 0]]
    assert (np.bincount(tree_of_each(entropy, 4, n)) / n > 0.24).all()


def test_a_bootstrap_costs_what_it_says() -> None:
    for epsilon in (Fraction(1, 20), Fraction(1), Fraction(1, 10**9), Fraction(50)):
        each = poisson_epsilon(epsilon)
        assert 0 < each <= epsilon
        # The mean of exp(c K) over Poisson(1).
        assert math.expm1(float(each)) <= float(epsilon) * (1 + 1e-12)
        assert math.expm1(float(each)) == pytest.approx(float(epsilon), rel=1e-9)
        law = [math.exp(-1 + float(each) * k) / math.factorial(k) for k in range(150)]
        assert sum(law) <= math.exp(float(epsilon)) * (1 + 1e-9)


def test_the_ledger_adds_deltas_up() -> None:
    curator = Curator(entropy=Seeded(0), neighbours="replace-one")
    for name in ("tree 1", "tree 2"):
        found = curator.sample(
            name, [[2000, 1]], Fraction(1, 2), delta=Fraction(1, 10**6), rate=Fraction(1, 8)
        )
        assert found[0, 1] == 0
        assert found[0, 0] > 150
    ledger = Ledger(queries=curator.queries, budget=Fraction(1))
    assert (ledger.epsilon, ledger.delta) == (1, Fraction(2, 10**6))
    assert ledger.to_plain()["delta"] == 2e-6
    assert Ledger.from_plain(ledger.to_plain()).delta == ledger.delta
    for damage in ({"delta": 0.0}, {"delta": 1e-7}):
        with pytest.raises(ValueError, match="do not sum to the delta"):
            Ledger.from_plain(ledger.to_plain() | damage)


def test_records_of_one_person_raise_the_threshold() -> None:
    epsilon, delta, rate = Fraction(1), Fraction(1, 10**6), Fraction(1, 32)
    alone = Curator().threshold(epsilon, delta, rate)
    five = Curator(rows_per_person=5).threshold(epsilon, delta, rate)
    assert five > alone
    # What five of them cost, by group privacy: (5 eps', delta' sum exp(i eps')).
    each = threshold_delta(five, float(rate), 0.2)
    assert sum(each * math.exp(0.2 * i) for i in range(5)) <= 1e-6
