"""The semi-supervised forest of Jagannathan, Monteleoni and Pillaipakkamnatt."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

from tests.trainers.people import SCHEMA, people
from treeaudit.dp import Budget
from treeaudit.trainers.semi_supervised_forest import SemiSupervisedForestClassifier

X, Y = people(600)
PUBLIC, TRUTH = people(500, seed=9)


def forest(**parameters) -> SemiSupervisedForestClassifier:
    few = {"n_public_trees": 20, "max_depth": 3}
    return SemiSupervisedForestClassifier(**{"schema": SCHEMA, **few, **parameters})


def test_only_the_five_private_trees_cost_anything() -> None:
    model = SemiSupervisedForestClassifier(schema=SCHEMA, public_records=PUBLIC).fit(X, Y)
    assert model.forest_.n_trees == 205
    ledger = model.privacy_
    assert [q.cost for q in ledger.queries] == [Fraction(1, 5)] * 5
    assert "unlabelled records" in ledger.public
    # Half of three columns, rounded up (table I): two questions.
    assert max(tree.n_nodes for tree in model.forest_.trees) <= 1 + 3 + 3 * 3


def test_the_other_trees_hold_the_public_records_with_labels_of_the_five() -> None:
    model = forest(public_records=PUBLIC, epsilon=50.0, random_state=0).fit(X, Y)
    for tree in model.forest_.trees[5:]:
        assert tree.counts[0].sum() == len(PUBLIC)
    assert model.score(PUBLIC, TRUTH) > 0.8


def test_numbers_are_cut_at_quantiles_of_the_public_records() -> None:
    crowded = PUBLIC.assign(age=np.linspace(60, 61, len(PUBLIC)))
    model = forest(public_records=crowded).fit(X, Y)
    trees = model.forest_.trees
    cuts = np.concatenate([t.high[(t.feature == 0) & np.isfinite(t.high)] for t in trees])
    assert len(cuts)
    assert ((cuts >= 60) & (cuts <= 61)).all()


def test_public_records_that_do_not_fit_are_refused_before_anything_is_paid() -> None:
    budget = Budget(1)
    for wrong in (PUBLIC.drop(columns="age"), PUBLIC.to_numpy(dtype=object)[:, :2], PUBLIC[:0]):
        with pytest.raises(ValueError, match=r"no column 'age'|2 columns|0 sample"):
            forest(public_records=wrong, budget=budget).fit(X, Y)
    assert budget.spent == 0


def test_they_are_not_written_into_the_model_nor_to() -> None:
    given = PUBLIC[["age", "dose"]].to_numpy()
    before = given.copy()
    schema = type(SCHEMA)(features=(SCHEMA.features[0], SCHEMA.features[2]), classes=("no", "yes"))
    model = forest(schema=schema, public_records=given - 1000).fit(X[["age", "dose"]].to_numpy(), Y)
    again = pickle.loads(pickle.dumps(model))
    assert again.public_records is None
    assert np.array_equal(given, before)
    assert np.array_equal(again.predict(given), model.predict(given))
