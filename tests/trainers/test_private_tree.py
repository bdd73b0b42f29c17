"""The greedy private tree: what it asks, what it releases, how well it answers."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import treeaudit as ta
from tests.trainers.people import SCHEMA, people
from treeaudit.dp import curator as curator_module
from treeaudit.dp.accounting import FINEST_CHOICE, FINEST_COUNT, dyadic
from treeaudit.dp.mechanisms import IMPOSSIBLE
from treeaudit.dp.scores import UNIT
from treeaudit.dp.subsampling import Seeded
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers.histograms import Codes
from treeaudit.trainers.private_tree import PrivateTreeClassifier
from treeaudit.trainers.pruning import calibrate, prune_by_gini, prune_pessimistically
from treeaudit.trainers.splits import NORM, available, score_level


def tree(**parameters) -> PrivateTreeClassifier:
    return PrivateTreeClassifier(**({"schema": SCHEMA} | parameters))


@pytest.fixture
def asked(monkeypatch):
    """What permute-and-flip and discrete Laplace are asked with."""
    calls = []
    choose, noise = curator_module.permute_and_flip, curator_module.discrete_laplace

    def spy_choose(scores, rate, entropy):
        calls.append(("choose", len(scores), rate))
        return choose(scores, rate, entropy)

    def spy_noise(rate, n, entropy):
        calls.append(("count", n, rate))
        return noise(rate, n, entropy)

    monkeypatch.setattr(curator_module, "permute_and_flip", spy_choose)
    monkeypatch.setattr(curator_module, "discrete_laplace", spy_noise)
    return calls


@pytest.mark.parametrize(("neighbours", "half"), [("add-remove", 1), ("replace-one", 2)])
def test_what_is_asked_is_what_the_ledger_says(asked, neighbours, half) -> None:
    X, y = people(300)
    model = tree(epsilon=0.5, max_depth=3, neighbours=neighbours).fit(X, y)
    ledger = model.privacy_
    assert ledger.epsilon == Fraction(1, 2)
    names = [query.name for query in ledger.queries]
    levels = [f"splits of level {i}" for i in (1, 2, 3)]
    assert names == ["people", *levels, "leaf counts"]
    size, *splits, leaves = asked
    assert size == ("count", 1, dyadic(Fraction(1, 100) / half, FINEST_COUNT))
    on_splits = Fraction(1, 2) * (1 - Fraction(2, 100) - Fraction(3, 10))
    n_leaves = len(model.forest_.trees[0].leaves)
    assert leaves == ("count", 2 * n_leaves, dyadic(Fraction(15, 100) / half, FINEST_COUNT))
    for level, ((kind, n, rate), query) in enumerate(zip(splits, ledger.queries[1:4], strict=True)):
        each = on_splits * 2**level / 7
        exact = each / (NORM.sensitivity(1) * half)
        assert (kind, n, rate) == ("choose", query.asked, dyadic(exact, FINEST_CHOICE))
        assert (query.epsilon, query.composition) == (each, "parallel")
        assert query.used == rate * NORM.sensitivity(1) * half < each
        assert query.sensitivity == half
    (published,) = tree(variant="published").fit(X, y).privacy_.queries[1:2]
    assert published.mechanism == "exponential mechanism"
    assert published.sensitivity == 2


def test_what_no_level_needs_goes_to_the_leaves() -> None:
    schema = Schema(features=(Feature(name="sex", categories=("f", "m")),), classes=(0, 1))
    X = pd.DataFrame({"sex": ["f", "m"] * 50})
    model = PrivateTreeClassifier(schema=schema, max_depth=5).fit(X, [0, 1] * 50)
    costs = {query.name: query.cost for query in model.privacy_.queries}
    assert costs["leaf counts"] == 1 - Fraction(2, 100) - Fraction(68, 100) / 31
    assert model.privacy_.epsilon == 1
    assert model.forest_.trees[0].n_nodes == 3


def test_nothing_exact_is_stored() -> None:
    X, y = people(311)
    model = tree(epsilon=0.01).fit(X, y)
    (grown,) = model.forest_.trees
    assert grown.n_records is None
    assert model.forest_.counts_are == "noisy"
    # At this noise no leaf comes out as it is.
    leaf = grown.apply(model._coded(X))
    exact = np.zeros_like(grown.counts)
    np.add.at(exact, (leaf, (y == "yes").astype(int)), 1)
    assert not np.array_equal(grown.counts[grown.leaves], exact[grown.leaves])


def test_saved_read_and_asked_it_answers_the_same(tmp_path) -> None:
    X, y = people(500)
    model = tree(epsilon=1.0).fit(X, y)
    ta.save(model.forest_, tmp_path / "model.json")
    read = ta.load(tmp_path / "model.json")
    again = read.trees[0].counts[read.trees[0].apply(model._coded(X))]
    assert np.allclose(again / again.sum(axis=1, keepdims=True), model.predict_proba(X))
    report = ta.scan(tmp_path / "model.json")
    assert report.to_dict()["model"]["privacy"]["epsilon"] == 1.0


def test_scores_by_hand() -> None:
    codes = (Codes(n=3), Codes(n=2, edges=np.array([0.5])))
    candidates = available(codes, ways=True, entropy=Seeded(0))
    into = int(candidates.lost[6])
    # Categories hold 3 + 0, 0 + 4 and 0 + 0 people, and one of the first class is missing.
    named = np.array([[[3, 0], [0, 4], [0, 0], [1, 0]]])
    number = np.array([[[4, 0], [0, 4], [0, 0]]])
    there = [np.array([[True, True, True]]), np.array([[True, False]])]
    found = score_level(candidates, [named, number], there, NORM, UNIT)[0]
    assert candidates.at.tolist() == [0, 1, 2, 0, 1, 2, -1, 0, 0]
    length = lambda a, b: math.floor(UNIT * math.hypot(a, b))  # noqa: E731
    with_one = [
        length(4, 0) + length(0, 4),
        length(1, 4) + length(3, 0),
        length(1, 0) + length(3, 4),
    ]
    with_rest = [length(3, 0) + length(1, 4), length(0, 4) + length(4, 0), length(4, 4)]
    apart = {0: 8, 1: 3 + math.sqrt(17), 2: 8}[into]
    assert found[:3].tolist() == with_one
    assert found[3:6].tolist() == with_rest
    # A part more costs one.
    assert found[6] == pytest.approx((apart - 1) * UNIT, abs=2)
    assert found[7:].tolist() == [IMPOSSIBLE] * 2


def test_calibration_by_hand() -> None:
    """Algorithm 3: 100 people shared out as 30 to 10, and classes scaled to that."""
    found = calibrate([-1, 0, 0], [100, 30, 10], [[0, 0], [20, 5], [-3, 8]])
    assert found.tolist() == [[60.0, 40.0], [60.0, 15.0], [0.0, 25.0]]
    # Nobody anywhere: half a person of the class that is least below zero.
    assert calibrate([-1], [-5], [[-9, -2]]).tolist() == [[0.0, 0.5]]
    shared = calibrate([-1, 0, 0], [10, -3, -4], [[0, 0], [1, 0], [0, 1]])
    assert shared.tolist() == [[5.0, 5.0], [5.0, 0.0], [0.0, 5.0]]


def test_pessimistic_errors_of_c45() -> None:
    """Quinlan's example: leaves of 6, 9 and 1 people without errors; as a leaf 16 with 1."""
    # U(0, 6) = .206, U(0, 9) = .143, U(0, 1) = .750 and U(1, 16) = .157 at 25 %.
    counts = np.array([[15.0, 1.0], [6.0, 0.0], [9.0, 0.0], [0.0, 1.0]])
    assert 6 * 0.206 + 9 * 0.143 + 1 * 0.750 > 16 * 0.157
    assert prune_pessimistically([-1, 0, 0, 0], counts, 0.25).tolist() == [True] + [False] * 3
    pays = np.array([[10.0, 10.0], [10.0, 0.0], [0.0, 10.0]])
    assert prune_pessimistically([-1, 0, 0], pays, 0.25).all()


def test_gini_pruning_goes_up() -> None:
    counts = [[50, 50], [50, 0], [0, 50], [25, 1], [25, 0]]
    assert prune_by_gini([-1, 0, 0, 1, 1], counts).tolist() == [True, True, True, False, False]
    nothing = [[9, 1], [5, 1], [4, 1], [3, 1], [2, 1]]
    assert prune_by_gini([-1, 0, 0, 1, 1], nothing).tolist() == [True] + [False] * 4
