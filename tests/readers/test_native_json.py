"""The JSON form read back; what is wrong with it is said, not raised."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.hostile.files import own_json
from treeaudit import ReadError, UnsupportedModelError, load


def _load(tmp_path: Path, **changes: object) -> object:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(own_json(**changes)))
    return load(path)


def test_a_literal_model(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(own_json()))
    forest = load(path)
    (tree,) = forest.trees
    assert tree.parent.tolist() == [-1, 0, 0]
    assert tree.low.tolist() == [-np.inf, -np.inf, 0.5]
    assert tree.high.tolist() == [np.inf, 0.5, np.inf]
    assert forest.schema.classes == ("no", "yes")
    assert forest.schema.features[1].categories == ("a", "b")
    assert forest.apply([[0.5, 0], [0.6, 0]]).tolist() == [[1], [2]]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"version": 2}, "the model has JSON form 2; this treeaudit reads 1"),
        ({"trees": []}, "the JSON model has no trees"),
        ({"counts": [[1], [1], [1]]}, "counts that do not fit its 2 classes"),
        ({"feature": [-1, 5, 5]}, "tests a feature that does not exist"),
        ({"parent": [-1, 2, 0]}, "needs one parent that comes before it"),
        ({"n_records": [5, -2, 7]}, "negative counts"),
        ({"privacy": 5}, "a privacy ledger that is none"),
        ({"schema": {}}, "'features' is missing"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said(changes: dict[str, object], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError) as caught:
        _load(tmp_path, **changes)
    assert sentence in str(caught.value)


def test_a_category_twice_on_an_edge_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="a category of an edge twice"):
        _load(tmp_path, feature=[-1, 1, 1], categories=[None, [0], [1, 1]])


def test_other_json_is_not_taken_for_a_model(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text('{"lesson": {"model": 1}}')
    with pytest.raises(UnsupportedModelError, match="a JSON file, but not treeaudit's form"):
        load(path)


def test_a_category_of_the_feature_is_read(tmp_path: Path) -> None:
    forest = _load(tmp_path, feature=[-1, 1, 1], categories=[None, [0], [1]])
    assert forest.apply([[0.5, 1], [0.5, 0]]).tolist() == [[2], [1]]


LONG = "33,yes;" * 300
LEDGER = {"epsilon": 1.0, "delta": 0.0, "neighbours": "add-remove"}


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"source": {"parameters": {"rows": [33, 54]}}}, "source.parameters.rows"),
        ({"source": {"parameters": {"rows": {"a": [1]}}}}, "source.parameters.rows"),
        ({"source": {"parameters": {"note": LONG}}}, "source.parameters.note"),
        ({"source": {"parameters": {"note": 10**300}}}, "source.parameters.note"),
        ({"rows": [33, 54]}, "rows"),
        ({"source": {"parameters": {"base_score": [0.5, 0.5]}}}, "source.parameters.base_score"),
        ({"source": {"estimator": LONG}}, "source.estimator"),
        ({"counts_reason": LONG}, "counts_reason"),
        ({"single_precision": [33, 54]}, "single_precision"),
        ({"privacy": LEDGER | {"rows": [33, 54]}}, "privacy.rows"),
        ({"privacy": LEDGER | {"delta": [33, 54]}}, "privacy.delta"),
        ({"privacy": LEDGER | {"public": ["the schema", [33, 54]]}}, "privacy.public[1]"),
    ],
    ids=str,
)
def test_more_than_a_setting_is_named(changes: dict[str, object], where: str, tmp_path) -> None:
    found = _load(tmp_path, **changes).extras.found
    assert {one.kind for one in found} == {"extra"}
    assert where in {one.where for one in found}


@pytest.mark.parametrize(
    "note", [0.93, "2024-05-01", "trained by the ward", ["age", "sex"], {"accuracy": 0.9}], ids=str
)
def test_a_plain_short_entry_is_a_note(note: object, tmp_path) -> None:
    model = _load(tmp_path, about=note, source={"note": note})
    found = {one.where: one.kind for one in model.extras.found}
    assert found == {"about": "notes", "source.note": "notes"}


def test_settings_are_explained(tmp_path) -> None:
    settings = {"depth": 3, "share": 0.5, "criterion": "gini", "oob": True, "x": None}
    settings |= {"base_score": [0.5]}
    assert _load(tmp_path, source={"parameters": settings}).extras.found == ()
    assert _load(tmp_path, privacy=LEDGER).extras.found == ()


def test_seeds_are_told_where_rows_were_drawn(tmp_path) -> None:
    seeds = {"random_state": 3, "tree__random_state": None, "bagging_seed": 0, "depth": 4}
    for records_are, found in (
        ("all", []),
        ("bootstrap", ["random_state", "bagging_seed"]),
        ("unknown", ["random_state", "bagging_seed"]),
    ):
        model = _load(tmp_path, records_are=records_are, source={"parameters": seeds})
        assert [one.where.rpartition(".")[2] for one in model.extras.found] == found
