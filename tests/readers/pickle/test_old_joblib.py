"""Files of joblib 0.9 and older: ZF containers are read, several files are not.

That joblib is no more, so the files are put together here, and the joblib of today, which still
reads them, says what is in them.
"""

import pickle
import warnings
import zlib
from pathlib import Path

import joblib
import numpy as np
import pytest
from joblib.numpy_pickle_compat import NDArrayWrapper, ZNDArrayWrapper
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from tests.hostile.test_sandbox import read_apart
from tests.outcome import read_whole, refusal
from tests.readers.damage import refused
from treeaudit import ModelTooLargeError, ReadError, UnsafeModelError

GENUINE = Path(__file__).parents[1] / "genuine_tables"


@pytest.mark.parametrize(
    ("name", "n_trees"),
    [
        ("boosting-0.18-python2.joblib", 3),
        ("boosting-0.18-python3.pkl", 3),
        ("boosting-0.20-python2.pkl", 2),
        ("boosting-0.20-python3.pkl", 3),
    ],
)
def test_the_random_state_of_old_numpy_has_a_state_of_its_own(name: str, n_trees: int) -> None:
    """`GradientBoosting` of scikit-learn before 0.21 keeps its random generator."""
    assert read_whole(GENUINE / name).n_trees == n_trees


@pytest.mark.parametrize("kind", ["0.18", "0.19", "thirds", "tuples"])
def test_numbers_may_look_like_a_text_that_ends_behind_them(kind: str) -> None:
    """joblib of old wrote no number of bytes in front of an array, and a third is ``UUUU``."""
    assert read_whole(GENUINE / f"grid-{kind}-python2.joblib").n_trees


RUN_CODE = (
    "posix.system os.popen2 commands.getoutput __builtin__.eval __builtin__.execfile "
    "__builtin__.apply __builtin__.input urllib2.urlopen popen2.popen3 cPickle.loads "
    "copy_reg.add_extension new.function"
)


@pytest.mark.parametrize("name", RUN_CODE.split())
def test_what_runs_code_in_python_2_is_unsafe(name: str, tmp_path: Path) -> None:
    called = name.replace(".", "\n")
    refused(tmp_path, f"c{called}\n(S'id'\ntR.".encode(), UnsafeModelError)


@pytest.mark.parametrize(
    "data",
    [
        b"(i__builtin__\nset\n.",
        b"c__builtin__\nset\n((lp0\nI1\natR.",
        b"c__builtin__\nxrange\n(I0\nI3\nI1\ntR.",
        b"ccopy_reg\n_reconstructor\n(cnumpy\nndarray\nc__builtin__\nobject\nNtR.",
        b"S'abc\\xe9'\np0\n.",
        b"(dp0\nS'a'\nL5L\ns.",
    ],
    ids=repr,
)
def test_other_things_of_python_2_are_named(data: bytes, tmp_path: Path) -> None:
    refused(tmp_path, data)


X, Y = load_iris(return_X_y=True)
TREE = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)


def zf(data: bytes, stated: int | None = None) -> bytes:
    size = hex(len(data) if stated is None else stated)
    return b"ZF" + size.ljust(19).encode() + zlib.compress(data)


@pytest.mark.parametrize("wider", [b"", b" "], ids=["3", "2"])
def test_a_zf_file_without_companions(wider: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.pkl"
    whole = zf(pickle.dumps(TREE, 2))
    # Python 2 wrote the header one blank wider.
    path.write_bytes(whole[:21] + wider + whole[21:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.array_equal(joblib.load(path).predict(X), TREE.predict(X))
    assert read_whole(path).n_records == len(X)


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


@pytest.mark.parametrize(
    "wrapper",
    [
        NDArrayWrapper("../outside.npy", np.ndarray),
        ZNDArrayWrapper("outside.npy.z", np.ndarray, (0, (1,), np.dtype("f8"), False)),
    ],
    ids=["plain", "compressed"],
)
@pytest.mark.parametrize("owner", ["joblib", "sklearn.externals.joblib"])
def test_arrays_in_files_of_their_own_are_refused(
    wrapper: object, owner: str, tmp_path: Path
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    np.save(tmp_path / "outside.npy", X)
    old, new = b"cjoblib.numpy_pickle", f"c{owner}.numpy_pickle".encode()
    said = refused(folder, pickle.dumps({"a": wrapper}, 2).replace(old, new))
    assert "written by joblib 0.9 or older in several files: load it" in said
    (line,) = read_apart(folder)
    assert line["events"] == []


def test_what_would_run_is_said_first(tmp_path: Path) -> None:
    payload = b"(cposix\nsystem\n" + pickle.dumps(NDArrayWrapper("a.npy", np.ndarray), 2)[2:]
    assert "posix.system" in refused(tmp_path, payload, UnsafeModelError)
