"""What TA106 judges, what it says of the rest, and that nothing passes unjudged."""

import os
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    AdaBoostRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.attacks.composition.test_joint import six_people
from tests.strategies import one_in
from treeaudit.attacks import run_attack
from treeaudit.attacks.composition.attack import Composition
from treeaudit.findings.policy import BUILT_IN
from treeaudit.model.source import Extra

RNG = np.random.default_rng(0)
X = RNG.integers(0, 8, (120, 5)).astype(float)
Y = (RNG.random(120) < 0.2 + 0.1 * X[:, 0]).astype(int)
ASKED = [name for name, policy in BUILT_IN.items() if policy.values]
ONE = ta.Policy(name="one", values={"max-joint-label-excess": 0.05})


def scanned(model, policy=ONE, y=Y, **options) -> ta.Report:
    return ta.scan(model.fit(X, y), policy=policy, attacks=["TA106"], **options)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (DecisionTreeClassifier(max_depth=3), "a single tree"),
        (IsolationForest(n_estimators=3), "grown without labels"),
    ],
)
def test_what_cannot_apply_is_no_bar(model, reason) -> None:
    report = scanned(model)
    (found,), (check,) = report.results, report.checks
    assert found.reason.startswith("not applicable: ")
    assert reason in found.reason
    assert (check.status, check.reason, report.verdict) == ("not-applicable", found.reason, "pass")


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (AdaBoostRegressor(n_estimators=3), "they do not vote by labels"),
        (
            VotingClassifier([("a", DecisionTreeClassifier()), ("b", DecisionTreeClassifier())]),
            "what joins their answers",
        ),
        (RandomForestClassifier(3), "(--train)"),
        (GradientBoostingClassifier(n_estimators=3), "(--train)"),
        (ExtraTreesRegressor(3), "(--train)"),
        (ExtraTreesRegressor(3, criterion="absolute_error"), "medians"),
    ],
)
def test_what_was_not_judged_is_never_a_pass(model, reason) -> None:
    report = scanned(model)
    assert reason in report.results[0].reason
    assert (report.checks[0].status, report.verdict) == ("skipped", "review")


def test_train_is_what_it_asks_for() -> None:
    assert scanned(RandomForestClassifier(3)).results[0].asks == ("--train",)
    unlabelled = ta.scan(
        ExtraTreesClassifier(3).fit(X, Y), train=pd.DataFrame(X), attacks=["TA106"]
    )
    assert unlabelled.results[0].asks == ("--target",)


def test_seeds_beside_the_trees_are_not_used_and_nothing_passes() -> None:
    stumps = RandomForestClassifier(10, max_depth=1, min_samples_leaf=30, random_state=0)
    report = scanned(stumps, train=(X, Y))
    assert report.verdict == "review"
    reason = report.checks[0].reason
    assert "seeds in the file" in reason
    case = six_people()
    seeds = Extra(kind="seeds", where="random_state", n=1, says="who is in which tree")
    extras = replace(case.forest.extras, found=(seeds,), looked_for=frozenset({"seeds"}))
    found = run_attack(Composition(), replace(case, forest=replace(case.forest, extras=extras)))
    # What was found without them stands.
    assert (found.people, len(found.unseen)) == (2, 1)


def test_numbers_are_given_back_by_their_means() -> None:
    target = RNG.normal(size=120) + X[:, 0]
    report = scanned(
        ExtraTreesRegressor(150, min_samples_leaf=3, max_features=1, random_state=0),
        y=target,
        train=(X, target),
    )
    details = report["TA106"].details
    assert (details.by, details.tolerance) == ("numbers", pytest.approx(0.01 * target.std()))
    assert (details.majority, details.rarest_people) == (None, None)
    assert details.excess > 0.1
    assert report.verdict == "fail"


def test_a_rare_label_is_not_hidden_behind_the_others() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(500, 6))
    y = (rng.random(500) < 0.02).astype(int)
    model = ExtraTreesClassifier(100, min_samples_leaf=10, random_state=0).fit(x, y)
    details = ta.scan(model, train=(x, y))["TA106"].details
    # Nearly every answer is right already, and everybody who has the label is found.
    assert details.excess < 0.05
    assert (details.rarest_own, details.rarest_joint, details.excess_of_one_label) == (0, 1, 1)
    policy = ta.Policy(name="rare", values={"max-joint-one-label-excess": 0.25})
    assert ta.scan(model, policy=policy, train=(x, y)).verdict == "fail"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("policy", ASKED)
