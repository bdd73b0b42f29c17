"""Pickled trainers: read as data, and what stands around them is told."""

import copy
import functools
import json
import pickle

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, FunctionTransformer, Normalizer, StandardScaler

import treeaudit as ta
from tests.readers.damage import pickled, put
from tests.trainers.people import people
from treeaudit.dp.claims import unbounded_because
from treeaudit.errors import ReadError, UnsupportedModelError
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers.private_forest import PrivateForestClassifier
from treeaudit.trainers.smooth_sensitivity_forest import SmoothSensitivityForestClassifier

SCHEMA = Schema(
    features=(Feature(name="age", low=-3.0, high=3.0),), classes=("no", "yes"), named=False
)


def small(n_estimators=2, **parameters) -> SmoothSensitivityForestClassifier:
    return SmoothSensitivityForestClassifier(schema=SCHEMA, n_estimators=n_estimators, **parameters)


@pytest.fixture(scope="module")
def ages():
    frame, y = people(80)
    return frame[["age"]].to_numpy() / 20 - 2.5, y


def test_a_bundle(ages, tmp_path) -> None:
    path = tmp_path / "bundle.pkl"
    bundle = {"model": small().fit(*ages), "schema": SCHEMA, "about": "x"}
    path.write_bytes(pickle.dumps(bundle))
    forest = ta.load(path)
    assert forest.source.inside == "['model']"
    assert not forest.privacy["not_private"]
    assert forest.warnings == ()


def test_steps_in_front_learned_without_privacy(ages) -> None:
    forest = ta.load(make_pipeline(StandardScaler(), small(outside="clip")).fit(*ages))
    assert forest.privacy["not_private"]
    assert "learned from the same data" in forest.warnings[0]


@pytest.mark.parametrize(
    "step",
    [
        FunctionTransformer(),
        FunctionTransformer(np.sqrt, np.square),
        Normalizer("l1"),
        Binarizer(),
        make_pipeline(Normalizer(), Binarizer()),
        "passthrough",
    ],
    ids=lambda step: type(step).__name__,
)
def test_steps_that_make_something_of_each_row_alone_learned_nothing(ages, step, tmp_path) -> None:
    path = tmp_path / "model.pkl"
    positive = np.abs(ages[0]), ages[1]
    path.write_bytes(pickle.dumps(make_pipeline(step, small(outside="clip")).fit(*positive)))
    report = ta.scan(path, policy="private")
    assert not report.forest.privacy["not_private"]
    assert report.verdict == "pass"


def _with(step, **more):
    step.__dict__.update(more)
    return step


@pytest.mark.parametrize(
    "step",
    [
        StandardScaler(),
        FunctionTransformer(np.sort),
        FunctionTransformer(np.sqrt, kw_args={"where": True}),
        FunctionTransformer(functools.partial(np.clip, a_min=0, a_max=33)),
        make_pipeline(Normalizer(), StandardScaler()),
        _with(Normalizer(), means_=[1.0]),
        _with(Normalizer(), means=np.array([1.0])),
    ],
    ids=lambda step: type(step).__name__,
)
def test_all_other_steps_may_have_seen_everybody(ages, step) -> None:
    """A function is given the rows of all people at once, and may mix them."""
    positive = np.abs(ages[0]), ages[1]
    forest = ta.load(make_pipeline(step, small(outside="clip")).fit(*positive))
    assert "the steps in front of it learned" in unbounded_because(forest)


@pytest.mark.filterwarnings("ignore::treeaudit.errors.PrivacyWarning")
def test_the_scores_of_a_search_are_not_private(ages) -> None:
    forest = ta.load(GridSearchCV(small(), {"max_depth": [1, 2]}, cv=2).fit(*ages))
    assert forest.source.inside == "best_estimator_"
    assert forest.privacy["not_private"]
    assert "a search chose its parameters" in forest.warnings[0]
    assert "scores of a search" in forest.warnings[1]


