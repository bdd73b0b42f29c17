"""What people train with the settings that they tune explains itself: no false alarm."""

import json
import pickle

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

import treeaudit as ta
from tests.libraries import library
from treeaudit.readers.leftovers.attributes import attributes_of
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
    return [one.says for one in ta.load(path).leftovers.found if one.kind == "extra"]


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
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(model))
    return [
        (one.where, one.says)
        for one in ta.load(path).leftovers.found
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


TRIED = {
    "one more": lambda curve: [*curve, 33.5],
    "as many again": lambda curve: curve + curve,
    "few": lambda curve: curve[:25],
    "whole numbers": lambda curve: [33] * len(curve),
}


@pytest.mark.parametrize("plant", TRIED)
@pytest.mark.parametrize("of", ["evals_result_", "stopping_history"])
def test_scores_of_rounds_that_nobody_tried(tmp_path, plant, of) -> None:
    model = stopped_late(save_best=True)
    owner = model if of == "evals_result_" else model.callbacks[0]
    scores = getattr(owner, of)["validation_0"]
    scores["logloss"] = TRIED[plant](scores["logloss"])
    assert any(of in at for at, _ in wrapped(tmp_path, model))


def test_no_more_rounds_were_tried_than_an_end_waits_for(tmp_path) -> None:
    for after, rounds in ((13, 12), (400, 400), (-1, 12)):
        model = stopped_late(save_best=True)
        kept = model.get_booster().num_boosted_rounds()
        model.callbacks[0].current_rounds, model.callbacks[0].rounds = after, rounds
        model.evals_result_["validation_0"]["auc"] = [33.5] * (kept + after)
        assert any("auc" in at for at, _ in wrapped(tmp_path, model))


SECRET = [33.5, 54.25, 41.125] * 40
PLANTS = {
    "more scores than rounds": ("evals_result_", {"a": {"auc": SECRET}}),
    "fewer scores than rounds": ("evals_result_", {"a": {"auc": SECRET[:40]}}),
    "labels for scores": ("evals_result_", {"a": {"auc": [0, 1] * 30}}),
    "people for sets": ("evals_result_", {"Ann Lee;33;ill": {"auc": SECRET[:60]}}),
    "a list beside": ("evals_result_", {"a": [0.5, 0.25]}),
    "many sets": ("evals_result_", {f"a{c}": {"auc": [0.5] * 60} for c in "abcdefghijklmnopq"}),
    "blanks": ("monotone_constraints", "(1,  0,0,-1)"),
    "brackets": ("interaction_constraints", "[[0,1],(2,3)]"),
    "ages": ("monotone_constraints", (33, 54, 41, 29)),
    "groups of nobody": ("interaction_constraints", [[33, 54], [41, 29]]),
    "a column over and over": ("interaction_constraints", [[0, 0, 1, 1, 0]]),
    "many groups": ("interaction_constraints", [[i % 4] for i in range(40)]),
    "names of nobody": ("monotone_constraints", {"Ann": 1}),
    "rows": ("kwargs", {"alpha": SECRET}),
    "a key": ("kwargs", {"Ann Lee, 33, ill": 1}),
    "a metric": ("eval_metric", "Ann@33"),
}


@pytest.mark.parametrize("where", PLANTS)
def test_what_is_planted_there_is_told(tmp_path, where) -> None:
    name, secret = PLANTS[where]
    model = xgb.XGBClassifier(n_estimators=60, max_depth=1, n_jobs=1).fit(*people("binary"))
    assert wrapped(tmp_path, model) == []
    model.__dict__[name] = secret
    assert any(at.startswith(name) for at, _ in wrapped(tmp_path, model))


def doubled(times: int) -> list:
    found: list = []
    for _ in range(times):
        found = [found, found]
    return found


WIDE = {
    "a list that holds itself over and over": ("interaction_constraints", doubled(60)),
    "a group over and over": ("interaction_constraints", [[0, 1] * 1000] * 1000),
    "numbers for metrics": ("eval_metric", [33.5] * 16),
    "numbers for kinds": ("feature_types", [33.5] * 16),
    "many metrics": ("eval_metric", [f"auc@{i}" for i in range(16)]),
    "a range": ("kwargs", {"alpha": range(33, 54, 7)}),
    "many ways to stop": ("callbacks", [xgb.callback.EarlyStopping(rounds=i) for i in range(1, 9)]),
    "other classes": ("n_classes_", 3),
}


@pytest.mark.parametrize("where", WIDE)
def test_a_wrapper_of_xgboost_has_room_for_settings_alone(tmp_path, where) -> None:
    name, secret = WIDE[where]
    model = xgb.XGBClassifier(n_estimators=4, max_depth=1, n_jobs=1).fit(*people("binary"))
    model.__dict__[name] = secret
    assert any(at.startswith(name) for at, _ in wrapped(tmp_path, model))


def test_a_wrapper_of_lightgbm_has_room_for_settings_alone(tmp_path) -> None:
    known = attributes_of("LGBMClassifier")
    names = [one for one in known if one[0] != "_" and one != "n_features_in_"]
    plants = {
        "params": {name: f"Ann {i}" for i, name in enumerate(names[:40])},
        "_other_params": {name: float(i) for i, name in enumerate(names[:40])},
        "name_valid_sets": [f"ann{i}" for i in range(40)],
        "_Booster__inner_predict_buffer": [33.5 + i for i in range(40)],
    }
    for name, secret in plants.items():
        model = lgb.LGBMClassifier(n_estimators=3, n_jobs=1, verbose=-1).fit(*people("binary"))
        (model if name == "_other_params" else model.booster_).__dict__[name] = secret
        assert any(name in at for at, _ in wrapped(tmp_path, model)), name
    for times in (1, 16):
        model = lgb.LGBMClassifier(n_estimators=3, n_jobs=1, verbose=-1).fit(*people("binary"))
        others = [name for name in names if name not in model.__dict__][:60]
        for i, name in enumerate(others):
            model.__dict__[name] = i + 0.5 if times == 1 else [i + 0.5] * times
        assert wrapped(tmp_path, model) != []


def test_settings_of_answers_are_told(tmp_path) -> None:
    model = lgb.LGBMClassifier(n_estimators=3, n_jobs=1, verbose=-1).fit(*people("binary"))
    model._other_params = {"pred_early_stop": True, "pred_early_stop_freq": 1}
    assert wrapped(tmp_path, model) != []


@pytest.mark.parametrize("key", ["Ann Lee, 33, ill", "patient_33"])
def test_parameters_that_lightgbm_does_not_have_are_told(tmp_path, key) -> None:
    model = lgb.LGBMClassifier(n_estimators=3, n_jobs=1, verbose=-1).fit(*people("binary"))
    model.booster_.params |= {f"{key}{i}": i for i in range(40)}
    assert any("params" in at for at, _ in wrapped(tmp_path, model))
