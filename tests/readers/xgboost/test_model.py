"""XGBoost models agree with XGBoost: leaves, margins, people per leaf."""

import json
import pickle
import random

import numpy as np
import pytest

from tests.fuzz.model_text import mutate, outcome
from tests.libraries import library
from tests.readers.damage import one_sentence, put, same_ends
from treeaudit.errors import ModelTooLargeError, ReadError, UnsupportedModelError
from treeaudit.model.forest import Forest
from treeaudit.model.source import Source
from treeaudit.readers.limits import LIMITS
from treeaudit.readers.open import unpack
from treeaudit.readers.pickle.inert import Global, Inert
from treeaudit.readers.pickle.pickle_vm import read_pickle
from treeaudit.readers.xgboost import model as xgboost_model

pytestmark = pytest.mark.libraries
xgb = library("xgboost")

N = 300
RNG = np.random.default_rng(11)
X = RNG.normal(size=(N, 4)).astype(np.float32)
X[:, 3] = RNG.integers(0, 6, N)
X[RNG.random(X.shape) < 0.1] = np.nan
SCORE = np.nan_to_num(X[:, 0]) + 0.8 * (np.nan_to_num(X[:, 3]) > 2) + RNG.normal(size=N) * 0.7
BINARY, CLASSES = (SCORE > 0.5).astype(int), np.digitize(SCORE, [0, 1])
KINDS = ["q", "q", "q", "c"]
LOGISTIC = {"objective": "binary:logistic", "max_depth": 4}
SQUARED = {"objective": "reg:squarederror", "max_depth": 4}
SOFTMAX = {"objective": "multi:softprob", "num_class": 3, "max_depth": 3}
TARGET = {"binary:logistic": BINARY, "reg:squarederror": SCORE, "multi:softprob": CLASSES}


def train(params: dict, rounds: int = 4, weight=None, **matrix):
    data = xgb.DMatrix(X, TARGET[params["objective"]], weight=weight, **matrix)
    return xgb.train({**params, "seed": 3, "nthread": 1}, data, rounds)


def read(blob: bytes) -> Forest:
    content = unpack(bytes(blob))
    assert xgboost_model.matches(content)
    return xgboost_model.read(content, Source(), None, LIMITS)


def forms(booster) -> dict[str, Forest]:
    root = read_pickle(pickle.dumps(booster)).root
    assert isinstance(root, Inert)
    inside = xgboost_model.from_inert(root, Source(format="sklearn-pickle"))
    assert inside is not None
    return {
        "json": read(booster.save_raw("json")),
        "ubj": read(booster.save_raw("ubj")),
        "pickle": inside,
    }


def check(booster, forest: Forest, people: bool | None = True, sampled: bool = False, **matrix):
    """Compare routing, margin and people with XGBoost's own view."""
    data = xgb.DMatrix(X, **matrix)
    theirs = booster.predict(data, pred_leaf=True).astype(int).reshape(N, -1)
    ours = forest.apply(X)
    outputs = forest.source.parameters["n_outputs"]
    parallel = forest.source.parameters["num_parallel_tree"]
    margin = np.zeros((N, outputs))

    def outputs_of(i: int) -> int:
        return i // parallel % outputs

    for i, tree in enumerate(forest.trees):
        same_ends(ours[:, i], theirs[:, i])
        assert tree.is_leaf[ours[:, i]].all()
        assert tree.value is not None
        margin[:, i // parallel % outputs] += tree.value[ours[:, i]]
        if tree.n_records is not None:
            there = np.bincount(ours[:, i], minlength=tree.n_nodes)[tree.leaves]
            stated = tree.n_records[tree.leaves]
            assert (stated <= there).all() if sampled else (stated == there).all()
            assert people is not False
    base = np.asarray(forest.source.parameters["base_score"])
    if "logistic" in forest.source.estimator:
        base = np.log(base / (1 - base))
    truth = booster.predict(data, output_margin=True).reshape(N, -1)
    np.testing.assert_allclose(margin + base, truth, atol=1e-5)
    told = [tree.n_records is not None for tree in forest.trees]
    if people:
        first = outputs * parallel
        assert all(told) if "squared" in forest.source.estimator else sum(told) == first
    if people is False:
        assert forest.counts_are == "absent"
        assert "no counts" in forest.counts_reason
    assert forest.counts_are in ("absent", "likely")
    for i, tree in enumerate(forest.trees):
        if tree.counts is not None and not sampled:
            mine, column = (
                (BINARY, 1) if outputs == 1 else (outputs_of(i) == CLASSES, outputs_of(i))
            )
            there = np.bincount(ours[:, i], weights=mine, minlength=tree.n_nodes)[tree.leaves]
            assert tree.counts[tree.leaves, column].tolist() == there.tolist()
            assert i < parallel * outputs
    assert forest.single_precision


@pytest.mark.parametrize("params", [LOGISTIC, SQUARED, SOFTMAX], ids=lambda p: p["objective"])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"base_score": 0.3},
        {"min_child_weight": 2},
        {"booster": "dart", "rate_drop": 0.5, "one_drop": 1},
        {"alpha": 0.7, "lambda": 0.1},
        {"tree_method": "exact", "gamma": 2},
        {"tree_method": "hist", "grow_policy": "lossguide", "max_leaves": 9, "max_depth": 0},
    ],
    ids=str,
)
def test_agrees_with_xgboost(params, more) -> None:
    booster = train({**params, **more})
    for form, forest in forms(booster).items():
        check(booster, forest)
        expected = {"json": "xgboost-json", "ubj": "xgboost-ubjson", "pickle": "sklearn-pickle"}
        assert forest.source.format == expected[form]
        assert forest.source.library_version == xgb.__version__
        assert any("no weights" in warning for warning in forest.warnings)


