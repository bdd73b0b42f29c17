"""CatBoost JSON: leaves, people and class counts against CatBoost's own view."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from tests.fuzz.model_text import mutate
from tests.libraries import library
from tests.readers.damage import put, same_ends, sentence_or_model
from treeaudit.errors import ReadError, UnsupportedModelError
from treeaudit.model.source import Source
from treeaudit.readers.catboost import model as catboost_model
from treeaudit.readers.catboost.columns import ColumnTable
from treeaudit.readers.catboost.trees import read_trees
from treeaudit.readers.limits import LIMITS
from treeaudit.readers.open import open_file, unpack

pytestmark = pytest.mark.libraries
catboost = library("catboost")

QUIET = {"verbose": 0, "allow_writing_files": False, "thread_count": 1, "random_seed": 1}
SHAPES = {
    "oblivious": {"depth": 3},
    "lossguide": {"grow_policy": "Lossguide", "max_leaves": 7},
    "depthwise": {"grow_policy": "Depthwise", "depth": 3},
}


def read(path, select=None):
    content = open_file(path)
    assert catboost_model.matches(content)
    return catboost_model.read(content, Source(), select, LIMITS)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(400, 3)).astype(np.float32)
    y = (x[:, 0] + rng.normal(size=400) / 2 > 0).astype(int) + (x[:, 1] > 1)
    x[rng.random(x.shape) < 0.1] = np.nan
    return x, y


def fit(x, y, kind="CatBoostClassifier", **options):
    model = getattr(catboost, kind)(iterations=4, **QUIET, **options)
    return model.fit(catboost.Pool(x, y, cat_features=options.pop("cat_features", None)))


def stored(model, path, pool=None):
    path = path / "model.json"
    model.save_model(str(path), format="json", pool=pool)
    return path


def edges(forest, rows, rng):
    """Rows with values exactly at a border and beside it."""
    x = rows.copy()
    at = [b for t in forest.trees for b in (*t.low, *t.high) if np.isfinite(b)]
    at = np.array(at, dtype=np.float32)
    for values in (at, np.nextafter(at, np.float32(9e9)), np.nextafter(at, np.float32(-9e9))):
        here = rng.random(x.shape) < 0.2
        x[here] = rng.choice(values, here.sum())
    return x


def check_leaves(model, forest, x, weights):
    """Every row in CatBoost's leaf, and the stored people really there."""
    theirs = model.calc_leaf_indexes(x)
    ours = forest.apply(x)
    for i, tree in enumerate(forest.trees):
        same_ends(ours[:, i], theirs[:, i])
        if weights:
            there = np.bincount(ours[:, i], minlength=tree.n_nodes)
            assert there[tree.leaves].tolist() == tree.n_records[tree.leaves].tolist()
            above = np.zeros(tree.n_nodes, dtype=int)
            np.add.at(above, tree.parent[1:], tree.n_records[1:])
            inner = ~tree.is_leaf
            assert above[inner].tolist() == tree.n_records[inner].tolist()


@pytest.mark.parametrize("shape", SHAPES)
def test_two_classes(shape, data, tmp_path):
    x, y = data
    y = y > 0
    model = fit(x, y, **SHAPES[shape])
    forest = read(stored(model, tmp_path))
    check_leaves(model, forest, x, weights=True)
    check_leaves(model, forest, edges(forest, x, np.random.default_rng(0)), weights=False)
    assert forest.n_records == 400
    assert forest.records_are == "all"
    assert forest.source.estimator == "CatBoost Logloss"
    assert forest.source.library_version == catboost.__version__
    raw = sum(t.value[at] for t, at in zip(forest.trees, forest.apply(x).T, strict=True))
    assert np.allclose(raw, model.predict(x, prediction_type="RawFormulaVal"))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rate", [0.03, 0.5])
def test_class_counts_of_the_first_tree(shape, rate, data, tmp_path):
    x, y = data
    y = (y > 0).astype(int)
    options = {"leaf_estimation_iterations": 1, "learning_rate": rate, "l2_leaf_reg": 2}
    forest = read(stored(fit(x, y, **SHAPES[shape], **options), tmp_path))
    tree, at = forest.trees[0], forest.apply(x)[:, 0]
    assert forest.counts_are == "likely"
    assert forest.trees[1].counts is None
    assert forest.extras.found[0].kind == "first-round-counts"
    for leaf in tree.leaves:
        really = np.bincount(y[at == leaf], minlength=2)
        assert tree.counts[leaf].tolist() == really.tolist()
    assert tree.counts[0].tolist() == np.bincount(y).tolist()


