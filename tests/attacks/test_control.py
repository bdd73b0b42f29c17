"""Claims beside the same claims on training and on unseen people."""

import numpy as np
import pytest

import treeaudit as ta
from treeaudit.attacks import Case
from treeaudit.attacks.control import explained, leaf_control, lowered
from treeaudit.findings.findings import Control
from treeaudit.people.records import read_records
from treeaudit.stats import difference, fact, wilson


def case_of(forest, train=None, test=None) -> Case:
    return Case(
        forest=forest,
        table=ta.reconstruct(forest).groups,
        train=None if train is None else read_records(train, forest),
        test=None if test is None else read_records(test, forest),
    )


TALL = [[180, 0, 33], [175, 0, 54], [190, 0, 20]]


def test_by_hand(figure_3) -> None:
    """Of four unseen people in the leaf {yes 1, no 2}, one has the label that it states."""
    case = case_of(figure_3, test=([*TALL, [171, 0, 60]], ["yes", "yes", "no", "yes"]))
    leaf = case.table.leaf == 6
    found = leaf_control(case, leaf, "that leaf")
    assert found.claim == fact(2 / 3, 3)
    assert found.control == wilson(1, 4)
    assert found.excess == difference(fact(2 / 3, 3), wilson(1, 4))
    assert found.baselines["most frequent label"] == wilson(3, 4)
    assert found.verified is None


def excess(low, value, high) -> Control:
    gap = ta.Estimate(value=value, low=low, high=high, n=50)
    return Control(of="x", claim=fact(1.0, 3), excess=gap)


@pytest.mark.parametrize(
    ("control", "lower"),
    [
        (excess(-0.01, 0.02, 0.05), True),
        (excess(-0.2, 0.02, 0.3), False),
        (excess(0.3, 0.4, 0.5), False),
        (Control(of="x", claim=fact(1.0, 3)), False),
        (None, False),
    ],
)
def test_severity_falls_only_where_the_whole_interval_says_so(control, lower) -> None:
    assert explained(control) == lower
    assert lowered("high", [control]) == ("medium" if lower else "high")
    assert lowered("none", [control]) == "none"


def test_memory_is_a_number_with_an_interval(figure_3) -> None:
    """Three training people fit, two of them what is stated; of four unseen people one does."""
    case = case_of(
        figure_3,
        train=(TALL, ["yes", "no", "no"]),
        test=([*TALL, [171, 0, 60]], ["yes", "yes", "no", "yes"]),
    )
    found = leaf_control(case, case.table.leaf == 6, "that leaf")
    assert found.memorised.value == pytest.approx(3 * (2 / 3 - 1 / 4))
    assert found.memorised.high == pytest.approx(3 * found.excess.high)
    assert (found.memorised.low, found.memorised.n) == (0.0, 3)
    assert found.residual.value == pytest.approx((2 / 3 - 1 / 4) / (1 - 1 / 4))
    said = "about 1 of 3 (0–2) beyond what unseen people would show; residual risk 56% ("
    assert said in found.sentence


def test_memory_and_fact_are_told_apart() -> None:
    """Half of the people have labels that follow a rule, half are coin tosses."""
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)

    def people(n):
        x = rng.normal(size=(n, 2))
        sure = x[:, 0] > 0
        return x, np.where(sure, "yes", np.where(rng.random(n) < 0.5, "yes", "no"))

    train, test = people(3000), people(3000)
    model = DecisionTreeClassifier(random_state=0).fit(*train)
    policy = ta.Policy(name="twenty", values={"min-leaf": 20})
    report = ta.scan(model, train=train, test=test, policy=policy)
    small, large = report["TA102"].controls
    assert small.claim.value == large.claim.value == 1
    assert small.verified.value == large.verified.value == 1
    assert small.excess.low > 0.3
    assert small.memorised.low > 0.3 * small.memorised.n
    assert "beyond what unseen people would show" in small.sentence
    assert large.excess.high < small.excess.low
    assert large.memorised.high < 0.5 * large.memorised.n
    assert large.memorised.n == large.verified.n
    assert report["TA101"].controls[0].excess.low > 0.3
