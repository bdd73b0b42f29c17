"""Counts that are nearer to the training people than their noise lets them be."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import treeaudit as ta
from tests.trainers.people import CLASSIFIERS, PURE, people, people_for, schema_for
from treeaudit.dp.bounded import FOUND_OUT, bounded, unbounded_because
from treeaudit.dp.entropy import Seeded
from treeaudit.dp.mechanisms import discrete_laplace
from treeaudit.people.noise_check import chance_of_so_near, held_against
from treeaudit.people.records import read_records
from treeaudit.trainers import ExponentialID3Classifier, PrivateTreeClassifier


def exact(forest, train):
    """Return a model that holds what its people are, and no noise."""
    n = len(forest.schema.classes)
    real = [train.in_tree(i, tree.n_nodes, n) for i, tree in enumerate(forest.trees)]
    trees = (replace(t, counts=c.astype(float)) for t, c in zip(forest.trees, real, strict=True))
    return replace(forest, trees=tuple(trees))


def test_twenty_counts_that_are_all_right_have_no_noise_of_rate_three_tenths() -> None:
    # A count is right with the chance (1 - q) / (1 + q), q = exp(-0.3): 0.1489 ** 20.
    far = np.full(20, np.inf)
    assert chance_of_so_near(np.zeros(20), far, 0.3) == pytest.approx(0.14888503**20, rel=1e-2)
    assert chance_of_so_near(np.zeros(3), far[:3], 0.3) > 1e-3
    assert chance_of_so_near(np.zeros(0), far[:0], 0.3) == 1.0


@pytest.mark.parametrize("rate", [2.0**-20, 0.01, 0.3, 2.0, 40.0])
def test_true_noise_is_never_that_near(rate) -> None:
    seeds = np.arange(4, dtype=np.uint32)
    for n in (1, 10, 300):
        off = np.abs(discrete_laplace(Fraction(rate), n, Seeded(seeds))).astype(float)
        for room in (np.full(n, np.inf), np.full(n, 2.5)):
            assert chance_of_so_near(np.minimum(off, room), room, rate) > 1e-9


@pytest.mark.parametrize("epsilon", [0.05, 2.0, 1000.0])
@pytest.mark.parametrize(
    "trainer", [t for t in PURE if t in CLASSIFIERS], ids=lambda t: t.algorithm
)
def test_honest_models_stay_bounded_on_their_own_people(trainer, epsilon) -> None:
    few = {"n_estimators": 3, "n_public_trees": 2}
    own = {name: few[name] for name in few if name in trainer().get_params()}
    for n in (4, 300):
        X, y = people_for(trainer, n)
        forest = trainer(epsilon=epsilon, schema=schema_for(trainer), **own).fit(X, y).forest_
        assert held_against(forest, read_records((X, y), forest)) is forest


def test_exact_counts_are_found_out_with_the_training_people() -> None:
    X, y = people(500)
    model = ExponentialID3Classifier(schema=schema_for(PrivateTreeClassifier), max_depth=3)
    forest = model.fit(X, y).forest_
    train = read_records((X, y), forest)
    forged = exact(forest, train)
    assert bounded(forged)
    assert unbounded_because(held_against(forged, train)) == FOUND_OUT[-1]
    # As if they had been clipped and drawn towards others afterwards, or of no told noise.
    for after in (("clipped",), ("shrunk", "clipped"), ("scaled",)):
        other = replace(forged, noise=replace(forged.noise, afterwards=after))
        assert not bounded(held_against(other, train))
    assert not bounded(held_against(replace(forged, noise=None), train))
    for given, status in (((X, y), "fail"), (None, "pass")):
        checks = ta.scan(forged, train=given, policy="private").checks
        assert {check.name: check.status for check in checks}["max-epsilon"] == status
    compared = ta.compare(forged, train=(X, y)).models[0]
    assert compared.epsilon is None
    assert any("nearer to those of the training people" in note for note in compared.notes)