def test_class_counts_do_not_follow_after_several_steps(data, tmp_path):
    x, y = data
    forest = read(stored(fit(x, y > 0, leaf_estimation_iterations=5), tmp_path))
    assert forest.counts_are == "absent"
    assert "no counts per class" in forest.counts_reason


@pytest.mark.parametrize("shape", SHAPES)
def test_three_classes(shape, data, tmp_path):
    x, y = data
    names = np.array(["low", "mid", "high"], dtype=object)[y]
    model = fit(x, names, **SHAPES[shape])
    forest = read(stored(model, tmp_path))
    assert forest.schema.classes == tuple(model.classes_)
    assert forest.trees[0].value is None
    check_leaves(model, forest, x, weights=True)


@pytest.mark.parametrize("nan_mode", ["Min", "Max"])
def test_numbers_and_missing_values_either_way(nan_mode, data, tmp_path):
    x, y = data
    model = fit(x, y, "CatBoostRegressor", nan_mode=nan_mode)
    forest = read(stored(model, tmp_path))
    check_leaves(model, forest, x, weights=True)
    assert forest.schema.classes is None


@pytest.fixture(scope="module")
def mixed():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "age": rng.normal(size=300),
            "job": rng.integers(0, 6, 300).astype(str),
            "sex": rng.choice(["f", "m"], 300),
        }
    )
    return frame, ((frame.job == "3") | (frame.age + (frame.sex == "f") > 0.5)).astype(int)


def test_one_hot_categories(mixed, tmp_path):
    frame, y = mixed
    pool = catboost.Pool(frame, y, cat_features=["job", "sex"])
    model = catboost.CatBoostClassifier(iterations=6, depth=3, one_hot_max_size=9, **QUIET)
    forest = read(stored(model.fit(pool), tmp_path, pool))
    assert forest.schema.names == ["age", "job", "sex"]
    codes = frame.copy().astype({"age": float})
    for i in (1, 2):
        known = forest.schema.features[i].categories
        assert known[-1] == "(any other value)"
        place = {text: code for code, text in enumerate(known)}
        codes[forest.schema.names[i]] = [
            place.get(v, len(known) - 1) for v in frame[forest.schema.names[i]]
        ]
    ours, theirs = forest.apply(codes.to_numpy(float)), model.calc_leaf_indexes(pool)
    for i, tree in enumerate(forest.trees):
        assert len(set(zip(ours[:, i], theirs[:, i], strict=True))) == len(set(ours[:, i]))
        there = np.bincount(ours[:, i], minlength=tree.n_nodes)
        assert there[tree.leaves].tolist() == tree.n_records[tree.leaves].tolist()
    assert any("cat_features_hash" in leftover.where for leftover in forest.extras.found)


def test_statistics_of_categories_are_told(mixed, tmp_path):
    frame, y = mixed
    pool = catboost.Pool(frame, y, cat_features=["job", "sex"])
    model = catboost.CatBoostClassifier(iterations=6, depth=3, **QUIET).fit(pool)
    forest = read(stored(model, tmp_path, pool))
    assert "statistics that CatBoost computes" in forest.warnings[0]
    assert any(name.startswith("statistic ") for name in forest.schema.names[3:])
    labels = [leftover for leftover in forest.extras.found if leftover.kind == "category-counts"]
    assert labels
    assert labels[0].n >= 6
    theirs = model.calc_leaf_indexes(pool)
    silent = 0
    for i, tree in enumerate(forest.trees):
        if (tree.feature >= 3).any():
            # Rows were counted by the statistic of their moment, not by the final one.
            assert tree.n_records is None
            silent += 1
            continue
        really = np.bincount(theirs[:, i], minlength=len(tree.leaves))
        assert sorted(tree.n_records[tree.leaves]) == sorted(really)
    assert 0 < silent < 6
    assert forest.n_records == 300


