"""What would be if: against routing every person again with every candidate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import CATEGORIES, grow, rows
from treeaudit.attacks.attribute_inference.guesses import Paths
from treeaudit.model.schema import Feature, Schema
from treeaudit.model.tree import Tree

SCHEMA = Schema(
    features=(
        Feature(name="age"),
        Feature(name="income"),
        Feature(name="kind", categories=CATEGORIES),
    )
)
HIDDEN = [
    ((0,), [[-25.0], [-3.0], [0.0], [7.5], [22.0]]),
    ((2,), [[0.0], [1.0], [2.0], [3.0]]),
    ((1, 2), [[-3.0, 1.0], [5.0, 1.0], [9.0, 3.0]]),
]


@given(st.integers(0, 2**32 - 1), st.sampled_from(HIDDEN))
def test_agreement_with_routing_again(seed, hidden) -> None:
    """Binary, multiway and category-set trees."""
    features, candidates = hidden[0], np.array(hidden[1])
    tree, values = grow(seed, 3), rows(seed, 25)
    found = Paths(tree, SCHEMA, [(features, candidates)]).what_if(values, tree.apply(values))
    for v, candidate in enumerate(candidates):
        changed = values.copy()
        changed[:, features] = candidate
        assert found[:, v].tolist() == tree.apply(changed).tolist()


@given(st.integers(0, 2**32 - 1))
def test_columns_at_the_same_time_are_hidden_one_at_a_time(seed) -> None:
    tree, values = grow(seed, 3), rows(seed, 25)
    apart = [(i, np.array(candidates)) for i, candidates in [*HIDDEN[:2], ((1,), [[-3.0], [9.0]])]]
    at = tree.apply(values)
    alone = [Paths(tree, SCHEMA, [one]).what_if(values, at) for one in apart]
    assert Paths(tree, SCHEMA, apart).what_if(values, at).tolist() == np.hstack(alone).tolist()


@pytest.mark.parametrize("feature", [[-1, 0, 0, 0, 1, 1], [-1, 0, 1, 0, 0, 1]])
@pytest.mark.parametrize("high", [[np.inf, 2.0, 3.0, 5.0, 1.0, np.inf], [9.0, 1.0, 2.0, 3.0, 9, 9]])
def test_children_that_share_values_or_ask_about_different_columns(feature, high) -> None:
    """The first child that lets a person in is taken, and who fits none is stuck."""
    tree = Tree(parent=[-1, 0, 0, 0, 1, 1], feature=feature, low=[-np.inf] * 6, high=high)
    values = np.array([[a, b] for a in range(7) for b in range(7)], dtype=float)
    columns = [((i,), np.arange(7.0)[:, None]) for i in range(2)]
    found = Paths(tree, Schema.numeric(2), columns).what_if(values, tree.apply(values))
    for i in range(2):
        for v in range(7):
            changed = values.copy()
            changed[:, i] = v
            assert found[:, 7 * i + v].tolist() == tree.apply(changed).tolist()


@given(st.integers(0, 2**32 - 1), st.sampled_from(HIDDEN))
def test_people_with_a_value_are_those_of_the_leaves_it_may_reach(seed, hidden) -> None:
    features, candidates = hidden[0], np.array(hidden[1])
    tree = grow(seed, 3)
    found = Paths(tree, SCHEMA, [(features, candidates)]).people_with()
    for v, candidate in enumerate(candidates):
        total = 0
        for leaf in tree.leaves.tolist():
            node, passes = leaf, True
            while node:
                if tree.feature[node] in features:
                    x = candidate[features.index(tree.feature[node])]
                    passes &= bool(tree.passes(np.array([node]), [x])[0])
                node = tree.parent[node]
            total += int(tree.n_records[leaf]) * passes
        assert found[v] == total


def test_a_value_that_no_edge_lets_through_stays_where_it_is() -> None:
    multiway = Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 0],
        low=[-np.inf, 0.0, 2.0],
        high=[np.inf, 1.0, 3.0],
    )
    found = Paths(multiway, Schema.numeric(1), [((0,), np.array([[0.5], [1.5], [2.5]]))]).what_if(
        np.array([[0.5]]), np.array([1], dtype=np.int32)
    )
    assert found.tolist() == [[1, 0, 2]]


def test_missing_values_elsewhere_follow_their_edge() -> None:
    tree = Tree(
        parent=[-1, 0, 0, 1, 1],
        feature=[-1, 0, 0, 1, 1],
        low=[-np.inf, -np.inf, 1, -np.inf, 5],
        high=[np.inf, 1, np.inf, 5, np.inf],
        missing=[False, True, False, False, True],
    )
    values = np.array([[0.0, np.nan], [np.nan, 3.0]])
    at = tree.apply(values)
    assert at.tolist() == [4, 3]
    paths = Paths(tree, Schema.numeric(2), [((0,), np.array([[0.0], [2.0]]))])
    assert paths.what_if(values, at).tolist() == [[4, 2], [3, 2]]


def test_a_root_alone_has_nothing_to_ask() -> None:
    root = Tree(parent=[-1], feature=[-1], low=[-np.inf], high=[np.inf], n_records=[7])
    paths = Paths(root, Schema.numeric(1), [((0,), np.array([[0.0], [1.0]]))])
    zeros = np.zeros(2, dtype=np.int32)
    assert paths.what_if(np.zeros((2, 1)), zeros).tolist() == [[0, 0], [0, 0]]
    assert paths.people_with().tolist() == pytest.approx([7, 7])
