"""What people train with the settings that they tune explains itself: no false alarm."""

import json

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import treeaudit as ta
from tests.libraries import library
from tests.readers.damage import pickled
from treeaudit.reports.formats import render


def people(asked: str):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(1200, 4))
    x[:, 0] = rng.integers(0, 9, len(x))
    hidden = 0.3 * x[:, 0] + x[:, 1] - x[:, 2] * x[:, 3] + rng.normal(size=len(x))
    if asked.startswith("binary"):
        return x, (hidden > 1).astype(int)
    if asked.startswith("multi"):
        return x, np.digitize(hidden, [0, 1.5])
    if asked.endswith(("poisson", "tweedie")):
        return x, rng.poisson(np.exp(hidden / 3)).astype(float)
    return x, 10 * hidden


def unexplained(path):
    return [one.says for one in ta.load(path).extras.found if one.kind == "extra"]


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("seed", range(3))
def test_categories_with_values_missing_are_put_into_words(tmp_path, library, seed) -> None:
    rng = np.random.default_rng(seed)
    job = pd.Series(rng.choice(["a", "b", "c"], 300)).astype(object)
    job = job.where(rng.random(300) > 0.2, None)
    x = pd.DataFrame({"job": pd.Categorical(job), "age": rng.integers(18, 90, 300)})
    y = (40 * job.isna() + x["age"] + 9 * rng.normal(size=300) > 70).astype(int)
    path = tmp_path / ("m.txt" if library == "lightgbm" else "m.json")
    if library == "lightgbm":
        model = lgb.LGBMClassifier(n_estimators=3, n_jobs=1, verbose=-1).fit(x, y)
        model.booster_.save_model(path)
    else:
        model = xgb.XGBClassifier(n_estimators=3, n_jobs=1, enable_categorical=True).fit(x, y)
        model.save_model(path)
    report = ta.scan(path)
    assert all("≤ -inf" not in render(report, form) for form in ("txt", "html", "md"))


def of_catboost(path):
    catboost = library("catboost")
    rng = np.random.default_rng(1)
    x = pd.DataFrame({"a": rng.normal(size=900), "b": rng.normal(size=900)})
    x["c"], x["d"] = rng.integers(0, 6, 900).astype(str), rng.choice([*"xyzw"], 900)
    x["e"] = rng.choice(["p", "q"], 900)
    y = (x["c"] > "2") ^ (x["a"] > 0) ^ x["d"].isin(["x", "w"]) ^ ((x["e"] == "p") & (x["b"] > 0))
    quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    model = catboost.CatBoostClassifier(iterations=20, depth=5, one_hot_max_size=2, **quiet)
    pool = catboost.Pool(x, y.astype(int), cat_features=[*"cde"])
    model.fit(pool).save_model(str(path), format="json", pool=pool)
    return json.loads(path.read_text())


def test_categories_that_catboost_counts_are_known(tmp_path) -> None:
    path = tmp_path / "m.json"
    document = of_catboost(path)
    assert len(document["features_info"]["cat_features_hash"]) == 12
    assert unexplained(path) == []
    for table in document["ctr_data"].values():
        table["hash_keys"] = ["33;ill", "54;well"]
    path.write_text(json.dumps(document))
    assert unexplained(path) != []


XGBOOST_WRAPPED = [
    {"grow_policy": "lossguide", "max_leaves": 8},
    {"booster": "dart", "rate_drop": 0.1, "sample_type": "weighted", "normalize_type": "forest"},
    {"tree_method": "exact", "importance_type": "total_gain", "device": "cpu"},
    {"tree_method": "approx", "multi_strategy": "one_output_per_tree", "seed": 3, "nthread": 1},
    {"monotone_constraints": (1, 0, 0, -1), "feature_weights": [1, 2, 1, 1.0]},
    {"monotone_constraints": "(1,0,0,-1)", "interaction_constraints": "[[0, 1], [2, 3]]"},
    {"eval_metric": ["auc", "error@0.7"], "alpha": 0.3, "eta": 0.2, "feature_types": ["q"] * 4},
]
LIGHTGBM_WRAPPED = [
    {"boosting_type": "rf", "subsample": 0.7, "subsample_freq": 1},
    {"boosting_type": "dart", "drop_rate": 0.2, "importance_type": "gain"},
    {"data_sample_strategy": "goss", "metric": ["auc", "binary_logloss"], "device": "cpu"},
    {"extra_trees": True, "path_smooth": 1.0, "max_bin": 63, "feature_fraction": 0.8},
    {"bagging_fraction": 0.8, "bagging_freq": 1, "lambda_l1": 0.3, "lambda_l2": 0.3, "seed": 3},
    {"monotone_constraints": [1, 0, 0, 0], "monotone_constraints_method": "advanced"},
    {"class_weight": {0: 1, 1: 2}, "min_data_in_leaf": 7, "num_threads": 1, "verbosity": -1},
]


