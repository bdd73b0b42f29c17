"""Files of joblib 0.9 and older: ZF containers, and arrays in files beside the model.

That joblib is no more, so the files are put together here, and the joblib of
today, which still reads them, says what is in them.
"""

import os
import pickle
import warnings
import zlib
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from joblib.numpy_pickle_compat import NDArrayWrapper, ZNDArrayWrapper
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from tests.hostile.test_sandbox import read_apart
from tests.outcome import read_whole, refusal
from tests.systems import LINKS
from treeaudit import Forest, ModelTooLargeError, ReadError, UnsafeModelError, load

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"], dtype=object)
TREE = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, NAMES[Y])
FOREST = RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, Y)


def zf(data: bytes, stated: int | None = None) -> bytes:
    size = hex(len(data) if stated is None else stated)
    return b"ZF" + size.ljust(19).encode() + zlib.compress(data)


class Pickler(pickle._Pickler):  # type: ignore[name-defined]
    """Writes as joblib 0.9 did: every array into a file of its own."""

    def __init__(self, path: Path, compress: bool) -> None:
        self.stream = path.open("wb")
        super().__init__(self.stream, protocol=2)
        self.path, self.compress, self.n = path, compress, 0

    def save(self, value: Any, save_persistent_id: bool = True) -> None:
        if type(value) is np.ndarray and not (self.compress and value.dtype.hasobject):
            self.n += 1
            value = self._beside(value, f"{self.path.name}_{self.n:02d}.npy")
        super().save(value, save_persistent_id)

    def _beside(self, array: Any, name: str) -> Any:
        if not self.compress:
            np.save(self.path.parent / name, array)
            return NDArrayWrapper(name, np.ndarray)
        _, init, state = array.__reduce__()
        (self.path.parent / f"{name}.z").write_bytes(zf(state[-1]))
        return ZNDArrayWrapper(f"{name}.z", init, state[:-1])


def dump(value: Any, path: Path, compress: bool = False) -> Path:
    pickler = Pickler(path, compress)
    pickler.dump(value)
    pickler.stream.close()
    data = path.read_bytes().replace(b"cjoblib.numpy_pickle_compat\n", b"cjoblib.numpy_pickle\n")
    path.write_bytes(zf(data) if compress else data)
    return path


def _same(forest: Forest, model: Any) -> None:
    expected = load(model)
    assert forest.schema == expected.schema
    assert forest.counts_are == expected.counts_are
    assert forest.n_records == expected.n_records
    for one, other in zip(forest.trees, expected.trees, strict=True):
        assert np.array_equal(one.high, other.high)
        assert np.array_equal(one.n_records, other.n_records)
        assert np.array_equal(one.counts, other.counts)


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("model", [TREE, FOREST], ids=["tree", "forest"])
def test_arrays_in_files_of_their_own(model: Any, compress: bool, tmp_path: Path) -> None:
    path = dump(model, tmp_path / "model.pkl", compress)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.array_equal(joblib.load(path).predict(X), model.predict(X))
    forest = read_whole(path)
    _same(forest, model)
    assert forest.source.format == "sklearn-joblib"
    assert "beside it (model.pkl_01.npy" in forest.warnings[-1]


@pytest.mark.parametrize("module", ["numpy_pickle", "numpy_pickle_compat"])
def test_the_joblib_inside_scikit_learn(module: str, tmp_path: Path) -> None:
    path = dump(TREE, tmp_path / "model.pkl")
    old = b"cjoblib.numpy_pickle\n"
    assert old in path.read_bytes()
    path.write_bytes(
        path.read_bytes().replace(old, f"csklearn.externals.joblib.{module}\n".encode())
    )
    _same(read_whole(path), TREE)


