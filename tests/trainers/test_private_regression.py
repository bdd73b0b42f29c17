"""Private regression: worked by hand, its laws, and what becomes of its files."""

import math
import pickle
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeaudit as ta
from tests.trainers.people import OF_NUMBERS, REGRESSORS, people_for
from treeaudit.dp.claims import bounded
from treeaudit.dp.curator import Curator
from treeaudit.errors import PrivacyError
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers import save_trained
from treeaudit.trainers.private_regressors import (
    Answered,
    Ends,
    PrivateForestRegressor,
    PrivateTreeRegressor,
)
from treeaudit.trainers.splits import DEVIATION
from treeaudit.trainers.training_rows import NUMBERS, STEPS, in_bounds
from treeaudit.writers.native_json import to_dict

EACH = pytest.mark.parametrize("trainer", REGRESSORS, ids=lambda t: t.algorithm)
CERTAIN = 1e9
"""An epsilon at which no noise is ever seen."""
ALONE = Schema(features=(Feature(name="x", low=0, high=4),), target_low=0, target_high=STEPS)
TARGETS = [0, 1024, 3072, 4096]


def test_a_tree_worked_by_hand() -> None:
    """Four people, whose targets are steps: two sums of 8,192, so a mean of 2,048.

    Half of them are above; the only question there is halves the people, and the means of the
    halves are 512 and 3,584.
    """
    model = PrivateTreeRegressor(epsilon=CERTAIN, schema=ALONE, n_bins=2, max_depth=1)
    model.fit([[1], [1], [3], [3]], TARGETS)
    tree = model.forest_.trees[0]
    assert tree.high.tolist() == [math.inf, 2.0, math.inf]
    assert tree.value.round(2).tolist() == [2048, 512, 3584]
    assert model.predict([[0], [2], [2.1], [4], [np.nan]])[:4].round(2).tolist() == [
        *(512, 512, 3584, 3584)
    ]
    asked = [(q.name, q.mechanism, q.cost / model.privacy_.epsilon) for q in model.privacy_.queries]
    assert asked == [
        ("people and their sum", "discrete Laplace", Fraction(2, 100)),
        ("distances from the mean", "discrete Laplace", Fraction(2, 100)),
        ("sums of level 1", "discrete Laplace", Fraction(56, 500)),
        ("splits of level 1", "permute-and-flip", Fraction(56 * 4, 500)),
        ("leaf sums", "discrete Laplace", Fraction(40, 100)),
    ]
    assert {q.sensitivity for q in model.privacy_.queries} == {1}
    assert model.privacy_.epsilon == 10**9


def test_the_score_moves_by_no_more_than_its_sensitivity_and_as_much() -> None:
    """Every assignment of up to two people and a third to two parts, by two candidates."""
    most, worst = 2, 0
    for deviations in product(range(-most, most + 1), repeat=3):
        for one, other in product(product((0, 1), repeat=3), repeat=2):
            moved = []
            for parts in (one, other):
                sums = np.zeros((2, 2, 1), np.int64)
                for person, part in enumerate(parts):
                    sums[1, part] += deviations[person]
                    sums[0, part] += deviations[person] * (person < 2)
                before, after = DEVIATION.of(sums)
                moved.append(int(after - before))
            worst = max(worst, abs(moved[0] - moved[1]))
    assert worst == 2 * most == DEVIATION.sensitivity(most)


class Watched(Curator):
    """Keeps what was counted."""

    def count(self, name, counts, epsilon, **more):
        self.seen = np.asarray(counts), more["most"]
        return super().count(name, counts, epsilon, **more)


@given(
    st.lists(st.tuples(st.integers(0, STEPS), st.integers(0, 2)), max_size=8),
    st.tuples(st.integers(0, STEPS), st.integers(0, 2)),
    st.integers(0, STEPS - 1),
    st.integers(1, STEPS),
)
def test_one_person_moves_the_sums_of_one_node_by_the_width(people, another, low, width) -> None:
    ends = Ends(low=low, high=min(low + width, STEPS), centre=low, size=1, surely=1)
    tables = []
    for rows in (people, [*people, another]):
        steps = np.array([s for s, _ in rows], dtype=np.int64)
        node = np.array([n for _, n in rows], dtype=np.int32)
        curator = Watched()
        Answered(ends.inside(steps), ends).ask("s", np.arange(3), node, curator, Fraction(1))
        assert curator.seen[1] == ends.width
        tables.append(curator.seen[0])
    change = tables[1] - tables[0]
    assert (change >= 0).all()
    assert change.sum() == ends.width
    assert np.flatnonzero(change.any(axis=1)).tolist() == [another[1]]


