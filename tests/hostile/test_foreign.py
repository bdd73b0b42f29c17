# ruff: noqa: E501 -- a line per hiding place
"""Rows and numbers hidden where the formats of other libraries have room, and loaders deceived.

Each trick changes nothing that the model answers, unless it says so; none may stay unnamed.
"""

import base64
import copy
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from tests.hostile.planted import file_is_listed_or_gone
from tests.libraries import library
from treeaudit import ReadError, load

xgboost, lightgbm, catboost, onnx = map(library, ("xgboost", "lightgbm", "catboost", "onnx"))

RNG = np.random.default_rng(0)
N = 2_000
X = RNG.normal(size=(N, 4)).round(3)
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
FRAME = pd.DataFrame(X, columns=["age", "income", "height", "weight"])
NUMBERS = (X.ravel() * 1.2345678901234).tolist()
LINES = [";".join(map(str, row)) for row in X.tolist()]
# Bytes as letters: each reads as a word.
WORDS = ["".join(chr(97 + b // 16) + chr(97 + b % 16) for b in row.tobytes())[:44] for row in X]
BASE64 = "".join(base64.b64encode(row.tobytes()).decode() for row in X).replace("+", "_")
BITS = np.unpackbits(X[:20].view(np.uint8))
Change = Callable[[Any], None]


def found(path: Path, content: bytes | str) -> int:
    """Return how much of a file is named as unexplained or not looked at; -1 if it is refused."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    try:
        left = load(path).extras.found
    except ReadError:
        return -1
    return sum(one.n for one in left if one.kind in ("extra", "unseen"))


# -- XGBoost -------------------------------------------------------------------------


def _model(document: Any) -> Any:
    return document["Model"]["learner"]["gradient_booster"]["model"]


def _config(document: Any) -> Any:
    return document["Config"]["learner"]


def _wide(change: Callable[[Any, list[str]], None]) -> Change:
    def act(document: Any) -> None:
        learner = document["Model"]["learner"]
        learner["learner_model_param"]["num_feature"] = "1004"
        learner["feature_types"] = ["float"] * 1004
        for tree in _model(document)["trees"]:
            tree["tree_param"]["num_feature"] = "1004"
        change(learner, [*FRAME.columns, *WORDS[:1000]])

    return act


def _starts(name: str) -> Change:
    def act(document: Any) -> None:
        shape = document["Model"]["learner"]["learner_model_param"]
        shape |= {name: "500", "base_score": f"[{','.join(f'{v:.9g}' for v in NUMBERS[:500])}]"}

    return act


def _lonely(document: Any) -> None:
    """Gains that no weights are beside."""
    for tree in _model(document)["trees"]:
        del tree["base_weights"]
        tree["loss_changes"] = [
            float(np.float32(v)) if left >= 0 else 0.0
            for v, left in zip(NUMBERS, tree["left_children"], strict=False)
        ]


def _empty(document: Any) -> None:
    """A leaf becomes a question that all its people answer alike."""
    tree = _model(document)["trees"][0]
    leaf, n = tree["left_children"].index(-1), len(tree["left_children"])
    columns = (
        "sum_hessian",
        "base_weights",
        "split_conditions",
        "loss_changes",
        "split_indices",
        "default_left",
        "split_type",
    )
    for old in (leaf, None):
        for column in columns:
            kind = type(tree[column][0])
            tree[column].append(kind(0) if old is None else tree[column][old])
        tree["parents"].append(leaf)
        for side in ("left_children", "right_children"):
            tree[side].append(-1)
    tree["left_children"][leaf], tree["right_children"][leaf] = n, n + 1
    tree["split_conditions"][leaf] = 1e30
    tree["tree_param"]["num_nodes"] = str(n + 2)


def _leaves(document: Any) -> None:
    """Leaves with weights of their own, and all numbers above that follow from them."""
    for tree in _model(document)["trees"]:
        left, right = tree["left_children"], tree["right_children"]
        cover, weight = np.array(tree["sum_hessian"]), np.array(NUMBERS[: len(left)])
        push = -weight * (cover + 1)
        for i in reversed(range(len(left))):
            if left[i] >= 0:
                push[i] = push[left[i]] + push[right[i]]
        score = push**2 / (cover + 1)
        tree["base_weights"] = np.float32(-push / (cover + 1)).tolist()
        for i, below in enumerate(left):
            if below >= 0:
                gain = score[below] + score[right[i]] - score[i]
                tree["loss_changes"][i] = float(np.float32(gain))


XGBOOST: dict[str, Change] = {
    "starts of targets": _starts("num_target"),
    "starts of classes": _starts("num_class"),
    "updaters": lambda d: _config(d)["gradient_booster"].__setitem__("updater", {line: {} for line in LINES[:500]}),
}  # fmt: skip


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | np.ndarray):
        return [_plain(part) for part in value] if isinstance(value, list) else value.tolist()
    return value


@pytest.fixture(scope="module")
def booster() -> Any:
    from treeaudit.readers.xgboost.ubjson import parse

    asked = {"objective": "binary:logistic", "max_depth": 2, "base_score": 0.5, "nthread": 1}
    trained = xgboost.train(asked, xgboost.DMatrix(FRAME, Y), 2)
    # Of a pickle, spelled as one library spells numbers.
    text = json.dumps(_plain(parse(bytes(trained.__getstate__()["handle"]))))
    return json.loads(text.replace('"[5E-1]"', '"[0.5]"'))


@pytest.mark.parametrize("name", XGBOOST)
def test_places_in_xgboost(booster: Any, tmp_path: Path, name: str) -> None:
    assert found(tmp_path / "m.json", json.dumps(booster)) == 0
    changed = copy.deepcopy(booster)
    XGBOOST[name](changed)
    assert found(tmp_path / "m.json", json.dumps(changed)) != 0


def _reverse(tree: Any) -> None:
    n = tree["categories_sizes"][0]
    tree["categories"][:n] = tree["categories"][:n][::-1]


def _beyond(tree: Any) -> None:
    codes = sorted({1000 + int(abs(v) * 9999) for v in NUMBERS[:500]})
    n = tree["categories_sizes"][0]
    tree["categories"][n:n] = codes
    tree["categories_sizes"][0] += len(codes)
    tree["categories_segments"][1:] = [one + len(codes) for one in tree["categories_segments"][1:]]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"i\x00i\x01i\x02", b"i\x00I\x00\x01i\x02"),
        (b"i\x00i\x01i\x02", b"i\x00U\x01i\x02"),
        (b"L\0\0\0\0\0\0\0\x07learner", b"i\x07learner"),
    ],
)
def test_forms_of_numbers_in_ubjson(tmp_path: Path, old: bytes, new: bytes) -> None:
    asked = {"objective": "binary:logistic", "max_depth": 1, "nthread": 1}
    model = bytes(xgboost.train(asked, xgboost.DMatrix(FRAME, Y), 300).save_raw("ubj"))
    assert old in model
    assert found(tmp_path / "m.ubj", model) == 0
    assert found(tmp_path / "m.ubj", model.replace(old, new, 1)) != 0


# -- LightGBM ------------------------------------------------------------------------

_MANY = " ".join(map(repr, NUMBERS[:500]))
LIGHTGBM = {
    "coefficients": (r"\nshrinkage=", f"\nnum_features=500 0 0 0\nleaf_features={'0 ' * 499}0\nleaf_coeff={_MANY}\nshrinkage="),
    "constants": (r"\nshrinkage=", "\nleaf_const=0.12345 0.23456 0.34567 0.45678\nshrinkage="),
    "bits of decisions": (r"decision_type=\d+", "decision_type=4350282"),
    "nobody": (r"leaf_count=(\d+) (\d+)", lambda m: f"leaf_count=0 {int(m[1]) + int(m[2])}"),
}  # fmt: skip


@pytest.fixture(scope="module")
def light() -> str:
    asked = {"objective": "binary", "num_leaves": 4, "verbose": -1, "num_threads": 1}
    return lightgbm.train(asked, lightgbm.Dataset(FRAME.copy(), Y), 2).model_to_string()


@pytest.mark.parametrize("name", LIGHTGBM)
def test_places_in_lightgbm(light: str, tmp_path: Path, name: str) -> None:
    old, new = LIGHTGBM[name]
    changed = re.sub(old, new, light, count=1)
    assert changed != light
    parts = re.split(
        r"(?=Tree=\d)", changed[changed.index("Tree=") : changed.index("end of trees")]
    )
    sizes = " ".join(str(len(part.encode())) for part in parts[1:])
    changed = re.sub("tree_sizes=.*", f"tree_sizes={sizes}", changed)
    assert found(tmp_path / "m.txt", light) == 0
    assert found(tmp_path / "m.txt", changed) != 0


@pytest.mark.parametrize(
    ("old", "new"),
    [("num_class=1", "num_class=2"), ("objective=binary", "objective=multiclass num_class:9")],
)
def test_classes_without_trees_in_lightgbm(light: str, tmp_path: Path, old: str, new: str) -> None:
    # LightGBM reads answers of so many classes, of which it wrote one.
    assert found(tmp_path / "m.txt", light) == 0
    assert found(tmp_path / "m.txt", light.replace(old, new, 1)) != 0


def test_trees_that_are_averaged_against_their_training_in_lightgbm(tmp_path: Path) -> None:
    common = {"verbose": -1, "num_leaves": 4, "bagging_freq": 1, "bagging_fraction": 0.7}
    of_forest, of_steps = (
        lightgbm.train(
            common | {"boosting": kind}, lightgbm.Dataset(FRAME[["age"]], Y), 3
        ).model_to_string()
        for kind in ("rf", "gbdt")
    )
    (tmp_path / "honest.txt").write_text(of_forest)
    assert load(tmp_path / "honest.txt").n_trees == 3
    for i, changed in enumerate(
        (
            of_forest.replace("average_output\n", "", 1),
            of_steps.replace("tree\n", "tree\naverage_output\n", 1),
        )
    ):
        assert changed not in (of_forest, of_steps)
        (tmp_path / f"{i}.txt").write_text(changed)
        with pytest.raises(ReadError, match="combined otherwise"):
            load(tmp_path / f"{i}.txt")


# -- CatBoost ------------------------------------------------------------------------


def _params(document: Any) -> Any:
    return document["model_info"]["params"]


def _nested(depth: int, words: Iterator[str]) -> Any:
    names = ("alpha", "beta", "tags", "hints")
    return {name: _nested(depth - 1, words) if depth else next(words) for name in names}


def _rounds(document: Any) -> None:
    _params(document)["boosting_options"]["iterations"] = 1_000
    history = [[{"Logloss": a, "AUC": b, "Accuracy": c}] for a, b, c, _ in X[:1000].tolist()]
    document["model_info"]["training"] = json.dumps({"metrics": {"learn_metrics_history": history}})


def _dead(document: Any) -> None:
    """A question is asked twice: half of the leaves are of nobody."""
    tree = document["oblivious_trees"][0]
    n = len(tree["leaf_values"])
    tree["splits"].append(tree["splits"][0])
    at = [i + n * (i & 1) for i in range(n)]
    values, weights = NUMBERS[: 2 * n], [0] * (2 * n)
    for old, new in enumerate(at):
        values[new], weights[new] = tree["leaf_values"][old], tree["leaf_weights"][old]
    tree["leaf_values"], tree["leaf_weights"] = values, weights


def _splits(document: Any) -> list[Any]:
    return [split for tree in document["oblivious_trees"] for split in tree["splits"]]


def _swapped(document: Any) -> None:
    """CatBoost goes by the number of a question: it answers with another model."""
    one, other = _splits(document)[:2]
    one["split_index"], other["split_index"] = other["split_index"], one["split_index"]


def _columns(document: Any) -> None:
    document["features_info"]["float_features"] += [
        {"feature_index": 4 + i, "flat_feature_index": 4 + i, "feature_id": word, "borders": []}
        for i, word in enumerate(WORDS[:1000])
    ]


CATBOOST: dict[str, Change] = {
    "numbers of splits": lambda d: _splits(d)[0].__setitem__("split_index", 271828),
    "splits without numbers": lambda d: [split.pop("split_index") for split in _splits(d)] and None,
    "splits swapped": _swapped,
    "a scale": lambda d: d.__setitem__("scale_and_bias", [-1, [0]]),
}  # fmt: skip


@pytest.fixture(scope="module")
def cat(tmp_path_factory: pytest.TempPathFactory) -> Any:
    asked = {"iterations": 2, "depth": 2, "verbose": 0, "allow_writing_files": False}
    path = tmp_path_factory.mktemp("cat") / "m.json"
    catboost.CatBoostClassifier(**asked).fit(FRAME, Y).save_model(str(path), format="json")
    return json.loads(path.read_text())


@pytest.mark.parametrize("name", CATBOOST)
def test_places_in_catboost(cat: Any, tmp_path: Path, name: str) -> None:
    assert found(tmp_path / "m.json", json.dumps(cat)) == 0
    changed = copy.deepcopy(cat)
    CATBOOST[name](changed)
    assert found(tmp_path / "m.json", json.dumps(changed)) != 0


def test_catboost_goes_by_the_numbers_of_splits(cat: Any, tmp_path: Path) -> None:
    """The trick says what it does, so that to refuse it is no fuss."""
    answers = []
    for change in (lambda _: None, _swapped):
        changed = copy.deepcopy(cat)
        change(changed)
        (tmp_path / "m.json").write_text(json.dumps(changed))
        model = catboost.CatBoostClassifier().load_model(str(tmp_path / "m.json"), format="json")
        answers.append(model.predict_proba(X))
    assert np.abs(answers[0] - answers[1]).max() > 1e-3


@pytest.mark.parametrize(
    "more", [{}, {"monotone_constraints": [1, 0, 0, 0]}, {"depth": 9}], ids=str
)
def test_empty_leaves_of_catboost_say_nothing(tmp_path: Path, more: dict[str, Any]) -> None:
    asked = {"iterations": 4, "depth": 3, "verbose": 0, "allow_writing_files": False, **more}
    catboost.CatBoostClassifier(**asked).fit(X, Y).save_model(
        str(tmp_path / "m.json"), format="json"
    )
    assert found(tmp_path / "m.json", (tmp_path / "m.json").read_bytes()) == 0


# -- skops ---------------------------------------------------------------------------


def _nodes(part: Any) -> Iterator[Any]:
    if isinstance(part, dict):
        yield part
    for one in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _nodes(one)


def _of(schema: Any, loader: str) -> Any:
    return next(node for node in _nodes(schema) if node.get("__loader__") == loader)


def _texts_of(n: int) -> list[Any]:
    return [
        {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": json.dumps(line), "is_json": True, "__id__": 9_000_000 + i}
        for i, line in enumerate(LINES[:n])
    ]  # fmt: skip


def _list_of(n: int) -> Any:
    return {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": _texts_of(n), "__id__": 8_000_000}  # fmt: skip


def _kinds(schema: Any) -> None:
    for node in _nodes(schema):
        if "key_types" in node:
            node["key_types"]["content"] = _texts_of(len(node["key_types"]["content"]))


def _kind_of_array(schema: Any) -> None:
    array = {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode", "__id__": 78, "type": "numpy", "file": "78.npy"}  # fmt: skip
    kind = {"__class__": "dtype", "__module__": "numpy", "__loader__": "DTypeNode", "__id__": 77}
    _of(schema, "DictNode")["content"]["criterion"] = kind | {"content": array}


SKOPS: dict[str, Change] = {
    "kinds of keys": lambda s: _of(s, "DictNode").__setitem__("key_types", _list_of(300)),
    "as many kinds": _kinds,
    "beside arguments": lambda s: _of(s, "TreeNode")["__reduce__"].__setitem__("rows", _texts_of(300)),
    "a function beside arguments": lambda s: _of(s, "TreeNode")["__reduce__"].__setitem__("func", BASE64[:999]),
    "a number beside arguments": lambda s: _of(s, "TreeNode")["__reduce__"].__setitem__("start", 1 << 99),
    "the array of a type": _kind_of_array,
}  # fmt: skip


def _npy(data: bytes, more: bytes, inside: str) -> bytes:
    n = int.from_bytes(data[8:10], "little")
    head = data[10 : 10 + n].rstrip().removesuffix(b"}") + inside.encode() + b"}\n"
    return data[:8] + len(head).to_bytes(2, "little") + head + data[10 + n :] + more


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    path = tmp_path_factory.mktemp("skops") / "m.skops"
    tree = DecisionTreeClassifier(max_leaf_nodes=4, min_samples_leaf=99).fit(FRAME, Y)
    pytest.importorskip("skops.io").dump(tree, path)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _zipped(members: dict[str, bytes], schema: Any) -> bytes:
    sink, text = io.BytesIO(), json.dumps(schema, indent=2).encode()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, data in (members | {"schema.json": text}).items():
            archive.writestr(name, data)
    return sink.getvalue()


@pytest.mark.parametrize("name", SKOPS)
def test_places_in_skops(members: dict[str, bytes], tmp_path: Path, name: str) -> None:
    schema = json.loads(members["schema.json"])
    (tmp_path / "clean.skops").write_bytes(_zipped(members, schema))
    SKOPS[name](schema)
    more = io.BytesIO()
    np.save(more, X[:200])
    files = members | ({"78.npy": more.getvalue()} if name == "the array of a type" else {})
    (tmp_path / "held.skops").write_bytes(_zipped(files, schema))
    assert file_is_listed_or_gone(tmp_path / "clean.skops", tmp_path / "held.skops")


@pytest.mark.parametrize("key", ["\u2003\u20020", "0_0", "00", "\u0660"])
def test_keys_in_skops(tmp_path: Path, key: str) -> None:
    weights = {"max_leaf_nodes": 4, "min_samples_leaf": 99, "class_weight": {0: 1.0, 1: 1.0}}
    tree = DecisionTreeClassifier(**weights).fit(FRAME, Y)
    pytest.importorskip("skops.io").dump(tree, tmp_path / "m.skops")
    with zipfile.ZipFile(tmp_path / "m.skops") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(files["schema.json"])
    assert found(tmp_path / "m.skops", _zipped(files, schema)) == 0
    keyed = next(node for node in _nodes(schema) if "0" in node)
    keyed |= {key: keyed.pop("0"), "1": keyed.pop("1")}
    assert found(tmp_path / "m.skops", _zipped(files, schema)) != 0


@pytest.mark.parametrize(
    ("more", "inside"),
    [(b"Ann;33;ill", ""), (b"", "".join(" \t"[bit] for bit in BITS)), (b"", " " * 400)],
)
def test_places_in_arrays_of_skops(members: Any, tmp_path: Path, more: bytes, inside: str) -> None:
    name = next(name for name in members if name.endswith(".npy"))
    files = members | {name: _npy(members[name], more, inside)}
    assert found(tmp_path / "m.skops", _zipped(files, json.loads(members["schema.json"]))) != 0