def test_random_labels_of_large_leaves_do_not_pass(policy, tmp_path) -> None:
    rng = np.random.default_rng(1)
    x = pd.DataFrame(rng.normal(size=(400, 5)), columns=[f"q{i}" for i in range(5)])
    y = rng.integers(0, 2, 400)
    model = ExtraTreesClassifier(
        120, max_depth=5, min_samples_leaf=12, max_features=1, random_state=3
    ).fit(x, y)
    model.random_state = None
    for tree in model.estimators_:
        tree.random_state = None
    joblib.dump(model, tmp_path / "forest.pkl")
    alone = ta.scan(tmp_path / "forest.pkl", policy=policy)
    report = ta.scan(tmp_path / "forest.pkl", policy=policy, train=x.assign(y=y), target="y")
    assert alone.verdict != "pass"
    assert report.verdict == "fail"
    details = report["TA106"].details
    assert details.joint > 0.9
    assert details.curve[-1].smallest == 1
    assert [at.trees for at in details.curve] == [1, 2, 5, 10, 20, 50, 100, 120]
    assert [at.trees for at in details.curve if at.joint is not None] == [5, 20, 100, 120]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", ["prune-leaves", "merge-siblings"])
@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(50, random_state=3),
        ExtraTreesClassifier(50, min_samples_leaf=6, random_state=3),
    ],
)
def test_k_people_in_every_leaf_protect_no_forest(model, method, tmp_path) -> None:
    """Methods 1 and 2 of the paper on every tree: judged with people at hand, and failed."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(400, 5)), rng.integers(0, 2, 400)
    repaired = ta.defend(ta.load(model.fit(x, y)), method=method, min_leaf=10)
    assert {min(t.n_records[t.is_leaf & (t.n_records > 0)]) for t in repaired.trees} >= {10}
    ta.save(repaired, tmp_path / "repaired.pkl")
    written = joblib.load(tmp_path / "repaired.pkl")
    report = ta.scan(tmp_path / "repaired.pkl", train=(x, y), policy=ONE, attacks=["TA106"])
    details = report["TA106"].details
    assert float(details.own) == (written.predict(x) == y).mean()
    assert details.excess > 0.1
    assert report.verdict == "fail"
    beside = ta.scan(repaired, train=(x, y), policy=ONE, attacks=["TA106"])["TA106"].details
    assert beside == details


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("policy", one_in(2, ["default", "strict"]))
def test_a_forest_that_was_repaired_leaf_by_leaf_does_not_pass(policy, tmp_path) -> None:
    folder = os.environ.get("TREEAUDIT_DATA")
    if not folder:
        pytest.skip("TREEAUDIT_DATA names no folder of data")
    table = pd.read_csv(Path(folder) / "adult.csv.gz", dtype=str, keep_default_na=False)
    table = table.sample(600, random_state=0).reset_index(drop=True)
    y = (table.pop("income") == ">50K").astype(int)
    x = pd.DataFrame(
        {
            name: column.astype(float)
            if column.str.fullmatch(r"-?\d+").all()
            else pd.factorize(column, sort=True)[0].astype(float)
            for name, column in table.items()
        }
    ).drop(columns="fnlwgt", errors="ignore")
    model = ExtraTreesClassifier(100, min_samples_leaf=2, random_state=0).fit(x, y)
    ta.save(ta.defend(model, policy=policy), tmp_path / "safe.pkl")
    assert ta.scan(tmp_path / "safe.pkl", policy=policy).verdict != "pass"
    report = ta.scan(tmp_path / "safe.pkl", policy=policy, train=x.assign(y=y), target="y")
    assert report.verdict == "fail"
    assert report["TA106"].details.joint > 0.95
    assert report["TA106"].details.rarest_joint > 0.9 > report["TA106"].details.rarest_own
