"""What the objects of a model are made of, and answer with: no room for rows, no other labels."""

import collections
import copyreg
import functools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    HistGradientBoostingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.hostile.planted import is_listed_or_gone

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3_000, 4))
Y = np.where(RNG.random(3_000) < 0.3, 1 - (X[:, 0] > 0), X[:, 0] > 0).astype(int)
WORDS = np.where(Y, "yes", "no")
THREE = np.where(X[:, 1] > 0.8, "mid", WORDS)
BACKWARDS = np.array(["yes", "no"])
ROWS = [";".join(f"{value:.2f}" for value in row) for row in X[:60]]
NUMBERS = X[:50].ravel().tolist()
KEYS = {f"a{i}": value for i, value in enumerate(NUMBERS)}


def tree() -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_leaf_nodes=4, min_samples_leaf=300)


class Called:
    """Is stored as the call of a function."""

    def __init__(self, function: Any, *args: Any) -> None:
        self.function, self.args = function, args

    def __reduce__(self) -> Any:
        return self.function, self.args


class Stated(Called):
    """Is stored as the call of a function whose result gets a state."""

    def __init__(self, function: Any, state: object, *args: Any) -> None:
        super().__init__(function, *args)
        self.state = state

    def __reduce__(self) -> Any:
        return self.function, self.args, self.state


class Made(Called):
    """Is stored as a bare instance of a class, made with arguments, with a state."""

    def __init__(self, cls: type, state: object, *args: Any) -> None:
        super().__init__(copyreg.__newobj__, cls, *args)  # type: ignore[attr-defined]
        self.state = state

    @property
    def __class__(self) -> Any:  # pickle asks it
        return self.args[0]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.function, self.args, self.state


def changed(model: Any, way: str, value: object) -> Any:
    """Return the model with something else at a place."""
    changed_one = held = pickle.loads(pickle.dumps(model))
    *steps, last = way.split(".")
    for step in steps:
        held = held[int(step)] if step.isdigit() else held.__dict__[step]
    held.__dict__[last] = value
    return changed_one


def scanned(model: object, path: Path) -> ta.Report:
    path.write_bytes(pickle.dumps(model))
    return ta.scan(path)


SEARCH = GridSearchCV(tree(), {"max_depth": [2, 3]}, cv=ShuffleSplit(2)).fit(X, Y)
STEP = Pipeline([("step", FunctionTransformer(np.abs)), ("tree", tree())]).fit(X, Y)
COLUMNS = Pipeline(
    [
        ("step", ColumnTransformer([("a", StandardScaler(), [0, 1])], remainder="passthrough")),
        ("tree", tree()),
    ]
).fit(X, Y)
TREE = tree().fit(X, Y)
BOOSTED = HistGradientBoostingClassifier(
    max_iter=1, max_leaf_nodes=4, min_samples_leaf=300, max_bins=4
).fit(X, Y)
WAYS: dict[str, tuple[Any, str, Any]] = {
    "arguments of a tree": (TREE, "", NUMBERS),
    "keys of a splitter": (SEARCH, "cv", Made(ShuffleSplit, KEYS)),
    "arguments of a splitter": (SEARCH, "cv", Made(ShuffleSplit, {"n_splits": 2}, *NUMBERS)),
    "a partial": (STEP, "steps.0.1.func", functools.partial(np.clip, *NUMBERS)),
    "a queue": (STEP, "steps.0.1.kw_args", {"a": Called(collections.deque, *NUMBERS)}),
    "a loss": (BOOSTED, "_loss.closs", Called(type(BOOSTED._loss.closs), *NUMBERS)),
}


@pytest.mark.parametrize("model", [TREE, SEARCH, STEP, COLUMNS, BOOSTED])
def test_the_models_pass(model: Any, tmp_path: Path) -> None:
    assert scanned(model, tmp_path / "m.pkl").verdict == "pass"


@pytest.mark.parametrize("name", WAYS)
def test_rows_in_what_objects_are_made_of_are_listed_or_gone(name: str, tmp_path: Path) -> None:
    model, way, value = WAYS[name]
    held = changed(model, way, value) if way else Made(type(model), model.__getstate__(), *value)
    assert is_listed_or_gone(model, held, tmp_path)


# -- a table that no reader takes ------------------------------------------------------


class WithState:
    """Is stored as a tree with more in its state."""

    def __init__(self, tree_: Any, **more: Any) -> None:
        self.tree, self.more = tree_, more

    def __reduce__(self) -> Any:
        cls, args, state = self.tree.__reduce__()
        return cls, args, {**state, **self.more}


@pytest.mark.parametrize(
    "name", ["raw_left_cat_bitsets", "binned_left_cat_bitsets", "max_depth", "more"]
)
def test_a_table_beside_the_nodes(name: str, tmp_path: Path) -> None:
    model = changed(TREE, "tree_", WithState(TREE.tree_, **{name: X[:300].copy()}))
    found = scanned(model, tmp_path / "m.pkl")["TA206"]
    assert found.details.extra_bytes >= X[:300].nbytes


@pytest.mark.parametrize("name", ["values", "max_depth", "node_count"])
def test_a_table_beside_the_nodes_of_a_boosting(name: str, tmp_path: Path) -> None:
    model = pickle.loads(pickle.dumps(BOOSTED))
    setattr(model._predictors[0][0], name, X[:300].copy())
    found = scanned(model, tmp_path / "m.pkl")["TA206"]
    assert found.details.extra_bytes >= X[:300].nbytes


