"""Boosters whose first round tells labels: repaired, written, and what the file tells then."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier

import treeaudit as ta
from treeaudit.repair.candidates import MendFirst, first_round_shows_labels
from treeaudit.repair.defend import RepairRequest, repair


@pytest.fixture(scope="module")
def people():
    """Of half of them the label follows from one column; of three classes."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(800, 5)).round(2)
    y = np.where(x[:, 0] > 0, 2, (x[:, 1] + rng.normal(size=800) > 0).astype(int))
    return x, y


def fitted(kind: str, x, y, folder):
    """Return a booster as its library trains it, and the file that the library writes."""
    import joblib

    if kind == "XGBoost":
        xgboost = pytest.importorskip("xgboost")
        model = xgboost.XGBClassifier(n_estimators=20, n_jobs=1).fit(x, y)
        model.save_model(folder / "model.ubj")
        return model, folder / "model.ubj"
    if kind == "LightGBM":
        lightgbm = pytest.importorskip("lightgbm")
        model = lightgbm.LGBMClassifier(n_estimators=20, n_jobs=1, verbose=-1).fit(x, y)
        model.booster_.save_model(folder / "model.txt")
        return model, folder / "model.txt"
    model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(x, y)
    joblib.dump(model, folder / "model.joblib")
    return model, folder / "model.joblib"


KINDS = ("scikit-learn", "XGBoost", "LightGBM")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_booster_passes_and_so_does_what_is_written(kind, classes, people, tmp_path) -> None:
    x, y = people
    y = np.minimum(y, 1) if classes == 2 else y
    _, path = fitted(kind, x, y, tmp_path)
    done = repair(path, RepairRequest(train=(x, y)))
    assert done.before.report.verdict == "fail"
    assert done.passed, done.after.misses
    assert any(isinstance(one, MendFirst) for one in done.after.defenses)
    target = path.with_name(f"safe{path.suffix}")
    ta.save(done.forest, target)
    assert ta.scan(target, train=(x, y)).verdict == "pass"


def test_nothing_of_the_first_round_is_left_in_the_weights_of_xgboost(people, tmp_path) -> None:
    import json

    x, y = people
    _, path = fitted("XGBoost", x, np.minimum(y, 1), tmp_path)
    ta.save(MendFirst().apply(ta.load(path)), tmp_path / "safe.json")
    assert not first_round_shows_labels(ta.load(tmp_path / "safe.json"))
    trees = json.loads((tmp_path / "safe.json").read_text())["learner"]["gradient_booster"]
    first = trees["model"]["trees"][0]
    assert len(first["base_weights"]) > 1
    assert not any(first["base_weights"])
    assert not any(first["loss_changes"])


def test_the_class_counts_of_a_written_lightgbm_model_are_found(people, tmp_path) -> None:
    """Its text does not say where boosting starts: the mean of the leaves does."""
    x, y = people
    _, path = fitted("LightGBM", x, np.minimum(y, 1), tmp_path)
    before = ta.load(path)
    lines = path.read_text().splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(("internal_value", "tree_sizes"))]
    bare = tmp_path / "bare.txt"
    bare.write_text("".join(kept))
    after = ta.load(bare)
    assert first_round_shows_labels(after)
    leaf = before.trees[0].is_leaf
    assert np.array_equal(after.trees[0].counts[leaf], before.trees[0].counts[leaf])


def test_each_tree_of_the_round_is_mended(people, tmp_path) -> None:
    """The tree of the last class has two leaves: the other trees prove its counts."""
    x, y = people
    _, path = fitted("XGBoost", x, y, tmp_path)
    forest = ta.load(path)
    assert not any(tree.counts is None for tree in forest.trees[:3])
    level = MendFirst().apply(forest)
    assert all(np.ptp(tree.value) == 0 for tree in level.trees[:3])
    assert level.counts_are == "absent"
    assert all(
        np.array_equal(a.value, b.value)
        for a, b in zip(level.trees[3:], forest.trees[3:], strict=True)
    )
    assert np.array_equal(level.apply(x), forest.apply(x))
