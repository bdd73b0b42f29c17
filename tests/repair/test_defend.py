"""Repairs as asked for, and the mildest one that a policy passes."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeRegressor

import treeaudit as ta
from treeaudit.repair.attempts import nearest_miss
from treeaudit.repair.defend import RepairRequest, repair, sweep
from treeaudit.repair.worth import uses_of


@pytest.mark.parametrize("policy", ["default", "strict"])
def test_the_mildest_that_passes(cancer_tree, policy) -> None:
    done = repair(cancer_tree, RepairRequest(policy=policy))
    assert done.passed
    assert done.searched
    passing = [one for one in done.tried if one.report.verdict == "pass"]
    assert done.after.accuracy == max(one.accuracy for one in passing)
    assert ta.scan(ta.defend(cancer_tree, policy=policy), policy=policy).verdict == "pass"


def test_leftovers_alone_are_taken_out() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    forest = RandomForestClassifier(
        20, oob_score=True, min_samples_leaf=20, max_depth=2, random_state=0
    ).fit(x, y)
    assert {one.kind for one in ta.load(forest).extras.found} == {"out-of-bag", "seeds"}
    done = repair(forest, RepairRequest())
    assert done.forest.extras.found == ()
    # Without people the trees together are not judged.
    missed = [check.name for check in done.after.report.checks if not check.met]
    assert missed == [
        "max-joint-label-excess",
        "max-joint-one-label-excess",
        "max-joint-certain-people",
    ]
    assert done.after.report.verdict == "review"
    assert done.steps == ()


def test_the_nearest_miss_is_named(cancer_tree) -> None:
    policy = ta.Policy(name="mine", values={"min-leaf": 5, "max-epsilon": 1.0})
    done = repair(cancer_tree, RepairRequest(policy=policy))
    assert not done.passed
    says = nearest_miss(done)
    assert (
        "none of 5 repairs passes policy mine; nearest: merged leaves of fewer than 5 people"
        in says
    )
    assert "differential privacy, epsilon: unbounded (at most 1)" in says
    with pytest.raises(ta.DataError, match="none of 5 repairs"):
        ta.defend(cancer_tree, policy=policy)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"min_leaf": 570}, r"only 569 in the tree; ask for at most 190 \(--min-leaf 190\)"),
        ({"min_leaf": 500}, "a single leaf would be left"),
        ({"min_leaf": 500, "method": "prune-leaves"}, "nothing would be left"),
        ({"min_leaf": 1}, "2 or more"),
        ({"min_leaf": 5, "round_counts": 1}, "at least 2"),
        ({"method": "intersect-k"}, "give it with --train"),
    ],
    ids=str,
)
def test_what_cannot_be_done_is_one_sentence(cancer_tree, options, says) -> None:
    with pytest.raises(ta.DataError, match=says):
        ta.defend(cancer_tree, **options)


def test_what_was_stripped_is_for_review(cancer_tree) -> None:
    done = repair(cancer_tree, RepairRequest(min_leaf=10, strip=True, round_counts=None))
    assert done.after.report.verdict == "review"
    assert not done.passed
    assert done.steps[-1].startswith("removed counts")
    rounded = repair(cancer_tree, RepairRequest(min_leaf=10, round_counts=5))
    assert (rounded.forest.trees[0].counts % 5 == 0).all()


def test_numbers_are_repaired_as_well(cancer) -> None:
    x, _ = cancer
    tree = DecisionTreeRegressor(random_state=0).fit(x.iloc[:, 1:], x.iloc[:, 0])
    done = repair(tree, RepairRequest())
    assert done.after.report["TA101"].details.min_leaf >= 5
    # Written anew it tells no spread, and the file that it comes from does.
    assert done.forest.trees[0].spread is None
    told = {one.name: one.status for one in done.after.report.checks}
    assert (done.after.report.verdict, told["max-dominating-people"]) == ("pass", "pass")
    told = ta.scan(done.forest, train=x, target=x.columns[0])
    assert {one.name: one.status for one in told.checks}["max-dominating-people"] == "pass"
    assert done.forest.trees[0].value is not None


def test_what_each_k_costs(cancer_tree) -> None:
    attempts = sweep(cancer_tree, [2, 5, 20, 10_000], RepairRequest())
    assert all(
        one.report["TA101"].details.min_leaf >= k
        for one, k in zip(attempts, (2, 5, 20), strict=True)
    )
    leaves = [one.leaves for one in attempts]
    assert len(attempts) == 3
    assert leaves == sorted(leaves, reverse=True)
    with pytest.raises(ta.DataError, match="only 569"):
        sweep(cancer_tree, [10_000], RepairRequest())


def test_a_tree_of_adult_passes_and_answers_as_well(adult, adult_tree) -> None:
    columns, income = adult
    done = repair(adult_tree, RepairRequest())
    assert done.passed
    unseen = (columns[32561:].to_numpy(), income[32561:].to_numpy())
    (before, after), _ = uses_of([done.before.forest, done.forest], train=None, test=unseen)
    assert before.coverage.value == after.coverage.value == 1
    assert after.accuracy.value > before.accuracy.value - 0.002
