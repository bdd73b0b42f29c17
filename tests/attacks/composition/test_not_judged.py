"""Numbers that the leaves of all trees hold in another way than as means are not judged (TA106)."""

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    BaggingRegressor,
    ExtraTreesRegressor,
    HistGradientBoostingRegressor,
)
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import treeaudit as ta
from treeaudit.findings.findings import Skipped

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(120, 3))
NUMBERS = np.exp(RNG.normal(size=120) + ROWS[:, 0])
TREES = ExtraTreesRegressor(80, max_features=1, min_samples_leaf=5, random_state=0)


def _logarithm(model):
    return TransformedTargetRegressor(model, func=np.log, inverse_func=np.exp)


def _joint(model):
    return ta.scan(model, train=(ROWS, NUMBERS), attacks=["TA106"], policy="observe").results[0]


def test_of_plain_numbers_everybody_is_certain() -> None:
    assert _joint(TREES.fit(ROWS, NUMBERS)).details.certain == 120


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "changed",
    [_logarithm(TREES), TransformedTargetRegressor(TREES, transformer=StandardScaler())],
    ids=["logarithm", "scaled"],
)
def test_what_a_changed_target_gives_away_is_not_held_against_the_plain_numbers(
    changed, tmp_path
) -> None:
    ta.save(ta.load(changed.fit(ROWS, NUMBERS)), tmp_path / "model.json")
    said = "trees together were not judged: the numbers in their leaves are in units of the changed"
    for model in (changed, tmp_path / "model.json", ta.release(changed)):
        found = _joint(model)
        assert isinstance(found, Skipped)
        assert found.reason == f"{said} target"
    report = ta.scan(changed, train=(ROWS, NUMBERS))
    held = {check.name: check.status for check in report.checks}
    assert held["max-joint-certain-people"] == held["max-joint-label-excess"] == "skipped"


def test_a_bag_of_medians_is_no_bag_of_means(tmp_path) -> None:
    tree = DecisionTreeRegressor(criterion="absolute_error", max_features=1, min_samples_leaf=5)
    model = BaggingRegressor(tree, 10, bootstrap=False, random_state=0).fit(ROWS, NUMBERS)
    ta.save(ta.load(model), tmp_path / "model.json")
    for one in (model, tmp_path / "model.json"):
        assert _joint(one).reason == "trees together were not judged: their leaves hold medians"


@pytest.mark.parametrize("loss", ["poisson", "gamma", "absolute_error"])
def test_steps_of_logarithms_and_medians_do_not_add_up_to_the_number(loss) -> None:
    model = HistGradientBoostingRegressor(loss=loss, max_iter=10, min_samples_leaf=5)
    found = _joint(model.fit(ROWS, NUMBERS))
    assert isinstance(found, Skipped)
    assert found.reason.endswith("by their loss, steps are not of the numbers that are predicted")
