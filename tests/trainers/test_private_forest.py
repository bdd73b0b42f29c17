"""Greedy private trees that share the records."""

from fractions import Fraction

import numpy as np
import pytest

from tests.trainers.people import SCHEMA, people
from treeaudit.trainers import private_tree as module
from treeaudit.trainers.private_forest import PrivateForestClassifier


def forest(**parameters) -> PrivateForestClassifier:
    return PrivateForestClassifier(**({"schema": SCHEMA} | parameters))


def test_all_trees_together_are_asked_like_one() -> None:
    X, y = people(2000)
    model = forest(epsilon=1.0, n_estimators=3, max_depth=2).fit(X, y)
    names = [query.name for query in model.privacy_.queries]
    assert names == ["people", "splits of level 1", "splits of level 2", "leaf counts"]
    assert model.privacy_.queries[1].asked == 3
    n_leaves = sum(len(tree.leaves) for tree in model.forest_.trees)
    assert model.privacy_.queries[-1].asked == n_leaves
    assert model.privacy_.epsilon == Fraction(1)
    assert model.forest_.records_are == "disjoint"
    assert len(model.forest_.trees) == 3


def test_each_record_is_in_one_tree_of_its_own_choice(monkeypatch) -> None:
    drawn, ended = [], []
    below, leaf_counts = module.below, module._leaf_counts

    def spy(entropy, bound, n):
        drawn.append(below(entropy, bound, n))
        return drawn[-1]

    def spy_counts(growth, *rest):
        ended.append(np.array(growth.nodes.tree)[growth.node])
        return leaf_counts(growth, *rest)

    monkeypatch.setattr(module, "below", spy)
    monkeypatch.setattr(module, "_leaf_counts", spy_counts)
    X, y = people(1000)
    sizes = []
    for seed in range(30):
        forest(n_estimators=4, random_state=seed).fit(X, y)
        assert np.array_equal(ended[-1], drawn[-1])
        sizes.append(np.bincount(drawn[-1], minlength=4))
    # A fixed size would have no spread; a binomial one has 13.7.
    assert np.std(np.array(sizes)[:, 0]) == pytest.approx(13.7, rel=0.4)


def test_it_learns_and_answers_softly() -> None:
    X, y = people(4000)
    model = forest(epsilon=2.0, n_estimators=5).fit(X, y)
    assert model.score(X, y) > 0.9
    assert len(np.unique(model.predict_proba(X)[:, 1])) > 10
