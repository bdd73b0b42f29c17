"""Population uniqueness: published values, closed forms, simulated populations, Adult."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeaudit.attacks.singling_out.population import (
    expected_chance,
    pitman,
    slide,
    zayatz,
)


def test_benedetti_and_franconi_worked_values() -> None:
    assert expected_chance(np.array([1, 2]), 0.1) == pytest.approx([0.25584, 0.08268], abs=5e-6)


@given(st.integers(1, 60), st.floats(0.01, 0.9))
def test_benedetti_and_franconi_against_the_sum(f, fraction) -> None:
    """E[1/F], F - f negative binomial with parameters f and the fraction."""
    from scipy.stats import nbinom

    more = np.arange(0, int(40 * f / fraction) + 400)
    with np.errstate(divide="ignore"):  # scipy 1.10 warns far out
        expected = (nbinom.pmf(more, f, fraction) / (f + more)).sum()
    assert expected_chance(np.array([f]), fraction)[0] == pytest.approx(expected, rel=1e-6)


def test_zayatz_by_hand() -> None:
    """Sizes 1, 1, 1, 2, 2, 5 at one half: N = 24, n = 12."""

    def one_of(i: int) -> float:
        return i * math.comb(24 - i, 11) / math.comb(24, 12)

    unique = 3 * one_of(1) / (3 * one_of(1) + 2 * one_of(2) + one_of(5))
    found = zayatz(np.array([1, 1, 1, 2, 2, 5]), 0.5)
    assert found == pytest.approx(unique * 3 / 0.5)


@pytest.mark.parametrize(
    ("groups", "alpha", "beta", "fraction"),
    [(20_000, 0.5, 0.1, 0.1), (20_000, 2.0, 0.3, 0.3), (20_000, 1.0, 0.5, 0.5)],
)
def test_slide_negative_binomial_on_populations_of_its_own(groups, alpha, beta, fraction) -> None:
    """With the number of groups known, the expected uniques come out: groups x beta^alpha."""
    rng = np.random.default_rng(1)
    people = 1 + rng.negative_binomial(alpha, beta, groups)
    drawn = rng.binomial(people, fraction)
    found = slide(drawn[drawn > 0], fraction, groups)
    assert found == pytest.approx(groups * beta**alpha, rel=0.1)


def test_pitman_on_a_population_of_its_own() -> None:
    """A Chinese restaurant with theta 2,000 and alpha 0.4, seated person by person."""
    rng = np.random.default_rng(2)
    theta, alpha, n = 2000.0, 0.4, 20_000
    tables: list[int] = []
    seat = []
    for i in range(n):
        if rng.random() < (theta + alpha * len(tables)) / (theta + i):
            seat.append(len(tables))
            tables.append(1)
        else:
            while True:
                t = seat[rng.integers(i)]
                # A table is taken with weight size - alpha: accept by that share.
                if rng.random() < 1 - alpha / tables[t]:
                    break
            seat.append(t)
            tables[t] += 1
    size = np.bincount(rng.permutation(seat)[: n // 10])
    found = pitman(size[size > 0], 0.1)
    assert found == pytest.approx(sum(t == 1 for t in tables), rel=0.2)


def test_the_whole_population_needs_no_estimate() -> None:
    size = np.array([1, 1, 4])
    assert [estimate(size, 1.0) for estimate in (pitman, zayatz, slide)] == [2, 2, 2]


@pytest.mark.slow
def test_adult_as_a_population() -> None:
    """Eight columns, 20,593 people alone; the estimators disagree as published."""
    import os
    from pathlib import Path

    import pandas as pd

    folder = os.environ.get("TREEAUDIT_DATA")
    if not folder:
        pytest.skip("TREEAUDIT_DATA does not name a folder with adult.csv.gz")
    names = ["age", "workclass", "education", "marital-status"]
    names += ["occupation", "race", "sex", "native-country"]
    frame = pd.read_csv(Path(folder) / "adult.csv.gz", usecols=names)
    key = frame.groupby(names, dropna=False).ngroup().to_numpy()
    assert (np.bincount(key) == 1).sum() == 20_593
    drawn = np.random.default_rng(0).choice(len(key), len(key) // 10, replace=False)
    size = np.bincount(key[drawn])
    size = size[size > 0]
    assert pitman(size, 0.1) == pytest.approx(20_593, rel=0.05)
    assert pitman(size, 0.1) < slide(size, 0.1) < zayatz(size, 0.1) < 30_000
    # The expectation of 1/F is far too low where most people are alone.
    true = (1 / np.bincount(key)[key[drawn]]).mean()
    guessed = (size * expected_chance(size, 0.1)).sum() / size.sum()
    assert guessed < true / 2
