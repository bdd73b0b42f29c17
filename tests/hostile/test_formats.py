"""Model files of other libraries in which a number, a name or a blank holds what no model needs."""

import json
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
    return sum(one.n for one in load(path).extras.found if one.kind == "extra")


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


@pytest.fixture(scope="module")
def booster() -> Any:
    asked = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1, "base_score": 0.5}
    return xgboost.train(asked, xgboost.DMatrix(X, Y), 4)


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


def _node(change: Change) -> Change:
    return lambda model: change(model["tree_info"][1]["tree_structure"])


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
