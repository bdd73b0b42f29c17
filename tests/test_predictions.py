"""What a forest answers, against scikit-learn's own answers."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from treeaudit.predictions import averages, class_shares, utility
from treeaudit.records import read_records
from treeaudit.tree import Tree

MODELS = [
    DecisionTreeClassifier(max_depth=5, random_state=0),
    DecisionTreeClassifier(max_depth=5, class_weight={0: 1, 1: 5}, random_state=0),
    RandomForestClassifier(9, max_depth=6, random_state=0),
    RandomForestClassifier(9, class_weight="balanced", random_state=0),
    ExtraTreesClassifier(9, random_state=0),
    BaggingClassifier(DecisionTreeClassifier(max_depth=4), 9, random_state=0),
]


def people(classes=2):
    x, y = make_classification(
        500, 6, n_informative=4, n_classes=classes, flip_y=0.2, random_state=classes
    )
    return x[:300], y[:300], x[300:], y[300:]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: f"{type(m).__name__}")
@pytest.mark.parametrize("classes", [2, 3])
def test_the_answers_of_scikit_learn(model, classes) -> None:
    if classes == 3 and isinstance(getattr(model, "class_weight", None), dict):
        pytest.skip("these weights are for two classes")
    x, y, others, theirs = people(classes)
    model.fit(x, y)
    forest = ta.load(model)
    records = read_records((others, theirs), forest)
    shares, answered = class_shares(forest, records)
    assert answered.all()
    assert np.allclose(shares, model.predict_proba(others))
    found = utility(forest, records)
    assert found.accuracy.value == pytest.approx(model.score(others, theirs))
    if classes == 2:
        expected = roc_auc_score(theirs, model.predict_proba(others)[:, 1])
        assert found.auc == pytest.approx(expected)


def test_a_record_without_a_leaf_is_not_answered() -> None:
    """Half of the stump is gone: two of four records get no answer, one of the others is right."""
    half = Tree(parent=[-1, 0], feature=[-1, 0], low=[-np.inf, 0], high=[np.inf, np.inf],
                n_records=[6, 6], counts=[[1, 5], [1, 5]])  # fmt: skip
    forest = ta.Forest(trees=(half,), schema=ta.Schema.numeric(1, ["no", "yes"]))
    records = read_records(([[-1], [-2], [1], [2]], ["no", "yes", "no", "yes"]), forest)
    found = utility(forest, records)
    assert (found.coverage.value, found.accuracy.value, found.right_of_all.value) == (
        0.5,
        0.5,
        0.25,
    )


def test_what_is_added_up_is_not_guessed() -> None:
    x, y, _, _ = people()
    boosted = ta.load(GradientBoostingClassifier(n_estimators=3).fit(x, y))
    assert not averages(boosted)
    assert not averages(ta.load(DecisionTreeRegressor(max_depth=2).fit(x, x[:, 0])))
    records = read_records((x, y), boosted)
    with pytest.raises(ta.DataError, match="does not answer with the mean"):
        class_shares(boosted, records)


@pytest.mark.parametrize("algorithm", range(5))
def test_private_models_answer_as_their_estimators_do(algorithm) -> None:
    from treeaudit.trainers import ALGORITHMS

    rng = np.random.default_rng(algorithm)
    x = np.column_stack([rng.uniform(0, 1, 3000), rng.integers(0, 4, 3000)])
    y = np.where(x[:, 0] + 0.2 * x[:, 1] + rng.normal(0, 0.3, 3000) > 0.8, "yes", "no")
    schema = ta.Schema(
        features=(ta.Feature(name="x0", low=0, high=1), ta.Feature(name="x1", low=0, high=3)),
        classes=("no", "yes"),
        named=False,
    )
    model = ALGORITHMS[algorithm](epsilon=2.0, schema=schema).fit(x, y)
    forest = ta.load(model)
    found = utility(forest, read_records((x, y), forest))
    assert found.coverage.value == 1
    assert found.accuracy.value == pytest.approx(model.score(x, y), abs=0.005)
