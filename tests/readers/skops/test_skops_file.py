"""Skops files, honest and otherwise, read without skops."""

import io
import json
import pickle
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from tests.hostile.test_sandbox import read_apart
from tests.libraries import library
from tests.outcome import read_whole, refusal
from tests.readers.damage import refused, same_trees
from treeaudit import (
    Forest,
    ModelTooLargeError,
    ReadError,
    UnsafeModelError,
    UnsupportedModelError,
    load,
)

pytestmark = pytest.mark.libraries
skops = library("skops.io")

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"], dtype=object)[Y]
TREE = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)
SCALED = ColumnTransformer([("scale", StandardScaler(), [0, 1, 2, 3])])
MODELS = {
    "tree": TREE,
    "labels": DecisionTreeClassifier(max_depth=2).fit(X, NAMES),
    "flags": DecisionTreeClassifier(max_depth=2).fit(X, Y == 1),
    "weights": DecisionTreeClassifier(max_depth=2, class_weight={0: 2, 1: 1, 2: 1}).fit(X, Y),
    "generator": DecisionTreeClassifier(random_state=np.random.RandomState(0)).fit(X, Y),
    "forest": RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, Y),
    "regressor": ExtraTreesRegressor(3, max_depth=3, random_state=0).fit(X, X[:, 0]),
    "pipeline": Pipeline([("scale", SCALED), ("tree", TREE)]).fit(X, Y),
    "search": GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=2).fit(X, Y),
    "dict": {"model": TREE, "names": ("a", "b"), 1: {2.5: None}, "set": {1, 2}},
}


def _same(a: Forest, b: Forest) -> None:
    assert a.schema == b.schema
    assert (a.counts_are, a.counts_reason) == (b.counts_are, b.counts_reason)
    assert (a.n_records, a.records_are) == (b.n_records, b.records_are)
    assert a.warnings == b.warnings
    assert a.source.parameters == b.source.parameters
    same_trees(a, b)


