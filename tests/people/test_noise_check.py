"""Counts that are nearer to the training people than their noise lets them be."""

from dataclasses import replace
from fractions import Fraction

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import treeaudit as ta
from tests.trainers.people import CLASSIFIERS, PURE, people, people_for, schema_for
from treeaudit.dp.beside import in_leaves_below
from treeaudit.dp.bounded import FOUND_OUT, bounded, unbounded_because
from treeaudit.dp.entropy import Seeded
from treeaudit.dp.mechanisms import discrete_laplace
from treeaudit.people.nearness import peak_of_gaussian, peak_of_sum
from treeaudit.people.noise_check import chance_of_so_near, held_against
from treeaudit.people.records import read_records
from treeaudit.trainers import (
    DPDFClassifier,
    ExponentialID3Classifier,
    PrivateAdditiveTreeClassifier,
    PrivateTreeClassifier,
    SemiSupervisedForestClassifier,
)


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


def with_counts(forest, train, change, only=slice(None)):
    """Return a model whose counts are changed, told and real ones of all nodes at hand."""
    n, trees = len(forest.schema.classes), list(forest.trees)
    for i in range(*only.indices(len(trees))):
        tree = trees[i]
        real = in_leaves_below(tree, train.in_tree(i, tree.n_nodes, n).astype(float))
        trees[i] = replace(tree, counts=change(tree, np.array(tree.counts), real))
    return replace(forest, trees=tuple(trees))


def mixed():
    """Return people of whom every fifth is ill or not whatever the age."""
    X, y = people(3000)
    odd = np.random.default_rng(1).random(3000) < 0.2
    return X, np.where(odd, np.where(y == "yes", "no", "yes"), y)


def fitted(trainer, X, y, **parameters):
    forest = trainer(schema=schema_for(PrivateTreeClassifier), **parameters).fit(X, y).forest_
    train = read_records((X, y), forest)
    assert held_against(forest, train) is forest
    return forest, train


@pytest.mark.parametrize("trainer", [PrivateTreeClassifier, DPDFClassifier])
def test_exact_counts_above_the_leaves_alone(trainer) -> None:
    X, y = mixed()
    more = (
        {"min_records": 1, "n_estimators": 1, "prune": False} if trainer is DPDFClassifier else {}
    )
    forest, train = fitted(trainer, X, y, max_depth=6, **more)
    forged = with_counts(
        forest, train, lambda t, told, real: np.where(t.is_leaf[:, None], told, real)
    )
    assert bounded(forged)
    assert unbounded_because(held_against(forged, train)) == FOUND_OUT[-1]


def test_exact_shares_of_noisy_people() -> None:
    X, y = mixed()
    forest, train = fitted(PrivateTreeClassifier, X, y, max_depth=6)

    def shares(tree, told, real):
        share = real / np.maximum(real.sum(axis=1, keepdims=True), 1)
        return np.where(real.sum(axis=1, keepdims=True) > 0, share, 0.5) * told.sum(
            axis=1, keepdims=True
        )

    forged = with_counts(forest, train, shares)
    assert bounded(forged)
    assert unbounded_because(held_against(forged, train)) == FOUND_OUT[-1]


def test_exact_counts_of_eight_leaves_that_are_said_to_be_drawn() -> None:
    X, y = mixed()
    forest, train = fitted(PrivateTreeClassifier, X, y, max_depth=3)
    forged = with_counts(forest, train, lambda _, told, real: real)
    assert unbounded_because(held_against(forged, train)) == FOUND_OUT[-1]


def test_exact_stumps_and_gaussian_noise() -> None:
    X, y = mixed()
    for delta in (None, 1e-6):
        forest, train = fitted(PrivateAdditiveTreeClassifier, X, y, delta=delta)
        forged = with_counts(forest, train, lambda _, told, real: real, slice(1, None))
        assert bounded(forged)
        assert unbounded_because(held_against(forged, train)) == FOUND_OUT[-1]


def test_taught_trees_that_hold_the_training_people() -> None:
    X, y = people(3000)
    more = {"n_estimators": 1, "n_public_trees": 2, "max_depth": 6}
    forest, train = fitted(SemiSupervisedForestClassifier, X, y, **more)
    forged = with_counts(forest, train, lambda _, told, real: real, slice(1, None))
    assert bounded(forged)
    assert unbounded_because(held_against(forged, train)) == FOUND_OUT[-1]


def test_the_peak_of_a_sum_is_that_of_its_law() -> None:
    """Two numbers of rate 0.3, and of variance 4, by their convolution."""
    at = np.arange(-400, 401)
    laplace = np.exp(-0.3 * np.abs(at))
    normal = np.exp(-(at**2) / 8)
    for law, peak in (
        (laplace, peak_of_sum(0.3, np.array([2]))),
        (normal, peak_of_gaussian(4.0, np.array([2]))),
    ):
        p = law / law.sum()
        largest = np.convolve(p, p).max()
        assert largest <= peak[0] <= 1.02 * largest


@hypothesis.settings(max_examples=40)
@hypothesis.given(st.integers(1, 60), st.floats(0.01, 6), st.integers(0, 2**31))
def test_no_noise_is_as_near_as_its_bound_but_by_chance(n, rate, seed) -> None:
    """The bound of one draw is below a chance no more often than that, by a wide margin."""
    rng = np.random.default_rng(seed)
    q = np.exp(-rate)
    off = np.abs(rng.geometric(1 - q, (200, n)) - rng.geometric(1 - q, (200, n))).astype(float)
    room = np.full(n, 3.5)
    peak = np.full(n, np.tanh(rate / 2))
    found = [chance_of_so_near(one, room, None, peak) for one in off]
    assert np.mean(np.array(found) < 1e-4) < 0.02
