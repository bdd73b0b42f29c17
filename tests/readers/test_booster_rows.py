"""Trees of boosters that are read in a row say what each says alone."""

import json
from dataclasses import fields

import numpy as np
import pytest

from tests.libraries import library
from treeaudit.errors import ReadError
from treeaudit.model.tree import Tree
from treeaudit.readers import load
from treeaudit.readers.boosters.shelf import Shelf
from treeaudit.readers.lightgbm import dump as lightgbm_dump
from treeaudit.readers.lightgbm import rows as lightgbm_rows
from treeaudit.readers.lightgbm.dump_rows import read_row
from treeaudit.readers.lightgbm.text import parse
from treeaudit.readers.lightgbm.tree import RawTree, read_tree
from treeaudit.readers.xgboost import rows as xgboost_rows

pytestmark = pytest.mark.libraries

RNG = np.random.default_rng(4)
X = RNG.normal(size=(400, 4))
X[:, 3] = RNG.integers(0, 6, 400)
Y = (X[:, 0] + X[:, 3] % 2 + RNG.normal(size=400) > 0.5).astype(int)
HOLES = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
ROUNDS = 70


def same(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        alike = one.dtype == other.dtype and one.shape == other.shape
        return alike and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if hasattr(one, "__dataclass_fields__"):
        return all(same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and one == other


@pytest.fixture(scope="module", params=["numbers", "sets", "zeros"])
def light(request):
    lgb = library("lightgbm")
    settings = {"verbose": -1, "num_leaves": 7, "objective": "binary", "num_threads": 1}
    settings["zero_as_missing"] = request.param == "zeros"
    sets = [3] if request.param == "sets" else "auto"
    return lgb.train(settings, lgb.Dataset(HOLES, Y, categorical_feature=sets), ROUNDS)


def test_lightgbm_trees_in_a_row(light) -> None:
    booster = parse(light.model_to_string().encode())
    rows = lightgbm_rows.checked(booster.trees, 4)
    each = [read_tree(raw, 4) for raw in booster.trees]
    assert all(map(same, rows, each))
    assert lightgbm_rows.uneven(each) is None
    build = lightgbm_rows.builder(rows, {3: 8}, told=True)
    for i, tree in enumerate(each):
        assert same(build(i), tree.tree({3: 8}, told=True))
    # Once more, and out of turn.
    assert all(same(build(i), each[i].tree({3: 8}, told=True)) for i in (40, 0, 1, ROUNDS - 1))


def test_lightgbm_json_in_a_row(light) -> None:
    entries = light.dump_model()["tree_info"]
    alone: list[RawTree] = []
    for i, entry in enumerate(entries):
        alone.append(lightgbm_dump._tree(entry))
        row = read_row([entry], i)
        if row is not None:
            assert same(row[0], alone[i])
    by_numbers = [i for i, raw in enumerate(alone) if not raw.categories]
    assert all(read_row(entries[i : i + 1], i) is not None for i in by_numbers)
    assert all(read_row(entries[i : i + 1], i) is None for i in {*range(ROUNDS)} - {*by_numbers})
    whole = lightgbm_dump._trees(entries)
    assert all(map(same, whole, alone))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("split_gain", "12"),
        ("default_left", 1),
        ("decision_type", "=="),
        ("missing_type", "else"),
        ("internal_count", 2.0),
        ("note", "Ann"),
        ("split_index", 3),
    ],
)
def test_lightgbm_json_that_is_odd_is_looked_at_node_by_node(name, value) -> None:
    lgb = library("lightgbm")
    params = {"verbose": -1, "num_leaves": 7, "objective": "binary", "num_threads": 1}
    entries = lgb.train(params, lgb.Dataset(X, Y), 3).dump_model()["tree_info"]
    assert read_row(entries, 0) is not None
    entries[1]["tree_structure"]["left_child"][name] = value
    assert read_row(entries, 0) is None


