"""Trees of several models in a row: columns, classes and claims of the weakest."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from treeaudit import ReadError, UnsupportedModelError, load
from treeaudit.readers.sklearn.model_ref import relabel
from treeaudit.readers.sklearn.undo import doubled

X, Y = load_iris(return_X_y=True)
TREE = DecisionTreeClassifier(max_depth=2, random_state=0)
FOREST = RandomForestClassifier(3, max_depth=2, random_state=0)


def _vote(*models: Any) -> VotingClassifier:
    return VotingClassifier([(f"m{i}", m) for i, m in enumerate(models)]).fit(X, Y)


def test_members_are_named_in_their_order() -> None:
    forest = load(_vote(TREE, LogisticRegression(max_iter=2000), FOREST))
    assert [(m.inside, m.estimator, m.n_trees) for m in forest.members] == [
        ("estimators_[0]", "DecisionTreeClassifier", 1),
        ("estimators_[2]", "RandomForestClassifier", 3),
    ]
    assert forest.source.estimator == "VotingClassifier"
    assert (forest.records_are, forest.n_records) == ("unknown", 150)
    assert forest.warnings == (
        "not audited: LogisticRegression at estimators_[1], which is no tree model",
    )
    assert load(TREE.fit(X, Y)).members == ()


def test_the_weakest_claim_is_made_and_explained() -> None:
    weighed = RandomForestClassifier(2, max_depth=2, class_weight="balanced_subsample")
    forest = load(_vote(TREE, weighed))
    assert forest.counts_are == "weighted"
    assert forest.counts_reason.startswith("estimators_[1]: ")


def test_each_member_can_be_selected() -> None:
    vote = _vote(TREE, _vote(FOREST))
    forest = load(vote)
    names = [member.inside for member in forest.members]
    assert names == ["estimators_[0]", "estimators_[1].estimators_[0]"]
    for name, n in ((names[0], 1), (names[1], 3), ("estimators_[1]", 3)):
        chosen = load(vote, select=name)
        assert (chosen.n_trees, chosen.source.inside) == (n, name)
    assert load(vote, select=f"{names[1]}.estimators_[2]").n_trees == 1
    assert load({"model": vote}, select="['model'].estimators_[0]").n_trees == 1
    for wrong in ("estimators_[9]", "estimators_", "x", names[0] + ".tree_"):
        with pytest.raises(UnsupportedModelError, match="the file holds the file itself"):
            load(vote, select=wrong)


def test_labels_of_members_are_those_of_the_vote() -> None:
    names = np.array(["a", "b", "c"])[Y]
    vote = VotingClassifier([("t", TREE), ("f", FOREST)]).fit(X, names)
    forest = load(vote)
    assert forest.schema.classes == ("a", "b", "c")
    assert load(vote, select="estimators_[1].estimators_[0]").schema.classes == ("a", "b", "c")
    assert relabel((1,), (5, 1)) == (1,)
    assert relabel((-1, 1), ("no", "yes")) == ("no", "yes")
    assert relabel((7,), ("no", "yes")) == (7,)


def sums(table):
    return np.cumsum(table, axis=1)


def test_members_over_other_columns_are_left_out_and_named() -> None:
    assert load(_vote(FOREST, make_pipeline(PCA(2), TREE))).schema.names[-2:] == ["pca0", "pca1"]
    turned = make_pipeline(FunctionTransformer(sums), TREE)
    forest = load(_vote(FOREST, turned))
    assert forest.n_trees == 3
    assert "DecisionTreeClassifier at estimators_[1].steps['decisiontreeclassifier']" in str(
        forest.warnings
    )
    before = make_pipeline(PCA(2), VotingClassifier([("a", TREE), ("b", FOREST)])).fit(X, Y)
    assert (load(before).n_trees, load(before).schema.names) == (4, ["pca0", "pca1"])


def test_a_scaled_member_is_over_the_same_columns() -> None:
    forest = load(_vote(FOREST, make_pipeline(StandardScaler(), TREE)))
    assert forest.n_trees == 4
    node = forest.apply(X)
    alone = TREE.fit(StandardScaler().fit_transform(X), Y)
    assert node[:, 3].tolist() == alone.apply(StandardScaler().fit_transform(X)).tolist()


def test_columns_that_no_member_saw_stay() -> None:
    for n in (1, 2):
        bag = BaggingClassifier(make_pipeline(StandardScaler(), TREE), n, max_features=1)
        forest = load(bag.fit(X, Y))
        assert forest.schema.names == ["x0", "x1", "x2", "x3"]
        assert forest.apply(X).shape == (150, n)


def test_trees_are_built_one_at_a_time(monkeypatch) -> None:
    # Of a large forest none but the last is kept.
    monkeypatch.setattr("treeaudit.model.forest.ROOM", 0)
    forest = load(_vote(TREE, FOREST))
    assert forest.trees[3] is forest.trees[3]
    first = forest.trees[0]
    assert forest.trees[3] is not first
    assert forest.trees[0] is not first


@given(st.floats(width=64, allow_nan=False, min_value=-1e30, max_value=1e30), st.integers(-3, 3))
def test_a_bound_for_32_bits_is_said_in_64(bound: float, steps: int) -> None:
    said = float(doubled(np.array([bound]))[0])
    near = said
    for _ in range(abs(steps)):
        near = float(np.nextafter(near, np.inf * steps))
    assert (float(np.float32(near)) <= bound) == (near <= said)


def test_classes_in_two_orders_are_refused() -> None:
    from sklearn.calibration import CalibratedClassifierCV

    x, y = np.arange(24.0)[:, None], np.array(["no"] * 11 + ["yes"] * 13)
    model = CalibratedClassifierCV(DecisionTreeClassifier(max_depth=1), cv=2).fit(x, y)
    before = model.predict(x)
    model.classes_ = model.classes_[::-1]
    for one in model.calibrated_classifiers_:
        one.classes = one.classes[::-1]
    # scikit-learn answers by position: these trees say now what they did not learn.
    assert (model.predict(x) != before).all()
    with pytest.raises(ReadError, match="order the classes in two ways"):
        load(model)