@pytest.mark.parametrize("weight", ["rows", "whole rows", "classes", "balanced", "positive"])
def test_weights_are_not_people(weight, data, tmp_path):
    x, y = data
    y = (y > 0).astype(int)
    options, rows = {}, None
    if weight == "rows":
        rows = np.random.default_rng(0).random(400)
    elif weight == "whole rows":
        rows = np.full(400, 3)
    elif weight == "classes":
        options = {"class_weights": [1, 2]}
    elif weight == "balanced":
        options = {"auto_class_weights": "Balanced"}
    else:
        options = {"scale_pos_weight": 2}
    model = catboost.CatBoostClassifier(iterations=3, depth=2, **QUIET, **options)
    forest = read(stored(model.fit(x, y, sample_weight=rows), tmp_path))
    assert all(tree.n_records is None and tree.counts is None for tree in forest.trees)
    assert forest.n_records is None
    assert forest.records_are == "unknown"
    assert "weight" in forest.counts_reason


def test_the_binary_form_says_how_to_export(data, tmp_path):
    path = tmp_path / "model.cbm"
    fit(*data).save_model(str(path))
    with pytest.raises(UnsupportedModelError, match="format='json'"):
        read(path)
    with pytest.raises(UnsupportedModelError, match="one CatBoost model"):
        read(path, "x")


@pytest.fixture(scope="module")
def small(data, mixed, tmp_path_factory):
    """Small whole files: oblivious, free, categorical."""
    folder = tmp_path_factory.mktemp("small")
    x, y = data
    files = [stored(fit(x, y > 0, **SHAPES[s]), folder).read_bytes() for s in SHAPES]
    pool = catboost.Pool(*mixed, cat_features=["job", "sex"])
    for size in (2, 9):
        model = catboost.CatBoostClassifier(
            iterations=2, depth=2, one_hot_max_size=size, **QUIET
        ).fit(pool)
        files.append(stored(model, folder, pool).read_bytes())
    return [_shorter(data) for data in files]


def _shorter(data):
    found = json.loads(data)
    info = found["model_info"]
    kept = {k: info["params"][k] for k in ("boosting_options", "flat_params", "loss_function")}
    kept["tree_learner_options"] = info["params"]["tree_learner_options"]
    found["model_info"] = {"class_params": info["class_params"], "params": kept}
    return json.dumps(found).encode()


def change(data, *path):
    return json.dumps(put(json.loads(data), *path)).encode()


TREE = ("oblivious_trees", 0)
FLOATS = ("features_info", "float_features", 0)
DAMAGE = {
    "trees are text": ("oblivious_trees", "x"),
    "no trees": ("oblivious_trees", []),
    "tree is a number": (*TREE, 5),
    "values are text": (*TREE, "leaf_values", ["a", "b"]),
    "values are lists": (*TREE, "leaf_values", [[1.0], [2.0]]),
    "no values": (*TREE, "leaf_values", []),
    "too few values": (*TREE, "leaf_values", [1.0, 2.0, 3.0]),
    "infinite value": (*TREE, "leaf_values", [float("inf")] * 8),
    "huge value": (*TREE, "leaf_values", [10**400] * 8),
    "true as value": (*TREE, "leaf_values", [True] * 8),
    "too few weights": (*TREE, "leaf_weights", [1, 2]),
    "weights are text": (*TREE, "leaf_weights", "many"),
    "a billion splits": (*TREE, "splits", [{}] * 40),
    "splits are no list": (*TREE, "splits", {"a": 1}),
    "split is null": (*TREE, "splits", 0, None),
    "unknown split": (*TREE, "splits", 0, "split_type", "Magic"),
    "feature out of range": (*TREE, "splits", 0, "float_feature_index", 99),
    "feature is text": (*TREE, "splits", 0, "float_feature_index", "0"),
    "feature is a list": (*TREE, "splits", 0, "float_feature_index", [0]),
    "index is a truth value": (*TREE, "splits", 0, "split_index", True),
    "index is a fraction": (*TREE, "splits", 0, "split_index", 1.0),
    "border is text": (*TREE, "splits", 0, "border", "1"),
    "border is not a number": (*TREE, "splits", 0, "border", float("nan")),
    "huge border": (*TREE, "splits", 0, "border", 1e300),
    "no features": ("features_info", None),
    "features are a number": ("features_info", "float_features", 7),
    "feature index is text": (*FLOATS, "feature_index", "x"),
    "a billion columns": (*FLOATS, "flat_feature_index", 10**9),
    "negative column": (*FLOATS, "flat_feature_index", -1),
    "two features in one column": (*FLOATS, "flat_feature_index", 1),
    "borders are text": (*FLOATS, "borders", ["a"]),
    "class is a list": ("model_info", "class_params", "class_names", [[0], [1]]),
}


