"""Real files of four versions of scikit-learn, against what scikit-learn said of them.

``TREEAUDIT_MODELS`` names a folder of model files and their ``manifest.json``.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.outcome import read_whole, refusal
from treeaudit import Forest, ModelTooLargeError, ReadError, UnsafeModelError, UnsupportedModelError

FOLDER = Path(os.environ.get("TREEAUDIT_MODELS", ""))
if not os.environ.get("TREEAUDIT_MODELS"):
    pytest.skip("TREEAUDIT_MODELS names no folder of model files", allow_module_level=True)

OUTCOMES: dict[str, tuple[type[ReadError], ...]] = {
    "refused-unsafe": (UnsafeModelError,),
    "limit": (ModelTooLargeError,),
    "unsupported": (UnsupportedModelError,),
    "not-a-model": (UnsupportedModelError,),
    # The subclasses too: a text file, say, is named instead of being called damaged.
    "corrupt": (ReadError,),
    "inconsistent": (ReadError,),
}

MANIFEST = json.loads((FOLDER / "manifest.json").read_text())
READ = MANIFEST["files"]
DAMAGED = [
    file
    for kind in ("malicious", "corrupt")
    for file in json.loads((FOLDER / kind / "manifest.json").read_text())["files"]
]


def _path(file: dict[str, Any]) -> str:
    return str(file["path"])


@pytest.mark.parametrize("file", READ, ids=_path)
def test_a_model_is_what_scikit_learn_said(file: dict[str, Any]) -> None:
    if file["format"] == "joblib-lz4":
        pytest.importorskip("lz4")
    forest = read_whole(FOLDER / file["path"])
    truths = MANIFEST["models"][file["model"]]["models"]
    if len(truths) == 1:
        _same_model(forest, truths[0])
        return
    assert [m.estimator for m in forest.members] == [truth["estimator"] for truth in truths]
    assert forest.n_trees == sum(truth["n_trees"] for truth in truths)
    for member, truth in zip(forest.members, truths, strict=True):
        _same_model(read_whole(FOLDER / file["path"], select=member.inside), truth)


def _same_model(forest: Forest, truth: dict[str, Any]) -> None:
    assert forest.source.estimator == truth["estimator"]
    assert forest.n_trees == truth["n_trees"]
    # A pipeline is read back to the table in front of it.
    if "steps" not in forest.source.inside and "n_features" in truth:
        assert len(forest.schema.features) == truth["n_features"]
    if "steps" not in forest.source.inside and truth.get("feature_names_in") is not None:
        assert forest.schema.names == truth["feature_names_in"]
    # One class against the others is called by its name.
    asked = forest.schema.classes != ("another", "its own")
    if truth.get("classes") is not None and truth["trees"][0].get("n_outputs", 1) == 1 and asked:
        assert forest.schema.classes is not None
        assert [str(c) for c in forest.schema.classes] == [str(c) for c in truth["classes"]]
    for tree, told in zip(forest.trees, truth["trees"], strict=True):
        _same_tree(forest, tree, told)


def _same_tree(forest: Forest, tree: Any, told: dict[str, Any]) -> None:
    assert tree.n_nodes == told["node_count"]
    assert tree.leaves.tolist() == told["leaf_ids"]
    assert tree.n_records[tree.leaves].tolist() == told["leaf_n_node_samples"]
    assert int(tree.depths.max()) == told["max_depth"]
    if tree.value is not None and "leaf_value" in told:
        assert np.allclose(tree.value[tree.leaves], np.ravel(told["leaf_value"]), atol=1e-5)
    # Of boosted trees the corpus holds no counts; tests of the first tree have some of their own.
    if forest.counts_are in ("exact", "likely") and forest.answers != "sum":
        # The trees of a bag were not asked for rows: their weights are the draws.
        people = np.array(
            told.get("record_class_counts_in_leaf", told["leaf_weighted_class_counts"])
        )
        assert tree.counts[tree.leaves].tolist() == people.reshape(tree.leaves.size, -1).tolist()
    elif forest.counts_are == "weighted":
        weights = np.array(told["leaf_weighted_class_counts"])[:, 0, :]
        assert np.allclose(tree.counts[tree.leaves], weights, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("file", DAMAGED, ids=_path)
def test_a_bad_file_ends_as_expected(
    file: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "marker"
    monkeypatch.setenv("TREEAUDIT_MARKER", str(marker))
    error = refusal(FOLDER / file["path"])
    assert not marker.exists()
    if error is None:
        assert "ok" in file["expect"]
    else:
        expected = [outcome for name in file["expect"] for outcome in OUTCOMES.get(name, ())]
        assert isinstance(error, tuple(expected)), error
