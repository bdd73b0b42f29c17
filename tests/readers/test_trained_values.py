"""What a pickled trainer says beside its model has to be what the model says."""

import json
import pickle
from fractions import Fraction

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import treeaudit as ta
from tests.trainers.people import REGRESSORS, SCHEMA, people, people_for, schema_for
from treeaudit.dp.budget import Budget
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers import (
    ALGORITHMS,
    PrivateSearch,
    PrivateTreeClassifier,
    SemiSupervisedForestClassifier,
    save_trained,
)

X, Y = people(200)
OTHER = Schema(features=(Feature(name="age", low=0.0, high=99.0), *SCHEMA.features[1:]),
               classes=SCHEMA.classes, target="ill")  # fmt: skip
EDITS = {
    "labels": {"classes_": np.array(["Alice Smith: HIV positive", "Bob Jones: HIV negative"])},
    "labels in another order": {"classes_": np.array(["yes", "no"])},
    "a label more": {"classes_": np.array(["no", "yes", "Alice"])},
    "labels that are objects": {"classes_": np.array(["no", 300], dtype=object)},
    "names": {"feature_names_in_": np.array(["Alice", "Smith", "Bob"], dtype=object)},
    "width": {"n_features_in_": 300},
    "a share": {"leaf_share": 300.25},
    "bins": {"n_bins": 123456789},
    "a depth": {"max_depth": 7},
    "a depth that is a logical value": {"cost_of_a_part": True},
    "an option": {"criterion": "gini"},
    "a text": {"outside": "Alice Smith, HIV"},
    "threads": {"n_jobs": 300},
    "an account that cannot have paid": {"budget": 0.125},
    "a schema": {"schema": OTHER},
    "labels of the schema": {"schema": Schema(features=SCHEMA.features, classes=("Al", "Bo"))},
}


def status(model, path) -> str:
    path.write_bytes(pickle.dumps(model))
    checks = {check.name: check.status for check in ta.scan(path, policy="private").checks}
    return checks["max-extra-bytes"]


def edited(model, changes):
    """Return the model as its pickle is read, with other attributes in it."""

    class Edited(type(model)):
        def __reduce__(self):
            state = super().__getstate__() | changes
            return type(model), (), state

    other = Edited.__new__(Edited)
    other.__dict__.update(model.__dict__)
    return other


@pytest.mark.parametrize("changes", EDITS.values(), ids=EDITS)
def test_an_edited_attribute_is_not_explained(changes, tmp_path) -> None:
    model = PrivateTreeClassifier(schema=SCHEMA).fit(X, Y)
    assert status(edited(model, {}), tmp_path / "model.pkl") == "pass"
    assert status(edited(model, changes), tmp_path / "model.pkl") == "fail"
    piped = make_pipeline("passthrough", edited(model, changes))
    assert status(piped, tmp_path / "model.pkl") == "fail"


@pytest.mark.parametrize(
    "name", ["classes_", "feature_names_in_", "epsilon", "variant", "n_jobs", "schema", "extra"]
)
@pytest.mark.parametrize("other", ["feature_names_in_", "classes_", "schema", "forest_"])
def test_a_reference_to_another_part_is_not_explained(name, other, tmp_path) -> None:
    """However often a part stands in the file, it is stored once: a reference has no size."""
    model = PrivateTreeClassifier(schema=SCHEMA).fit(X, Y)
    changed = edited(model, {name: getattr(model, other)})
    own = name == other
    assert status(changed, tmp_path / "model.pkl") == ("pass" if own else "fail")


@pytest.mark.parametrize("trainer", ALGORITHMS, ids=lambda t: t.algorithm)
def test_every_parameter_of_every_trainer_is_held_against_the_model(trainer, tmp_path) -> None:
    few = {"n_estimators": 2, "n_public_trees": 2}
    own = {name: few[name] for name in few if name in trainer().get_params()}
    model = trainer(schema=schema_for(trainer), **own).fit(*people_for(trainer, 80))
    path = tmp_path / "model.pkl"
    assert status(model, path) == "pass"
    stated = set(model.get_params(deep=False)) - {"random_state", "schema", "budget"}
    for name in stated:
        assert status(edited(model, {name: 300.25}), path) == "fail", name
    if trainer in REGRESSORS:
        assert status(edited(model, {"classes_": np.array([0, 1])}), path) == "fail"


def test_public_records_are_not_kept(tmp_path) -> None:
    model = SemiSupervisedForestClassifier(schema=SCHEMA, n_estimators=2, n_public_trees=2)
    model.fit(X, Y)
    assert status(edited(model, {"public_records": 300}), tmp_path / "model.pkl") == "fail"


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_depth": np.int64(2)},
        {"epsilon": np.float64(0.3)},
        {"epsilon": Fraction(1, 3)},
        {"leaf_share": Fraction(3, 10), "cost_of_a_part": Fraction(1, 300)},
        {"budget": Budget(10)},
        {"n_jobs": -1},
        {"outside": "clip", "neighbours": "replace-one"},
    ],
    ids=str,
)
def test_ordinary_parameters_are_explained(parameters, tmp_path) -> None:
    model = PrivateTreeClassifier(schema=SCHEMA, **parameters)
    # The order of the columns in the table of the fit is kept.
    assert status(model.fit(X[X.columns[::-1]], Y), tmp_path / "model.pkl") == "pass"


def test_a_share_that_is_a_fraction_is_one_number_everywhere(tmp_path) -> None:
    model = PrivateTreeClassifier(schema=SCHEMA, leaf_share=Fraction(3, 10)).fit(X, Y)
    assert model.get_params()["leaf_share"] == Fraction(3, 10)
    assert model.forest_.source.parameters["leaf_share"] == 0.3
    assert pickle.loads(pickle.dumps(model)).leaf_share == 0.3
    report = ta.scan(save_trained(model, tmp_path / "model.json"), policy="private")
    assert report.verdict == "pass"


def test_the_winner_of_a_private_search_has_its_part_of_epsilon(tmp_path) -> None:
    search = PrivateSearch(
        estimator=PrivateTreeClassifier(schema=SCHEMA),
        candidates=[{"max_depth": depth} for depth in np.arange(1, 4)],
        epsilon=1 / 3,
    )
    model, path = search.fit(X, Y).best_estimator_, tmp_path / "model.pkl"
    assert status(model, path) == "pass"
    assert status(edited(model, {"epsilon": 0.2}), path) == "fail"


@pytest.mark.parametrize(
    "parameter", [{"n_train": 300}, {"max_leaves": 300}, {"criterion": "Alice has HIV"}], ids=str
)
def test_a_parameter_that_the_trainer_does_not_have_is_not_explained(parameter, tmp_path) -> None:
    model = PrivateTreeClassifier(schema=SCHEMA).fit(X, Y)
    path = save_trained(model, tmp_path / "model.json")
    stored = json.loads(path.read_text())
    stored["source"]["parameters"] |= parameter
    path.write_text(json.dumps(stored))
    checks = {check.name: check.status for check in ta.scan(path, policy="private").checks}
    assert checks["max-extra-bytes"] == "fail"
