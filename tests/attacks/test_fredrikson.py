"""Fredrikson's rules: explicit loops, and the answers of the Adversarial Robustness Toolbox."""

import numpy as np
import pytest

from benchmarks.toolbox_rules import people_reached, single_match
from treeaudit.attacks.attribute_inference.guesses import Paths, fredrikson
from treeaudit.model.schema import Schema
from treeaudit.model.tree import Tree


def test_by_hand() -> None:
    """Leaves of 30 and 10 people; the second value is three times as frequent."""
    found = fredrikson([[30, 10], [0, 0]], [0.25, 0.75], [60, 20])
    assert found[0].tolist() == pytest.approx([0.25, 0.75])
    assert found[1].tolist() == [0.25, 0.75]


# A depth-4 tree that scikit-learn 1.9.1 grew on 60 rows, and what version 1.20.1 of the
# toolbox answered for every fifth of them. It cannot be asked about the last column.
LEFT = [1, 2, 3, 4, -1, -1, 7, -1, -1, -1, 11, 12, -1, 14, -1, -1, 17, 18, -1, -1, 21, -1, -1]
RIGHT = [10, 9, 6, 5, -1, -1, 8, -1, -1, -1, 16, 13, -1, 15, -1, -1, 20, 19, -1, -1, 22, -1, -1]
FEATURE = [2, 1, 1, 1, -1, -1, 0, -1, -1, -1, 1, 2, -1, 0, -1, -1, 1, 0, -1, -1, 1, -1, -1]
CUT = [0.5, 3.5, 1.5, 0.5, 0, 0, 0.5, 0, 0, 0, 0.5, 1.5, 0, 0.5, 0, 0, 1.5, 1.5, 0, 0, 3.5, 0, 0]
PEOPLE = [60, 10, 8, 4, 2, 2, 4, 1, 3, 2, 50, 10, 4, 6, 1, 5, 40, 10, 7, 3, 30, 20, 10]
YES = [28, 3, 3, 1, 1, 0, 2, 1, 1, 0, 25, 3, 0, 3, 1, 2, 22, 6, 5, 1, 16, 10, 6]
ASKED = [
    [0, 0, 0],
    [2, 0, 1],
    [1, 0, 0],
    [0, 0, 1],
    [2, 0, 1],
    [1, 0, 2],
    [0, 0, 1],
    [2, 0, 2],
    [1, 0, 2],
    [0, 0, 3],
    [2, 0, 2],
    [1, 0, 3],
]
PRIORS = {0: [0.5, 0.3, 0.2], 1: [0.3, 0.25, 0.2, 0.15, 0.1]}
LIFESTYLE = {0: [0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1], 1: [0, 2, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2]}
DECISION_TREE = {0: [0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 1, 1], 1: [0, *[2] * 11]}


@pytest.fixture(scope="module")
def tree() -> Tree:
    n = len(LEFT)
    parent, low, high = np.full(n, -1), np.full(n, -np.inf), np.full(n, np.inf)
    feature = np.full(n, -1)
    for node in range(n):
        if LEFT[node] > 0:
            parent[[LEFT[node], RIGHT[node]]] = node
            feature[[LEFT[node], RIGHT[node]]] = FEATURE[node]
            high[LEFT[node]] = low[RIGHT[node]] = CUT[node]
    counts = np.column_stack([np.subtract(PEOPLE, YES), YES])
    return Tree(parent=parent, feature=feature, low=low, high=high, n_records=PEOPLE, counts=counts)


@pytest.mark.parametrize("feature", [0, 1])
def test_the_answers_of_the_toolbox(tree, feature) -> None:
    values = np.array(ASKED, dtype=float)
    prior = PRIORS[feature]
    candidates = np.arange(float(len(prior)))[:, None]
    at = Paths(tree, Schema.numeric(3), [((feature,), candidates)]).what_if(
        values, tree.apply(values)
    )
    people = tree.n_records[at]
    lifestyle = fredrikson(people, prior, people_reached(tree, at))
    assert lifestyle.argmax(axis=1).tolist() == LIFESTYLE[feature]
    label = tree.counts.argmax(axis=1).astype(np.int32)
    answered = label[tree.apply(values)]
    assert single_match(people, prior, label[at], answered).tolist() == DECISION_TREE[feature]
