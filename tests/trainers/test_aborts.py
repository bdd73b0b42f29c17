"""A fit that has asked something ends: whether it does must not depend on the data."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tests.strategies import one_in
from tests.trainers.people import REGRESSORS
from tests.trainers.test_transcripts import BUDGETS, CONFIGURATIONS
from treeaudit.dp import Budget
from treeaudit.errors import DataError, PrivacyError
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers import random_trees
from treeaudit.trainers.algorithms import ALGORITHMS
from treeaudit.trainers.exponential_id3 import ExponentialID3Classifier
from treeaudit.trainers.private_additive_tree import PrivateAdditiveTreeClassifier
from treeaudit.trainers.private_regressors import PrivateTreeRegressor
from treeaudit.trainers.private_tree import PrivateTreeClassifier
from treeaudit.trainers.random_count_forest import RandomCountForestClassifier
from treeaudit.trainers.sulq_id3 import SulqID3Classifier
from treeaudit.trainers.threshold_forest import ThresholdForestClassifier
from treeaudit.trainers.top_down_specialization import TopDownSpecializationClassifier

SCHEMA = Schema(
    features=(
        *(Feature(name=f"a{i}", low=0, high=10) for i in range(4)),
        Feature(name="b", low=0, high=3),
    ),
    classes=(0, 1),
)
OF_NUMBERS = replace(SCHEMA, classes=None, target_low=0, target_high=1)
ALONE = (np.zeros((1, 5)), [0])
TWO = (np.array([[0.0] * 5, [10.0, 0, 0, 0, 0]]), [0, 1])
EACH_AT_MANY = [
    pytest.param(*each.values, epsilon, id=f"{each.id} {float(epsilon):.7g}")
    for each in CONFIGURATIONS
    for epsilon in (*BUDGETS, 1e4, 1e9, 10**-0.5, 2**0.5, 1 / 6, 1 / 7, 0.7333)
]
MANY = (np.tile(TWO[0], (30, 1)), TWO[1] * 30)


def schema_for(trainer) -> Schema:
    return OF_NUMBERS if trainer in REGRESSORS else SCHEMA


def fits(record, trainer, options, epsilon, n=1, **parameters) -> None:
    """Fit on data that differ in one person; whatever goes wrong is raised."""
    record("fitted", (trainer.algorithm, 3 * n))
    names = trainer().get_params()
    few = {"n_estimators": 2, "max_depth": 2, "min_records": 0, "n_public_trees": 2}
    own = {k: v for k, v in few.items() if k in names} | options | parameters
    for _ in range(n):
        for X, y in (ALONE, TWO, MANY):
            model = trainer(schema=schema_for(trainer), epsilon=epsilon, **own)
            person = None if own.get("rows_per_person") is None else np.arange(len(y))
            ledger = model.fit(X, y, person=person).privacy_
            assert ledger.used <= ledger.epsilon <= Fraction(epsilon).limit_denominator(10**9) * 2
            assert math.isclose(float(ledger.epsilon), epsilon, rel_tol=1e-5)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("epsilon", BUDGETS, ids=lambda e: f"{float(e):.7g}")
@pytest.mark.parametrize("trainer", ALGORITHMS, ids=lambda t: t.algorithm)
def test_no_fit_fails_at_any_budget(trainer, epsilon, record_property) -> None:
    fits(record_property, trainer, {}, epsilon)
    fits(record_property, trainer, {}, epsilon, neighbours="replace-one", rows_per_person=7)
    if trainer is PrivateAdditiveTreeClassifier:
        fits(record_property, trainer, {"delta": 1e-6}, epsilon)


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("trainer", "options", "epsilon"), one_in(28, EACH_AT_MANY))
def test_no_fit_fails_at_any_budget_of_many(trainer, options, epsilon, record_property) -> None:
    fits(record_property, trainer, options, epsilon, 2)
    if "max_depth" in trainer().get_params():
        fits(record_property, trainer, options, epsilon, max_depth=9)
    # Gaussian noise beyond 2^30 is refused before anything is asked.
    persons = 3 if "delta" in options else 1000
    fits(
        record_property, trainer, options, epsilon,
        neighbours="replace-one", rows_per_person=persons,
    )  # fmt: skip


@pytest.mark.parametrize(
    "trainer",
    [ExponentialID3Classifier, SulqID3Classifier, TopDownSpecializationClassifier],
    ids=lambda t: t.algorithm,
)
def test_columns_of_many_categories_do_not_take_all_memory(trainer) -> None:
    names = tuple(map(str, range(700)))
    schema = Schema(
        features=tuple(Feature(name=f"c{i}", categories=names) for i in range(4)), classes=(0, 1)
    )
    X = np.random.default_rng(0).integers(0, 700, (50, 4)).astype(str)
    model = trainer(epsilon=100, schema=schema).fit(X, np.arange(50) % 2)
    assert model.forest_.trees[0].n_nodes == 701
    assert model.privacy_.epsilon == 100


def test_the_depth_that_was_answered_never_asks_for_more_nodes_than_can_be_held(
    monkeypatch,
) -> None:
    monkeypatch.setattr(random_trees, "_MOST_NODES", 60)
    few = {"schema": SCHEMA, "max_leaves": None, "n_estimators": 2}
    for model in (
        RandomCountForestClassifier(**few),
        ThresholdForestClassifier(**few, max_depth=9),
    ):
        trees = model.fit(*MANY).forest_.trees
        assert sum(tree.n_nodes for tree in trees) <= 60


@pytest.mark.parametrize("trainer", [PrivateTreeClassifier, PrivateTreeRegressor])
@pytest.mark.parametrize("leaf_share", [0.001, 0.98, 0.999])
def test_any_share_of_the_leaves_adds_up(trainer, leaf_share) -> None:
    ledger = trainer(schema=schema_for(trainer), leaf_share=leaf_share).fit(*MANY).privacy_
    assert ledger.epsilon == 1
    assert all(query.epsilon >= 0 for query in ledger.queries)


@pytest.mark.parametrize("trainer", ALGORITHMS, ids=lambda t: t.algorithm)
def test_what_cannot_be_asked_is_refused_before_it_is_paid_for(trainer) -> None:
    budget = Budget(1)
    few = {"rows_per_person": 10**6, "neighbours": "replace-one", "budget": budget}
    model = trainer(schema=schema_for(trainer), epsilon=1e-11, **few)
    with pytest.raises(PrivacyError, match="too small"):
        model.fit(*TWO, person=[1, 2])
    if "max_records" in trainer().get_params():
        gain = {"criterion": "information-gain", "budget": budget, "schema": SCHEMA}
        with pytest.raises(DataError, match="more records than"):
            trainer(**gain, max_records=1).fit(*TWO)
        with pytest.raises(PrivacyError, match="not exact enough"):
            trainer(**gain, max_records=2**31).fit(*TWO)
    assert budget.spent == 0