@pytest.mark.parametrize("wider", [b"", b" "], ids=["3", "2"])
def test_a_zf_file_without_companions(wider: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.pkl"
    whole = zf(pickle.dumps(TREE, 2))
    # Python 2 wrote the header one blank wider.
    path.write_bytes(whole[:21] + wider + whole[21:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.array_equal(joblib.load(path).predict(X), TREE.predict(X))
    _same(read_whole(path), TREE)


@pytest.mark.parametrize("stated", [1, 1 << 12, 1 << 60])
def test_a_zf_header_that_lies(stated: int, tmp_path: Path) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(zf(pickle.dumps(TREE, 2), stated))
    assert type(refusal(path)) in (ReadError, ModelTooLargeError)


@pytest.mark.parametrize("size", [b"", b"0x", b"0xzz", b"0x-5"])
def test_a_zf_header_without_a_size(size: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(b"ZF0x" + size.ljust(17) + zlib.compress(b"x"))
    assert isinstance(refusal(path), ReadError)


def test_a_missing_companion_is_named(tmp_path: Path) -> None:
    path = dump(TREE, tmp_path / "model.pkl")
    (tmp_path / "model.pkl_03.npy").unlink()
    error = refusal(path)
    assert type(error) is ReadError
    assert "model.pkl_03.npy, which is missing: put model.pkl_03.npy beside it" in str(error)


def test_companions_need_a_folder(tmp_path: Path) -> None:
    from treeaudit.readers.pickle.pickle_vm import read_pickle

    data = dump(TREE, tmp_path / "model.pkl").read_bytes()
    with pytest.raises(ReadError, match=r"name the model file itself, with that file beside it"):
        read_pickle(data)


def _named(name: object) -> bytes:
    return pickle.dumps({"a": NDArrayWrapper(name, np.ndarray)}, 2)


@pytest.mark.parametrize(
    "name",
    [
        "../outside.npy",
        "/etc/hostname",
        "..",
        ".",
        "",
        "folder/inside.npy",
        "C:\\inside.npy",
        "..\\outside.npy",
        "inside.npy\0",
        "inside\n.npy",
        "\ud800.npy",
        "x" * 300,
        5,
        None,
        ["inside.npy"],
        b"../outside.npy",
    ],
    ids=repr,
)
def test_a_name_that_leads_elsewhere_is_unsafe(name: object, tmp_path: Path) -> None:
    np.save(tmp_path / "outside.npy", X)
    (tmp_path / "models" / "folder").mkdir(parents=True)
    np.save(tmp_path / "models" / "folder" / "inside.npy", X)
    path = tmp_path / "models" / "model.pkl"
    path.write_bytes(_named(name))
    assert type(refusal(path)) is UnsafeModelError


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="links and pipes need a POSIX system")
@pytest.mark.parametrize("kind", ["link", "device", "pipe", "folder", "link-to-folder"])
def test_what_is_no_file_of_the_folder_is_unsafe(kind: str, tmp_path: Path) -> None:
    np.save(tmp_path / "outside.npy", X)
    (tmp_path / "models").mkdir()
    inside = tmp_path / "models" / "inside.npy"
    match kind:
        case "link":
            inside.symlink_to("../outside.npy")
        case "device":
            inside.symlink_to("/dev/zero")
        case "pipe":
            os.mkfifo(inside)
        case "folder":
            inside.mkdir()
        case "link-to-folder":
            inside.symlink_to(".")
    path = tmp_path / "models" / "model.pkl"
    path.write_bytes(_named("inside.npy"))
    assert type(refusal(path)) is UnsafeModelError


@LINKS
def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    path = dump(TREE, tmp_path / "model.pkl")
    (tmp_path / "model.pkl_02.npy").rename(tmp_path / "other.npy")
    (tmp_path / "model.pkl_02.npy").symlink_to("other.npy")
    (tmp_path / "link").symlink_to(tmp_path)
    _same(read_whole(tmp_path / "link" / path.name), TREE)


def test_a_payload_in_a_companion_is_unsafe(tmp_path: Path) -> None:
    path = dump(TREE, tmp_path / "model.pkl")
    labels = np.array(["a", "b"], dtype=object)
    np.save(tmp_path / "model.pkl_01.npy", labels)
    data = (tmp_path / "model.pkl_01.npy").read_bytes()
    start = data.index(b"\n") + 1
    (tmp_path / "model.pkl_01.npy").write_bytes(data[:start] + b"cposix\nsystem\n(S'id'\ntR.")
    error = refusal(path)
    assert type(error) is UnsafeModelError
    assert "posix.system" in str(error)


@pytest.mark.parametrize("compress", [False, True])
def test_damaged_companions(compress: bool, tmp_path: Path) -> None:
    path = dump(TREE, tmp_path / "model.pkl", compress)
    for beside in sorted(tmp_path.glob("model.pkl_*")):
        whole = beside.read_bytes()
        for damaged in (b"", whole[:10], whole[:-1], bytes(len(whole)), whole[:8] + whole[9:]):
            beside.write_bytes(damaged)
            assert isinstance(refusal(path), ReadError), (beside, damaged)
        beside.write_bytes(whole)
    _same(read_whole(path), TREE)


def test_companions_count_against_the_limit(tmp_path: Path) -> None:
    path = dump(TREE, tmp_path / "model.pkl")
    np.save(tmp_path / "model.pkl_01.npy", np.zeros(100_000))
    with pytest.raises(ModelTooLargeError, match="raise it with --max-bytes"):
        load(path, max_bytes=100_000)


def test_inspect_reads_companions_too(tmp_path: Path) -> None:
    from treeaudit.readers.inspect import describe

    contents = describe(dump(TREE, tmp_path / "model.pkl"))
    assert contents.model is not None


def test_reading_opens_the_companions_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    path = dump(TREE, folder / "model.pkl")
    (folder / "outside.pkl").write_bytes(_named("../outside.npy"))
    np.save(tmp_path / "outside.npy", X)
    lines = {line["name"]: line for line in read_apart(folder)}
    beside = {str(name) for name in folder.glob("model.pkl_*")}
    opened = {event.removeprefix("open ") for event in lines[path.name]["events"]}
    assert opened
    assert opened <= beside
    assert lines["outside.pkl"]["outcome"] == "UnsafeModelError"
    assert lines["outside.pkl"]["events"] == []