FREE = [
    ("trees", 0, None),
    ("trees", 0, "left", None),
    ("trees", 0, "split", 1),
    ("trees", 0, {"value": "x"}),
    ("trees", 0, {"value": [[1]]}),
    ("trees", {}),
]


@pytest.mark.parametrize(
    ("file", "path"),
    [*((0, path) for path in DAMAGE.values()), *((1, path) for path in FREE)],
    ids=[*DAMAGE, *map(str, FREE)],
)
def test_damaged(file, path, small):
    error = sentence_or_model(catboost_model, change(small[file], *path))
    assert isinstance(error, ReadError), path


@pytest.mark.parametrize(
    ("path", "to"),
    [
        (("scale_and_bias",), 5),
        (("scale_and_bias",), [True, [0.0]]),
        (("model_info", "class_params", "class_names"), 7),
    ],
)
def test_what_is_no_list_is_named(path, to, small):
    content = unpack(change(small[0], *path, to))
    forest = catboost_model.read(content, Source(), None, LIMITS)
    assert any(path[-1] in one.where for one in forest.extras.found)


@pytest.mark.parametrize("to", ["x", 5, [], {"t": "x"}, {"t": None}, {"t": {"hash_map": "x"}}])
def test_strange_statistics_are_no_leftovers(to, small):
    whole = change(small[3], "ctr_data", to)
    assert sentence_or_model(catboost_model, whole) is None


def test_deep_and_long_json():
    head = b'{"features_info": {}, "trees": ['
    deep = head + b'{"left":' * 100_000 + b"1" + b"}" * 100_000 + b"]}"
    assert isinstance(sentence_or_model(catboost_model, deep), ReadError)
    many = head + b"[],[]," * 2_000_000 + b"1]}"
    assert isinstance(sentence_or_model(catboost_model, many), ReadError)
    assert isinstance(sentence_or_model(catboost_model, head), ReadError)
    assert isinstance(sentence_or_model(catboost_model, head + b"\xff"), ReadError)


def test_mutants_end_in_a_model_or_a_sentence(small):
    chance = random.Random(3)
    for _ in range(3000):
        sentence_or_model(catboost_model, mutate(chance.choice(small), chance))


@pytest.mark.parametrize("depth", [0, 1, 3, 11])
def test_an_oblivious_tree_is_unfolded_bit_by_bit(depth: int) -> None:
    """Bit i of the number of a leaf is the answer to question i, and people add up level by level.

    Summed from node to node, as trees of any other form are, they are the same.
    """
    borders = [float(i) for i in range(depth)]
    feature = {"feature_index": 0, "flat_feature_index": 0, "borders": borders}
    columns = ColumnTable({"float_features": [feature]})
    splits = [
        {"split_type": "FloatFeature", "float_feature_index": 0, "border": b, "split_index": i}
        for i, b in enumerate(borders)
    ]
    numbers = np.arange(1 << depth, dtype=np.float64)
    tree = {"splits": splits or None, "leaf_values": numbers, "leaf_weights": numbers + 1}
    (stored,) = read_trees({"oblivious_trees": [tree]}, columns)
    unfolded = stored.build(columns, people=True)
    summed = replace(stored, depth=None).build(columns, people=True)
    for name in ("parent", "feature", "low", "high", "value", "n_records"):
        assert np.array_equal(getattr(unfolded, name), getattr(summed, name))
    at = unfolded.apply([[i - 0.5] for i in range(depth + 1)])
    assert unfolded.value is not None
    assert unfolded.value[at].tolist() == [(1 << i) - 1 for i in range(depth + 1)]


@pytest.mark.parametrize("unit", [1e-20, 1e-9, 1e-4, 1e9, 1e20])
def test_numbers_of_any_size_are_explained(data, tmp_path, unit) -> None:
    x, _ = data
    y = np.random.default_rng(0).normal(size=len(x)) * unit
    forest = read(stored(fit(x, y, "CatBoostRegressor"), tmp_path))
    assert [one.where for one in forest.extras.found if one.kind == "extra"] == []


@pytest.mark.parametrize("name", ["leaf_values", "leaf_weights"])
@pytest.mark.parametrize("value", [True, (1 << 53) + 1, None, "1"])
def test_what_catboost_takes_for_nothing_is_refused(data, tmp_path, name, value) -> None:
    path = stored(fit(*data), tmp_path)
    path.write_bytes(change(path.read_bytes(), "oblivious_trees", 2, name, 1, value))
    with pytest.raises(ReadError, match=f"{name} holds something else than numbers"):
        read(path)
