"""A damaged tree of a booster is named by its number."""

import json

import numpy as np
import pytest

from tests.libraries import library
from treeaudit.errors import ReadError
from treeaudit.readers import load

pytestmark = pytest.mark.libraries

RNG = np.random.default_rng(4)
X = RNG.normal(size=(400, 4))
Y = (X[:, 0] + RNG.normal(size=400) > 0.5).astype(int)
ROUNDS = 42


@pytest.mark.parametrize("i", [0, ROUNDS - 1])
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
def test_a_damaged_xgboost_tree_is_named(tmp_path, name, value, says) -> None:
    xgb = library("xgboost")
    booster = xgb.train({"max_depth": 3, "nthread": 1}, xgb.DMatrix(X, Y), ROUNDS)
    document = json.loads(bytes(booster.save_raw("json")))
    trees = document["learner"]["gradient_booster"]["model"]["trees"]
    trees[41][name][0] = value
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    with pytest.raises(ReadError, match=rf"tree 41: .*{says}"):
        load(path)
