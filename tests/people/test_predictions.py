"""What a forest answers, against scikit-learn's own answers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
    VotingClassifier,
)
from sklearn.metrics import roc_auc_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

import treeaudit as ta
from tests.trainers.people import CLASSIFIERS
from treeaudit.model.tree import Tree
from treeaudit.people.predict.predictions import (
    averages,
    class_shares,
    predict_shares,
)
from treeaudit.people.predict.utility import utility
from treeaudit.people.records import read_records

MODELS = [
    DecisionTreeClassifier(max_depth=5, random_state=0),
    DecisionTreeClassifier(max_depth=5, class_weight={0: 1, 1: 5}, random_state=0),
    ExtraTreeClassifier(max_depth=5, random_state=0),
    RandomForestClassifier(9, max_depth=6, random_state=0),
    RandomForestClassifier(9, class_weight="balanced", random_state=0),
    ExtraTreesClassifier(9, random_state=0),
    BaggingClassifier(DecisionTreeClassifier(max_depth=4), 9, random_state=0),
    BaggingClassifier(RandomForestClassifier(4, max_depth=3), 3, random_state=0),
    AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=5, random_state=0),
    BaggingClassifier(
        make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=4)), 3, random_state=0
    ),
]
OTHERS = {
    "sum": [
        GradientBoostingClassifier(n_estimators=3),
        GradientBoostingRegressor(n_estimators=1),
        HistGradientBoostingClassifier(max_iter=2),
    ],
    "weighted": [AdaBoostRegressor(n_estimators=2)],
    "path": [IsolationForest(n_estimators=2)],
    "leaf": [RandomTreesEmbedding(2)],
    "unknown": [
        VotingClassifier([("a", DecisionTreeClassifier()), ("b", ExtraTreeClassifier())]),
        BaggingClassifier(AdaBoostClassifier(n_estimators=2), 2, bootstrap=False),
        BaggingClassifier(VotingClassifier([("a", DecisionTreeClassifier())]), 2),
        OneVsRestClassifier(DecisionTreeClassifier()),
    ],
    "mean": [
        DecisionTreeRegressor(max_depth=2),
        RandomForestRegressor(3),
        BaggingRegressor(n_estimators=3),
    ],
}


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


@pytest.mark.parametrize(
    ("answers", "model"),
    [(answers, model) for answers, models in OTHERS.items() for model in models],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_what_does_not_follow_from_the_trees_is_not_guessed(answers, model) -> None:
    x, y, _, _ = people()
    forest = ta.load(model.fit(x, y))
    assert forest.answers == answers
    assert not averages(forest)
    with pytest.raises(ta.DataError, match=r"does not answer with the mean|not what it predicts"):
        class_shares(forest, np.zeros((1, forest.n_trees), np.int32))


def test_three_rules_by_hand() -> None:
    """Two stumps answer a record with shares 0.6, 0.4 and 0.1, 0.9."""
    stumps = [
        Tree(parent=[-1], feature=[-1], low=[-np.inf], high=[np.inf], counts=[counts])
        for counts in ([6, 4], [1, 9])
    ]
    forest = ta.Forest(trees=stumps, schema=ta.Schema.numeric(1, ["no", "yes"]))
    expected = {"mean": [0.35, 0.65], "vote": [0.5, 0.5], "confidence": [0.4, 0.6]}
    for answers, shares in expected.items():
        told = replace(forest, answers=answers)
        assert class_shares(told, np.zeros((1, 2), np.int32))[0][0] == pytest.approx(shares)
        assert predict_shares(told, np.zeros((1, 1)))[0] == pytest.approx(shares)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("variant", ["sound", "published"])
@pytest.mark.parametrize("trainer", CLASSIFIERS, ids=lambda t: t.algorithm)
@pytest.mark.filterwarnings("ignore::treeaudit.errors.PrivacyWarning")
def test_private_models_answer_as_their_estimators_do(trainer, variant, tmp_path) -> None:
    """From memory and from a file; with categories, numbers, values that are missing."""
    rng = np.random.default_rng(len(trainer.algorithm))
    x = pd.DataFrame({"a": rng.uniform(0, 1, 3000), "kind": rng.choice(list("xyz"), 3000)})
    y = np.where(x["a"] + 0.4 * (x["kind"] == "z") + rng.normal(0, 0.3, 3000) > 0.8, "yes", "no")
    x.loc[rng.random(3000) < 0.1, "a"] = np.nan
    x.loc[rng.random(3000) < 0.1, "kind"] = None
    features = (
        ta.Feature(name="a", low=0, high=1),
        ta.Feature(name="kind", categories=tuple("xyz")),
    )
    model = trainer(
        epsilon=2.0, schema=ta.Schema(features=features, classes=("no", "yes")), variant=variant
    ).fit(x, y)
    expected = model.predict_proba(x)
    for forest in (ta.load(model), ta.load(ta.save(model.forest_, tmp_path / "model.json"))):
        records = read_records((x, y), forest)
        shares, answered = class_shares(forest, records)
        assert answered.all()
        assert np.allclose(shares, expected)
        assert (forest.answers, forest.noise) == (model.forest_.answers, model.forest_.noise)
        found = utility(forest, records)
        assert found.accuracy.value == pytest.approx(model.score(x, y), abs=0.005)
