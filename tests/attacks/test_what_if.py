"""What would be if: against routing every person again with every candidate."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import CATEGORIES, grow, rows
from treeaudit.attacks.attribute_inference.guesses import Paths
from treeaudit.model.schema import Feature, Schema

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
