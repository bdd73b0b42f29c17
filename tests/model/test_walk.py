"""The fast way down a tree ends where the plain way does."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import CATEGORIES, forests, grow
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree
from treeaudit.model.walk import walkable
from treeaudit.people.records import routed


def values(seed, n=200) -> np.ndarray:
    rng = np.random.default_rng(seed)
    table = rng.normal(0, 60, (n, 3)).round(rng.integers(0, 3))
    table[:, 2] = rng.integers(0, len(CATEGORIES), n)
    table[rng.random((n, 3)) < 0.1] = np.nan
    return table


@given(forests(), st.integers(0, 99))
def test_both_ways_agree(forest, seed) -> None:
    table = values(seed)
    assert np.array_equal(routed(forest, table), forest.apply(table))


def test_thresholds_themselves() -> None:
    stump = Tree(parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-np.inf, -np.inf, 1.5],
                 high=[np.inf, 1.5, np.inf], missing=[False, False, True])  # fmt: skip
    schema = Schema.numeric(1)
    assert walkable([stump], schema)
    from treeaudit.model.forest import Forest

    table = np.array([[1.5], [np.nextafter(1.5, 2)], [np.nan], [-9e99], [np.inf]])
    forest = Forest(trees=(stump,), schema=schema)
    assert routed(forest, table)[:, 0].tolist() == [1, 2, 2, 1, 2]
    assert np.array_equal(routed(forest, table), forest.apply(table))


def test_three_intervals_go_the_plain_way() -> None:
    three = Tree(parent=[-1, 0, 0, 0], feature=[-1, 0, 0, 0], low=[-np.inf, -np.inf, 1, 2],
                 high=[np.inf, 1, 2, np.inf])  # fmt: skip
    assert not walkable([three], Schema.numeric(1))
    assert any(walkable([grow(seed, 3)], Schema.numeric(3)) for seed in range(5))
