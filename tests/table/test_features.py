"""Which columns single people out: by hand, and against brute force over the people."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import examples, grow, rows
from treeaudit.model.rules import rules_of
from treeaudit.table.frame import hidden_without, people_by_feature, people_by_last_split


def test_the_papers_tree(figure_3) -> None:
    """One person is taller than 170 and younger than 15: both columns single them out."""
    tree = figure_3.trees[0]
    people = np.array([1])
    assert people_by_feature(tree, [5], people, 3).tolist() == [1, 0, 1]
    assert people_by_last_split(tree, [5], people, 3, 4).tolist() == [0, 0, 1]
    assert people_by_last_split(tree, [5], people, 3, 5).tolist() == [0, 0, 0]


def fits(rules, condition, x) -> bool:
    if rules.feature[condition] == 2:
        return int(x[2]) in rules.categories.of(condition)
    value = x[rules.feature[condition]]
    return rules.low[condition] < value <= rules.high[condition]


@examples(30)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_leaving_a_feature_out_for_real(seed, k) -> None:
    tree, people = grow(seed, 3), rows(seed)
    leaves = tree.leaves
    rules = rules_of(tree, leaves)
    found = hidden_without(rules, len(leaves), people, k)
    for leaf in range(len(leaves)):
        mine = np.flatnonzero(rules.row == leaf)
        asked = set(rules.feature[mine].tolist())
        for feature in range(3):
            others = [c for c in mine if rules.feature[c] != feature]
            inside = sum(all(fits(rules, c, x) for c in others) for x in people)
            assert found[leaf, feature] == (feature in asked and inside >= k)
