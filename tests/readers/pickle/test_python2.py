"""Pickles of Python 2, written opcode by opcode: no Python 2 is left to write them.

There every text is an 8-bit string, names of modules are the old ones, and
whole numbers may be long.
"""

import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from tests.outcome import read_whole, refusal
from treeaudit import Forest, UnsafeModelError, UnsupportedModelError, load
from treeaudit.readers.pickle.inert import Inert
from treeaudit.readers.pickle.pickle_vm import read_pickle

X, Y = load_iris(return_X_y=True)


class Raw(bytes):
    """Array bytes: an 8-bit string like any other."""


class Long(int):
    """A whole number that Python 2 calls long."""


class Python2:
    """The pickler of Python 2, as far as models need it."""

    def __init__(self, protocol: int) -> None:
        self.protocol = protocol
        self.n = 0

    def text(self, raw: bytes) -> bytes:
        if self.protocol == 0:
            quoted = repr(raw)[1:]
            return b"S" + quoted.encode("ascii") + b"\n"
        if len(raw) < 256:
            return b"U" + bytes([len(raw)]) + raw
        return b"T" + struct.pack("<i", len(raw)) + raw

    def number(self, value: int) -> bytes:
        if isinstance(value, bool):
            return b"I01\n" if value else b"I00\n"
        if isinstance(value, Long):
            size = (value.bit_length() + 8) // 8
            packed = b"\x8a" + bytes([size]) + value.to_bytes(size, "little", signed=True)
            return packed if self.protocol == 2 else f"L{value}L\n".encode()
        return f"I{value}\n".encode() if self.protocol == 0 else b"J" + struct.pack("<i", value)

    def made(self, module: str, name: str, *args: Any) -> bytes:
        return f"c{module}\n{name}\n".encode() + self.dump(args) + b"R"

    def dump(self, value: Any) -> bytes:
        match value:
            case np.generic():
                return self.made("numpy.core.multiarray", "scalar", value.dtype, value.tobytes())
            case None:
                return b"N"
            case int():
                return self.number(value)
            case float():
                return f"F{value!r}\n".encode() if self.protocol == 0 else self._double(value)
            case str() | bytes():
                return self.text(value.encode("latin1") if isinstance(value, str) else value)
            case tuple():
                return b"(" + b"".join(map(self.dump, value)) + b"t"
            case list():
                return b"(l" + b"".join(self.dump(v) + b"a" for v in value)
            case dict():
                pairs = (self.dump(k) + self.dump(v) + b"s" for k, v in value.items())
                return b"(d" + b"".join(pairs)
            case np.dtype():
                return self.dtype(value)
            case np.ndarray():
                return self.array(value)
            case _:
                return self.instance(value)

    def _double(self, value: float) -> bytes:
        return b"G" + struct.pack(">d", value)

    def dtype(self, dtype: np.dtype[Any]) -> bytes:
        order = "|" if dtype.itemsize == 1 or dtype.kind in "OSV" else "<"
        if dtype.names is None:
            code = dtype.str[1:] if dtype.kind != "O" else "O8"
            sizes = (dtype.itemsize, dtype.alignment) if dtype.kind in "SU" else (-1, -1)
            flags = {"O": 63, "U": 8}.get(dtype.kind, 0)
            state: Any = (3, order, None, None, None, *sizes, flags)
        else:
            assert dtype.fields is not None
            fields = {name: tuple(dtype.fields[name][:2]) for name in dtype.names}
            code = f"V{dtype.itemsize}"
            state = (3, "|", None, dtype.names, fields, dtype.itemsize, 1, 16)
        return self.made("numpy", "dtype", code, 0, 1) + self.dump(state) + b"b"

    def array(self, array: Any) -> bytes:
        content = array.tolist() if array.dtype == object else array.tobytes()
        shape = tuple(Long(n) for n in array.shape)
        head = (
            b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n"
            + self.dump((Long(0),))
            + self.dump("b")
            + b"tR"
        )
        return head + self.dump((1, shape, array.dtype, False, content)) + b"b"

    def instance(self, value: Any) -> bytes:
        cls = type(value)
        if cls.__name__ == "Tree":
            _, args, state = value.__reduce__()
            return self.made("sklearn.tree._tree", "Tree", *args) + self.dump(state) + b"b"
        name = f"csklearn.tree.tree\n{cls.__name__}\n".encode()
        made = name + b")\x81"
        if self.protocol < 2:
            made = b"ccopy_reg\n_reconstructor\n(" + name + b"c__builtin__\nobject\nNtR"
        return made + self.dump(vars(value)) + b"b"

    def file(self, value: Any) -> bytes:
        return (b"\x80\x02" if self.protocol == 2 else b"") + self.dump(value) + b"."


