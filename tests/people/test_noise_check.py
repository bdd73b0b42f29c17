"""Counts that are exact although a ledger claims noise, compared with the training people."""

import math
from dataclasses import replace

import numpy as np
import pytest

import treeaudit as ta
from tests.trainers.people import CLASSIFIERS, PURE, people, people_for, schema_for
from treeaudit.dp.claims import FOUND_OUT, bounded, unbounded_because
from treeaudit.people.checks.training_data import chance_of_exact, check_noise
from treeaudit.people.records import read_records
from treeaudit.trainers.diffpid3 import DiffPID3Classifier
from treeaudit.trainers.dpdf import DPDFClassifier
from treeaudit.trainers.exponential_id3 import ExponentialID3Classifier
from treeaudit.trainers.private_additive_tree import PrivateAdditiveTreeClassifier
from treeaudit.trainers.private_tree import PrivateTreeClassifier
from treeaudit.trainers.random_count_forest import RandomCountForestClassifier

SCHEMA = schema_for(PrivateTreeClassifier)
SMALL = {"n_estimators": 3, "n_public_trees": 2}


def mixed(n=3000):
    """Return people of whom every fifth is ill or not whatever the age."""
    X, y = people(n)
    odd = np.random.default_rng(1).random(n) < 0.2
    return X, np.where(odd, np.where(y == "yes", "no", "yes"), y)


def fitted(trainer, X, y, **parameters):
    own = {name: SMALL[name] for name in SMALL if name in trainer().get_params()}
    forest = trainer(schema=SCHEMA, **(own | parameters)).fit(X, y).forest_
    return forest, read_records((X, y), forest)


def exact(forest, train, *, above=False):
    """Return a model whose leaves, or only the nodes above them, count people without noise."""
    trees = []
    for i, tree in enumerate(forest.trees):
        real = train.in_tree(i, tree.n_nodes, len(forest.schema.classes)).astype(float)
        for node in range(tree.n_nodes - 1, 0, -1):
            real[tree.parent[node]] += real[node]
        told = np.where(tree.is_leaf[:, None] & above, tree.counts, real)
        trees.append(replace(tree, counts=told))
    return replace(forest, trees=tuple(trees))


@pytest.mark.parametrize("epsilon", [0.05, 2.0, 1000.0])
@pytest.mark.parametrize(
    "trainer", [t for t in PURE if t in CLASSIFIERS], ids=lambda t: t.algorithm
)
def test_honest_models_stay_bounded_on_their_own_people(trainer, epsilon) -> None:
    for n in (4, 300):
        forest, train = fitted(trainer, *people_for(trainer, n), epsilon=epsilon)
        assert check_noise(forest, train) is forest


@pytest.mark.parametrize(
    "trainer",
    [
        DiffPID3Classifier,
        DPDFClassifier,
        ExponentialID3Classifier,
        PrivateAdditiveTreeClassifier,
        PrivateTreeClassifier,
        RandomCountForestClassifier,
    ],
    ids=lambda t: t.algorithm,
)
def test_exact_counts_are_detected(trainer) -> None:
    forest, train = fitted(trainer, *mixed(), max_depth=6)
    forged = exact(forest, train)
    assert bounded(forged)
    assert unbounded_because(check_noise(forged, train)) == FOUND_OUT[-1]
    # Whatever is said to have been done to the counts afterwards.
    if forest.noise is not None:
        assert not bounded(check_noise(replace(forged, noise=None), train))


def test_exact_counts_are_detected_under_gaussian_noise() -> None:
    forest, train = fitted(PrivateAdditiveTreeClassifier, *mixed(), delta=1e-6)
    forged = exact(forest, train)
    assert unbounded_because(check_noise(forged, train)) == FOUND_OUT[-1]


def test_a_chance_by_hand() -> None:
    """All of n counts right have the chance of zero noise to the power of n, once per depth."""
    forest, train = fitted(RandomCountForestClassifier, *mixed(), n_estimators=1, max_depth=1)
    (tree,) = forest.trees
    n = np.count_nonzero(train.in_tree(0, tree.n_nodes, 2)[tree.is_leaf])
    zero = math.tanh(forest.noise.rate / 2)
    assert chance_of_exact(exact(forest, train), train) == pytest.approx(2 * zero**n)


def test_the_check_fails_with_the_training_people_alone() -> None:
    X, y = mixed()
    forest, train = fitted(ExponentialID3Classifier, X, y, max_depth=6)
    forged = exact(forest, train)
    for given, status in (((X, y), "fail"), (None, "pass")):
        checks = ta.scan(forged, train=given, policy="private").checks
        assert {check.name: check.status for check in checks}["max-epsilon"] == status
    compared = ta.compare(forged, train=(X, y)).models[0]
    assert compared.epsilon is None
    assert any("nearer to those of the training people" in note for note in compared.notes)