@pytest.mark.parametrize("method", ["STORED", "DEFLATED"])
@pytest.mark.parametrize("name", MODELS)
def test_a_skops_file_is_the_same_model(name: str, method: str, tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    skops.dump(MODELS[name], path, compression=getattr(zipfile, f"ZIP_{method}"))
    expected = load(MODELS[name])
    forest = read_whole(path)
    _same(forest, expected)
    assert forest.source.format == "sklearn-skops"
    assert forest.source.n_bytes == path.stat().st_size
    assert forest.source.library_version == expected.source.library_version


def test_a_model_is_chosen_from_a_bundle(tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    skops.dump({"one": TREE, "two": MODELS["labels"]}, path)
    with pytest.raises(UnsupportedModelError, match=r"\['one'\], \['two'\]"):
        load(path)
    _same(load(path, select="['two']"), load(MODELS["labels"]))


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (SVC().fit(X, Y), "SVC"),
        (StandardScaler().fit(X), "StandardScaler"),
        (FunctionTransformer(np.log1p), "FunctionTransformer,"),
        (["a", "b"], "list"),
        ({"a": X, "b": np.array([["x", None]], dtype=object)}, "dict"),
        (DecisionTreeClassifier(), "never fitted"),
        (np.arange(3), "array"),
        (np.float64(3), "3.0"),
        (b"bytes", "b'bytes'"),
        (slice(1, 2), "slice"),
        (np.random.default_rng(0), "Generator"),
        (np.dtype("f8"), "DType"),
        (np.ma.array([1, 2], mask=[0, 1]), "MaskedArray"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_no_model_is_named(value: Any, name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    skops.dump(value, path)
    error = refusal(path)
    assert type(error) is UnsupportedModelError
    assert name in str(error)


def test_tables_of_objects_keep_their_shape(tmp_path: Path) -> None:
    from treeaudit.readers.open import open_file
    from treeaudit.readers.skops.model import parse

    table = np.array([["a", None, 2.5], ["b", (1, 2), [3]]], dtype=object)
    path = tmp_path / "model.skops"
    skops.dump({"table": table, "cube": np.array([[[None, 1]]], dtype=object), 5: True}, path)
    root = parse(open_file(path)).root
    assert isinstance(root, dict)
    assert root["table"].tolist() == table.tolist()
    assert root["cube"].shape == (1, 1, 2)
    assert root[5] is True


# -- hostile files ------------------------------------------------------------------


def members(model: Any = TREE) -> tuple[dict[str, Any], dict[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(skops.dumps(model))) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(files.pop("schema.json")), files


def packed(schema: Any, files: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
        archive.writestr("schema.json", schema if isinstance(schema, bytes) else json.dumps(schema))
    return out.getvalue()


def attributes(schema: dict[str, Any]) -> dict[str, Any]:
    stored: dict[str, Any] = schema["content"]["content"]
    return stored


def with_attribute(node: Any) -> bytes:
    schema, files = members()
    attributes(schema)["splitter"] = node
    return packed(schema, files)


def node(loader: str, module: str, name: str, **more: Any) -> dict[str, Any]:
    return {"__class__": name, "__module__": module, "__loader__": loader, "__id__": 1, **more}


def method(module: str, name: str, function: str) -> dict[str, Any]:
    content = {"func": function, "obj": node("ObjectNode", module, name)}
    return node("MethodNode", module, name, content=content)


def state(**attributes: Any) -> dict[str, Any]:
    held = node("DictNode", "builtins", "dict", content=attributes) | {"__id__": 7}
    return node("ObjectNode", "sklearn.svm._classes", "SVC", content=held)


TEXT = node("JsonNode", "builtins", "str", content='"touch x"')
NONE = node("TupleNode", "builtins", "tuple", content=[])
UNSAFE = {
    "function": node("FunctionNode", "os", "system"),
    "function-content": node(
        "FunctionNode", "numpy", "log", content={"module_path": "os", "function": "system"}
    ),
    "function-dotted": node("FunctionNode", "numpy.lib", "_datasource.os.system"),
    "type": node("TypeNode", "builtins", "eval"),
    "operator": node("OperatorFuncNode", "operator", "methodcaller", attrs=NONE),
    "operator-elsewhere": node("OperatorFuncNode", "os", "system", attrs=NONE),
    "object": node("ObjectNode", "subprocess", "Popen", content=TEXT),
    "object-known": node("ObjectNode", "numpy", "memmap", content=TEXT),
    "constructor": node("ConstructorFromReduceNode", "pandas", "HDFStore", content=NONE),
    "tree": {**node("TreeNode", "os", "system", content=TEXT), "__reduce__": {"args": NONE}},
    "dict": node("DictNode", "posix", "system", content={}),
    "list": node("ListNode", "builtins", "map", content=[]),
    "tuple": node("TupleNode", "builtins", "exec", content=[]),
    "set": node("SetNode", "builtins", "eval", content=[]),
    "json": node("JsonNode", "os", "system", content="1"),
    "array": node("NdArrayNode", "os", "system", type="json", content=[], shape=NONE),
    "unknown-kind": node("BrandNewNode", "numpy", "fromfile"),
    "partial": node(
        "PartialNode",
        "functools",
        "partial",
        content={"func": node("FunctionNode", "os", "system"), "args": NONE},
    ),
    "partial-elsewhere": node("PartialNode", "os", "system", content={"args": NONE}),
    "method": node(
        "MethodNode",
        "sklearn.tree._classes",
        "DecisionTreeClassifier",
        content={"func": "__reduce__", "obj": node("ObjectNode", "sklearn.svm._classes", "SVC")},
    ),
    "method-name": method("sklearn.svm._classes", "SVC", "__init__"),
    "generator": node(
        "RandomGeneratorNode",
        "numpy.random._generator",
        "Generator",
        content={
            "bit_generator": node(
                "DictNode",
                "builtins",
                "dict",
                content={"bit_generator": node("JsonNode", "builtins", "str", content='"seed"')},
            )
        },
    ),
    "behind-an-identity": [
        node("JsonNode", "builtins", "str", content="1"),
        node("FunctionNode", "os", "system"),
    ],
    "function-of-a-library": node("FunctionNode", "numpy.testing._private.utils", "runstring"),
    "function-content-of-a-library": node(
        "FunctionNode", "numpy", "log", content={"module_path": "joblib", "function": "load"}
    ),
    "type-of-a-library": node("TypeNode", "pandas", "HDFStore"),
    "method-of-a-library": method("pandas.core.frame", "DataFrame", "eval"),
    "method-that-fits": method("sklearn.pipeline", "Pipeline", "fit"),
    "state-predict": state(predict=TEXT),
    "state-setstate": state(__setstate__=TEXT),
    "bunch-item": node("DictNode", "sklearn.utils._bunch", "Bunch", content={"append": TEXT})
    | {"__id__": 7},
    "path-file": node("BytesNode", "builtins", "bytes", file="../../etc/passwd"),
    "absolute-file": node("NdArrayNode", "numpy", "ndarray", type="numpy", file="/etc/passwd"),
}


def unsafe(name: str) -> bytes:
    bad = UNSAFE[name]
    whole = node("ListNode", "builtins", "list", content=bad) if isinstance(bad, list) else bad
    return with_attribute(whole)


@pytest.mark.parametrize("name", UNSAFE)
def test_names_that_run_code_are_unsafe(name: str, tmp_path: Path) -> None:
    refused(tmp_path, unsafe(name), UnsafeModelError)


NOT_READ: dict[str, Any] = {
    "constructor-own": node("ConstructorFromReduceNode", "__main__", "Thing", content=NONE),
    "loss": {**node("LossNode", "my_code", "Loss", content=TEXT), "__reduce__": {"args": NONE}},
}


@pytest.mark.parametrize("name", NOT_READ)
def test_code_of_other_libraries_is_not_read(name: str, tmp_path: Path) -> None:
    assert "treeaudit does not read" in refused(tmp_path, with_attribute(NOT_READ[name]))


DAMAGED: dict[str, Any] = {
    "no-node": 5,
    "no-class": {"__loader__": "ObjectNode"},
    "no-loader": {"__class__": "SVC", "__module__": "sklearn.svm"},
    "number-for-a-name": node("ObjectNode", "sklearn", 5),  # type: ignore[arg-type]
    "long-name": node("ObjectNode", "a" * 600, "B"),
    "no-content": node("DictNode", "builtins", "dict"),
    "list-content": node("ListNode", "builtins", "list", content={"a": 1}),
    "json": node("JsonNode", "builtins", "str", content="{"),
    "deep-json": node("JsonNode", "builtins", "str", content="[" * 100_000),
    "long-number": node("JsonNode", "builtins", "str", content="9" * 100_000),
    "missing-file": node("NdArrayNode", "numpy", "ndarray", type="numpy", file="999.npy"),
    "no-file": node("NdArrayNode", "numpy", "ndarray", type="numpy"),
    "not-an-array": node("NdArrayNode", "numpy", "ndarray", type="numpy", file="schema.json"),
    "objects": node("NdArrayNode", "numpy", "ndarray", type="json", content=[TEXT], shape=TEXT),
    "unknown-reference": {"__class__": None, "__module__": None, "__loader__": "CachedNode"},
    "reference": node("CachedNode", "builtins", "str"),
    "constructor": node("ConstructorFromReduceNode", "datetime", "date", content=TEXT),
    "own-tuple": node(
        "TupleNode", "builtins", "tuple", content=[node("TupleNode", "builtins", "tuple")]
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_schemas(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    path.write_bytes(with_attribute(DAMAGED[name]))
    error = refusal(path)
    assert isinstance(error, ReadError)
    assert not isinstance(error, UnsafeModelError), error


@pytest.mark.parametrize("where", ["key_types", "content"])
def test_the_first_node_of_an_identity_stands_for_all(where: str, tmp_path: Path) -> None:
    """Otherwise a file could show one model and load another."""
    schema, files = members()
    stored = attributes(schema)
    nodes = stored["tree_"]["content"]["content"]["nodes"]
    array = np.load(io.BytesIO(files[nodes["file"]]))
    array["threshold"][0] = 99
    file = io.BytesIO()
    np.save(file, array)
    files["other.npy"] = file.getvalue()
    other = {**nodes, "file": "other.npy"}
    if where == "key_types":
        schema["content"]["key_types"]["content"][0] = other
    else:
        del stored["splitter"]
        schema["content"]["content"] = {"splitter": other, **stored}
    path = tmp_path / "model.skops"
    path.write_bytes(packed(schema, files))
    if where == "key_types":
        # An array stands for itself, and is no type of a key.
        assert isinstance(refusal(path), ReadError)
    else:
        assert 99 in next(iter(load(path).trees)).high
        genuine = skops.load(path, trusted=skops.get_untrusted_types(file=path))
        assert 99 in genuine.tree_.threshold


def _huge_schema() -> bytes:
    return packed(b'{"a":[' + b"[]," * 20_000_000 + b"[]]}", {}, zipfile.ZIP_DEFLATED)


def _deep_nodes() -> bytes:
    inner = TEXT
    for i in range(200):
        inner = {**node("ListNode", "builtins", "list", content=[inner]), "__id__": i + 10}
    return with_attribute(inner)


def _renamed(old: str, new: str) -> bytes:
    schema, files = members()
    first = next(iter(files))
    text = json.dumps(schema).replace(first, new if old == "schema" else first)
    files[new] = files.pop(first)
    return packed(json.loads(text), files)


def _patched(at: int, value: int) -> bytes:
    schema, files = members()
    data = bytearray(packed(schema, files))
    data[data.index(b"PK\x01\x02") + at] = value
    return bytes(data)


def _twice() -> bytes:
    schema, files = members()
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w") as archive:
        warnings.simplefilter("ignore")
        for name, data in [*files.items(), *files.items()]:
            archive.writestr(name, data)
        archive.writestr("schema.json", json.dumps(schema))
    return out.getvalue()


def _overlapping() -> bytes:
    """Every member but the first is told to stand where the first one stands."""
    schema, files = members()
    same = dict.fromkeys(files, next(iter(files.values())))
    data = bytearray(packed(schema, same))
    at = data.index(b"PK\x01\x02")
    at = data.index(b"PK\x01\x02", at + 4)
    data[at + 42 : at + 46] = bytes(4)
    return bytes(data)


def _bomb(method: int) -> bytes:
    schema, files = members()
    first = next(iter(files))
    return packed(schema, {**files, first: bytes(300 << 20)}, method)


HOSTILE: dict[str, tuple[Callable[[], bytes], type[ReadError]]] = {
    "deep-json": (lambda: packed(b'{"a":' + b"[" * 100_000, {}), ModelTooLargeError),
    "deep-nodes": (_deep_nodes, ModelTooLargeError),
    "huge-schema": (_huge_schema, ModelTooLargeError),
    "no-object": (lambda: packed(b"[]", {}), ReadError),
    "no-json": (lambda: packed(b"\xff\xfe{", {}), ReadError),
    "pickled-array": (
        lambda: _with_array(np.array([None], dtype=object)),
        UnsafeModelError,
    ),
    "member-outside": (lambda: _renamed("", "../../evil.npy"), UnsafeModelError),
    "member-absolute": (lambda: _renamed("", "/etc/evil.npy"), UnsafeModelError),
    "member-windows": (lambda: _renamed("", "..\\evil.npy"), UnsafeModelError),
    "named-outside": (lambda: _renamed("schema", "../evil.npy"), UnsafeModelError),
    "missing": (lambda: packed(members()[0], {}), ReadError),
    "twice": (_twice, ReadError),
    "overlapping": (_overlapping, ReadError),
    "encrypted": (lambda: _patched(8, 1), UnsupportedModelError),
    "method": (lambda: _patched(10, 99), UnsupportedModelError),
    "lzma": (lambda: packed(*members(), zipfile.ZIP_LZMA), UnsupportedModelError),
    "checksum": (lambda: _patched(16, 1), ReadError),
    "offset": (lambda: _patched(44, 200), ReadError),
    "size": (lambda: _patched(22, 200), ReadError),
    "other-name": (lambda: _patched(46, 65), ReadError),
    "deflate-bomb": (lambda: _bomb(zipfile.ZIP_DEFLATED), ReadError),
    "bzip2-bomb": (lambda: _bomb(zipfile.ZIP_BZIP2), ReadError),
}


def _with_array(array: Any) -> bytes:
    schema, files = members()
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return packed(schema, {**files, next(iter(files)): file.getvalue()})


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives(name: str, tmp_path: Path) -> None:
    build, expected = HOSTILE[name]
    path = tmp_path / "model.skops"
    path.write_bytes(build())
    error = refusal(path)
    assert isinstance(error, expected), error
    assert expected is ReadError or type(error) is expected


def test_a_size_that_lies_is_found(tmp_path: Path) -> None:
    schema, files = members()
    data = bytearray(packed(schema, files, zipfile.ZIP_DEFLATED))
    at = data.index(b"PK\x01\x02")
    data[at + 24 : at + 28] = (5).to_bytes(4, "little")
    refused(tmp_path, data, ReadError)


def test_files_cut_short(tmp_path: Path) -> None:
    whole = skops.dumps(TREE)
    path = tmp_path / "model.skops"
    for n in (*range(4, len(whole), 997), len(whole) - 1):
        path.write_bytes(whole[:n])
        assert isinstance(refusal(path), ReadError)


def test_flipped_bytes(tmp_path: Path) -> None:
    whole = skops.dumps(TREE)
    random = np.random.default_rng(0)
    path = tmp_path / "model.skops"
    directory = whole.index(b"PK\x01\x02")
    for i in range(300):
        data = bytearray(whole)
        low = 0 if i % 3 else directory
        for at in random.integers(low, len(whole), 1 + i % 4):
            data[at] = random.integers(256)
        path.write_bytes(data)
        refusal(path)


def test_inspect_shows_what_is_inside(tmp_path: Path) -> None:
    from treeaudit.readers.inspect import describe

    path = tmp_path / "model.skops"
    for name in ("pipeline", "search"):
        skops.dump(MODELS[name], path)
        contents = describe(path)
        assert contents.format == "sklearn-skops"
        assert contents.outline is not None
        assert any("scikit-learn" in version for version in contents.versions)
    skops.dump(SVC().fit(X, Y), path)
    contents = describe(path)
    assert contents.format == "a skops file"
    assert "SVC" in str(contents.no_model)
    path.write_bytes(with_attribute(UNSAFE["function"]))
    assert "os.system" in str(describe(path).refused)


def test_models_of_other_libraries_are_read_as_from_a_pickle(tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBClassifier(n_estimators=2, max_depth=2).fit(X, Y)
    path = tmp_path / "model.skops"
    skops.dump(model, path)
    forest, expected = read_whole(path), load(model)
    assert forest.n_trees == expected.n_trees == 6
    same_trees(forest, expected)


def test_several_outputs_are_read_as_from_a_pickle(tmp_path: Path) -> None:
    model = DecisionTreeClassifier(max_depth=2).fit(X, np.c_[Y, Y == 1])
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(model))
    skops.dump(model, tmp_path / "model.skops")
    assert str(refusal(tmp_path / "model.skops")) == str(refusal(tmp_path / "model.pkl"))


def test_reading_opens_imports_and_runs_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    # Not the forest: its bootstrap draws are repeated with numpy's generators.
    for name in MODELS.keys() - {"forest"}:
        (folder / name).write_bytes(skops.dumps(MODELS[name]))
    for name in UNSAFE:
        (folder / f"unsafe-{name}").write_bytes(unsafe(name))
    for line in read_apart(folder):
        assert line["events"] == [], line
        assert line["outcome"] == ("UnsafeModelError" if "unsafe" in line["name"] else "model")


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["archive/data.pkl", "archive/version"], "a PyTorch file"),
        (["config.json", "model.weights.h5"], "a Keras model"),
        (["a.npy", "b.npy"], "archive of bare numpy arrays"),
        (["[Content_Types].xml"], "an Office document"),
        (["folder/model.joblib"], "name the model inside (folder/model.joblib)"),
        (["a.txt"], "a zip archive: unpack it"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_other_archives_are_named(names: list[str], kind: str, tmp_path: Path) -> None:
    path = tmp_path / "model.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, b"x")
    error = refusal(path)
    assert type(error) is UnsupportedModelError
    assert kind in str(error)
