"""Files of joblib and pickle agree with the live estimator, node by node."""

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tests.readers.damage import pickled
from treeaudit import Forest, Tree, load
from treeaudit.readers.pickle.pickle_vm import read_pickle

X, Y = load_iris(return_X_y=True)
LABELS = np.array(["setosa", "versicolor", "virginica"], dtype=object)[Y]
MODELS: dict[str, Any] = {
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, Y),
    "tree-with-text-labels": DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, LABELS),
    "regressor": DecisionTreeRegressor(max_depth=4, random_state=0).fit(X[:, :3], X[:, 3]),
    "forest": RandomForestClassifier(4, max_depth=4, random_state=0).fit(X, LABELS),
    "extra-trees": ExtraTreesClassifier(3, max_depth=4, random_state=0).fit(X, Y),
    "forest-regressor": RandomForestRegressor(3, max_depth=4, random_state=0).fit(X, Y * 1.5),
}


def _parents(live: Any) -> np.ndarray[Any, Any]:
    parent = np.full(live.node_count, -1)
    for children in (live.children_left, live.children_right):
        inner = children >= 0
        parent[children[inner]] = np.flatnonzero(inner)
    return parent


def _agrees(tree: Tree, live: Any) -> None:
    parent = _parents(live)
    assert tree.parent.tolist() == parent.tolist()
    assert tree.n_records is not None
    assert tree.n_records.tolist() == live.n_node_samples.tolist()
    assert tree.leaves.tolist() == np.flatnonzero(live.children_left < 0).tolist()
    below = np.arange(1, live.node_count)
    left = live.children_left[parent[below]] == below
    threshold = live.threshold[parent[below]]
    assert np.array_equal(tree.feature[1:], live.feature[parent[below]])
    assert np.array_equal(tree.high[1:], np.where(left, threshold, np.inf))
    assert np.array_equal(tree.low[1:], np.where(left, -np.inf, threshold))
    assert tree.missing is None or np.array_equal(
        tree.missing[1:], (live.missing_go_to_left[parent[below]] != 0) == left
    )
    value = live.value[:, 0, :]
    if tree.value is not None:
        assert np.array_equal(tree.value, value[:, 0])
    else:
        assert tree.counts is not None
        stored_as_fractions = np.allclose(value.sum(axis=1), 1)
        draws = value * live.weighted_n_node_samples[:, None] if stored_as_fractions else value
        assert np.allclose(tree.counts, draws)
        assert np.array_equal(tree.counts, np.rint(tree.counts))


def _all_agree(forest: Forest, model: Any) -> None:
    members = getattr(model, "estimators_", [model])
    assert forest.n_trees == len(members)
    for tree, member in zip(forest.trees, members, strict=True):
        _agrees(tree, member.tree_)
    if hasattr(model, "classes_"):
        assert forest.schema.classes == tuple(model.classes_.tolist())
    assert forest.source.estimator == type(model).__name__
    assert np.array_equal(
        forest.apply(X[:, : model.n_features_in_]),
        np.reshape(model.apply(X[:, : model.n_features_in_]), (len(X), -1)),
    )


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("name", MODELS)
def test_pickle(name: str, protocol: int, tmp_path: Path) -> None:
    path = pickled(tmp_path, MODELS[name], protocol)
    forest = load(path)
    assert forest.source.format == "sklearn-pickle"
    assert forest.warnings == ()
    _all_agree(forest, MODELS[name])


PACKED = [0, ("zlib", 1), ("zlib", 9), *((name, 3) for name in "gzip bz2 lzma xz lz4".split())]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "options",
    [*({"compress": how} for how in PACKED), *({"protocol": n} for n in range(6))],
    ids=str,
)
@pytest.mark.parametrize("name", MODELS)
def test_joblib(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    if "lz4" in str(options):
        pytest.importorskip("lz4")
    path = tmp_path / "model.joblib"
    joblib.dump(MODELS[name], path, **options)
    forest = load(path)
    assert forest.source.format == "sklearn-joblib"
    assert forest.source.n_bytes == path.stat().st_size
    assert forest.warnings == ()
    _all_agree(forest, MODELS[name])


ARRAYS = {
    "plain": np.arange(6.0),
    "empty": np.zeros((0, 3)),
    "no-dimension": np.array(5),
    "by-column": np.asfortranarray(np.arange(12).reshape(3, 4)),
    "strided": np.arange(12).reshape(3, 4)[:, ::2],
    "big-endian": np.arange(4, dtype=">i4"),
    "text": np.array(["a", "bcd"]),
    "flags": np.array([True, False]),
    "objects": np.array(["a", None, 2.5, (1, 2)], dtype=object),
    "objects-by-column": np.asfortranarray(np.array([["a", "b"], ["c", "d"]], dtype=object)),
    "record": np.zeros(3, dtype=np.dtype([("x", "<i8"), ("y", "u1")], align=True)),
}


@pytest.mark.parametrize("compress", [0, 3])
@pytest.mark.parametrize("protocol", range(6))
def test_arrays_in_the_middle_of_the_stream(protocol: int, compress: int, tmp_path: Path) -> None:
    import zlib

    path = tmp_path / "arrays.joblib"
    stored = {"before": 1, **ARRAYS, "again": ARRAYS["plain"], "after": [1, 2]}
    joblib.dump(stored, path, protocol=protocol, compress=compress)
    data = path.read_bytes()
    root = read_pickle(zlib.decompress(data) if compress else data).root
    assert isinstance(root, dict)
    assert root["before"] == 1
    assert root["after"] == [1, 2]
    assert np.array_equal(root["again"], ARRAYS["plain"])
    for name, array in ARRAYS.items():
        assert root[name].shape == array.shape, name
        assert root[name].tolist() == array.tolist(), name


def test_a_large_compressed_file_is_unpacked_to_a_temporary_file(tmp_path: Path) -> None:
    model = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    model.padding_ = np.zeros(10_000_000)
    path = tmp_path / "model.joblib"
    joblib.dump(model, path, compress=1)
    assert path.stat().st_size < 1_000_000
    _all_agree(load(path), model)