@pytest.mark.parametrize("i", [0, 33, ROUNDS - 1])
def test_a_damaged_lightgbm_tree_is_named(tmp_path, i) -> None:
    lgb = library("lightgbm")
    params = {"verbose": -1, "num_leaves": 7, "objective": "binary", "num_threads": 1}
    booster = lgb.train(params, lgb.Dataset(X, Y), ROUNDS)
    before, mark, after = booster.model_to_string().partition(f"Tree={i}\n")
    path = tmp_path / "model.txt"
    path.write_text(before + mark + after.replace("right_child=", "right_child=5 ", 1))
    with pytest.raises(ReadError, match=rf"tree {i}: "):
        load(path)
    path.write_text(before + mark + after.replace("split_feature=", "split_feature=9", 1))
    with pytest.raises(ReadError, match=rf"tree {i}: it tests a feature that is none of the 4"):
        load(path)
    document = booster.dump_model()
    node = document["tree_info"][i]["tree_structure"]
    node["split_feature"] = 4
    path.write_text(json.dumps(document))
    with pytest.raises(ReadError, match=rf"tree {i}: it tests a feature that is none of the 4"):
        load(path)


@pytest.fixture(scope="module", params=["numbers", "pruned", "sets"])
def extreme(request):
    xgb = library("xgboost")
    settings = {"max_depth": 4, "objective": "binary:logistic", "nthread": 1}
    if request.param == "pruned":
        settings |= {"gamma": 3, "tree_method": "exact"}
    kinds = ["q", "q", "q", "c" if request.param == "sets" else "q"]
    data = xgb.DMatrix(X, Y, feature_types=kinds, enable_categorical=True)
    booster = xgb.train(settings, data, ROUNDS)
    document = json.loads(bytes(booster.save_raw("json")))
    return document["learner"]["gradient_booster"]["model"]["trees"]


def test_xgboost_trees_in_a_row(extreme) -> None:
    each = [xgboost_rows.read_tree(raw, 4, 1) for raw in extreme]
    rows = xgboost_rows.checked(extreme, 4, 1)
    assert all(map(same, rows, each))
    people = [None] * len(rows)
    scale = [1 + i / 7 for i in range(len(rows))]
    build = xgboost_rows.builder(rows, {3: 8}, people, scale)
    for i, tree in enumerate(each):
        assert same(build(i), tree.tree({3: 8}, None, scale[i]))
    found = [np.arange(tree.links.n_nodes) + 1 for tree in each]
    build = xgboost_rows.builder(rows, {3: 8}, found, scale)
    for i, tree in enumerate(each):
        assert same(build(i), tree.tree({3: 8}, found[i], scale[i]))


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("split_indices", 4, "tests a feature that is none of the 4"),
        ("split_conditions", float("nan"), "a threshold is not a number"),
        ("sum_hessian", -1.0, "cover"),
        ("default_left", 2, "neither left nor right"),
        ("left_children", 0, "out of range or the root"),
        ("right_children", -7, "has one child"),
        ("split_type", 2, "neither numeric nor categorical"),
    ],
)
def test_a_damaged_xgboost_tree_is_named(name, value, says) -> None:
    xgb = library("xgboost")
    booster = xgb.train({"max_depth": 3, "nthread": 1}, xgb.DMatrix(X, Y), ROUNDS)
    trees = json.loads(bytes(booster.save_raw("json")))
    trees = trees["learner"]["gradient_booster"]["model"]["trees"]
    trees[41][name][0] = value
    with pytest.raises(ReadError, match=rf"tree 41: .*{says}"):
        xgboost_rows.checked(trees, 4, 1)


def test_a_shelf_hands_out_each_tree_whatever_the_order() -> None:
    rows = []

    def tree(i: int) -> Tree:
        return Tree(parent=[-1], feature=[-1], low=[-np.inf], high=[np.inf], value=[i])

    def row(part: slice):
        rows.append(part)
        n = part.stop - part.start
        arrays = {"parent": np.full(n, -1), "feature": np.full(n, -1), "low": np.full(n, -np.inf)}
        return arrays | {"high": np.full(n, np.inf), "value": np.arange(part.start, part.stop)}

    shelf = Shelf([1] * 40_000, row, tree)
    for i in (0, 1, 2, 39_999, 7, 35_000, 32_767, 32_768, 32_769, 5):
        assert shelf(i).value.tolist() == [i]
    # Whoever asks for one alone does not have its row built.
    assert [part.start for part in rows] == [0, 32_768]