def wrapped(tmp_path, model):
    path = pickled(tmp_path, model)
    return [
        (one.where, one.says)
        for one in ta.load(path).extras.found
        if one.kind in ("extra", "unseen")
    ]


@pytest.mark.parametrize("params", XGBOOST_WRAPPED, ids=str)
def test_wrappers_of_xgboost(tmp_path, params) -> None:
    model = xgb.XGBClassifier(n_estimators=3, n_jobs=1, verbosity=0, **params)
    assert wrapped(tmp_path, model.fit(*people("binary"))) == []


@pytest.mark.parametrize("params", LIGHTGBM_WRAPPED, ids=str)
def test_wrappers_of_lightgbm(tmp_path, params) -> None:
    model = lgb.LGBMClassifier(n_estimators=3, n_jobs=1, **{"verbose": -1, **params})
    assert wrapped(tmp_path, model.fit(*people("binary"))) == []


def stopped(kind):
    x, y = people("binary")
    seen = {"X": x[:900], "y": y[:900], "eval_set": [(x[:900], y[:900]), (x[900:], y[900:])]}
    if kind == "lightgbm":
        model = lgb.LGBMClassifier(n_estimators=60, n_jobs=1, verbose=-1, learning_rate=1)
        return model.fit(**seen, callbacks=[lgb.early_stopping(3, verbose=False)])
    stop = xgb.callback.EarlyStopping(rounds=3, min_delta=1e-3)
    model = xgb.XGBClassifier(n_estimators=60, n_jobs=1, learning_rate=1, callbacks=[stop])
    return model.fit(**seen, verbose=False)


@pytest.mark.filterwarnings("ignore:The argument .eval_set. is deprecated")
@pytest.mark.parametrize("kind", ["lightgbm", "xgboost"])
def test_scores_of_rounds_that_were_tried(tmp_path, kind) -> None:
    assert wrapped(tmp_path, stopped(kind)) == []


def stopped_late(rounds=12, **asked):
    """Return a model that was stopped after more rounds than make a list long."""
    x, y = people("binary")
    stop = [xgb.callback.EarlyStopping(rounds=rounds, **asked)] if asked else None
    model = xgb.XGBClassifier(
        n_estimators=200, max_depth=2, n_jobs=1, callbacks=stop, eval_metric=["auc", "logloss"],
        early_stopping_rounds=None if stop else rounds,
    )  # fmt: skip
    return model.fit(x[:800], y[:800], eval_set=[(x[800:], y[800:])], verbose=False)


@pytest.mark.parametrize("asked", [{}, {"save_best": True}, {"save_best": False}], ids=str)
def test_scores_of_many_rounds(tmp_path, asked) -> None:
    model = stopped_late(**asked)
    kept = model.get_booster().num_boosted_rounds()
    tried = len(model.evals_result_["validation_0"]["auc"])
    assert tried - kept == (12 if asked.get("save_best") else 0)
    assert min(kept, tried) >= 20
    assert wrapped(tmp_path, model) == []


def test_zeros_of_a_sparse_table_are_missing_to_xgboost(tmp_path) -> None:
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"job": rng.choice(list("abcdefgh"), 300), "age": rng.integers(18, 90, 300)})
    y = (x["job"] < "d").astype(int)
    found = {}
    for threshold in (0.0, 1.0):
        made = make_column_transformer(
            (OneHotEncoder(), ["job"]), ("passthrough", ["age"]), sparse_threshold=threshold
        )
        model = make_pipeline(made, xgb.XGBClassifier(n_estimators=3, max_depth=2, n_jobs=1))
        found[threshold] = ta.load(pickled(tmp_path, model.fit(x, y)))
    assert found[0.0].schema.names == ["job", "age"]
    sparse = found[1.0]
    assert len(sparse.schema.names) == 9
    assert any("zeros of a sparse table are missing values" in one for one in sparse.warnings)
    columns = made.set_params(sparse_threshold=0.0).fit_transform(x).astype(float)
    table = pd.DataFrame(np.where(columns == 0, np.nan, columns), columns=sparse.schema.names)
    report = ta.scan(sparse, train=table.assign(label=y), target="label")
    assert report.people["train"] == ("train", 300)
