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


def test_other_json_is_not_taken_for_a_model(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text('{"lesson": {"model": 1}}')
    with pytest.raises(UnsupportedModelError, match="a JSON file, but not treeaudit's form"):
        load(path)


def test_a_category_of_the_feature_is_read(tmp_path: Path) -> None:
    _load(tmp_path, feature=[-1, 1, 1], categories=[None, [0], [1]])
