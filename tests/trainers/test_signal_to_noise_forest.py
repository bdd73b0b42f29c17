"""The random forest of Fletcher and Islam that weighs what a leaf holds against its noise."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.trainers.people import SCHEMA, people
from treeaudit.dp.claims import bounded
from treeaudit.errors import PrivacyWarning
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers.signal_to_noise_forest import SignalToNoiseForestClassifier, least_support

X, Y = people(600)


def forest(**parameters) -> SignalToNoiseForestClassifier:
    return SignalToNoiseForestClassifier(schema=SCHEMA, **parameters)


def test_roots_differ_and_there_are_no_more_than_columns() -> None:
    model = forest(n_estimators=50).fit(X, Y).forest_
    roots = [int(tree.feature[tree.parent == 0][0]) for tree in model.trees]
    assert sorted(roots) == [0, 1, 2]
    assert {q.cost for q in forest(n_records=600).fit(X, Y).privacy_.queries} == {Fraction(1, 3)}


def test_a_branch_ends_where_the_noise_is_as_large_as_what_it_should_hold() -> None:
    """Equation 16, with the support of a node by that of the node above and its parts."""
    model = forest(n_records=5000, prune=False).fit(X, Y).forest_
    least = least_support(2, 1 / 3)
    assert least == pytest.approx(6 * math.sqrt(2))
    for tree in model.trees:
        support = np.full(tree.n_nodes, 5000.0)
        for node in range(1, tree.n_nodes):
            above = tree.parent[node]
            support[node] = support[above] / (tree.parent == above).sum()
        assert (support[tree.is_leaf] < least).all()
        assert (support[~tree.is_leaf] >= least).all()


def test_less_epsilon_makes_smaller_and_fewer_trees() -> None:
    features = tuple(Feature(name=f"x{i}", low=0, high=1) for i in range(8))
    schema = Schema(features=features, classes=(0, 1))
    x = np.random.default_rng(0).random((400, 8))
    trees = [
        SignalToNoiseForestClassifier(schema=schema, epsilon=e, n_records=400)
        .fit(x, x[:, 0] > 0.5)
        .forest_.n_trees
        for e in (0.01, 0.1, 1.0)
    ]
    # beta n / (sqrt(2) 2 4), at least one and at most all columns.
    assert trees == [1, 3, 8]


def test_the_exact_number_of_records_is_a_flaw_of_the_variant_as_printed() -> None:
    assert bounded(forest().fit(X, Y).forest_)
    with pytest.warns(PrivacyWarning, match="exact number of records"):
        assert forest(variant="published").fit(X, Y).privacy_.not_private
    assert not forest(variant="published", n_records=600).fit(X, Y).privacy_.not_private


def test_leaves_answer_as_the_surest_node_of_their_path() -> None:
    model = forest(epsilon=50.0, n_records=600, random_state=0).fit(X, Y)
    assert model.score(X, Y) > 0.8
    for tree in model.forest_.trees:
        share = tree.counts.max(axis=1) / tree.counts.sum(axis=1)
        below = tree.parent >= 0
        assert (share[below] >= share[tree.parent[below]] - 1e-9).all()