@pytest.mark.parametrize("params", [LOGISTIC, SQUARED, SOFTMAX], ids=lambda p: p["objective"])
def test_drawn_rows_are_never_called_all(params) -> None:
    booster = train({**params, "subsample": 0.7, "num_parallel_tree": 2})
    for forest in forms(booster).values():
        check(booster, forest, sampled=True)
        assert (forest.records_are, forest.n_records) == ("unknown", None)


def test_rows_of_the_whole_model_where_the_file_tells() -> None:
    booster = train(SQUARED, rounds=12)
    for forest in forms(booster).values():
        assert (forest.records_are, forest.n_records) == ("all", N)
    assert forms(train(SQUARED))["json"].records_are == "unknown"
    assert forms(train(SQUARED))["pickle"].records_are == "all"


@pytest.mark.parametrize("params", [LOGISTIC, SQUARED, SOFTMAX], ids=lambda p: p["objective"])
@pytest.mark.parametrize(
    "weight",
    [RNG.random(N), np.full(N, 2.0), np.full(N, 0.5), np.where(BINARY == 1, 1.7, 0.8)],
    ids=["each", "two", "half", "by class"],
)
def test_weighted_covers_are_not_called_people(params, weight) -> None:
    booster = train(params, weight=weight)
    for forest in forms(booster).values():
        check(booster, forest, people=False)
        assert not forest.extras.found


@pytest.mark.parametrize("weight", [2, 0.5])
def test_scale_pos_weight_is_not_called_people(weight) -> None:
    for params in (LOGISTIC, SQUARED):
        booster = train({**params, "scale_pos_weight": weight})
        check(booster, forms(booster)["ubj"], people=False)


@pytest.mark.parametrize(
    "objective", ["count:poisson", "reg:gamma", "binary:hinge", "reg:pseudohubererror"]
)
def test_other_losses_are_silent(objective) -> None:
    data = xgb.DMatrix(X, BINARY if "hinge" in objective else np.abs(SCORE) + 0.1)
    forest = read(xgb.train({"objective": objective, "max_depth": 2}, data, 2).save_raw("ubj"))
    assert all(tree.n_records is None for tree in forest.trees)
    assert "no counts" in forest.counts_reason


@pytest.mark.parametrize("params", [LOGISTIC, SOFTMAX], ids=lambda p: p["objective"])
@pytest.mark.parametrize(
    "more", [{}, {"lambda": 0}, {"lambda": 4, "eta": 0.05}, {"base_score": 0.2}]
)
def test_first_round_leaves_give_class_counts(params, more) -> None:
    booster = train({**params, **more})
    forest = read(booster.save_raw("json"))
    first = forest.source.parameters["n_outputs"]
    assert len(forest.extras.found) == first
    assert {leftover.kind for leftover in forest.extras.found} == {"first-round-counts"}
    assert all(tree.counts is not None for tree in forest.trees[:first])
    check(booster, forest)
    for leftover in forest.extras.found:
        assert leftover.n == N


