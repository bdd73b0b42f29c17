"""The repair that a failed audit points to."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from treeaudit.repair.defend import RepairRequest, repair
from treeaudit.repair.suggestion import with_fix
from treeaudit.reports.advice import fix_sentence, next_command
from treeaudit.reports.repairs import before_and_after


def test_a_failed_audit_is_repaired_and_the_repair_passes(cancer_tree) -> None:
    report = with_fix(ta.scan(cancer_tree))
    fix = report.fix
    assert fix is not None
    assert fix.passed
    assert fix.misses == ()
    assert fix.leaves[1] < fix.leaves[0] == report.table.n_leaves
    repaired = ta.defend(ta.load(cancer_tree))
    assert ta.scan(repaired).verdict == "pass"
    assert sum(len(tree.leaves) for tree in repaired.trees) == fix.leaves[1]


def test_what_it_costs_unseen_people() -> None:
    x, y = load_breast_cancer(return_X_y=True)
    model = DecisionTreeClassifier(random_state=0).fit(x, y)
    fix = with_fix(ta.scan(model), test=(x, y)).fix
    assert fix is not None
    assert fix.unseen is not None
    before, after = fix.unseen
    assert before.n == len(x)
    assert before.value == model.score(x, y)
    assert after.value <= before.value


@pytest.fixture(scope="module")
def forest():
    """Return a forest whose trees are each right less often than all of them, and its people."""
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.integers(0, 6, size=(300, 4)).astype(float), columns=list("abcd"))
    y = np.where(x["a"] + x["b"] + rng.normal(0, 1, 300) > 5, "yes", "no")
    options = {"bootstrap": False, "max_features": 1, "min_samples_leaf": 2, "random_state": 0}
    return RandomForestClassifier(5, **options).fit(x, y), x.assign(label=y)


def test_counts_tell_how_often_each_tree_alone_is_right(forest) -> None:
    report = with_fix(ta.scan(forest[0]))
    before = np.mean([
        (tree.predict(forest[1].drop(columns="label").to_numpy()) == (forest[1]["label"] == "yes"))
        for tree in forest[0].estimators_
    ])  # fmt: skip
    assert (report.fix.right[0], report.fix.answered) == (pytest.approx(before), False)
    said = fix_sentence(report)
    assert f"each tree alone is right for {before:.2%} → " in said
    assert "of its own people" in said
    assert "right_of" not in report.to_dict()["fix"]
    done = repair(ta.load(forest[0]), RepairRequest())
    rows = before_and_after(done.before, done.after)
    assert ("right for its own people, each tree alone", f"{before:.2%}") in [
        row[:2] for row in rows
    ]


def test_figures_of_a_repair_that_draws_are_the_same_each_time() -> None:
    x, y = load_breast_cancer(return_X_y=True, as_frame=True)
    people = x[["mean radius", "mean texture"]].assign(ill=y)[:300]
    model = GradientBoostingClassifier(n_estimators=3, max_depth=4, random_state=0)
    model.fit(people.drop(columns="ill"), people["ill"])
    wanted = {"train": people, "target": "ill"}
    fixes = [with_fix(ta.scan(model, **wanted), **wanted).fix for _ in range(2)]
    assert fixes[0] == fixes[1]
    assert "draws" in " ".join(fixes[0].steps)
    # What is handed out is drawn as nobody can tell.
    given = RepairRequest(**wanted)
    told = [repair(model, given, trial=trial).forest for trial in (0, 0, None, None)]
    steps = [tuple(tree.value.tobytes() for tree in forest.trees) for forest in told]
    assert steps[0] == steps[1]
    assert len(set(steps)) == 3
    with pytest.raises(ta.DataError, match="takes no 'trial'"):
        ta.defend(model, method="draw-steps", trial=0, **wanted)


def test_a_repair_is_judged_by_the_tolerance_of_the_audit() -> None:
    """By its own it passed, and the file that was written failed the same audit."""
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"age": rng.integers(18, 90, 400)})
    people["cost"] = people.age * 30.0 + rng.gamma(2, 300, 400)
    model = DecisionTreeRegressor(max_depth=5, random_state=0).fit(people[["age"]], people.cost)
    usual, wide = (
        with_fix(
            ta.scan(model, train=people, target="cost", tolerance=t), train=people, target="cost"
        )
        for t in (None, 600.0)
    )
    assert usual.fix.passed
    assert next_command(usual)
    assert not wide.fix.passed
    assert not wide.fix.works
    assert any("within the tolerance" in miss for miss in wide.fix.misses)
    assert not next_command(wide)
    assert fix_sentence(wide) == ""


def test_a_repair_is_judged_by_the_sensitive_columns_of_the_audit() -> None:
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"age": rng.integers(18, 90, 600), "ill": rng.integers(0, 2, 600)})
    people["hiv"] = np.where(people.age > 60, "yes", "no")
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(people[["age"]], people.ill)
    asked = {"train": people, "target": "ill"}
    plain = with_fix(ta.scan(model, **asked), **asked)
    assert plain.verdict == "pass" or plain.fix.passed
    report = with_fix(ta.scan(model, **asked, sensitive=["hiv"]), **asked)
    assert report.verdict == "fail"
    assert report.fix is None or not report.fix.passed
    # Nor is a repair advised that would not be told of the column.
    assert not next_command(report)
    titles = {check.name: check.title for check in report.checks}
    assert titles["max-certain-share"] == "People whose label or sensitive value is certain"
    assert {c.title for c in plain.checks} >= {"People whose label is certain"}
