"""What trees ask below a column that is 1: counted by bits as by a walk up every tree."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier

import treeaudit as ta
from treeaudit.inference.questions import questions_of
from treeaudit.model.forest import Forest
from treeaudit.readers import load


def _walked(forest: Forest) -> np.ndarray:
    """Count, edge for edge, the questions below each column that is above 0.5."""
    n = len(forest.schema.features)
    found = np.zeros((n, n), dtype=np.int64)
    for tree in forest.trees:
        for node in range(1, tree.n_nodes):
            if tree.low[node] != 0.5:
                continue
            above, ones = int(tree.parent[node]), set[int]()
            while above > 0:
                ones |= {int(tree.feature[above])} if tree.low[above] == 0.5 else set()
                above = int(tree.parent[above])
            for one in ones:
                found[one, tree.feature[node]] += 1
    return found


@pytest.mark.parametrize("columns", [3, 64, 65, 130])
def test_questions_below_a_one(columns: int) -> None:
    rng = np.random.default_rng(columns)
    values = rng.integers(0, 2, (300, columns)).astype(float)
    model = ExtraTreesClassifier(4, random_state=0).fit(values, rng.integers(0, 2, 300))
    forest = load(model)
    asked, found = questions_of(forest.trees, columns), np.zeros((columns, columns))
    found[np.ix_(asked.flags, asked.flags)] = asked.below
    np.testing.assert_array_equal(found, _walked(forest))


def test_columns_that_nobody_asks_cost_nothing() -> None:
    """Of 100,000 columns two are asked: what is asked of these alone is counted."""
    n = 100_000
    tree = ta.Tree(
        parent=[-1, 0, 0, 2, 2],
        feature=[-1, 7, 7, 99_999, 99_999],
        low=[-np.inf, -np.inf, 0.5, -np.inf, 0.5],
        high=[np.inf, 0.5, np.inf, 0.5, np.inf],
        n_records=[9, 4, 5, 2, 3],
        counts=[[4, 5], [2, 2], [2, 3], [1, 1], [1, 2]],
    )
    asked = questions_of([tree], n)
    assert asked.flags.tolist() == [7, 99_999]
    assert asked.below.tolist() == [[0, 1], [0, 0]]
    assert asked.halves[[7, 99_999]].tolist() == [2, 2]
    assert not asked.zero_or_one().any()
    again = asked.union(questions_of([], n))
    assert again.flags.tolist() == [7, 99_999]
    assert again.below.tolist() == asked.below.tolist()
