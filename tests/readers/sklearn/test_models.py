"""The model inside a file is found, or one sentence says what is there instead."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tests.readers.damage import pickled
from treeaudit import ReadError, UnsupportedModelError, load

X, Y = load_iris(return_X_y=True)
TREE = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
FOREST = RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, Y)
PIPELINE = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2)).fit(X, Y)
KINDS = (DecisionTreeClassifier, RandomForestClassifier, AdaBoostClassifier, BaggingClassifier)
KINDS += (GradientBoostingClassifier, HistGradientBoostingClassifier, IsolationForest)
SEARCH = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=2).fit(X, Y)


@pytest.fixture
def stored(tmp_path: Path) -> Any:
    def write(value: object) -> Path:
        path = pickled(tmp_path, value)
        return path

    return write


@pytest.mark.parametrize(
    ("value", "inside"),
    [
        (TREE, ""),
        (FOREST, ""),
        (PIPELINE, "steps['decisiontreeclassifier']"),
        (SEARCH, "best_estimator_"),
        ({"model": TREE, "threshold": 0.5}, "['model']"),
        ([1, TREE, "x"], "[1]"),
        ((TREE, ["a", "b"]), "[0]"),
        ({"a": {"b": [(None, PIPELINE)]}}, "['a']['b'][0][1].steps['decisiontreeclassifier']"),
        (
            GridSearchCV(Pipeline([("clf", TREE)]), {"clf__max_depth": [1]}, cv=2).fit(X, Y),
            "best_estimator_.steps['clf']",
        ),
        (Pipeline([("a", StandardScaler()), ("b", PIPELINE)]), None),
        ([*range(20_000), TREE], "[20000]"),
        ({"one": TREE, "again": TREE}, "['one']"),
    ],
    ids=str,
)
def test_the_model_is_found(value: object, inside: str | None, stored: Any) -> None:
    forest = load(stored(value))
    assert forest.n_trees >= 1
    if inside is not None:
        assert forest.source.inside == inside


def test_several_models_are_listed_and_selected(stored: Any) -> None:
    path = stored({"old": TREE, "new": FOREST})
    with pytest.raises(
        UnsupportedModelError,
        match=r"holds 2 models \(\['old'\], \['new'\]\): choose one with --select",
    ):
        load(path)
    assert load(path, select="['old']").source.estimator == "DecisionTreeClassifier"
    assert load(path, select="['new']").source.estimator == "RandomForestClassifier"
    with pytest.raises(UnsupportedModelError, match=r"--select x: the file holds \['old'\]"):
        load(path, select="x")


def test_a_long_list_of_models_is_cut(stored: Any) -> None:
    models = {f"model number {i}": DecisionTreeClassifier(max_depth=1).fit(X, Y) for i in range(99)}
    with pytest.raises(UnsupportedModelError, match=r"holds 99 models .*, …\)") as caught:
        load(stored(models))
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        *((kind(), f"the {kind.__name__} was never fitted") for kind in KINDS),
        (make_pipeline(StandardScaler(), DecisionTreeClassifier()), "was never fitted"),
        (GridSearchCV(DecisionTreeClassifier(), {}), "the GridSearchCV holds no best_estimator_"),
        (LogisticRegression(max_iter=2000).fit(X, Y), "LogisticRegression, which is no tree model"),
        (KNeighborsClassifier().fit(X, Y), "KNeighborsClassifier, which is no tree model"),
        (StandardScaler().fit(X), "StandardScaler, which is no tree model"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "last step is no tree"),
        (GridSearchCV(LogisticRegression(max_iter=2000), {}, cv=2).fit(X, Y), "is no tree model"),
        (["age", "income"], "a list without a tree model in it"),
        ({}, "a dict without a tree model in it"),
        ("a name", "holds 'a name', no model"),
        (None, "holds None, no model"),
        (1.5, "holds 1.5, no model"),
        (X, "a bare array, no model"),
    ],
    ids=lambda value: str(value)[:40].replace("\n", " "),
)
def test_anything_else_is_named_in_one_sentence(value: object, sentence: str, stored: Any) -> None:
    with pytest.raises(UnsupportedModelError) as caught:
        load(stored(value))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_data_frame_is_no_model(stored: Any) -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ReadError) as caught:
        load(stored(pandas.DataFrame({"age": [1, 2], "city": ["a", "b"]})))
    assert "\n" not in str(caught.value)


def test_names_of_a_table_become_names_of_the_model(stored: Any) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    forest = load(stored(DecisionTreeClassifier(max_depth=2).fit(table, Y)))
    assert forest.schema.names == ["a", "b", "c", "d"]
    assert forest.schema.named
    forest = load(stored(make_pipeline(MinMaxScaler(), DecisionTreeClassifier()).fit(table, Y)))
    assert forest.schema.names == ["a", "b", "c", "d"]
    assert not load(stored(TREE)).schema.named


def test_labels_keep_their_kind(stored: Any) -> None:
    for labels in (["no", "yes"], [False, True], [-1, 5], [0.0, 2.0]):
        model = DecisionTreeClassifier(max_depth=1).fit(X[:100], np.array(labels)[Y[:100]])
        classes = load(stored(model)).schema.classes
        assert classes is not None
        assert list(classes) == labels
        assert [type(c) for c in classes] == [type(c) for c in labels]


def test_a_regressor_has_values_and_no_classes(stored: Any) -> None:
    forest = load(stored(DecisionTreeRegressor(max_depth=2).fit(X, Y * 2.5)))
    assert forest.schema.classes is None
    assert forest.counts_are == "absent"
    assert forest.trees[0].value is not None


def test_parameters_and_version_are_told(stored: Any) -> None:
    import sklearn

    source = load(stored(TREE)).source
    assert source.library_version == sklearn.__version__
    assert source.parameters["max_depth"] == 2
    assert source.parameters["criterion"] == "gini"
    assert source.parameters["class_weight"] is None


def test_a_pruned_table_with_people_left_in_it_is_reported(stored: Any) -> None:
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)
    state = model.tree_.__getstate__()
    left = state["nodes"]["left_child"].copy()
    cut = int(left[0]) if state["nodes"]["left_child"][left[0]] >= 0 else 2
    below = int((state["nodes"]["left_child"] >= 0).sum())
    assert below
    state["nodes"]["left_child"][cut] = state["nodes"]["right_child"][cut] = -1
    state["nodes"]["feature"][cut] = -2
    model.tree_.__setstate__(state)
    assert "cut off from the root" in load(stored(model)).warnings[0]
