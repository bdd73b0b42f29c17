"""Prosecutor, journalist, marketer: numbers by hand, laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeaudit.attacks.singling_out.population import expected_chance, risk

SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=12).map(np.array)


def test_numbers_by_hand() -> None:
    """Groups of 1, 3, 2 and 3 people: four groups of nine people."""
    found = risk(np.array([1, 3, 2, 3]), 1 / 3)
    assert found.highest == 1
    assert found.average == pytest.approx(4 / 9)
    assert found.above_threshold == pytest.approx(3 / 9)


def test_a_journalist_divides_by_the_population() -> None:
    size, population = np.array([1, 2]), np.array([4, 20])
    found = risk(size, 0.2, 1 / population)
    assert found.highest == 0.25
    assert found.average == pytest.approx((1 / 4 + 2 / 20) / 3)
    assert found.above_threshold == pytest.approx(1 / 3)


@given(SIZES, st.integers(2, 20))
def test_more_people_per_leaf_never_raise_a_risk(size, k) -> None:
    small, large = risk(size, 1 / k), risk(size * 2, 1 / k)
    assert large.highest <= small.highest
    assert large.average <= small.average
    assert large.above_threshold <= small.above_threshold


@given(SIZES, st.integers(1, 20))
def test_a_group_of_k_is_not_above_the_threshold(size, k) -> None:
    found = risk(size, 1 / k)
    assert found.above_threshold == pytest.approx(size[size < k].sum() / size.sum())


@given(SIZES, st.floats(0.01, 1))
def test_the_population_never_makes_it_worse(size, fraction) -> None:
    chance = expected_chance(size, fraction)
    assert risk(size, 0.2, chance).highest <= risk(size, 0.2).highest * (1 + 1e-9)
