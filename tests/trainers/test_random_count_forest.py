"""The random forest with noisy leaf counts of Jagannathan, Pillaipakkamnatt and Wright."""

from fractions import Fraction

import numpy as np
import pytest

from tests.trainers.people import SCHEMA, people
from treeaudit.dp.claims import bounded
from treeaudit.errors import PrivacyWarning
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers.random_count_forest import RandomCountForestClassifier

X, Y = people(600)


def forest(**parameters) -> RandomCountForestClassifier:
    return RandomCountForestClassifier(schema=SCHEMA, **parameters)


@pytest.mark.parametrize(("n", "trees"), [(499, 5), (500, 10)])
def test_the_number_of_trees_of_section_3_6(n, trees) -> None:
    ledger = forest(n_records=n).fit(X, Y).privacy_
    assert [q.name for q in ledger.queries] == [
        f"leaf counts of tree {i + 1}" for i in range(trees)
    ]
    # Equation 12: each costs beta / tau, and nothing else is asked.
    assert {q.cost for q in ledger.queries} == {Fraction(1, trees)}
    assert "the number of records" in ledger.public


def test_the_number_of_records_is_asked_for_unless_it_is_public() -> None:
    model = forest().fit(X, Y)
    first, *leaves = model.privacy_.queries
    assert (first.name, first.cost) == ("people", Fraction(1, 50))
    assert {q.cost for q in leaves} == {Fraction(49, 50) / len(leaves)}
    assert bounded(model.forest_)


def test_the_exact_number_is_a_flaw_of_the_variant_as_printed() -> None:
    with pytest.warns(PrivacyWarning, match="exact number of records"):
        printed = forest(variant="published").fit(X, Y)
    assert printed.privacy_.not_private
    public = forest(variant="published", n_records=600).fit(X, Y).privacy_
    assert (public.not_private, public.epsilon) == (False, 1)


@pytest.mark.parametrize("n", [20, 600, 10**9])
def test_the_depth_is_half_of_the_columns_at_most(n) -> None:
    # Three columns: m / 2 is one level, rounded down.
    tree = forest(n_records=n).fit(X, Y).forest_.trees[0]
    assert tree.n_nodes in (3, 4)


def test_the_depth_follows_from_the_people() -> None:
    features = tuple(Feature(name=f"x{i}", low=0, high=1) for i in range(20))
    schema = Schema(features=features, classes=(0, 1))
    x = np.random.default_rng(0).random((100, 20))
    sizes = [
        RandomCountForestClassifier(schema=schema, n_records=n).fit(x, x[:, 0] > 0.5)
        for n in (16, 128, 10**6)
    ]
    # Depth 3, 6, 10: all leaves are at one depth, as numbers can be asked again.
    assert [m.forest_.trees[0].n_nodes for m in sizes] == [2**4 - 1, 2**7 - 1, 2**11 - 1]


def test_inner_nodes_hold_what_their_leaves_hold() -> None:
    for tree in forest(max_depth=3).fit(X, Y).forest_.trees:
        assert tree.n_records is None
        for node in np.flatnonzero(~tree.is_leaf):
            assert np.array_equal(tree.counts[node], tree.counts[tree.parent == node].sum(axis=0))
