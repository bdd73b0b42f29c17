"""Trees that do not tell their people, counted on the training people."""

import numpy as np
import pytest

import treeaudit as ta
from treeaudit.defenses import Strip
from treeaudit.table.reconstruction import measure, routed

INF = np.inf
X = np.array([[0.0], [1.0], [1.0], [2.0], [3.0], [4.0]])
Y = np.array([0, 0, 1, 1, 1, 1])


def _stump(at: float, told: bool) -> ta.Tree:
    low = int((X[:, 0] <= at).sum())
    return ta.Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 0],
        low=[-INF, -INF, at],
        high=[INF, at, INF],
        n_records=[6, low, 6 - low] if told else None,
        value=[0.0, -1.0, 1.0],
    )


def _forest(*told: bool, **stated) -> ta.Forest:
    trees = tuple(_stump(float(i), one) for i, one in enumerate(told))
    schema = ta.Schema.numeric(["age"], [0, 1])
    return ta.Forest(trees=trees, schema=schema, counts_are="absent", answers="sum", **stated)


def test_silent_trees_hold_whoever_ends_in_them() -> None:
    forest = _forest(False, False, records_are="all")
    table = routed(measure(forest), forest.apply(X))
    assert table.size.tolist() == [1, 5, 3, 3]
    assert (table.n_silent, table.tells_people) == (0, True)


@pytest.mark.parametrize(("told", "status"), [((True, False), "pass"), ((False, False), "skipped")])
def test_nothing_passes_where_some_may_have_been_left_out(told, status) -> None:
    policy = ta.Policy(name="mine", values={"min-leaf": 1})
    report = ta.scan(_forest(*told, records_are="unknown"), train=(X, Y), policy=policy)
    assert report.checks[0].status == status
    assert sum("do not tell how many people" in warning for warning in report.warnings) == 1
    strict = ta.Policy(name="mine", values={"min-leaf": 3})
    failed = ta.scan(_forest(*told, records_are="unknown"), train=(X, Y), policy=strict)
    assert failed.checks[0].status == "fail"


def test_what_strip_left_is_judged_once_the_people_are_there() -> None:
    from sklearn.tree import DecisionTreeClassifier

    rows = np.arange(40.0)[:, None]
    labels = np.r_[np.zeros(20), np.ones(19), [0]].astype(int)
    tree = ta.load(DecisionTreeClassifier(max_depth=2, random_state=0).fit(rows, labels))
    before = ta.scan(tree)
    after = ta.scan(Strip().apply(tree), train=(rows, labels))
    for attack in ("TA101", "TA102"):
        assert after[attack].severity == before[attack].severity
        assert after[attack].people == before[attack].people
