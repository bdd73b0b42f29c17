"""A file that no pickler wrote is refused, or what is odd in it is named."""

import io
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.hostile.build import MARK, NODE, PROTO, STOP, get, model, push, stored, stump, tree
from tests.hostile.forged import EXTRA, FORGED
from tests.outcome import read_whole, refusal
from treeaudit import ReadError, UnsafeModelError
from treeaudit.readers.pickle.pickle_vm import read_pickle


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_file_is_refused(name: str, tmp_path: Path) -> None:
    data, part = FORGED[name]
    path = tmp_path / "model"
    path.write_bytes(data)
    error = refusal(path)
    assert isinstance(error, ReadError), "it was read as a model"
    assert part in str(error)


@pytest.mark.parametrize("name", EXTRA)
def test_bytes_that_change_nothing_are_named(name: str, tmp_path: Path) -> None:
    data, n = EXTRA[name]
    path = tmp_path / "model"
    path.write_bytes(data)
    found = [one for one in read_whole(path).extras.found if one.kind == "extra"]
    assert sum(one.n for one in found if one.where.startswith("byte ")) == n


def test_the_collection_is_large() -> None:
    assert len(FORGED) >= 90


def _python(data: bytes) -> Any:
    return pickle._Unpickler(io.BytesIO(data)).load()


@pytest.mark.filterwarnings("ignore:Trying to unpickle")
@pytest.mark.parametrize("load", [pickle.loads, _python])
def test_loaders_are_deceived_by_what_is_refused(load: Callable[[bytes], Any]) -> None:
    """The tricks do what they say, so that to refuse them is no fuss."""
    nodes, again = load(FORGED["array-state-through-memo"][0])
    assert nodes is again
    assert nodes["threshold"][0] == -9
    model_, state = load(FORGED["state-filled-after-it-was-used"][0])
    assert model_.a == 1
    assert state == {"a": 2}
    early = load(FORGED["state-before-it-is-complete"][0])
    assert not hasattr(early["a"], "a")
    assert load(FORGED["dictionary-filled-through-memo"][0])[0] == {"a": 1}
    assert load(FORGED["key-twice"][0]) == {"a": None}
    (own, _) = load(FORGED["memo-overwritten-by-PUT"][0])
    assert own == 1
    assert hasattr(load(FORGED["S-octal"][0]), "tree_")
    assert load(FORGED["S-octal"][0]).tree_ is None
    assert load(FORGED["text-as-bytes-by-another-codec"][0]) == b"\xc3\xa9"
    forged = load(FORGED["dtype-that-is-numpys-own"][0])
    assert forged.dtype == np.dtype("<f8")


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="the loader in C")
def test_the_two_loaders_of_python_read_a_number_differently() -> None:
    assert pickle.loads(b"I0100\n.") == 64
    with pytest.raises(ValueError, match="invalid literal"):
        _python(b"I0100\n.")
    with pytest.raises(ReadError, match="damaged"):
        read_pickle(b"I0100\n.")


def test_a_method_is_called_by_what_is_refused(tmp_path: Path) -> None:
    """The method is one of a list in the file."""
    bound = b"cbuiltins\ngetattr\n(]r\x02\0\0\0" + push("append") + b"tR"
    data = (
        PROTO + MARK + b"ctypes\nSimpleNamespace\n)R}" + push("append") + bound + b"sb"
        b"K\x07a" + get(2) + b"t" + STOP
    )
    assert pickle.loads(data)[1] == [7]
    with pytest.raises(UnsafeModelError, match=r"builtins\.getattr|runs a method"):
        read_pickle(data)


def test_array_bytes_that_are_instructions_run_in_pickle_alone(tmp_path: Path) -> None:
    import joblib

    data, _ = FORGED["joblib-array-is-another-end"]
    path = tmp_path / "model.joblib"
    path.write_bytes(data)
    model_, numbers = joblib.load(path)
    assert numbers.shape == (4,)
    assert type(pickle.loads(data)) is type(model_)


def test_what_is_good_stays_good(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(stored(model(tree(stump().astype(NODE)))))
    assert [one for one in read_whole(path).extras.found if one.kind == "extra"] == []