def test_four_leaves_show_people_by_both_labels() -> None:
    """Leaves of 3, 5, 7, 4 people with 1, 4, 2, 4 of the class: eight whole numbers."""
    columns = np.repeat([[0.0, 0], [0, 1], [1, 0], [1, 1]], [3, 5, 7, 4], axis=0)
    label = np.concatenate([np.arange(n) < of for n, of in ((3, 1), (5, 4), (7, 2), (4, 4))])
    params = {"objective": "binary:logistic", "max_depth": 2, "min_child_weight": 0, "lambda": 0}
    booster = xgb.train({**params, "nthread": 1}, xgb.DMatrix(columns, label), 2)
    forest = read(booster.save_raw("ubj"))
    first = forest.trees[0]
    assert first.counts is not None
    assert sorted(first.counts[first.leaves].tolist()) == [[0, 4], [1, 4], [2, 1], [5, 2]]
    assert forest.boosting is not None
    assert (forest.boosting.rate, forest.boosting.penalty) == (np.float32(0.3), 0.0)


@pytest.mark.parametrize("more", [{"alpha": 1}, {"max_delta_step": 0.2}])
def test_bent_leaf_weights_give_no_class_counts(more) -> None:
    assert not read(train({**LOGISTIC, **more}).save_raw("ubj")).extras.found


@pytest.mark.parametrize("onehot", [1, 100])
def test_categories_go_where_xgboost_sends_them(onehot) -> None:
    params = {**LOGISTIC, "tree_method": "hist", "max_cat_to_onehot": onehot}
    booster = train(params, feature_types=KINDS, enable_categorical=True)
    for forest in forms(booster).values():
        check(booster, forest, feature_types=KINDS, enable_categorical=True)
        assert forest.schema.features[3].categories is not None
        assert any(tree.categories is not None for tree in forest.trees)


def test_category_names_of_a_frame() -> None:
    pd = pytest.importorskip("pandas")
    if tuple(map(int, xgb.__version__.split(".")[:2])) < (3, 1):
        pytest.skip("files before 3.1 hold no category names")
    for values, names in (
        (["a <b>", "b c", "d"], ("a <b>", "b c", "d")),
        ([7, -3, 12], ("-3", "7", "12")),
        (["b c", "d", "ä"], None),
    ):
        town = pd.Categorical([values[i] for i in RNG.integers(0, 3, N)])
        frame = pd.DataFrame({"größe": X[:, 0], "town &b": town})
        label = town.codes % 2 + np.nan_to_num(X[:, 0])
        model = xgb.XGBRegressor(n_estimators=2, max_depth=2, enable_categorical=True)
        forest = read(model.fit(frame, label).get_booster().save_raw("json"))
        assert forest.schema.names == ["größe", "town &b"]
        if names is not None:
            assert forest.schema.features[1].categories == names
        assert any("ASCII" in warning for warning in forest.warnings) is (names is None)


def test_strange_names_and_none() -> None:
    names = ["größe", "script>alert(1)", "a b\tc", "日本 & 'x'"]
    for forest in forms(train(LOGISTIC, feature_names=names)).values():
        assert forest.schema.names == names
        assert forest.schema.named
    # XGBoost itself refuses these; somebody else may have written the file.
    document = json.loads(train(LOGISTIC).save_raw("json"))
    document["learner"]["feature_names"] = ["x", "x", "\ud800", "<script>"]
    forest = read(json.dumps(document).encode())
    assert forest.schema.names == ["x", "x", "\\ud800", "<script>"]
    assert not forms(train(LOGISTIC))["ubj"].schema.named


def test_single_leaf_trees() -> None:
    for params in (LOGISTIC, SQUARED, SOFTMAX):
        booster = train({**params, "gamma": 1e6})
        for forest in forms(booster).values():
            check(booster, forest, people=None)
            assert all(tree.n_nodes == 1 for tree in forest.trees)


def test_vector_leaves_keep_their_structure_and_no_value() -> None:
    model = xgb.XGBRegressor(
        n_estimators=3, max_depth=3, tree_method="hist", multi_strategy="multi_output_tree"
    )
    booster = model.fit(X, np.column_stack([SCORE, -SCORE, X[:, 1] > 0])).get_booster()
    theirs = booster.predict(xgb.DMatrix(X), pred_leaf=True).reshape(N, -1)
    for forest in forms(booster).values():
        assert (forest.apply(X) == theirs).all()
        assert all(tree.value is None and tree.n_records is None for tree in forest.trees)
        assert any("multi_output_tree" in warning for warning in forest.warnings)


def test_thresholds_at_the_float32_neighbours() -> None:
    booster = train(SQUARED)
    forest = read(booster.save_raw("ubj"))
    bounds = np.concatenate([tree.high[np.isfinite(tree.high)] for tree in forest.trees])
    edge = np.nextafter(bounds, np.inf).astype(np.float32)
    near = np.concatenate([edge, np.nextafter(edge, -np.inf), np.nextafter(edge, np.inf)])
    grid = np.repeat(near[:, None], 4, axis=1)
    theirs = booster.predict(xgb.DMatrix(grid), pred_leaf=True)
    assert (forest.apply(grid) == theirs).all()


