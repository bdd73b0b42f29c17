"""What trees ask below a column that is 1: counted by bits as by a walk up every tree."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier

from treeaudit.model.forest import Forest
from treeaudit.readers import load
from treeaudit.reconstruction.recognition import _asked


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
    np.testing.assert_array_equal(_asked(forest.trees, columns).below, _walked(forest))