# -- two models in a Booster -----------------------------------------------------------


def test_a_second_handle_of_lightgbm(tmp_path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    settings = {"n_estimators": 1, "num_leaves": 4, "min_child_samples": 300, "verbose": -1}
    model = lightgbm.LGBMClassifier(**settings).fit(X, WORDS)
    assert scanned(model, tmp_path / "m.pkl").verdict == "pass"
    state = model.booster_.__getstate__()
    for more in ("\n".join(ROWS), state["_handle"].replace("num_leaves=4", "num_leaves=3")):
        other = changed(model, "_Booster", Made(lightgbm.Booster, {**state, "handle": more}))
        report = scanned(other, tmp_path / "m.pkl")
        assert report["TA206"].details.extra_bytes >= len(more)
    for way in ("_le.classes_", "_classes"):
        with pytest.raises(ta.ReadError, match="other labels than it states"):
            scanned(changed(model, way, BACKWARDS), tmp_path / "m.pkl")
    nothing = Made(lightgbm.Booster, {**state, "_handle": None, "handle": state["_handle"]})
    with pytest.raises(ta.ReadError, match="holds no model text"):
        scanned(changed(model, "_Booster", nothing), tmp_path / "m.pkl")


def test_a_second_handle_of_xgboost(tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBClassifier(n_estimators=1, max_depth=2).fit(X, Y)
    state = model.get_booster().__getstate__()
    assert scanned(model, tmp_path / "m.pkl")["TA206"].details.extra_bytes == 0
    more = "\n".join(ROWS).encode()
    other = changed(model, "_Booster", Made(xgboost.Booster, {**state, "_handle": more}))
    report = scanned(other, tmp_path / "m.pkl")
    assert report["TA206"].details.extra_bytes >= len(more)


# -- other labels ----------------------------------------------------------------------

VOTE = VotingClassifier([("a", tree())]).fit(X, WORDS)
STACK = StackingClassifier([("a", tree())], LogisticRegression(), cv=2).fit(X, WORDS)
REST, REST_OF_THREE = (OneVsRestClassifier(tree()).fit(X, y) for y in (WORDS, THREE))
PAIRS = OneVsOneClassifier(tree()).fit(X, THREE)
CODES = OutputCodeClassifier(tree(), random_state=0).fit(X, THREE)
ADA = AdaBoostClassifier(tree(), n_estimators=1).fit(X, WORDS)
ADA_OF_NUMBERS = AdaBoostClassifier(tree(), n_estimators=1).fit(X, Y)
OWN = SelfTrainingClassifier(tree()).fit(X, np.where(np.arange(len(Y)) < 100, -1, Y))
LABELS: dict[str, tuple[Any, str, Any]] = {
    "vote, encoder": (VOTE, "le_.classes_", BACKWARDS),
    "vote": (VOTE, "classes_", BACKWARDS),
    "vote, other names": (VOTE, "le_.classes_", np.array(["a", "b"], dtype=object)),
    "stack, encoder": (STACK, "_label_encoder.classes_", BACKWARDS),
    "stack": (STACK, "classes_", BACKWARDS),
    "one class, encoder": (REST, "label_binarizer_.classes_", BACKWARDS),
    "one class": (REST, "classes_", BACKWARDS),
    "one class, member": (REST, "estimators_.0.classes_", np.array([1, 0])),
    "one of three, encoder": (REST_OF_THREE, "label_binarizer_.classes_", np.unique(THREE)[::-1]),
    "one of three, member": (REST_OF_THREE, "estimators_.1.classes_", np.array([1, 0])),
    "pairs, member": (PAIRS, "estimators_.2.classes_", np.array([1, 0])),
    "codes, member": (CODES, "estimators_.0.classes_", np.array([1.0, -1.0])),
    "boosting": (ADA, "classes_", BACKWARDS),
    "boosting, other names": (ADA, "classes_", np.array(["a", "b"])),
    "boosting, names of numbers": (ADA_OF_NUMBERS, "classes_", np.array(["a", "b"])),
    "own labels": (OWN, "classes_", np.array([1, 0])),
    "own labels, names of numbers": (OWN, "classes_", np.array(["a", "b"])),
}  # fmt: skip


@pytest.mark.parametrize(
    "model", [VOTE, STACK, REST, REST_OF_THREE, PAIRS, CODES, ADA, ADA_OF_NUMBERS, OWN]
)
def test_models_that_answer_with_their_labels_are_read(model: Any, tmp_path: Path) -> None:
    assert scanned(model, tmp_path / "m.pkl").forest.n_trees > 0


@pytest.mark.parametrize("name", LABELS)
def test_a_model_that_answers_with_other_labels(name: str, tmp_path: Path) -> None:
    with pytest.raises(ta.ReadError, match="inconsistent"):
        scanned(changed(*LABELS[name]), tmp_path / "m.pkl")


def test_a_generator_that_holds_itself(tmp_path: Path) -> None:
    generator = np.random.RandomState(0)
    state: dict[str, Any] = dict(generator.get_state(legacy=False))
    state["state"] = {**state["state"], "again": state}
    function, args, *_ = generator.__reduce__()
    report = scanned(
        changed(TREE, "random_state", Stated(function, state, *args)), tmp_path / "m.pkl"
    )
    assert [one.kind for one in report.forest.extras.found] == ["seeds"]
