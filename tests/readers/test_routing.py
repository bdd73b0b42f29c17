"""Routed metadata and forms of output: what scikit-learn writes, and nothing else."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.readers.test_bundles import named
from tests.trainers.people import SCHEMA, people
from treeaudit.trainers import PrivateTreeClassifier

X, Y = people(300)
COLUMNS = X[["age", "dose"]]
REQUESTS = {
    "a number": 569,
    "numbers": [331, 269],
    "a dictionary": {"exact": {"no": 331, "yes": 269}},
    "deeper": {"a": {"b": {"c": [331, 269]}}},
    "an array": np.array([331, 269]),
    "a large number": 10**18,
    "a text": "331 no, 269 yes",
    "a known word": "gini",
    "nothing": None,
}
OUTPUTS = {
    "a number": {"transform": 331_269},
    "a fraction": {"transform": 3.5},
    "a text": {"transform": "331"},
    "a list": {"transform": [1, 2]},
    "another key": {"dense": 331},
    "a known word": {"transform": "gini"},
    "no dictionary": 331,
}
MODELS = {
    "private": lambda: PrivateTreeClassifier(schema=SCHEMA, max_depth=2),
    "plain": lambda: DecisionTreeClassifier(max_depth=2, min_samples_leaf=40),
}


@pytest.fixture
def routed():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("value", REQUESTS.values(), ids=REQUESTS)
def test_a_request_is_an_object_of_scikit_learn(kind, value) -> None:
    model = MODELS[kind]().fit(X if kind == "private" else COLUMNS, Y)
    assert named(model) == []
    model._metadata_request = value
    assert named(model) == ["_metadata_request"]


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("value", OUTPUTS.values(), ids=OUTPUTS)
def test_a_form_of_output_is_one_of_three(kind, value) -> None:
    model = MODELS[kind]().fit(X if kind == "private" else COLUMNS, Y)
    model._sklearn_output_config = value
    assert named(model) == ["_sklearn_output_config"]
    for word in ("default", "pandas", "polars"):
        model._sklearn_output_config = {"transform": word}
        assert named(model) == []


@pytest.mark.usefixtures("routed")
@pytest.mark.parametrize("made", [lambda one: one, clone], ids=["itself", "a copy"])
def test_what_routing_writes_is_explained(made) -> None:
    asked = MODELS["private"]().set_fit_request(person=True).set_score_request(sample_weight=False)
    assert named(made(asked).fit(X, Y)) == []
    tree = MODELS["plain"]().set_fit_request(sample_weight=True)
    assert named(made(tree).fit(COLUMNS, Y)) == []
    for wanted in (True, False, "sample_weight"):
        asked = MODELS["plain"]().set_fit_request(sample_weight=True)
        asked = made(asked.set_score_request(sample_weight=wanted))
        assert named(BaggingClassifier(asked, 3).fit(COLUMNS, Y)) == []
        search = GridSearchCV(asked, {"max_depth": [1, 2]}, cv=2)
        assert named(search.fit(COLUMNS, Y, sample_weight=np.ones(300))) == []
    scaler = StandardScaler().set_fit_request(sample_weight=True).set_output(transform="pandas")
    assert named(make_pipeline(scaler, MODELS["plain"]()).fit(COLUMNS, Y)) == []


def _count(request) -> None:
    request.fit._requests["sample_weight"] = 331


def _owner(request) -> None:
    request.fit.owner = [331, 269]


def _fitted_owner(request) -> None:
    request.owner = MODELS["private"]().fit(X[:200], Y[:200])


def _other_owner(request) -> None:
    request.owner = PrivateTreeClassifier(schema=SCHEMA, max_depth=300)


def _note(request) -> None:
    request.fit.note = [331, 269]


def _method(request) -> None:
    request.fit.method = "Ann;33;ill"


def _name(request) -> None:
    request.fit._requests["Ann;33;ill"] = True


@pytest.mark.usefixtures("routed")
@pytest.mark.parametrize(
    "edit", [_count, _owner, _fitted_owner, _other_owner, _note, _method, _name]
)
def test_what_is_put_into_it_is_named(edit, tmp_path) -> None:
    model = MODELS["private"]().set_fit_request(person=True).fit(X, Y)
    edit(model._metadata_request)
    assert named(model)[0].startswith("_metadata_request")
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(model))
    assert ta.scan(path, policy="private").verdict == "fail"