def test_wrappers_in_a_pickle() -> None:
    model = xgb.XGBClassifier(n_estimators=2, max_depth=3, missing=-9.0).fit(
        np.nan_to_num(X), CLASSES
    )
    forest = xgboost_model.from_inert(
        read_pickle(pickle.dumps(model)).root, Source(format="sklearn-pickle")
    )
    assert forest.source.estimator == "XGBClassifier multi:softprob"
    assert forest.schema.classes == (0, 1, 2)
    assert forest.source.parameters["eta"] == pytest.approx(0.3)
    assert any("-9.0" in warning for warning in forest.warnings)
    other = Inert(cls=Global(module="sklearn.svm", name="SVC", offset=0, allowed=True))
    assert xgboost_model.from_inert(other, Source()) is None
    empty = Inert(cls=Global(module="xgboost.core", name="Booster", offset=0, allowed=True))
    with pytest.raises(ReadError, match="holds no model"):
        xgboost_model.from_inert(empty, Source())
    empty.state = {"handle": b"CONFIG-offset:" + bytes(99)}
    with pytest.raises(ReadError, match="neither JSON nor UBJSON, nor"):
        xgboost_model.from_inert(empty, Source())


def test_linear_and_empty_boosters_are_named() -> None:
    linear = xgb.train({"booster": "gblinear"}, xgb.DMatrix(X, SCORE), 1)
    for form in ("json", "ubj"):
        with pytest.raises(UnsupportedModelError, match="gblinear"):
            read(linear.save_raw(form))
    with pytest.raises(UnsupportedModelError, match="no trees"):
        read(train(LOGISTIC, rounds=0).save_raw("ubj"))


MODEL = ("gradient_booster", "model")
TREE = (*MODEL, "trees", 1)
HOSTILE = {
    "child is the root": (*TREE, "left_children", 0, 0),
    "child is itself": (*TREE, "left_children", 1, 1),
    "two parents": (*TREE, "left_children", 0, 2),
    "child out of range": (*TREE, "right_children", 0, 10**6),
    "huge child": (*TREE, "right_children", 0, 1 << 70),
    "negative child": (*TREE, "left_children", 0, -7),
    "one child": (*TREE, "left_children", 0, -1),
    "short column": (*TREE, "split_indices", [0]),
    "column is text": (*TREE, "split_conditions", "abc"),
    "column of texts": (*TREE, "split_conditions", ["1"] * 15),
    "nested column": (*TREE, "left_children", [[1, 2], [3, 4]]),
    "ragged column": (*TREE, "left_children", [[1], [3, 4]]),
    "no nodes": (*TREE, "left_children", []),
    "column missing": (*TREE, "right_children", None),
    "threshold is NaN": (*TREE, "split_conditions", 0, float("nan")),
    "leaf is NaN": (*TREE, "split_conditions", -1, float("nan")),
    "feature too large": (*TREE, "split_indices", 0, 4),
    "feature negative": (*TREE, "split_indices", 0, -1),
    "cover negative": (*TREE, "sum_hessian", 0, -5.0),
    "cover infinite": (*TREE, "sum_hessian", 0, float("inf")),
    "covers do not add up": (*TREE, "sum_hessian", 0, 1e9),
    "unknown split type": (*TREE, "split_type", 0, 7),
    "categories missing": (*TREE, "split_type", 0, 1),
    "vector of vectors": (*MODEL, "trees", 0, "tree_param", "size_leaf_vector", "x"),
    "tree is no object": (*MODEL, "trees", [1, 2]),
    "fewer trees": (*MODEL, "gbtree_model_param", "num_trees", "3"),
    "huge number of trees": (*MODEL, "gbtree_model_param", "num_trees", "9" * 5000),
    "tree_info too short": (*MODEL, "tree_info", [0]),
    "tree_info outside": (*MODEL, "tree_info", [0, 9]),
    "trees missing": (*MODEL, "trees", None),
    "a billion features": ("learner_model_param", "num_feature", "1000000000"),
    "features negative": ("learner_model_param", "num_feature", "-1"),
    "classes absurd": ("learner_model_param", "num_class", "999999999999"),
    "names are numbers": ("feature_names", [1, 2, 3, 4]),
    "too few names": ("feature_names", ["a"]),
    "booster is a list": ("gradient_booster", []),
    "booster has no name": ("gradient_booster", "name", None),
}


