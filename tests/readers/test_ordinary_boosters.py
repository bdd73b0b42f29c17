"""What people train with the settings that they tune explains itself: no false alarm."""

import lightgbm as lgb
import numpy as np
import pytest

import treeaudit as ta

LIGHTGBM = {
    "a penalty and a bag": {"reg_lambda": 1.0, "subsample": 0.8, "subsample_freq": 1},
    "both penalties": {"reg_lambda": 30.0, "reg_alpha": 0.8},
    "a penalty and dart": {"reg_lambda": 1.5, "boosting_type": "dart"},
    "linear leaves": {"linear_tree": True},
}
LIGHTGBM_ASKED = ["binary", "multiclass", "regression", "huber", "quantile", "poisson", "tweedie"]


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
    return [one.says for one in ta.load(path).leftovers.found if one.kind == "unexplained"]


@pytest.mark.parametrize("asked", LIGHTGBM_ASKED)
@pytest.mark.parametrize("params", LIGHTGBM.values(), ids=LIGHTGBM)
def test_lightgbm(tmp_path, params, asked) -> None:
    x, y = people(asked)
    kind = lgb.LGBMClassifier if asked in ("binary", "multiclass") else lgb.LGBMRegressor
    model = kind(n_estimators=8, num_leaves=9, n_jobs=1, verbose=-1, objective=asked, **params).fit(
        x, y
    )
    model.booster_.save_model(tmp_path / "m.txt")
    assert unexplained(tmp_path / "m.txt") == []
