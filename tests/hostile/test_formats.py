"""Model files of other libraries in which a number, a name or a blank holds what no model needs."""

import copy
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.libraries import library
from treeaudit import ReadError, load

xgboost = library("xgboost")
lightgbm = library("lightgbm")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 4))
Y = (X[:, 0] + RNG.normal(size=600) > 0).astype(int)
ROWS = [" ".join(f"{value:.2f}" for value in row) for row in X]
Change = Callable[[Any], None]


def hidden(path: Path, content: bytes | str) -> int:
    """Return how many bytes of a file nothing explains."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return sum(one.n for one in load(path).leftovers.found if one.kind == "extra")


def _trees(model: Any) -> Any:
    return model["learner"]["gradient_booster"]["model"]["trees"]


def _inner(tree: Any) -> list[int]:
    return [i for i, child in enumerate(tree["left_children"]) if child >= 0]


def _set(name: str, change: Callable[[float, int], object]) -> Change:
    def act(model: Any) -> None:
        for tree in _trees(model):
            for i in _inner(tree):
                tree[name][i] = change(tree[name][i], i)

    return act


def _digits(model: Any) -> None:
    conditions = _trees(model)[0]["split_conditions"]
    conditions[0] = float(f"{float(np.float32(conditions[0])):.9g}27181828")


XGBOOST: dict[str, Change] = {
    "gains": _set("loss_changes", lambda gain, i: gain + float(np.float32(i + 1))),
    "weights": _set("base_weights", lambda weight, i: weight + 0.01 * (i + 1)),
    "covers": _set("sum_hessian", lambda cover, i: float(np.float32(cover * 1.0003))),
    "one gain": lambda model: _trees(model)[1]["loss_changes"].__setitem__(0, 123.5),
    "names": lambda model: model["learner"].__setitem__("feature_names", ROWS[:4]),
    "digits": _digits,
    "a setting": lambda model: model["learner"]["objective"]["reg_loss_param"].__setitem__(
        "scale_pos_weight", "1.0010110101101"
    ),
    "a tree's number": lambda model: _trees(model)[0].__setitem__("id", 1),
    "nodes that are none": lambda model: _trees(model)[0]["tree_param"].__setitem__(
        "num_deleted", "271828"
    ),
    "rounds": lambda model: model["learner"]["gradient_booster"]["model"].__setitem__(
        "iteration_indptr", [0, 1, 1, 3, 4]
    ),
}


@pytest.fixture(scope="module")
def booster() -> Any:
    asked = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1, "base_score": 0.5}
    return xgboost.train(asked, xgboost.DMatrix(X, Y), 4)


@pytest.mark.parametrize("change", XGBOOST.values(), ids=XGBOOST)
def test_places_in_xgboost(booster: Any, tmp_path: Path, change: Change) -> None:
    genuine = json.loads(bytes(booster.save_raw("json")))
    changed = copy.deepcopy(genuine)
    change(changed)
    assert changed != genuine
    assert hidden(tmp_path / "m.json", json.dumps(genuine)) == 0
    assert hidden(tmp_path / "m.json", json.dumps(changed)) > 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (rb"E-1,", rb"0E-1,"),
        (rb"E0,", rb"E00,"),
        (rb"E0,", rb"E+0,"),
        (rb"(\d)\.(\d+)E1,", rb"\1.\g<2>e1,"),
        (rb'"default_left"', rb'"\\u0064efault_left"'),
    ],
)
def test_spellings_in_xgboost(booster: Any, tmp_path: Path, old: bytes, new: bytes) -> None:
    text = bytes(booster.save_raw("json"))
    changed = re.sub(old, new, text, count=1)
    assert changed != text
    assert hidden(tmp_path / "m.json", text) == 0
    assert hidden(tmp_path / "m.json", changed) > 0


def test_truth_values_among_numbers(booster: Any, tmp_path: Path) -> None:
    model = json.loads(bytes(booster.save_raw("json")))
    _trees(model)[0]["default_left"][0] = bool(_trees(model)[0]["default_left"][0])
    with pytest.raises(ReadError, match="truth values and numbers"):
        hidden(tmp_path / "m.json", json.dumps(model))


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"lambda": 3, "alpha": 2},
        {"max_delta_step": 0.3},
        {"monotone_constraints": "(1,-1,0,0)"},
        {"tree_method": "approx", "subsample": 0.5, "eta": 1},
        {"booster": "dart", "rate_drop": 0.5},
        {"objective": "reg:absoluteerror"},
        {"objective": "count:poisson", "grow_policy": "lossguide"},
        {"objective": "multi:softprob", "num_class": 2},
    ],
    ids=str,
)
def test_what_xgboost_trains_explains_itself(tmp_path: Path, more: dict[str, Any]) -> None:
    asked = {"objective": "binary:logistic", "nthread": 1, **more}
    model = xgboost.train(asked, xgboost.DMatrix(X, Y), 6)
    for form in ("json", "ubj"):
        assert hidden(tmp_path / f"m.{form}", bytes(model.save_raw(form))) == 0


@pytest.fixture(scope="module")
def text() -> str:
    return _lightgbm({}).model_to_string()


def _lightgbm(more: dict[str, Any]) -> Any:
    asked = {"objective": "binary", "verbose": -1, "num_threads": 1, "num_leaves": 7, **more}
    return lightgbm.train(asked, lightgbm.Dataset(X.copy(), Y), 4)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"split_gain=(\d)", r"split_gain=9\1"),
        (r"internal_value=(\S+) \S+", r"internal_value=\1 0.271828"),
        (r"internal_weight=(\S+) (\d)", r"internal_weight=\1 1\2"),
        (r"internal_weight=(\d+)", r"internal_weight=00\1"),
        (r"(threshold=-?\d\.\d+)", r"\g<1>00"),
        (r"feature_names=\S+", "feature_names=c_0.13_-0.13_0.64_0.10_0"),
        (r"feature_infos=\[(\S+?):(\S+?)\]", r"feature_infos=[\2:\1]"),
    ],
)
def test_places_in_lightgbm(text: str, tmp_path: Path, old: str, new: str) -> None:
    changed = re.sub(old, new, text, count=1)
    assert changed != text
    begin, sizes = changed.index("Tree=0"), re.findall(r"tree_sizes=(.*)", changed)[0]
    parts = re.split(r"(?=Tree=\d)", changed[begin : changed.index("end of trees")])[1:]
    changed = changed.replace(sizes, " ".join(str(len(part)) for part in parts))
    assert hidden(tmp_path / "m.txt", text) == 0
    assert hidden(tmp_path / "m.txt", changed) > 0


def _node(change: Change) -> Change:
    return lambda model: change(model["tree_info"][1]["tree_structure"])


LIGHTGBM: dict[str, Change] = {
    "a gain": _node(lambda node: node.__setitem__("split_gain", 271.828)),
    "a way": _node(lambda node: node.__setitem__("default_left", 271828)),
    "the order": _node(lambda node: node.__setitem__("split_index", node.pop("split_index"))),
    "a leaf's name": _node(lambda node: node["left_child"].__setitem__("leaf_row", 1)),
    "a tree's number": lambda model: model["tree_info"][1].__setitem__("tree_index", 7),
}


@pytest.mark.parametrize("change", LIGHTGBM.values(), ids=LIGHTGBM)
def test_places_in_the_json_of_lightgbm(tmp_path: Path, change: Change) -> None:
    model = _lightgbm({}).dump_model()
    assert hidden(tmp_path / "m.json", json.dumps(model)) == 0
    change(model)
    assert hidden(tmp_path / "m.json", json.dumps(model)) > 0


@pytest.mark.parametrize(
    "more",
    [
        {"lambda_l2": 2},
        {"lambda_l1": 1},
        {"objective": "regression_l1"},
        {"boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1},
        {"boosting": "dart"},
        {"path_smooth": 5},
        {"monotone_constraints": [1, -1, 0, 0], "monotone_penalty": 1},
        {"extra_trees": True, "max_delta_step": 0.2},
    ],
    ids=str,
)
def test_what_lightgbm_trains_explains_itself(tmp_path: Path, more: dict[str, Any]) -> None:
    assert hidden(tmp_path / "m.txt", _lightgbm(more).model_to_string()) == 0


def _rows(names: Sequence[str]) -> Any:
    import pandas

    return pandas.DataFrame({name: RNG.normal(size=400) for name in names})


def test_names_of_columns_are_read_as_names(tmp_path: Path) -> None:
    names = ["mean radius (mm)", "2021-01-01 00:00:00", "zip_8004", "Grösse, in cm"]
    model = xgboost.XGBClassifier(n_estimators=2, n_jobs=1).fit(_rows(names), Y[:400])
    model.save_model(tmp_path / "m.ubj")
    assert hidden(tmp_path / "n.ubj", (tmp_path / "m.ubj").read_bytes()) == 0
