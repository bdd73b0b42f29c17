"""A search whose whole bill is in the ledger of the winner."""

import pickle
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import treeaudit as ta
from tests.dp.exact import SLACK
from tests.strategies import one_in
from tests.trainers.people import CLASSIFIERS, SCHEMA, people
from tests.trainers.test_transcripts import BUDGETS, pairs, schema_of
from tests.trainers.transcripts import fitted_alike
from treeaudit.dp import Budget
from treeaudit.dp.accounting import rational
from treeaudit.dp.claims import bounded
from treeaudit.errors import PrivacyError
from treeaudit.trainers import PrivateSearch, save_trained
from treeaudit.trainers.diffpid3 import DiffPID3Classifier
from treeaudit.trainers.private_tree import PrivateTreeClassifier

X, Y = people(2000)
DEPTHS = [{"max_depth": depth} for depth in (1, 2, 3)]


def search(estimator=None, candidates=DEPTHS, **more) -> PrivateSearch:
    tree = PrivateTreeClassifier(schema=SCHEMA) if estimator is None else estimator
    return PrivateSearch(estimator=tree, candidates=candidates, **more)


def test_the_winner_carries_the_whole_bill(tmp_path) -> None:
    found = search(epsilon=2).fit(X, Y)
    ledger = found.best_estimator_.privacy_
    assert ledger.epsilon == ledger.budget == 2
    assert found.privacy_ == ledger
    names = [query.name for query in ledger.queries]
    assert all(any(n.startswith(f"candidate {i}: ") for n in names) for i in (1, 2, 3))
    choice = ledger.queries[-1]
    assert (choice.name, choice.epsilon) == ("the best of 3 candidates", Fraction(1, 5))
    assert (choice.mechanism, choice.sensitivity, choice.asked) == ("permute-and-flip", 1, 1)
    assert bounded(found.best_estimator_.forest_)
    for suffix in ("json", "pkl"):
        path = save_trained(found.best_estimator_, tmp_path / f"m.{suffix}")
        assert bounded(ta.load(path))
        assert ta.load(path).privacy["epsilon"] == 2
        checks = {c.name: c.status for c in ta.scan(path, policy="private").checks}
        assert checks.pop("max-epsilon") == "fail"
        assert set(checks.values()) == {"pass"}


def test_it_finds_what_is_better_and_keeps_no_score() -> None:
    label = X["age"].fillna(0).between(30, 60).astype(int).to_numpy()
    schema = ta.Schema(features=SCHEMA.features, classes=(0, 1))
    tree = PrivateTreeClassifier(schema=schema)
    one = [{"max_depth": 0 + 1}, {"max_depth": 3}]
    found = search(tree, one, epsilon=20).fit(X, label)
    assert found.best_params_ == {"max_depth": 3}
    assert found.best_index_ == 1
    assert (found.predict(X) == found.best_estimator_.predict(X)).all()
    kept = {name for name in vars(found) if name.endswith("_")}
    assert kept == {
        *("best_estimator_", "best_index_", "best_params_"),
        *("feature_names_in_", "n_features_in_"),
    }
    assert vars(pickle.loads(pickle.dumps(found))).keys() == vars(found).keys()


def test_an_account_pays_once() -> None:
    budget = Budget(1)
    search(epsilon=0.75, budget=budget).fit(X, Y)
    assert budget.spent == 0.75
    with pytest.raises(PrivacyError, match="the budget does not cover it"):
        search(epsilon=0.75, budget=budget).fit(X, Y)
    assert len(budget.to_frame()) == 1


@pytest.mark.filterwarnings("ignore::treeaudit.errors.PrivacyWarning")
def test_what_is_not_private_stays_so() -> None:
    for options in ({"random_state": 0}, {"variant": "published"}):
        tree = PrivateTreeClassifier(schema=SCHEMA, **options)
        assert not bounded(search(tree).fit(X, Y).best_estimator_.forest_)
        budget = Budget(1)
        with pytest.raises(PrivacyError, match="this is none"):
            search(tree, budget=budget).fit(X, Y)
        assert budget.spent == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"candidates": []}, "name the parameters of at least one"),
        ({"candidates": [{"epsilon": 2}]}, "'epsilon' is what all candidates share"),
        ({"candidates": [{"max_depth": 1}, {"depth": 1}]}, "Invalid parameter"),
        ({"candidates": [{"max_depth": 1}, {"max_depth": -1}]}, "max_depth is -1"),
        ({"choice": 1}, "choice is 1"),
        ({"held_out": 0}, "held_out is 0"),
        ({"estimator": DiffPID3Classifier(budget=Budget(1))}, "give the budget to the search"),
        ({"estimator": object()}, "must be a classifier of treeaudit.trainers"),
    ],
)
def test_what_makes_no_search_is_refused_before_it_is_paid_for(changes, message) -> None:
    budget = Budget(1)
    with pytest.raises((ValueError, TypeError), match=message):
        search(budget=budget).set_params(**changes).fit(X, Y)
    assert budget.spent == 0


@dataclass
class Winner:
    """A search that is fitted like the trainer that it returns."""

    search: PrivateSearch

    def fit(self, **data: Any) -> Any:
        return self.search.fit(**data).best_estimator_


@pytest.mark.parametrize("unit", ["record", "person"])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.sampled
@pytest.mark.parametrize("trainer", one_in(3, CLASSIFIERS), ids=lambda t: t.algorithm)
def test_no_search_costs_more_than_the_claim(trainer, relation, unit, record_property) -> None:
    if "max_depth" not in trainer().get_params():
        pytest.skip("no two candidates")
    worst, rng = 0.0, np.random.default_rng(7)
    for _ in range(8):
        schema, epsilon = schema_of(rng, trainer), BUDGETS[int(rng.integers(len(BUDGETS)))]
        most = int(rng.choice([1, 2, 3])) if unit == "person" else None
        model = trainer(schema=schema, neighbours=relation, outside="clip", rows_per_person=most)
        few = {"n_estimators": 2, "n_public_trees": 2}
        own = {k: v for k, v in few.items() if k in model.get_params()}
        candidates = [{"max_depth": depth, **own} for depth in (1, 2)]
        one = search(model, candidates, epsilon=epsilon, held_out=0.5)
        pair = pairs(rng, schema, relation, most)
        seed = int(rng.integers(1 << 60))
        loss = abs(fitted_alike(Winner(one), *pair, seed, wild=bool(rng.integers(2))))
        ledger = one.privacy_
        assert ledger.used <= ledger.epsilon == rational(epsilon)
        worst = max(worst, float((loss - SLACK) / ledger.used))
    record_property("replayed", (f"search of {trainer.algorithm}", 8, worst))
    assert worst <= 1


# With a seed, since some checks compare two fits; it is the estimator's own.
@pytest.mark.slow
@parametrize_with_checks(
    [
        PrivateSearch(
            estimator=PrivateTreeClassifier(schema="from-data", random_state=0),
            candidates=[{"max_depth": 1}, {"max_depth": 3}],
            epsilon=100.0,
        )
    ]
)
def test_estimator_checks(estimator, check) -> None:
    check(estimator)