def fitted(labels: Any = Y, **more: Any) -> Any:
    return DecisionTreeClassifier(max_depth=3, random_state=0, **more).fit(X, labels)


def _write(value: Any, protocol: int, folder: Path) -> Path:
    path = folder / "model.pkl"
    path.write_bytes(Python2(protocol).file(value))
    return path


def _same(forest: Forest, expected: Forest) -> None:
    assert forest.counts_are == expected.counts_are
    assert forest.n_records == expected.n_records
    assert forest.source.estimator == expected.source.estimator
    for one, other in zip(forest.trees, expected.trees, strict=True):
        for name in ("parent", "feature", "low", "high", "n_records", "counts"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name


def test_the_writer_writes_what_python_reads() -> None:
    value = {"a": [1, 2.5, None, True, (Long(5), "b")], "x": np.arange(300), "y": np.float64(2.5)}
    for protocol in (0, 1, 2):
        back = pickle.loads(Python2(protocol).file(value), encoding="latin1")
        assert back["a"] == value["a"]
        assert np.array_equal(back["x"], np.arange(300))
        assert back["y"] == 2.5


@pytest.mark.parametrize("protocol", [0, 1, 2])
def test_a_tree(protocol: int, tmp_path: Path) -> None:
    model = fitted()
    forest = read_whole(_write(model, protocol, tmp_path))
    _same(forest, load(model))
    assert forest.schema.classes == (0, 1, 2)
    assert forest.source.parameters == load(model).source.parameters
    assert forest.warnings == ()


@pytest.mark.parametrize("protocol", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["S10", object, "U10"])
def test_class_labels_of_eight_bits(dtype: Any, protocol: int, tmp_path: Path) -> None:
    model = fitted()
    labels = ["b\xe9nin", "mal\xe9", "plain"]
    if dtype == "S10":
        model.classes_ = np.array([label.encode("utf-8") for label in labels])
    elif dtype is object:
        model.classes_ = np.array([label.encode("utf-8") for label in labels], dtype=object)
    else:
        model.classes_ = np.array(labels)
    forest = read_whole(_write(model, protocol, tmp_path))
    assert forest.schema.classes == tuple(labels)
    _same(forest, load(fitted()))


@pytest.mark.parametrize("protocol", [0, 1, 2])
def test_numbers_that_are_long_or_of_numpy(protocol: int, tmp_path: Path) -> None:
    model = fitted()
    model.n_classes_ = Long(3)
    model.max_depth = np.int64(3)
    model.n_features_in_ = Long(4)
    model.class_weight = None
    _same(read_whole(_write(model, protocol, tmp_path)), load(fitted()))


@pytest.mark.parametrize("protocol", [0, 1, 2])
def test_a_bundle_is_chosen_from_by_eight_bit_names(protocol: int, tmp_path: Path) -> None:
    path = _write({"one": fitted(), "two": fitted()}, protocol, tmp_path)
    _same(load(path, select="['two']"), load(fitted()))


def test_attributes_by_eight_bit_names() -> None:
    root = read_pickle(Python2(2).file(fitted())).root
    assert isinstance(root, Inert)
    assert isinstance(root.get("tree_"), Inert)
    assert root.attributes["max_depth"] == 3
    assert root.get("criterion") == "gini"


@pytest.mark.parametrize("protocol", [0, 1, 2])
@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("posix", "system"),
        ("os", "popen2"),
        ("commands", "getoutput"),
        ("__builtin__", "eval"),
        ("__builtin__", "execfile"),
        ("__builtin__", "apply"),
        ("__builtin__", "input"),
        ("urllib2", "urlopen"),
        ("popen2", "popen3"),
        ("cPickle", "loads"),
        ("copy_reg", "add_extension"),
        ("new", "function"),
    ],
)
def test_what_runs_code_in_python_2_is_unsafe(
    module: str, name: str, protocol: int, tmp_path: Path
) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(Python2(protocol).made(module, name, "id") + b".")
    assert type(refusal(path)) is UnsafeModelError


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
    path = tmp_path / "model.pkl"
    path.write_bytes(data)
    assert type(refusal(path)) is UnsupportedModelError
