"""Routing by tables of nodes ends where `Tree.apply` does."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import CATEGORIES, forests
from treeaudit.model.forest import Forest
from treeaudit.model.routing import walk_or_none
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree


def values(seed, n=200) -> np.ndarray:
    rng = np.random.default_rng(seed)
    table = rng.normal(0, 60, (n, 3)).round(rng.integers(0, 3))
    table[:, 2] = rng.integers(0, len(CATEGORIES), n)
    table[rng.random((n, 3)) < 0.1] = np.nan
    return table


def plain(forest, table) -> np.ndarray:
    """Every edge of every node is asked, tree by tree."""
    return np.column_stack([tree.apply(table) for tree in forest.trees])


@given(forests(), st.integers(0, 99))
def test_both_ways_agree(forest, seed) -> None:
    table = values(seed)
    assert np.array_equal(forest.apply(table), plain(forest, table))


INF = np.inf
SIDES = ((-INF, 1.0), (1.0, INF), (-INF, 2.0), (2.0, INF), (-INF, INF), (1.0, 2.0), (INF, INF))


@given(st.lists(st.sampled_from(SIDES), min_size=1, max_size=3))
def test_children_of_any_shape_end_where_the_plain_way_does(sides) -> None:
    low, high = zip(*sides, strict=True)
    tree = Tree(parent=[-1] + [0] * len(sides), feature=[-1] + [0] * len(sides),
                low=[-INF, *low], high=[INF, *high])  # fmt: skip
    table = np.array([[0.5], [1.0], [1.5], [2.0], [2.5], [INF]])
    forest = Forest(trees=(tree,), schema=Schema.numeric(1))
    assert np.array_equal(forest.apply(table), plain(forest, table))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_numbers_of_single_precision_are_held_against_thresholds_of_double(cuts) -> None:
    n = len(cuts)
    tree = Tree(
        parent=[-1, *np.repeat(2 * np.arange(n), 2)], feature=[-1] + [0] * (2 * n),
        low=[-INF, *np.ravel([(-INF, cut) for cut in cuts])],
        high=[INF, *np.ravel([(cut, INF) for cut in cuts])], missing=[False] + [False, True] * n,
    )  # fmt: skip
    with np.errstate(over="ignore"):
        near = np.array(cuts, dtype=np.float32)
        x = [near, *(np.nextafter(near, np.float32(end)) for end in (-INF, INF))]
    table = np.concatenate([*x, np.array([INF, np.nan], dtype=np.float32)])[:, None]
    table = table[table[:, 0] != -INF]
    forest = Forest(trees=(tree,), schema=Schema.numeric(1), single_precision=True)
    assert walk_or_none([tree], forest.schema) is not None
    assert np.array_equal(forest.apply(table), plain(forest, table))
