"""Whatever is named as a model, `load` returns a forest or says one sentence."""

import gc
import os
import pickle
import struct
import sys
import zipfile
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from tests.outcome import refusal
from tests.readers.damage import pickled, same_trees
from tests.systems import LINKS
from treeaudit import (
    Forest,
    ModelTooLargeError,
    ReadError,
    Tree,
    UnsupportedModelError,
    load,
    save,
)

X, Y = load_iris(return_X_y=True)
MODEL = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)


class MyTree(DecisionTreeClassifier):
    """A user's own subclass."""


def _same(a: Forest, b: Forest) -> None:
    assert a.schema == b.schema
    assert a.counts_are == b.counts_are
    same_trees(a, b)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "model is empty"),
        (b"age,income\n31,5\n", "is a text file"),
        (b"call me later\nplease\n", "is a text file"),
        (b"(just a remark)\n", "is a text file"),
        (b"(c) 2020 Nobody\n", "is a text file"),
        (b"<!DOCTYPE html><html>404</html>", "is an HTML page"),
        (b"  <html>", "is an HTML page"),
        (b"<?xml version='1.0'?><html/>", "is an XML file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
        (b"\x93NUMPY\x01\0", "a bare numpy array"),
        (b'{"a": 1}', "a JSON file"),
        (b"[1, 2]", "a JSON file"),
        (b"tree\nversion=v4\n", "LightGBM"),
        (b"binf\0\0\0\0", "save_model('model.json')"),
        (struct.pack("<3i2B", 4, 8, 1, 3, 3) + bytes(40), "a treelite checkpoint"),
        (b"\x7fELF\x02\x01", "a program"),
        (b"SQLite format 3\0", "SQLite"),
        (b"\x00\x01\x02\x03", "no kind of file"),
        (bytes(257) + b"ustar", "tar archive"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_other_files_are_named(content: bytes, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(content)
    assert sentence in str(refusal(path))


def test_a_zip_archive_is_named(tmp_path: Path) -> None:
    path = tmp_path / "model.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.pkl", b"x")
    with pytest.raises(UnsupportedModelError, match="a zip archive"):
        load(path)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("nothing.pkl", r"there is no file .*nothing\.pkl"),
        (".", "is a folder; name the model file itself"),
        ("a\0b", "cannot be opened"),
        ("x" * 5000, "cannot be opened"),
        pytest.param(
            "/dev/zero",
            "zero is not a regular file",
            marks=pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no POSIX system"),
        ),
    ],
)
def test_a_path_without_a_model_file(name: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=sentence):
        load(tmp_path / name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes need a POSIX system")
def test_a_named_pipe_does_not_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ReadError, match="pipe is not a regular file"):
        load(tmp_path / "pipe")


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="permissions do not bind this user"
)
def test_a_folder_without_permission(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    (folder / "model").write_bytes(b"x")
    folder.chmod(0)
    try:
        with pytest.raises(ReadError, match="cannot be opened: permission denied"):
            load(folder / "model")
    finally:
        folder.chmod(0o700)


@LINKS
def test_a_link_to_a_model_is_followed(tmp_path: Path) -> None:
    joblib.dump(MODEL, tmp_path / "model.joblib")
    (tmp_path / "link").symlink_to("model.joblib")
    _same(load(tmp_path / "link"), load(MODEL))


@pytest.mark.parametrize("compress", [0, 3])
def test_the_limit_of_bytes(compress: int, tmp_path: Path) -> None:
    path = tmp_path / "model.joblib"
    joblib.dump(MODEL, path, compress=compress)
    size = path.stat().st_size
    assert load(path, max_bytes=10 * size).n_trees == 1
    with pytest.raises(ModelTooLargeError, match=r"raise it with --max-bytes"):
        load(path, max_bytes=size - 1)
    if compress:
        with pytest.raises(ModelTooLargeError, match="unpack to more than"):
            load(path, max_bytes=size)


def test_an_estimator_in_memory_is_the_same_as_its_file(tmp_path: Path) -> None:
    path = pickled(tmp_path, MODEL)
    stored, live = load(str(path)), load(MODEL)
    _same(stored, live)
    assert live.source.format == "memory"
    assert live.source.path is None
    assert live.source.sha256 is None
    assert stored.source.path == str(path)
    assert stored.source.n_bytes == path.stat().st_size


def test_a_forest_is_returned_as_it_is() -> None:
    forest = load(MODEL)
    assert load(forest) is forest


def test_a_tree_alone_lacks_its_columns() -> None:
    with pytest.raises(UnsupportedModelError, match="wrap it in a Forest"):
        load(Tree(parent=[-1], feature=[-1], low=[-np.inf], high=[np.inf]))


@pytest.mark.parametrize(
    "value", [lambda: 1, 5, None, [1, 2]], ids=["a function", "5", "None", "a list"]
)
def test_other_objects_are_no_models(value: object) -> None:
    with pytest.raises(UnsupportedModelError):
        load(value)


def test_a_subclass_is_read_with_a_warning(tmp_path: Path) -> None:
    path = pickled(tmp_path, MyTree(max_depth=3, random_state=0).fit(X, Y))
    forest = load(path)
    _same(forest, load(MODEL))
    assert "MyTree is a class outside scikit-learn" in forest.warnings[0]


def test_bytes_behind_the_model_are_told(tmp_path: Path) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(MODEL) + b"cposix\nsystem\n")
    forest = load(path)
    _same(forest, load(MODEL))
    assert "14 bytes follow the model; they were not read" in forest.warnings[0]


