"""The repair that a failed audit points to."""

from dataclasses import replace

from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.repair.fix import with_fix


def test_a_failed_audit_is_repaired_and_the_repair_passes(cancer_tree) -> None:
    report = with_fix(ta.scan(cancer_tree))
    fix = report.fix
    assert fix is not None
    assert fix.passed
    assert fix.misses == ()
    assert fix.leaves[1] < fix.leaves[0] == report.table.n_leaves
    repaired = ta.defend(cancer_tree)
    assert ta.scan(repaired).verdict == "pass"
    assert sum(len(tree.leaves) for tree in repaired.trees) == fix.leaves[1]


def test_an_audit_that_passed_is_left_as_it_is(cancer_tree) -> None:
    report = ta.scan(cancer_tree, policy="observe")
    assert with_fix(report) is report


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


def test_it_is_in_the_json_report(cancer_tree) -> None:
    report = with_fix(ta.scan(cancer_tree))
    assert report.to_dict()["fix"]["leaves"] == list(report.fix.leaves)
    assert replace(report, fix=None).to_dict()["fix"] is None


def test_a_number_that_cannot_be_written_is_no_way_out_and_no_error() -> None:
    inf = float("inf")
    tree = ta.Tree(
        parent=[-1, 0, 0, 2, 2],
        feature=[-1, 0, 0, 0, 0],
        low=[-inf, -inf, 15, 15, 20],
        high=[inf, 15, inf, 20, inf],
        n_records=[13, 6, 7, 1, 6],
        value=[inf, 1.0, inf, 2.0, 3.0],
    )
    model = ta.Forest(trees=(tree,), schema=ta.Schema.numeric(["age"]), counts_are="absent")
    for attacked in (model, replace(model, answers="sum")):
        report = with_fix(ta.scan(attacked))
        assert report.verdict == "fail"
        assert report.fix is None or report.fix.leaves == (3, 2)
