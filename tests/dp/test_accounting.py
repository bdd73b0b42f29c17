"""Epsilon as a fraction: never more than was given."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeaudit.dp.accounting import rational
from treeaudit.errors import PrivacyError


@given(st.floats(min_value=1e-6, max_value=1e6))
def test_it_is_never_more_than_was_given_and_hardly_less(epsilon) -> None:
    exact = rational(epsilon)
    given_as = Fraction(repr(epsilon))
    assert given_as - Fraction(1, 1 << 40) <= exact <= given_as


def test_decimals_are_meant_as_decimals() -> None:
    assert rational(0.1) == Fraction(1, 10)
    assert rational(np.float64(0.3)) == Fraction(3, 10)
    assert rational(Fraction(1, 7)) == Fraction(1, 7)


@pytest.mark.parametrize(
    "epsilon", [0, -1, float("inf"), float("nan"), True, "much", None, 1e-20, 1e201, 10**400]
)
def test_what_is_no_budget_is_refused(epsilon) -> None:
    with pytest.raises(PrivacyError, match="epsilon is"):
        rational(epsilon)
