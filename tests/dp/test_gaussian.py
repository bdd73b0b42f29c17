"""Discrete Gaussian noise: its law, what it gives away, and what of that is an epsilon."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_ndtr

from tests.dp.test_mechanisms import fits
from treeaudit.dp import mechanisms as module
from treeaudit.dp.accounting import epsilon_at, of_epsilon, pure_epsilon, rho_at
from treeaudit.dp.curator import ConcentratedCurator
from treeaudit.dp.mechanisms import discrete_gaussian, fine_variance
from treeaudit.dp.subsampling import OperatingSystem, Seeded
from treeaudit.errors import PrivacyError

N = 50_000
RHOS = st.fractions(min_value=Fraction(1, 10**15), max_value=10**6)
DELTAS = st.sampled_from([Fraction(1, 10**k) for k in (2, 5, 6, 9, 100)])


def log_law(variance: Fraction, reach: int) -> np.ndarray:
    """Return the log-probabilities of -reach … reach."""
    z = np.arange(-reach, reach + 1)
    exponent = -(z.astype(np.float64) ** 2) / (2 * float(variance))
    return exponent - np.logaddexp.reduce(exponent)


@pytest.mark.parametrize("variance", ["1/4096", "1/9", "1/2", "1", "9/2", "27", "100", "12345/16"])
def test_the_law(variance) -> None:
    exact = fine_variance(Fraction(variance))
    drawn = discrete_gaussian(exact, N, Seeded([3, len(variance)]))
    reach = math.ceil(12 * math.sqrt(float(exact))) + 1
    assert np.abs(drawn).max() <= reach
    assert fits(drawn + reach, log_law(exact, reach))


@pytest.mark.parametrize("least", [10**6, 10**9 + 1, 10**12, 1 << 59])
def test_wide_noise(least) -> None:
    variance = fine_variance(Fraction(least))
    drawn = discrete_gaussian(variance, N, Seeded(least)) / math.sqrt(float(variance))
    assert abs(drawn.mean()) < 5 / math.sqrt(N)
    assert abs(drawn.var() - 1) < 5 * math.sqrt(2 / N)
    assert abs((drawn**4).mean() - 3) < 5 * math.sqrt(96 / N)
    assert abs((drawn < -1).mean() - math.exp(log_ndtr(-1))) < 5 * math.sqrt(0.16 / N)


@pytest.mark.parametrize(
    "variance", ["1/4096", "1/3", "1", "5", "64", "1000001", "1152921504606846976"]
)
def test_coins_are_those_of_the_paper(monkeypatch, variance) -> None:
    """The chance of every coin is exp(-(|y| - variance / t)^2 / (2 variance)), as a fraction."""
    seen = []

    def coins(whole, rest, denominator, entropy):
        assert denominator < 1 << 63
        assert ((rest >= 0) & (rest < denominator)).all()
        seen.extend(
            Fraction(w) + Fraction(r, denominator)
            for w, r in zip(whole.tolist(), rest.tolist(), strict=True)
        )
        return np.ones(len(whole), dtype=bool)

    scales = []
    laplace = module.discrete_laplace

    def tried(rate, n, entropy):
        scales.append(1 / rate)
        return laplace(rate, n, entropy)

    monkeypatch.setattr(module, "_coins", coins)
    monkeypatch.setattr(module, "discrete_laplace", tried)
    exact = fine_variance(Fraction(variance))
    y = discrete_gaussian(exact, 200, OperatingSystem())
    (t,) = scales
    assert seen == [
        min((abs(int(one)) - exact / t) ** 2 / (2 * exact), Fraction(1 << 31)) for one in y
    ]


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=Fraction(1 << 60)))
def test_a_variance_is_never_less_than_asked(least) -> None:
    found = fine_variance(least)
    assert least <= found <= max(least * (1 + Fraction(1, 10_000)), Fraction(1, 4096))
    t = math.isqrt(found.numerator // found.denominator) + 1
    assert found > 1 << 30 or 2 * found.numerator * found.denominator * t * t < 1 << 63


def test_a_variance_beyond_all_is_none() -> None:
    assert fine_variance(Fraction(1 << 61)) is None
    with pytest.raises(PrivacyError, match="too small"):
        ConcentratedCurator().count("people", [3], Fraction(1, 10**30))
    with pytest.raises(PrivacyError, match="too small"):
        ConcentratedCurator().count("people", [3], Fraction(0))


@pytest.mark.parametrize("variance", ["1/3", "1", "9/2", "50"])
@pytest.mark.parametrize("moved", [1, 2, 5])
def test_neighbours_are_as_far_apart_as_is_charged(variance, moved) -> None:
    """Rényi divergences of all orders are at most order times moved^2 / (2 variance)."""
    exact = float(fine_variance(Fraction(variance)))
    reach = math.ceil(60 * math.sqrt(exact)) + moved
    z = np.arange(-reach, reach + 1, dtype=np.float64)
    one, other = -(z**2) / (2 * exact), -((z - moved) ** 2) / (2 * exact)
    one, other = (law - np.logaddexp.reduce(law) for law in (one, other))
    for order in (1.01, 1.5, 2, 3, 10, 40):
        divergence = np.logaddexp.reduce(order * one + (1 - order) * other) / (order - 1)
        assert divergence <= order * moved**2 / (2 * exact) * (1 + 1e-9) + 1e-12
    divergence = np.logaddexp.reduce(2 * one - other)
    # Where the shift is whole the charge is met.
    assert divergence == pytest.approx(2 * moved**2 / (2 * exact), rel=1e-9)


@pytest.mark.parametrize("rho", [Fraction(1, 1000), Fraction(1, 50), Fraction(1, 2), Fraction(5)])
@pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1, 10**6)])
def test_no_gaussian_loses_more_than_it_is_told(rho, delta) -> None:
    """The exact delta of a Gaussian at the epsilon that is told is at most the delta."""
    epsilon, moved = float(epsilon_at(rho, delta)), math.sqrt(2 * float(rho))
    first = log_ndtr(moved / 2 - epsilon / moved)
    second = epsilon + log_ndtr(-moved / 2 - epsilon / moved)
    assert math.exp(first) - math.exp(second) <= float(delta)
    # And on whole numbers, by summing all of them.
    variance = fine_variance(1 / (2 * rho))
    reach = math.ceil(14 * math.sqrt(float(variance))) + 2
    log_p = log_law(variance, reach)
    shifted = np.append(log_p[1:], -np.inf)
    exact = np.maximum(np.exp(log_p) - np.exp(epsilon + shifted), 0)[:-1].sum()
    assert exact <= float(delta)


@given(RHOS, DELTAS)
def test_an_epsilon_is_a_bound_and_tight(rho, delta) -> None:
    told = epsilon_at(rho, delta)
    with localcontext(prec=50):
        r, log_delta = Decimal(rho.numerator) / rho.denominator, Decimal(1) / delta.denominator
        log_delta = log_delta.ln()
        # Bun & Steinke (2016), proposition 1.3, is looser.
        loose = r + 2 * (r * -log_delta).sqrt()
        assert Decimal(told.numerator) / told.denominator <= loose * Decimal("1.000000001")
        # No order of a coarse grid tells less.
        for power in range(-12, 40):
            above = Decimal(2) ** power
            order = 1 + above
            bound = order * r + (above / order).ln() - (log_delta + order.ln()) / above
            assert Decimal(told.numerator) / told.denominator <= max(bound, 0) + Decimal("1e-9") * (
                1 + abs(bound)
            )


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=100), DELTAS)
def test_what_an_epsilon_allows_is_not_more_than_it(epsilon, delta) -> None:
    rho = rho_at(epsilon, delta)
    assert epsilon_at(rho, delta) <= epsilon
    assert not rho or epsilon_at(rho * Fraction(1_000_001, 1_000_000), delta) > epsilon
    # What is private by epsilon is concentrated so much at least.
    assert of_epsilon(pure_epsilon(rho)) <= rho


def test_nothing_asked_costs_nothing() -> None:
    assert epsilon_at(Fraction(0), Fraction(1, 100)) == 0
    assert epsilon_at(Fraction(1, 10**30), Fraction(1, 2)) < Fraction(1, 10**9)


@pytest.mark.parametrize(("relation", "persons", "factor"), [
    ("add-remove", None, 1), ("replace-one", None, 2), ("replace-one", 3, 6),
])  # fmt: skip
def test_the_curator_charges_the_square_of_what_moves(relation, persons, factor) -> None:
    curator = ConcentratedCurator(
        neighbours=relation, rows_per_person=persons, entropy=Seeded(0), ceiling=Fraction(1)
    )
    rho = Fraction(1, 8)
    noisy = curator.count("counts", np.zeros((400, 50)), rho)
    assert curator.variance(rho) == 4 * factor**2
    assert noisy.var() == pytest.approx(4 * factor**2, rel=0.05)
    (row,) = curator.queries
    assert (row.mechanism, row.rho, row.epsilon, row.sensitivity) == (
        "discrete Gaussian", rho, 0, factor,
    )  # fmt: skip
    curator.choose("best", [[1, 2]], rho)
    assert curator.queries[1].epsilon == Fraction(1, 2)
    assert curator.spent == 2 * rho
    with pytest.raises(ValueError, match="asked before"):
        curator.count("counts", [1], rho)
    with pytest.raises(PrivacyError, match="above the budget"):
        curator.count("more", [1], Fraction(7, 8))
