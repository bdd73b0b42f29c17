"""The forest of Rana, Gupta and Venkatesh, marked as not epsilon-private, and a sound one."""

from fractions import Fraction

import numpy as np
import pytest

from tests.trainers.people import SCHEMA, people
from treeaudit.dp.claims import bounded
from treeaudit.errors import PrivacyWarning
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers.midpoint_forest import MidpointForestClassifier, most_trees

X, Y = people(1200)


def forest(**parameters) -> MidpointForestClassifier:
    return MidpointForestClassifier(**{"schema": SCHEMA, "n_estimators": 3, **parameters})


def test_three_questions_a_level_with_numbers_and_two_without() -> None:
    ledger = forest(epsilon=20.0).fit(X, Y).privacy_
    assert {q.epsilon for q in ledger.queries if q.mechanism != "none"} == {Fraction(20, 13)}
    assert [q.name for q in ledger.queries[:3]] == [
        "people of level 1", "splits of level 1", "midpoints of level 1",
    ]  # fmt: skip
    assert ledger.epsilon == 20
    sex = Schema(features=(SCHEMA.features[1],), classes=("no", "yes"))
    named = MidpointForestClassifier(schema=sex).fit(X[["sex"]], Y).privacy_
    assert named.queries[0].epsilon == Fraction(1, 9)


def test_a_number_is_cut_half_way_between_the_means_of_two_classes() -> None:
    age = Schema(features=(Feature(name="age", low=0, high=100),), classes=("no", "yes"))
    ages = np.array([10.0] * 300 + [70.0] * 300)[:, None]
    model = MidpointForestClassifier(
        schema=age, epsilon=1000.0, n_estimators=1, max_depth=2, n_bins=100
    ).fit(ages, ["no"] * 300 + ["yes"] * 300)
    tree = model.forest_.trees[0]
    assert tree.high[1] == pytest.approx(40, abs=1.01)


def test_every_record_is_in_one_tree_and_the_claim_is_a_bound() -> None:
    model = forest(epsilon=1000.0, max_depth=2).fit(X, Y)
    assert sum(tree.counts[0].sum() for tree in model.forest_.trees) == pytest.approx(1200, abs=5)
    assert model.forest_.records_are == "disjoint"
    assert bounded(model.forest_)


def test_as_printed_it_is_marked_not_private_and_costs_every_tree() -> None:
    with pytest.warns(PrivacyWarning, match="as published"):
        model = forest(variant="published").fit(X, Y)
    ledger = model.privacy_
    assert ledger.not_private
    assert len(ledger.reasons) == 2
    assert (ledger.budget, ledger.epsilon) == (1, 3)


def test_equation_20() -> None:
    assert most_trees(30, 0.24, 0.1) == int((30 * 31 + 100) / (0.24 * 0.76))