def test_code_of_cloudpickle_is_told(tmp_path: Path) -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)
    model.note_ = lambda x: x
    path = tmp_path / "model.pkl"
    path.write_bytes(cloudpickle.dumps(model))
    forest = load(path)
    _same(forest, load(MODEL))
    assert any("carries program code of its own" in warning for warning in forest.warnings)


def test_the_json_form_is_the_same_model(tmp_path: Path) -> None:
    _same(load(save(load(MODEL), tmp_path / "model.json")), load(MODEL))


def test_an_object_nested_too_deeply_is_no_model() -> None:
    nested: dict[str, object] = {}
    for _ in range(100_000):
        nested = {"model": nested}
    with pytest.raises(UnsupportedModelError, match="cannot be read as a model"):
        load(nested)


def _airy(tmp_path: Path, n_bytes: int, form: str) -> Path:
    """Return a small model beside many zeros, which compress a thousand to one."""
    value = {"model": DecisionTreeClassifier().fit([[0], [1]], [0, 1]), "air": bytes(n_bytes)}
    path = tmp_path / f"model.{form}"
    joblib.dump(value, path, compress=(form, 1))
    return path


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", ["zlib", "xz"])
def test_what_unpacks_to_more_than_a_file_may_needs_leave(tmp_path: Path, form: str) -> None:
    size = 280 << 20
    path = _airy(tmp_path, size, form)
    assert path.stat().st_size < size / 100
    most = (256 << 20) + 4 * path.stat().st_size
    with pytest.raises(ModelTooLargeError, match=rf"{most:,}.* allow more with --max-bytes"):
        load(path)
    assert load(path, max_bytes=size + (1 << 20)).n_trees == 1


@pytest.mark.slow
def test_small_files_may_unpack_to_a_quarter_of_a_gibibyte(tmp_path: Path) -> None:
    assert load(_airy(tmp_path, 200 << 20, "zlib")).n_trees == 1


def test_a_full_temporary_folder_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    class Full(tempfile.SpooledTemporaryFile):  # type: ignore[type-arg]
        def write(self, piece: bytes) -> int:
            raise OSError(28, "No space left on device")

    path = _airy(tmp_path, 1000, "zlib")
    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", Full)
    with pytest.raises(ReadError, match="no space left on device; set TMPDIR"):
        load(path)


def test_the_collector_is_left_as_it_was() -> None:
    load(MODEL)
    assert gc.isenabled()
    gc.disable()
    try:
        load(MODEL)
        assert not gc.isenabled()
    finally:
        gc.enable()