@pytest.mark.parametrize("path", HOSTILE.values(), ids=HOSTILE.keys())
def test_damage_is_one_sentence(path) -> None:
    document = json.loads(train({**LOGISTIC, "max_depth": 3}, rounds=2).save_raw("json"))
    one_sentence(read, json.dumps(put(document, "learner", *path)).encode())


def test_a_damaged_tree_is_named() -> None:
    document = json.loads(train(LOGISTIC, rounds=2).save_raw("json"))
    put(document, "learner", *TREE, "split_indices", 0, 4)
    with pytest.raises(ReadError, match="tree 1: it tests a feature that is none of the 4"):
        read(json.dumps(document).encode())


@pytest.mark.parametrize("base", ["x", "[]", "[1,", "[nan]", "1e999", "-3", "7", "[0.5,0.5]", None])
def test_a_senseless_base_score_proves_nothing(base) -> None:
    document = json.loads(train(LOGISTIC).save_raw("json"))
    document["learner"]["learner_model_param"]["base_score"] = base
    forest = read(json.dumps(document).encode())
    assert all(tree.n_records is None for tree in forest.trees)


def test_bytes_that_are_no_model() -> None:
    blob = bytes(train(LOGISTIC).save_raw("json"))
    for data in (
        blob[: len(blob) // 2],
        blob[:-1],
        blob + b"]",
        blob.replace(b"learner_model_param", b"\xff\xfe"),
        b'{"learner":' + b'{"a":' * 100_000,
        b'{"learner":{}}',
        b'{"learner":{"gradient_booster":' + b"9" * 10_000 + b"}}",
        b'{"Model":{"learner":[]}}',
        b'{"version":[3,2,0],"x":1}',
    ):
        one_sentence(xgboost_model.read, unpack(data), Source(), None, LIMITS)
    with pytest.raises(ModelTooLargeError, match=r"save_model\('model.ubj'\)"):
        xgboost_model.read(
            unpack(b'{"learner":{"a":[' + b"[]," * 3_000_000), Source(), None, LIMITS
        )
    for data in (
        b"",
        b"{",
        b"{}",
        b'{"format": "treeaudit-model"}',
        b"\x80\x05K\x01.",
        b"tree\n",
        b"{L\0",
    ):
        assert not xgboost_model.matches(unpack(data or b" "))


@pytest.mark.parametrize("form", ["json", "ubj"])
def test_mutated_files(form) -> None:
    rng = random.Random(8)
    seeds = []
    for params in (LOGISTIC, {**SOFTMAX, "booster": "dart"}):
        more = {"max_depth": 2, "tree_method": "hist", "max_cat_to_onehot": 1}
        booster = train({**params, **more}, 1, feature_types=KINDS, enable_categorical=True)
        seeds.append(bytes(booster.save_raw(form)))
    seen = {outcome(xgboost_model, mutate(rng.choice(seeds), rng)) for _ in range(2500)}
    assert {"refused", "read"} <= seen


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(60))
def test_small_models_with_weights_claim_nothing_wrong(seed) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 300))
    columns = rng.normal(size=(n, 3))
    label = (columns[:, 0] + rng.normal(size=n) > 0).astype(int)
    balanced = np.where(label == 1, (label == 0).sum() / max(1, label.sum()), 1.0)
    weight = (rng.choice([0.5, 1, 1.5, 2.5], n), rng.exponential(size=n), balanced, None)[seed % 4]
    params = {"objective": list(TARGET)[seed % 3], "max_depth": 1 + seed % 5, "nthread": 1}
    if params["objective"] == "multi:softprob":
        params["num_class"] = 2
    booster = xgb.train(params, xgb.DMatrix(columns, label, weight=weight), 2)
    forest = read(booster.save_raw("ubj"))
    ours = forest.apply(columns)
    for i, tree in enumerate(forest.trees):
        if tree.n_records is not None:
            there = np.bincount(ours[:, i], minlength=tree.n_nodes)
            assert (tree.n_records[tree.leaves] == there[tree.leaves]).all()


@pytest.mark.parametrize("unit", [1e-9, 1e4, 1.7642294e8, 3e12, 1e30])
def test_a_start_of_any_size_is_explained(unit) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 3)), unit * (1 + rng.normal(size=200) / 9)
    booster = xgb.train({"max_depth": 2, "nthread": 1}, xgb.DMatrix(x, y), 3)
    for form in ("ubj", "json"):
        found = read(booster.save_raw(form)).extras.found
        assert [one.where for one in found if one.kind == "extra"] == []
