"""The frontier of trees, leaf size and accuracy of a forest, with people at hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from benchmarks.together import excess
from tests.cli.run import run
from treeaudit.repair.candidates import VotesOnly
from treeaudit.repair.defend import RepairRequest, repair
from treeaudit.writers import to_estimator


@pytest.fixture(scope="module")
def noisy():
    """People whose label follows from three columns, but for one in ten."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1000, 6)).round(2)
    y = (x[:, 0] + x[:, 1] * x[:, 2] > 0) ^ (rng.random(1000) < 0.15)
    return (x[:600], y[:600].astype(int)), (x[600:], y[600:].astype(int))


@pytest.fixture(scope="module")
def forest(noisy) -> RandomForestClassifier:
    return RandomForestClassifier(40, random_state=0).fit(*noisy[0])


@pytest.fixture(scope="module")
def done(forest, noisy):
    return repair(forest, RepairRequest(train=noisy[0], test=noisy[1]))


def test_a_forest_passes_judged_together(done, forest, noisy) -> None:
    assert done.passed
    joint = [c for c in done.after.report.checks if c.attack == "TA106"]
    assert [c.status for c in joint] == ["pass", "pass", "pass"]
    again = ta.scan(done.forest, train=noisy[0], test=noisy[1])
    assert again.verdict == "pass"
    model = to_estimator(done.forest)
    assert excess(model, *noisy[0]) <= 0.05
    assert model.score(*noisy[1]) > forest.score(*noisy[1]) - 0.05


def test_the_frontier_tells_what_was_tried(done, noisy) -> None:
    before, *others = done.frontier
    assert (before.trees, before.smallest, before.passed) == (40, 1, False)
    assert before.accuracy == pytest.approx(
        RandomForestClassifier(40, random_state=0).fit(*noisy[0]).score(*noisy[1])
    )
    chosen = [one for one in others if one.chosen]
    assert len(chosen) == 1
    assert chosen[0].accuracy == max(one.accuracy for one in others if one.passed)
    assert chosen[0].trees == done.forest.n_trees
    assert chosen[0].steps == done.steps
    assert chosen[0].excess <= 0.05
    for one in others:
        assert one.unseen
        assert one.judged or (not one.passed and one.excess is None)
        if one.judged and not one.passed:
            assert one.miss
        if not one.judged:
            assert one.accuracy <= chosen[0].accuracy


def test_others_people_are_an_error(forest, noisy) -> None:
    with pytest.raises(ta.DataError, match="not the training data"):
        repair(forest, RepairRequest(train=noisy[1]))


def test_a_forest_that_saw_everybody_and_one_of_numbers(noisy) -> None:
    (x, y), _ = noisy
    whole = repair(ExtraTreesClassifier(20, random_state=0).fit(x, y), RepairRequest(train=(x, y)))
    assert whole.passed
    assert not any("anew" in step for one in whole.frontier for step in one.steps)
    number = x[:, 0] * 3 + x[:, 1]
    model = RandomForestRegressor(20, min_samples_leaf=5, random_state=0).fit(x, number)
    done = repair(model, RepairRequest(train=(x, number)))
    assert done.frontier[0].accuracy == pytest.approx(model.score(x, number))
    assert done.passed


def test_the_command_prints_it_and_writes_a_page(forest, noisy, tmp_path) -> None:
    import joblib
    import pandas as pd

    joblib.dump(forest, tmp_path / "forest.joblib")
    for name, (x, y) in zip(("train", "test"), noisy, strict=True):
        pd.DataFrame(x).add_prefix("c").assign(y=y).to_csv(tmp_path / f"{name}.csv", index=False)
    done = run(
        "defend", "forest.joblib", "--train", "train.csv", "--test", "test.csv",
        "-o", "safe.joblib", "-o", "safe.html", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "PASS, chosen" in done.stdout
    assert "on unseen people (the same people chose the repair" in done.stdout
    assert "report  safe.html" in done.stdout
    page = (tmp_path / "safe.html").read_text(encoding="utf-8")
    assert "the same people chose the repair" in page
    assert "PASS, chosen" in page
    again = run("scan", "safe.joblib", "--train", "train.csv", "--quiet", cwd=tmp_path)
    assert again.returncode == 0, again.stdout


def test_trees_are_put_together_only_where_all_else_passes(done, forest, noisy) -> None:
    from dataclasses import dataclass

    from treeaudit.findings.policy import read_policy
    from treeaudit.people.records import read_records
    from treeaudit.repair.attempts import AuditOptions
    from treeaudit.repair.search import Evaluator

    asked = []

    @dataclass(frozen=True, slots=True, kw_only=True, eq=False)
    class Listening(AuditOptions):
        def audited(self, forest, policy, attacks=None):
            asked.append(attacks)
            return AuditOptions.audited(self, forest, policy, attacks)

    policy, model = read_policy("default"), ta.load(forest)
    train = read_records(noisy[0], model)
    counting = Listening(options={"train": noisy[0]})
    judges = Evaluator(policy=policy, counting=counting, train=train, test=None)
    judges.judged(model, ())
    assert len(asked) == 1
    assert not {"TA106", "TA108"} & set(asked[0])
    asked.clear()
    judges.judged(done.forest, ())
    dear = [{"TA106", "TA108"} & set(one) for one in asked]
    assert dear == [set(), {"TA106"}, {"TA106", "TA108"}]


def test_an_adaboost_votes_as_before_by_labels_alone(tmp_path) -> None:
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(600, 3)), columns=list("abc"))
    y = np.where(x["a"] + rng.normal(size=600) > 0, "yes", "no")
    people = x.assign(y=y)
    model = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=1, min_samples_leaf=80), n_estimators=3, random_state=0
    ).fit(x, y)
    forest = ta.load(model)
    votes = ta.load(ta.save(VotesOnly().apply(forest), tmp_path / "votes.pkl"))
    # No weight is left in it, and all people are.
    assert (votes.counts_are, votes.records_are) == ("label-only", "all")
    assert [tree.n_records[0] for tree in votes.trees] == [600] * 3
    assert votes.tree_weights == forest.tree_weights
    assert (votes.to_sklearn().predict(x) == model.predict(x)).all()
    report = ta.scan(votes, train=people, target="y")
    assert report["TA102"].details.measured_on == "people"
    # The people are counted: others than those of training are found out.
    with pytest.raises(ta.DataError, match="is not the training data"):
        ta.scan(votes, train=people[:500], target="y")
