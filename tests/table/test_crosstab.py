"""Group by value in sparse form: agrees with the dense measures and with pyCANON's answers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import count_tables
from treeaudit.table import diversity
from treeaudit.table.crosstab import Crosstab, crosstab


def spread(counts) -> Crosstab:
    """One row per person, then counted again."""
    counts = counts.astype(int)
    group, value = np.nonzero(counts)
    people = counts[group, value]
    return crosstab(np.repeat(group, people), np.repeat(value, people), *counts.shape)


@given(count_tables())
def test_sparse_and_dense_agree(counts) -> None:
    table, overall = spread(counts), counts.sum(axis=0)
    assert table.size.tolist() == counts.sum(axis=1).tolist()
    assert table.distinct.tolist() == diversity.distinct(counts).tolist()
    assert (table.largest / table.size).tolist() == diversity.dominance(counts).tolist()
    for name, dense in (
        ("entropy_l", diversity.entropy_l(counts)),
        ("recursive_c", diversity.recursive_c(counts)),
        ("closeness", diversity.closeness(counts, overall)),
        ("ordered_closeness", diversity.ordered_closeness(counts, overall)),
        ("delta_disclosure", diversity.delta_disclosure(counts, overall)),
        ("beta_likeness", diversity.beta_likeness(counts, overall)),
    ):
        assert getattr(table, name) == pytest.approx(dense, abs=1e-8), name


@given(count_tables(), st.integers(0, 2**32 - 1))
def test_the_order_of_groups_and_people_does_not_matter(counts, seed) -> None:
    rng = np.random.default_rng(seed)
    counts = counts.astype(int)
    group, value = np.nonzero(counts)
    people = np.repeat(np.arange(len(group)), counts[group, value])
    rng.shuffle(people)
    renamed = rng.permutation(len(counts))
    one = spread(counts)
    other = crosstab(renamed[group[people]], value[people], *counts.shape)
    assert other.size[renamed].tolist() == one.size.tolist()
    assert other.only[renamed].tolist() == one.only.tolist()
    assert other.closeness[renamed] == pytest.approx(one.closeness)


def test_a_column_of_money_as_pycanon_measures_it() -> None:
    money = np.array([1, 3, 3, 7, 2, 4, 9, 1, 2, 3, 9, 9]) * 1000
    group = np.repeat([0, 1, 2], [4, 3, 5])
    values, code = np.unique(money, return_inverse=True)
    table = crosstab(group, code, 3, len(values))
    assert table.ordered_closeness.max() == pytest.approx(0.13333333333333336)
    assert table.distinct.min() == 3


def test_one_value_in_all() -> None:
    table = crosstab(np.array([0, 0, 1]), np.zeros(3, dtype=int), 2, 1)
    assert table.only.tolist() == [0, 0]
    assert table.closeness.tolist() == [0, 0]
    assert table.ordered_closeness.tolist() == [0, 0]
    assert table.delta_disclosure.tolist() == [0, 0]
    assert table.entropy_l.tolist() == [1, 1]
