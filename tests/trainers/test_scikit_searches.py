"""What a search of scikit-learn chose is not private, wherever and in whatever it is fitted."""

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    cross_val_predict,
    cross_validate,
    learning_curve,
    permutation_test_score,
)

import treeaudit as ta
from treeaudit.dp import Budget
from treeaudit.errors import PrivacyWarning
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers import PrivateSearch
from treeaudit.trainers.private_tree import PrivateTreeClassifier

SCHEMA = Schema(
    features=(Feature(name="a", low=0, high=1), Feature(name="b", low=0, high=1)), classes=(0, 1)
)
DEPTHS = {"max_depth": [1, 2]}
INNER = {"estimator__max_depth": [1, 2]}

pytestmark = pytest.mark.filterwarnings("ignore::treeaudit.errors.PrivacyWarning")


@pytest.fixture(scope="module")
def people() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).random((200, 2))
    return X, (X[:, 0] > 0.5).astype(int)


def tree(**parameters: object) -> PrivateTreeClassifier:
    return PrivateTreeClassifier(schema=SCHEMA, **parameters)


def grid(model: object = None, chosen: object = None, kind: type = GridSearchCV) -> object:
    return kind(tree() if model is None else model, chosen or DEPTHS, cv=2)


def in_folds(model: object, people: tuple) -> object:
    return cross_validate(model, *people, cv=2, return_estimator=True)["estimator"][0]


def two(model: object = None) -> list[tuple[str, object]]:
    return [("one", model or tree()), ("other", tree())]


@pytest.mark.parametrize("backend", ["sequential", "threading"])
@pytest.mark.parametrize(
    "winner",
    [
        lambda p: grid().fit(*p).best_estimator_,
        lambda p: RandomizedSearchCV(tree(), DEPTHS, n_iter=2, cv=2).fit(*p).best_estimator_,
        lambda p: in_folds(grid(), p).best_estimator_,
        lambda p: grid(grid(), {"refit": [True]}).fit(*p).best_estimator_.best_estimator_,
        lambda p: VotingClassifier(two(grid())).fit(*p).estimators_[0].best_estimator_,
        lambda p: (
            grid(VotingClassifier(two()), {"one__max_depth": [1, 2]})
            .fit(*p)
            .best_estimator_.estimators_[1]
        ),
        lambda p: (
            grid(StackingClassifier(two(), cv=2), {"one__max_depth": [1, 2]})
            .fit(*p)
            .best_estimator_.estimators_[1]
        ),
        lambda p: grid(BaggingClassifier(tree(), 2), INNER).fit(*p).best_estimator_.estimators_[0],
        lambda p: (
            grid(CalibratedClassifierCV(tree(), cv=2), INNER)
            .fit(*p)
            .best_estimator_.calibrated_classifiers_[0]
            .estimator
        ),
        lambda p: (
            CalibratedClassifierCV(grid(), cv=2)
            .fit(*p)
            .calibrated_classifiers_[0]
            .estimator.best_estimator_
        ),
        lambda p: (
            in_folds(
                grid(PrivateSearch(estimator=tree(), candidates=[{}]), {"choice": [0.1, 0.2]}), p
            ).best_estimator_
        ),
    ],
)
def test_what_any_search_chose_is_not_private(winner, backend, people) -> None:
    with joblib.parallel_config(backend, n_jobs=2):
        found = winner(people)
    assert "exact scores" in found.privacy_.reasons[-1]
    forest = getattr(found, "best_estimator_", found).forest_
    assert ta.scan(forest, policy="private").verdict == "fail"


def test_what_is_chosen_in_folds_carries_all_that_was_paid(people) -> None:
    account = Budget(20)
    found = cross_validate(grid(tree(budget=account)), *people, cv=2, return_estimator=True)
    assert account.spent == 10
    bills = [one.best_estimator_.privacy_.epsilon for one in found["estimator"]]
    assert bills == [5, 10]


@pytest.mark.parametrize(
    "fits",
    [
        lambda p: CalibratedClassifierCV(tree(), cv=2).fit(*p),
        lambda p: CalibratedClassifierCV(tree(), cv=2, ensemble=False).fit(*p),
        lambda p: StackingClassifier(two(), cv=2).fit(*p),
        lambda p: cross_val_predict(tree(), *p, cv=2),
        lambda p: learning_curve(tree(), *p, cv=2, train_sizes=[0.5, 1.0]),
        lambda p: permutation_test_score(tree(), *p, cv=2, n_permutations=1),
        lambda p: SequentialFeatureSelector(PrivateTreeClassifier(schema="from-data"), cv=2).fit(
            *p
        ),
    ],
)
def test_who_fits_many_times_is_warned(fits, people) -> None:
    with pytest.warns(PrivacyWarning, match="every fit costs its epsilon again"):
        fits(people)


@pytest.mark.parametrize(
    "private",
    [
        lambda p: tree().fit(*p),
        lambda p: in_folds(tree(), p),
        lambda p: VotingClassifier(two()).fit(*p).estimators_[0],
        lambda p: clone(grid().fit(*p).best_estimator_).fit(*p),
        lambda p: PrivateSearch(estimator=tree(), candidates=[{}, {}]).fit(*p),
    ],
)
def test_what_no_search_chose_is_private(private, people) -> None:
    assert private(people).privacy_.reasons == ()
