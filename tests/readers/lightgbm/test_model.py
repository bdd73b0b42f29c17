"""LightGBM models agree with LightGBM: leaves, margins, people per leaf."""

import json
import pickle
import random
import re

import numpy as np
import pytest

from tests.fuzz.model_text import mutate, outcome
from tests.libraries import library
from tests.readers.damage import one_sentence, put
from treeaudit.errors import ModelTooLargeError, ReadError, UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.readers.lightgbm import model as lightgbm_model
from treeaudit.readers.limits import LIMITS
from treeaudit.readers.open import unpack
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.pickle.pickle_vm import read_pickle

pytestmark = pytest.mark.libraries
lgb = library("lightgbm")

N = 300
RNG = np.random.default_rng(12)
X = RNG.normal(size=(N, 5))
X[:, 1] = RNG.integers(0, 9, N)
X[:, 2] = RNG.integers(-2, 3, N)
X[:, 4] = np.where(RNG.random(N) < 0.5, 0, X[:, 4])
HOLES = np.where(RNG.random(X.shape) < 0.15, np.nan, X)
SCORE = X[:, 0] + (X[:, 1] % 3 == 1) + X[:, 4] + RNG.normal(size=N) * 0.5
BINARY, CLASSES = (SCORE > 0.5).astype(int), np.digitize(SCORE, [0, 0.7])
TARGET = {"regression": SCORE, "binary": BINARY, "multiclass": CLASSES}
SMALL = {
    "verbose": -1,
    "num_leaves": 7,
    "min_data_in_leaf": 5,
    "min_data_per_group": 5,
    "cat_smooth": 1,
    "num_threads": 1,
    "deterministic": True,
}


def train(objective="regression", data=X, rounds=4, weight=None, categorical="auto", **params):
    if objective == "multiclass":
        params["num_class"] = 3
    matrix = lgb.Dataset(data, TARGET[objective], weight=weight, categorical_feature=categorical)
    return lgb.train({**SMALL, "objective": objective, **params}, matrix, rounds)


def read(text: str | bytes) -> Forest:
    content = unpack(text if isinstance(text, bytes) else text.encode())
    assert lightgbm_model.matches(content)
    return lightgbm_model.read(content, Source(), None, LIMITS)


def forms(booster) -> dict[str, Forest]:
    root = read_pickle(pickle.dumps(booster)).root
    assert isinstance(root, Inert)
    inside = lightgbm_model.from_inert(root, Source(format="sklearn-pickle"))
    assert inside is not None
    return {
        "lightgbm-text": read(booster.model_to_string()),
        "lightgbm-json": read(json.dumps(booster.dump_model())),
        "sklearn-pickle": inside,
    }