@given(
    st.floats(-1e308, 1e308), st.floats(0, 1e308), st.lists(st.floats(0, 1), min_size=1, max_size=9)
)
def test_a_step_is_at_most_half_a_step_away(low, width, shares) -> None:
    high = min(low + width, 1e308)
    schema = Schema(features=(), target_low=low, target_high=max(low, high))
    targets = in_bounds(shares, schema)
    steps = NUMBERS.code(targets, schema, "raise")
    assert ((steps >= 0) & (steps <= STEPS)).all()
    again = in_bounds(steps / STEPS, schema)
    off = np.abs(again / 2 - targets / 2) * 2
    assert (off <= (high / 2 - low / 2) * 2 / STEPS * 0.5001 + 1e-9 * np.abs(targets)).all()


@pytest.mark.sampled(2)
@EACH
@settings(max_examples=25, deadline=None)
@given(
    epsilon=st.floats(1e-5, 1e5),
    leaf_share=st.floats(0.01, 0.99),
    n=st.integers(1, 60),
    depth=st.sampled_from([None, 1, 3, 12]),
    neighbours=st.sampled_from(["add-remove", "replace-one"]),
)
def test_answers_are_within_bounds_and_the_ledger_is_the_claim(
    trainer, epsilon, leaf_share, n, depth, neighbours
) -> None:
    X, y = people_for(trainer, n)
    parameters = {"leaf_share": leaf_share, "max_depth": depth, "neighbours": neighbours}
    model = trainer(epsilon=epsilon, schema=OF_NUMBERS, **parameters).fit(X, y)
    answers = model.predict(X)
    assert ((answers >= 0) & (answers <= 10)).all()
    ledger = model.privacy_
    assert sum(q.cost for q in ledger.queries) == ledger.epsilon == ledger.budget
    assert ledger.used <= ledger.epsilon


def test_too_small_an_epsilon_is_refused_before_anything_is_asked() -> None:
    X, y = people_for(PrivateTreeRegressor, 30)
    with pytest.raises(PrivacyError, match="too small"):
        PrivateTreeRegressor(schema=OF_NUMBERS, epsilon=1e-11).fit(X, y)


@EACH
@pytest.mark.parametrize("suffix", [".json", ".pkl", ".joblib"])
def test_files_hold_the_same_model_and_pass(trainer, suffix, tmp_path) -> None:
    X, y = people_for(trainer, 500)
    model = trainer(schema=OF_NUMBERS).fit(X, y)
    path = save_trained(model, tmp_path / f"model{suffix}")
    forest = ta.load(path)
    assert to_dict(forest) == to_dict(model.forest_)
    assert (forest.schema.target_low, forest.schema.target_high) == (0, 10)
    assert forest.noise is None
    assert all(tree.counts is None and tree.n_records is None for tree in forest.trees)
    assert bounded(forest)
    report = ta.scan(path, policy="private")
    assert (report.verdict, report.epsilon) == ("pass", 1.0)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    seeded = save_trained(
        trainer(schema=OF_NUMBERS, random_state=0).fit(X, y), tmp_path / f"seeded{suffix}"
    )
    assert ta.scan(seeded, policy="private").verdict != "pass"


def test_a_forest_shares_the_records() -> None:
    X, y = people_for(PrivateForestRegressor, 400)
    model = PrivateForestRegressor(schema=OF_NUMBERS, n_estimators=3).fit(X, y)
    assert (model.forest_.n_trees, model.forest_.records_are) == (3, "disjoint")
    assert model.forest_.answers == "mean"
    nodes = [tree.apply(X.assign(sex=0.0)) for tree in model.forest_.trees]
    values = [t.value[n] for t, n in zip(model.forest_.trees, nodes, strict=True)]
    only_f = X.assign(sex="f")
    assert np.allclose(model.predict(only_f), np.mean(values, axis=0))
