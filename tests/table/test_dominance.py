"""The (n, k) rule and the p % rule: numbers by hand, brute force, laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeaudit.table.diversity import dominated, estimable

MONEY = st.lists(st.integers(-50, 200), min_size=1, max_size=25).map(np.array)


@pytest.mark.parametrize(
    ("value", "nk", "p"),
    [
        ([80, 15, 5], True, True),  # 95 of 100; 5 left of 80: 6 %
        ([80, 10, 10], False, False),  # 90 is not more than 90; 10 of 80: 12.5 %
        ([50, 30, 20], False, False),
        ([100, 1, 1, 1], True, True),
        ([100, 4, 4, 4], True, True),  # 104 of 112: 93 %; 8 of 100
        ([100, 100, 11], True, False),  # 200 of 211: 95 %; 11 of 100: 11 %
        ([100], True, True),
        ([60, 40], True, True),
        ([0, 0, 0], False, False),
        ([np.inf, 1, 2, 3], True, True),
        ([1e308, 1e308, 1e308, 1], False, False),
        ([1e308, 1e308, 1e307], True, False),
    ],
)
def test_numbers_by_hand(value, nk, p) -> None:
    value, group = np.array(value, dtype=float), np.zeros(len(value), dtype=int)
    assert dominated(value, group, 1).tolist() == [nk]
    assert estimable(value, group, 1).tolist() == [p]


def slow(value, n, k, p) -> tuple[bool, bool]:
    ordered, total = sorted(np.abs(value), reverse=True), np.abs(value).sum()
    if total == 0:
        return False, False
    return sum(ordered[:n]) > k * total + 1e-9, sum(ordered[2:]) < p * ordered[0] - 1e-9


@given(st.lists(MONEY, min_size=1, max_size=5), st.integers(1, 3))
def test_agreement_with_a_slow_reading_of_the_rules(groups, n) -> None:
    group = np.repeat(np.arange(len(groups)), [len(g) for g in groups])
    value = np.concatenate(groups).astype(float)
    order = np.random.default_rng(0).permutation(len(group))
    nk = dominated(value[order], group[order], len(groups), n=n, k=0.875)
    p = estimable(value[order], group[order], len(groups), p=0.125)
    assert list(zip(nk.tolist(), p.tolist(), strict=True)) == [
        slow(g, n, 0.875, 0.125) for g in groups
    ]
