"""What may be in a column: categories, indicators, intervals."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import treeaudit as ta
from treeaudit.attacks.attribute_inference.guesses import columns_of, indicator_groups
from treeaudit.model.tree import CategorySets

INF = np.inf


def stump(*cuts: float) -> ta.Tree:
    """A tree of one level, a leaf between each two cuts."""
    edges = [-INF, *cuts, INF]
    n = len(edges) - 1
    return ta.Tree(
        parent=[-1, *[0] * n],
        feature=[-1, *[0] * n],
        low=[-INF, *edges[:-1]],
        high=[INF, *edges[1:]],
    )


def test_intervals_are_those_that_the_model_tells_apart() -> None:
    forest = ta.Forest(trees=(stump(2), stump(5)), schema=ta.Schema.numeric(2))
    (column,) = columns_of(forest, np.array([[1.0, 0], [3.0, 0], [4.0, 0]]))
    assert (column.name, column.features) == ("x0", (0,))
    assert column.says == ("≤ 2", "> 2, ≤ 5", "> 5")
    assert column.values[:2, 0].tolist() == [1, 4]
    assert column.values[2, 0] > 5
    assert column.truth(np.array([[2.0, 0], [2.5, 0], [5.0, 0], [6.0, 0]])).tolist() == [0, 1, 1, 2]
    assert column.truth(np.array([[np.nan, 0]])).tolist() == [-1]


@given(st.lists(st.integers(0, 200), min_size=17, max_size=60, unique=True), st.integers(0, 99))
def test_many_intervals_become_sixteen_at_the_quantiles(cuts, seed) -> None:
    people = np.random.default_rng(seed).normal(100, 40, (400, 1))
    forest = ta.Forest(trees=(stump(*sorted(cuts)),), schema=ta.Schema.numeric(1))
    (column,) = columns_of(forest, people)
    assert 2 <= len(column.says) <= 16
    assert set(column.cuts) <= set(map(float, cuts))
    assert column.truth(column.values).tolist() == list(range(len(column.says)))


def test_categories_are_all_there() -> None:
    features = (ta.Feature(name="kind", categories=("a", "b", "c")),)
    tree = ta.Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 0],
        low=[-INF] * 3,
        high=[INF] * 3,
        categories=CategorySets(start=[0, 0, 1, 3], codes=[0, 1, 2]),
    )
    (column,) = columns_of(
        ta.Forest(trees=(tree,), schema=ta.Schema(features=features)), np.zeros((4, 1))
    )
    assert column.says == ("a", "b", "c")


def test_indicators_of_one_column_are_hidden_together() -> None:
    names = ["age", "cap_shape_x", "cap_shape_y", "cap_color_n", "cap_color_p", "has_pet"]
    values = np.array([[30, 1, 0, 0, 1, 1], [40, 0, 1, 1, 0, 0], [50, 0, 1, 0, 1, 1]])
    assert indicator_groups(names, values) == {"cap_shape": [1, 2], "cap_color": [3, 4]}


def test_a_column_that_the_model_does_not_use_is_left_out() -> None:
    forest = ta.Forest(trees=(stump(1),), schema=ta.Schema.numeric(3))
    assert [column.name for column in columns_of(forest, np.zeros((3, 3)))] == ["x0"]
