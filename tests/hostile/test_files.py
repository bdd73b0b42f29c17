"""Every hostile file ends in one clear sentence, and nothing in it runs."""

import warnings
from pathlib import Path

import pytest

from tests.hostile.build import VALUES, model, stored, stump, tree
from tests.hostile.files import HOSTILE, Hostile, own_json
from tests.outcome import read_whole, refusal
from treeaudit import ModelTooLargeError, ReadError, UnsafeModelError, UnsupportedModelError


@pytest.fixture(autouse=True)
def marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "marker"
    monkeypatch.setenv("TREEAUDIT_MARKER", str(path))
    return path


@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: case.name)
def test_hostile_file_ends_in_the_expected_error(
    case: Hostile, tmp_path: Path, marker: Path
) -> None:
    path = tmp_path / "model"
    path.write_bytes(case.bytes())
    error = refusal(path)
    assert not marker.exists()
    if case.error is ReadError:
        assert isinstance(error, ReadError), "it was read as a model"
        assert not isinstance(error, UnsafeModelError), error
    else:
        assert type(error) is case.error, error


def test_the_collection_is_large() -> None:
    assert len({case.name for case in HOSTILE}) == len(HOSTILE) >= 200
    assert {case.error for case in HOSTILE} >= {UnsafeModelError, UnsupportedModelError, ReadError}


def test_the_parts_are_a_good_model_when_nothing_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(stored(model()))
    forest = read_whole(path)
    (only,) = forest.trees
    assert only.counts is not None
    assert only.counts.tolist() == [[2, 3], [2, 0], [0, 3]]
    assert forest.counts_are == "exact"
    assert forest.warnings == ()


def test_nodes_that_hang_on_nothing_are_left_out_with_a_warning(tmp_path: Path) -> None:
    import numpy as np

    nodes = np.concatenate([stump(), stump()[1:]])
    path = tmp_path / "model"
    path.write_bytes(stored(model(tree(nodes, np.concatenate([VALUES, VALUES[1:]]), count=5))))
    forest = read_whole(path)
    assert forest.trees[0].n_nodes == 3
    assert "2 nodes are cut off from the root" in forest.warnings[0]


@pytest.mark.slow
def test_a_deep_tree_with_an_orphan_is_read_in_no_time(tmp_path: Path) -> None:
    from tests.hostile.files import _orphaned_chain

    path = tmp_path / "model"
    path.write_bytes(_orphaned_chain())
    forest = read_whole(path)
    assert forest.trees[0].n_nodes == 600_001
    assert "1 nodes are cut off" in forest.warnings[0]


def test_names_with_half_characters_can_be_written_out(tmp_path: Path) -> None:
    from tests.hostile.build import dtype, late_array

    labels = late_array((2,), dtype("O8"), ["no\ud800", "yes"])
    names = late_array((2,), dtype("O8"), ["a\udfff", "b"])
    path = tmp_path / "model"
    path.write_bytes(stored(model(classes_=labels, feature_names_in_=names, criterion="\ud800")))
    forest = read_whole(path)
    assert forest.schema.classes == ("no\\ud800", "yes")
    assert forest.schema.names == ["a\\udfff", "b"]
    assert forest.source.parameters["criterion"] == "\\ud800"


def test_json_form_is_good_when_nothing_is_wrong(tmp_path: Path) -> None:
    import json

    path = tmp_path / "model.json"
    path.write_text(json.dumps(own_json()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_whole(path).trees[0].n_nodes == 3


def test_a_file_over_the_limit_of_bytes_is_refused(tmp_path: Path) -> None:
    from treeaudit import load

    path = tmp_path / "model"
    path.write_bytes(stored(model()))
    with pytest.raises(ModelTooLargeError, match=r"more than the limit of 100; raise it"):
        load(path, max_bytes=100)
