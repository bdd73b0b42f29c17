"""Trees that no fit of a ledger can have grown are under somebody else's ledger."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.trainers.people import PURE, people, people_for, schema_for
from treeaudit.dp.bounded import unbounded_because
from treeaudit.dp.ledger import Ledger
from treeaudit.dp.shapes import grown_beyond
from treeaudit.model.tree import Tree
from treeaudit.trainers import (
    DPDFClassifier,
    PrivateAdditiveTreeClassifier,
    PrivateSearch,
    PrivateTreeClassifier,
    SemiSupervisedForestClassifier,
    SmoothSensitivityForestClassifier,
)

LARGER = "the trees of the model are larger than what its ledger tells was asked"


def chain(leaves: int) -> Tree:
    """Return a tree of one class count a leaf, whose leaves hang on one long branch."""
    n = 2 * leaves - 1
    parent = [-1, *(i - i % 2 for i in range(n - 1))]
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    high[1::2] = low[2::2] = np.arange(1, leaves)
    high[2::2] = np.inf
    high[1::2], low[1::2] = np.arange(1, leaves), np.arange(leaves - 1)
    low[1] = -np.inf
    feature = [-1] + [0] * (n - 1)
    return Tree(parent=parent, feature=feature, low=low, high=high, counts=np.ones((n, 2)))


@pytest.mark.parametrize("trainer", PURE, ids=lambda t: t.algorithm)
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 1000.0])
@pytest.mark.parametrize("n", [5, 400])
def test_what_a_trainer_grows_is_what_it_asked_for(trainer, epsilon, n) -> None:
    few = {"n_estimators": 3, "n_public_trees": 2}
    own = {name: few[name] for name in few if name in trainer().get_params()}
    for more in ({}, {"max_depth": 1}, {"max_depth": 6}):
        model = trainer(epsilon=epsilon, schema=schema_for(trainer), **own, **more)
        assert unbounded_because(model.fit(*people_for(trainer, n)).forest_) is None


@pytest.mark.parametrize("trainer", PURE, ids=lambda t: t.algorithm)
def test_a_larger_tree_is_nobody_s(trainer) -> None:
    few = {"n_estimators": 2, "n_public_trees": 2}
    own = {name: few[name] for name in few if name in trainer().get_params()}
    forest = trainer(schema=schema_for(trainer), **own).fit(*people_for(trainer)).forest_
    big = chain(600)
    if forest.schema.classes is None or forest.counts_are == "label-only":
        told = {"label": np.zeros(big.n_nodes, np.int32)}
        if forest.schema.classes is None:
            told = {"value": np.ones(big.n_nodes)}
        big = replace(big, counts=None, **told)
    swapped = replace(forest, trees=(big, *forest.trees[1:]))
    assert unbounded_because(swapped) == LARGER


def test_the_tree_of_somebody_else_under_a_ledger_of_two_leaves() -> None:
    X, y = people(300)
    model = PrivateTreeClassifier(schema=schema_for(PrivateTreeClassifier), max_depth=1)
    forest = model.fit(X, y).forest_
    plain = ta.load(DecisionTreeClassifier(max_depth=4).fit(X[["age"]], X["dose"] > 0))
    tree = replace(plain.trees[0], n_records=None)
    assert unbounded_because(forest) is None
    assert unbounded_because(replace(forest, trees=(tree,))) == LARGER
    ledger = Ledger.from_plain(forest.privacy)
    # Asked for nothing.
    (leaves,) = [q for q in ledger.queries if q.name == "leaf counts"]
    free = replace(leaves, epsilon=Fraction(0), used=None, asked=99)
    more = replace(ledger, queries=(*ledger.queries, free)).to_plain()
    assert unbounded_because(replace(forest, trees=(tree,), privacy=more)) == LARGER
    # As many leaves, and one level more.
    three = [replace(q, asked=3) if q.name == "leaf counts" else q for q in ledger.queries]
    wide = replace(ledger, queries=tuple(three)).to_plain()
    assert unbounded_because(replace(forest, trees=(chain(3),), privacy=wide)) == LARGER


def test_trees_beyond_those_that_were_counted() -> None:
    X, y = people(300)
    schema = schema_for(PrivateTreeClassifier)
    taught = SemiSupervisedForestClassifier(schema=schema, n_estimators=2, n_public_trees=3)
    forest = taught.fit(X, y).forest_
    assert unbounded_because(forest) is None
    more = replace(forest, trees=(*forest.trees, forest.trees[-1]))
    assert unbounded_because(more) == LARGER
    additive = PrivateAdditiveTreeClassifier(schema=schema).fit(X, y).forest_
    assert unbounded_because(additive) is None
    twice = (*additive.trees, additive.trees[-1])
    weights = (*additive.class_weights, additive.class_weights[-1])
    assert unbounded_because(replace(additive, trees=twice, class_weights=weights)) == LARGER
    levels = DPDFClassifier(schema=schema, n_estimators=1, min_records=1).fit(X, y).forest_
    assert unbounded_because(levels) is None
    assert unbounded_because(replace(levels, trees=(levels.trees[0],) * 2)) == LARGER


def test_labels_alone_hold_no_counts() -> None:
    X, y = people(300)
    model = SmoothSensitivityForestClassifier(
        schema=schema_for(PrivateTreeClassifier), n_estimators=2
    )
    forest = model.fit(X, y).forest_
    with_counts = tuple(replace(t, counts=np.ones((t.n_nodes, 2))) for t in forest.trees)
    assert "holds counts" in str(unbounded_because(replace(forest, trees=with_counts)))
    noisy = replace(forest, trees=with_counts, counts_are="noisy")
    assert "in no row" in str(unbounded_because(noisy))
    tree = PrivateTreeClassifier(schema=schema_for(PrivateTreeClassifier)).fit(X, y).forest_
    said = replace(tree, counts_are="label-only", noise=None)
    assert "holds counts" in str(unbounded_because(said))


def test_a_search_asks_for_each_candidate() -> None:
    X, y = people(300)
    search = PrivateSearch(
        estimator=PrivateTreeClassifier(schema=schema_for(PrivateTreeClassifier), epsilon=9.0),
        candidates=[{"max_depth": 1}, {"max_depth": 3}],
        epsilon=20.0,
    )
    forest = search.fit(X, y).best_estimator_.forest_
    queries = Ledger.from_plain(forest.privacy).queries
    assert not grown_beyond(forest, queries)
    assert grown_beyond(replace(forest, trees=(chain(40),)), queries)