def check(booster, forest: Forest, data=X, people: str = "exact") -> None:
    """Compare routing, margin and people with LightGBM's own view."""
    grid = np.vstack([data, HOLES, X])
    grid[-60:, 0] = np.tile([1e-36, -1e-36, 0, 1e-34, -1e-34, 5], 10)
    grid[-99:-60, 1] = RNG.integers(-1, 40, 39)
    theirs = booster.predict(grid, pred_leaf=True).reshape(len(grid), -1)
    coded = grid.copy()
    for i, feature in enumerate(forest.schema.features):
        if feature.categories is not None:
            coded[:, i] = np.minimum(coded[:, i], len(feature.categories) - 1)
            coded[coded[:, i] < 0, i] = np.nan
    ours = forest.apply(coded)
    outputs = forest.source.parameters["n_outputs"]
    margin = np.zeros((len(grid), outputs))
    for i, tree in enumerate(forest.trees):
        # Leaf k of LightGBM is node n_inner + k, as in the file.
        assert (ours[:, i] - tree.n_nodes // 2 == theirs[:, i]).all()
        there = np.bincount(ours[: len(data), i], minlength=tree.n_nodes)
        if people == "exact":
            assert tree.n_records is not None
            assert (tree.n_records[tree.leaves] == there[tree.leaves]).all()
        elif people == "drawn":
            assert (tree.n_records[tree.leaves] <= there[tree.leaves]).all()
        if tree.value is not None:
            margin[:, i % outputs] += tree.value[ours[:, i]]
    if tree.value is not None:
        truth = booster.predict(grid, raw_score=True).reshape(len(grid), -1)
        np.testing.assert_allclose(margin, truth, atol=1e-9)
    assert forest.counts_are in ("absent", "likely")
    for i, tree in enumerate(forest.trees):
        if tree.counts is not None:
            assert i < outputs
            mine, column = (BINARY, 1) if outputs == 1 else (i == CLASSES, i)
            there = np.bincount(ours[: len(data), i], weights=mine, minlength=tree.n_nodes)
            assert tree.counts[tree.leaves, column].tolist() == there[tree.leaves].tolist()
    assert not forest.single_precision


@pytest.mark.parametrize("objective", TARGET)
@pytest.mark.parametrize(
    ("data", "more"),
    [
        (X, {}),
        (HOLES, {}),
        (HOLES, {"use_missing": False}),
        (X, {"weight": RNG.random(N)}),
        (X, {"weight": RNG.integers(0, 3, N).astype(float)}),
        (HOLES, {"categorical": [1]}),
        (X, {"categorical": [1], "max_cat_to_onehot": 20}),
        (X, {"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0}),
        (X, {"extra_trees": True, "path_smooth": 1}),
        (X, {"min_data_in_leaf": 290}),
    ],
    ids="plain nan no-nan weights whole sets one-hot dart extra one-leaf".split(),
)
def test_agrees_with_lightgbm(objective, data, more) -> None:
    booster = train(objective, data, **more)
    for form, forest in forms(booster).items():
        check(booster, forest, data)
        assert forest.source.format == form
        assert forest.source.library_version == "v4"
        # The JSON form does not tell how the model was trained.
        plain = objective != "regression" and form != "lightgbm-json" and not more
        assert (forest.counts_are == "likely") >= plain
        known = ("unknown", None) if form == "lightgbm-json" else ("all", N)
        assert (forest.records_are, forest.n_records) == known


@pytest.mark.parametrize(
    "more",
    [
        {"bagging_fraction": 0.5, "bagging_freq": 1},
        {"bagging_fraction": 0.9, "bagging_freq": 2},
        {"boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1},
        {"data_sample_strategy": "goss", "learning_rate": 0.9},
    ],
    ids=str,
)
def test_drawn_rows_are_never_called_all(more) -> None:
    booster = train("binary", **more)
    for forest in forms(booster).values():
        check(booster, forest, people="drawn")
        assert (forest.records_are, forest.n_records) == ("unknown", None)
        assert "drawn" in forest.counts_reason
        assert forest.counts_are == "absent"


@pytest.mark.parametrize(
    "change", ["[tree_learner: data]", "[num_machines: 4]", "[device_type: cuda]"]
)
def test_estimated_counts_are_not_called_people(change) -> None:
    text = train().model_to_string()
    name = change[1:].split(":")[0]
    forest = read(re.sub(rf"\[{name}: [^\]]*\]", change, text))
    assert all(tree.n_records is None for tree in forest.trees)
    assert "estimated" in forest.counts_reason


def test_zero_as_missing_is_right_or_said() -> None:
    booster = train(data=HOLES, zero_as_missing=True)
    forest = read(booster.model_to_string())
    wrong = [warning for warning in forest.warnings if "zero" in warning]
    theirs = booster.predict(HOLES, pred_leaf=True)
    same = forest.apply(HOLES) - np.array([tree.n_nodes // 2 for tree in forest.trees]) == theirs
    rows = ~((HOLES == 0).any(axis=1))
    assert same[rows].all()
    assert bool(wrong) or same.all()
    text = train(data=np.abs(X), zero_as_missing=True, rounds=1).model_to_string()
    flipped = re.sub(r"decision_type=.*", lambda m: m[0].replace("4", "6"), text)
    assert any("zero" in warning for w in (text, flipped) for warning in read(w).warnings)


def test_linear_leaves_keep_their_structure_and_no_value() -> None:
    booster = train(linear_tree=True)
    for forest in forms(booster).values():
        check(booster, forest)
        assert all(tree.value is None for tree in forest.trees)
        assert any("leaf_coeff" in warning for warning in forest.warnings)


def test_feature_infos_give_extremes_and_categories() -> None:
    for form, forest in forms(train(categorical=[1])).items():
        (leftover,) = forest.extras.found
        assert (leftover.kind, leftover.where) == ("column-values", "feature_infos")
        seen = len(np.unique(X[:, 1]))
        assert leftover.n in (8 + seen, 9 + seen), form  # -1 stands for missing
        assert "4 columns" in leftover.says


def test_category_names_of_a_frame() -> None:
    pd = pytest.importorskip("pandas")
    town = pd.Categorical.from_codes(X[:, 1].astype(int), [f"ort <{i}> é" for i in range(9)])
    frame = pd.DataFrame({"größe": X[:, 0], "town": town, "x y": X[:, 2]})
    model = lgb.LGBMClassifier(n_estimators=3, **SMALL).fit(frame, np.where(BINARY, "ja", "nein"))
    forest = lightgbm_model.from_inert(read_pickle(pickle.dumps(model)).root, Source(format="p"))
    assert forest.schema.classes == ("ja", "nein")
    assert forest.source.estimator.startswith("LGBMClassifier binary")
    assert forest.source.format == "p"
    assert forest.schema.names == ["größe", "town", "x_y"]
    assert forest.schema.features[1].categories == tuple(town.categories)
    coded = np.column_stack([X[:, 0], X[:, 1], X[:, 2]])
    theirs = model.booster_.predict(frame, pred_leaf=True)
    ours = forest.apply(coded) - np.array([tree.n_nodes // 2 for tree in forest.trees])
    assert (ours == theirs).all()
    # Names for one of two categorical columns cannot be placed.
    text = model.booster_.model_to_string()
    text = text.replace("[categorical_feature: 1]", "[categorical_feature: 1,2]")
    forest = read(text)
    assert forest.schema.features[1].categories[:2] == ("0", "1")
    assert any("codes are used" in warning for warning in forest.warnings)


def test_strange_names() -> None:
    text = train().model_to_string()
    for names in ("größe <script> a&b '1' 日本", "x x x x x", "Column_0 1 2 3 4"):
        assert (
            read(text.replace("Column_0 Column_1 Column_2 Column_3 Column_4", names)).schema.names
            == names.split()
        )
    raw = text.encode().replace(b"Column_0 ", b"\xff\xfe\x80 ")
    assert read(raw).schema.names[0] == "\\xff\\xfe\\x80"
    assert not read(text).schema.named
    assert read(text.replace("\n", "\r\n")).n_records == N


def test_wrappers_and_other_records() -> None:
    other = Inert(cls=Global(module="sklearn.svm", name="SVC", offset=0, allowed=True))
    assert lightgbm_model.from_inert(other, Source()) is None
    empty = Inert(cls=Global(module="lightgbm.basic", name="Booster", offset=0, allowed=True))
    with pytest.raises(ReadError, match="no model text"):
        lightgbm_model.from_inert(empty, Source())
    for handle in ("", "tree\n", "tree\nversion=v4\n\ud800", "x" * 99):
        empty.state = {"handle": handle}
        with pytest.raises(ReadError):
            lightgbm_model.from_inert(empty, Source())


def test_counts_that_are_not_there() -> None:
    text = re.sub(r"(leaf|internal)_count=.*\n", "", train().model_to_string())
    forest = read(text)
    assert all(tree.n_records is None for tree in forest.trees)
    assert "no counts" in forest.counts_reason
    old = re.sub(
        r"leaf_count=\d+\n", "leaf_count=0\n", train(min_data_in_leaf=290).model_to_string()
    )
    assert all(tree.n_records is None for tree in read(old).trees)


HOSTILE = {
    "child out of range": ("left_child", "99"),
    "negative leaf out of range": ("left_child", "-99"),
    "child is the root": ("left_child", "0"),
    "huge child": ("right_child", "9" * 40),
    "child is text": ("right_child", "x"),
    "two parents": ("right_child", "1"),
    "threshold is NaN": ("threshold", "nan"),
    "threshold is text": ("threshold", "1,5"),
    "leaf is infinite": ("leaf_value", "inf"),
    "feature out of range": ("split_feature", "5"),
    "feature negative": ("split_feature", "-1"),
    "missing type unknown": ("decision_type", "14"),
    "categories missing": ("decision_type", "1"),
    "count negative": ("leaf_count", "-3"),
    "count absurd": ("leaf_count", "9" * 18),
    "counts do not add up": ("leaf_count", "7777"),
    "count is a fraction": ("internal_count", "1.5"),
}


@pytest.mark.parametrize(("name", "word"), HOSTILE.values(), ids=HOSTILE.keys())
def test_damaged_columns_are_one_sentence(name, word) -> None:
    text = train(rounds=2).model_to_string()
    place = text.index(f"{name}=", text.index("Tree=1"))
    changed = text[:place] + re.sub(r"=\S+", f"={word}", text[place:], count=1)
    one_sentence(read, changed, match="tree 1")


@pytest.mark.parametrize(
    ("pattern", "by"),
    [
        (r"num_leaves=\d+", "num_leaves=3"),
        (r"num_leaves=\d+", "num_leaves=99999999999999"),
        (r"num_leaves=\d+", "num_leaves=0"),
        (r"max_feature_idx=\d+", "max_feature_idx=-2"),
        (r"max_feature_idx=\d+", "max_feature_idx=999999999"),
        (r"feature_names=\S+", "feature_names="),
        (r"feature_infos=\S+", "feature_infos=[1:2"),
        (r"feature_infos=\S+", "feature_infos=[x:y]"),
        (r"feature_infos=\S+", "feature_infos=1:2:z"),
        (r"num_tree_per_iteration=\d+", "num_tree_per_iteration=0"),
        (r"tree_sizes=\S+", "tree_sizes=1 2 3"),
        (r"Tree=1\n(.|\n)*", ""),
        (r"end of trees(.|\n)*", ""),
        (r"(?s)Tree=1\n.*?shrinkage=\S+", "Tree=1\n"),
        (r"(?s)left_child=.*", "left_child=" + "1 " * 100_000),
    ],
)
def test_damaged_texts_are_one_sentence(pattern, by) -> None:
    text = train(rounds=2).model_to_string()
    one_sentence(read, re.sub(pattern, by, text, count=1))


def test_no_line_of_a_tree_stands_behind_its_last() -> None:
    """LightGBM stops reading there, so that counts behind it are nobody's."""
    text = train(rounds=2).model_to_string()
    moved = re.sub(r"(leaf_count=.*\n)((?:.+\n)*?shrinkage=.*\n)", r"\2\1", text, count=1)
    moved = re.sub("(?m)^tree_sizes=.*\n", "", moved)
    with pytest.raises(ReadError, match="stand behind shrinkage"):
        read(moved)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_no_line_of_a_tree_stands_behind_an_empty_one(end) -> None:
    """LightGBM stops reading there: its questions are then of another kind."""
    text = train(rounds=3).model_to_string()
    before, tree = text.split("Tree=2\n")
    line = re.search(r"decision_type=.*\n", tree)[0]
    moved = tree.replace(line, "").replace("is_linear=", f"{end}{line}is_linear=")
    with pytest.raises(ReadError, match="behind an empty one"):
        read(f"{before}Tree=2\n{moved}")


def test_damaged_category_sets_are_one_sentence() -> None:
    text = train(data=HOLES, categorical=[1]).model_to_string()
    assert "cat_threshold" in text
    for pattern, by in (
        (r"cat_threshold=\S+", "cat_threshold=-1"),
        (r"cat_threshold=\S+", "cat_threshold=99999999999"),
        (r"cat_threshold=.*", "cat_threshold="),
        (r"cat_boundaries=.*", "cat_boundaries=0 999999"),
        (r"cat_boundaries=.*", "cat_boundaries=5 0"),
        (r"cat_boundaries=.*", ""),
        (r"feature_infos=(\S+) \S+", r"feature_infos=\1 1:99999999999"),
    ):
        one_sentence(read, re.sub(pattern, by, text, count=1))


def test_a_model_without_trees_is_named() -> None:
    with pytest.raises(UnsupportedModelError, match="no trees"):
        read("tree\nversion=v4\nnum_class=1\nmax_feature_idx=0\nfeature_names=a\n\nend of trees\n")
    with pytest.raises(UnsupportedModelError, match="no trees"):
        read('{"name": "tree", "feature_names": [], "tree_info": []}')


ROOT = ("tree_info", 1, "tree_structure")
HOSTILE_JSON = {
    "no trees key": ("tree_info", {}),
    "tree is a number": ("tree_info", 1, 5),
    "structure missing": (*ROOT[:2], "tree_structure", None),
    "child missing": (*ROOT, "left_child", None),
    "child is a list": (*ROOT, "left_child", []),
    "child has no number": (*ROOT, "left_child", {"leaf_value": 1}),
    "leaf number twice": (*ROOT, "right_child", {"leaf_index": 0, "leaf_value": 1}),
    "leaf number huge": (*ROOT, "right_child", {"leaf_index": 1 << 80, "leaf_value": 1}),
    "split number gap": (*ROOT, "split_index", 77),
    "feature negative": (*ROOT, "split_feature", -1),
    "feature too large": (*ROOT, "split_feature", 99),
    "threshold NaN": (*ROOT, "threshold", float("nan")),
    "threshold is text": (*ROOT, "threshold", "1||2"),
    "categories are text": (*ROOT, "decision_type", "=="),
    "decision unknown": (*ROOT, "decision_type", "<"),
    "missing unknown": (*ROOT, "missing_type", "Perhaps"),
    "count negative": (*ROOT, "internal_count", -4),
    "count wrong": (*ROOT, "internal_count", 4),
    "count huge": (*ROOT, "internal_count", 1 << 90),
    "leaves wrong": ("tree_info", 1, "num_leaves", 2),
    "names missing": ("feature_names", None),
    "names are numbers": ("feature_names", [1, 2, 3, 4, 5]),
    "no outputs": ("num_tree_per_iteration", 0),
    "infos are text": ("feature_infos", "Column_0", {"min_value": "a", "max_value": 1}),
    "infos are huge": ("feature_infos", "Column_0", {"values": [1 << 90]}),
}


@pytest.mark.parametrize("path", HOSTILE_JSON.values(), ids=HOSTILE_JSON.keys())
def test_damaged_json_is_one_sentence(path) -> None:
    one_sentence(read, json.dumps(put(train(rounds=2).dump_model(), *path)))


def test_bytes_that_are_no_model() -> None:
    start = b'{"name": "tree",'
    for data in (
        start,
        start + b'"a":' + b'{"a":' * 100_000,
        start + b'"tree_info": ' + b"9" * 10_000 + b"}",
        start + b'"x": "\xff"}',
        start + b'"tree_info": [{}], "feature_names": []}',
    ):
        one_sentence(lightgbm_model.read, unpack(data), Source(), None, LIMITS)
    with pytest.raises(ModelTooLargeError, match="as text"):
        lightgbm_model.read(unpack(start + b'"a":[' + b"{}," * 1_000_000), Source(), None, LIMITS)
    for data in (
        b"t",
        b"tree",
        b"tree of life\nversion=2",
        b"tree\nx=1\n",
        b"{}",
        b'{"name": "x"}',
    ):
        assert not lightgbm_model.matches(unpack(data))


@pytest.mark.parametrize("form", ["text", "json"])
def test_mutated_files(form) -> None:
    rng = random.Random(9)
    seeds = []
    for objective, more in (
        ("binary", {"zero_as_missing": True}),
        ("regression", {"linear_tree": True}),
    ):
        booster = train(objective, HOLES, 2, categorical=[1], num_leaves=4, **more)
        model = json.dumps(booster.dump_model()) if form == "json" else booster.model_to_string()
        seeds.append(model.encode())
    seen = {outcome(lightgbm_model, mutate(rng.choice(seeds), rng)) for _ in range(2500)}
    assert {"refused", "read"} <= seen