@pytest.mark.filterwarnings("ignore::treeaudit.errors.PrivacyWarning")
def test_a_search_beside_its_winner_keeps_the_scores(ages, tmp_path) -> None:
    search = GridSearchCV(small(), {"max_depth": [1, 2]}, cv=2).fit(*ages)
    path = pickled(tmp_path, {"model": small().fit(*ages), "search": search})
    forest = ta.load(path, select="model")
    assert "scores of a search" in unbounded_because(forest)


def test_one_that_was_never_fitted() -> None:
    with pytest.raises(UnsupportedModelError, match="was never fitted"):
        ta.load(small())


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("trees", None, "damaged"),
        ("trees", [], "no trees"),
        ("trees", [[[[[[[[[[1]]]]]]]]]], "nested too deeply"),
        ("schema", {}, "'features' is missing"),
        ("counts_are", "wrong", "what its counts are"),
        ("privacy", 3, "a privacy ledger that is none"),
    ],
)
def test_a_damaged_one(ages, monkeypatch, name, value, says) -> None:
    model = small().fit(*ages)
    state = model.__getstate__()
    state["forest_"][name] = value
    monkeypatch.setattr(SmoothSensitivityForestClassifier, "__getstate__", lambda _: state)
    with pytest.raises(ReadError, match=says):
        ta.load(model)


def test_a_ledger_that_does_not_sum_to_its_claim(ages, tmp_path) -> None:
    path = ta.save(small().fit(*ages).forest_, tmp_path / "model.json")
    data = json.loads(path.read_text())
    data["privacy"]["epsilon"] = 0.01
    path.write_text(json.dumps(data))
    with pytest.raises(ReadError, match="do not sum to the epsilon"):
        ta.load(path)
    del data["privacy"]["queries"][0]["epsilon"]
    path.write_text(json.dumps(data))
    with pytest.raises(ReadError, match="ledger is damaged"):
        ta.load(path)


def test_a_pickle_is_small_and_holds_what_the_model_does(ages, tmp_path) -> None:
    model = small(n_estimators=9, max_depth=4).fit(*ages)
    packed = model.__getstate__()["forest_"]["trees"]
    assert {tree["parent"].dtype.itemsize for tree in packed} == {1}
    forest = ta.load(model)
    for one, other in zip(forest.trees, model.forest_.trees, strict=True):
        for name in ("parent", "feature", "low", "high", "missing", "label"):
            a, b = getattr(one, name), getattr(other, name)
            assert a.dtype == b.dtype
            assert np.array_equal(a, b)
    path = pickled(tmp_path, model)
    checks = {check.name: check.status for check in ta.scan(path).checks}
    assert checks["max-extra-bytes"] == "pass"


ARRAYS = {
    "numbers": np.array([1, 2, 3]),
    "one": np.array(5),
    "a table": np.zeros((2, 2)),
    "texts": np.array(["a", "b"]),
    "none": np.array([]),
    "records": np.zeros(2, dtype=[("a", "f8")]),
}
PLACES = """
    format version schema counts_are counts_reason answers noise records_are n_records
    single_precision privacy class_weights source trees schema.features schema.classes
    schema.target schema.named noise.rate noise.counts noise.afterwards noise.mechanism
    privacy.epsilon privacy.used privacy.queries privacy.not_private privacy.unit
    source.estimator source.library_version source.parameters schema.features.0
    privacy.queries.0 source.parameters.rows_per_person trees.0
"""


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_an_array_in_the_place_of_another_part(ages, tmp_path, array) -> None:
    """Each ends in one sentence that says that the model is damaged."""
    model = PrivateForestClassifier(schema=SCHEMA, n_estimators=2).fit(*ages)
    state, path = model.__getstate__(), tmp_path / "model.pkl"
    for place in (None, *PLACES.split()):
        form = array
        if place is not None:
            at = [int(part) if part.isdigit() else part for part in place.split(".")]
            form = put(copy.deepcopy(state["forest_"]), *at, array)
        path.write_bytes(pickle.dumps(_As(model, {**state, "forest_": form})))
        with pytest.raises(ReadError, match="is damaged: "):
            ta.load(path)


class _As:
    """Pickled as a model with another state."""

    def __init__(self, model, state):
        self.made = type(model), (), state

    def __reduce__(self):
        return self.made
