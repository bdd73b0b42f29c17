"""TA102: worked example of the paper, literal numbers, traps of other tools."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor, VotingClassifier
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.strategies import forests
from treeaudit.attacks import Case, Homogeneity, run_attack
from treeaudit.findings.details import plain_data


def run(forest):
    return run_attack(Homogeneity(), Case(forest=forest, table=ta.reconstruct(forest).groups))


def leaves(counts, classes=None, **stated) -> ta.Forest:
    """A root with one leaf per row of counts."""
    table = np.array(counts, dtype=float)
    n = len(table)
    bounds = np.arange(n - 1, dtype=float)
    tree = ta.Tree(
        parent=[-1] + [0] * n,
        feature=[-1] + [0] * n,
        low=[-np.inf, -np.inf, *bounds],
        high=[np.inf, *bounds, np.inf],
        n_records=[int(table.sum()), *table.sum(axis=1).astype(int)],
        counts=np.vstack([table.sum(axis=0), table]),
    )
    names = classes or [f"class {i}" for i in range(table.shape[1])]
    return ta.Forest(trees=(tree,), schema=ta.Schema.numeric(1, names), **stated)


def test_the_papers_walk_through(figure_3) -> None:
    """Section 3.1: height < 170 and weight ≥ 60 are both unhealthy (rows four and five)."""
    finding = run(figure_3)
    assert finding.details.homogeneous_leaves == 2
    assert finding.details.homogeneous_people == 3
    alone, worst = finding.evidence
    assert alone.people == 1
    assert (worst.leaf, worst.people, worst.says) == (4, 2, "Health = no")
    assert worst.rule == "Height < 170 · Weight ≥ 60"


def test_literal_numbers() -> None:
    details = run(leaves([[5, 5, 5, 5], [10, 0, 0, 0], [9, 1, 0, 0]])).details
    assert details.distinct_l == 1
    assert details.entropy_l == 1.0
    assert details.recursive_c_for_l_2 is None
    assert details.absent_class_leaves == 2
    assert details.absent_class_people == 20
    assert details.dominant_leaves == 2
    assert details.t_closeness == pytest.approx(1 - 24 / 40)
    assert details.certain_share == 0.25


def test_classes_that_nobody_has_are_not_absent() -> None:
    assert run(leaves([[3, 2, 0], [1, 4, 0]])).details.absent_class_leaves == 0


@given(forests())
def test_agreement_with_a_count_by_hand(forest) -> None:
    finding = run(forest)
    pure = [
        [int(row.sum()) for row in t.counts[t.leaves] if (row > 0).sum() == 1] for t in forest.trees
    ]
    assert finding.leaves == sum(map(len, pure))
    assert finding.people == max(map(sum, pure))


def test_weights_are_never_called_people() -> None:
    weighted = leaves([[2.5, 1.5], [4, 0]], counts_are="weighted")
    details = run(weighted).details
    assert details.measured_on == "weight"
    assert details.homogeneous_people == 4
    drawn = leaves([[2, 1], [4, 0]], records_are="bootstrap")
    assert run(drawn).details.measured_on == "draws"


def test_a_regressor_is_skipped_with_the_reason(figure_3) -> None:
    tree = figure_3.trees[0]
    numbers = ta.Tree(
        parent=tree.parent,
        feature=tree.feature,
        low=tree.low,
        high=tree.high,
        n_records=tree.n_records,
        value=np.zeros(7),
    )
    result = run(
        ta.Forest(
            trees=(numbers,),
            schema=ta.Schema.numeric(3),
            counts_are="absent",
            counts_reason="the model predicts a number, not a class",
        )
    )
    assert isinstance(result, ta.Skipped)
    assert result.reason == "the model predicts a number, not a class"


def test_the_further_measures_by_hand(figure_3) -> None:
    """Leaves (yes, no): 2/1, 0/2, 1/0, 1/2; everybody 4/5."""
    details = run(figure_3).details
    assert details.largest_share == 1.0
    assert details.delta_disclosure is None
    assert details.beta_likeness == pytest.approx(9 / 4 - 1)
    assert details.ordered_t_closeness is None
    assert details.smallest_cell == 1
    assert (details.small_cell_leaves, details.small_cell_people) == (4, 9)


def test_a_cell_of_exactly_k_people_is_not_small() -> None:
    """k is 5: four of a class are too few, five are enough."""
    enough = run(leaves([[5, 10], [7, 5]])).details
    assert (enough.smallest_cell, enough.small_cell_leaves) == (5, 0)
    small = run(leaves([[5, 10], [7, 4]])).details
    assert (small.small_cell_leaves, small.small_cell_people) == (1, 11)


def test_labels_of_several_outputs_are_not_passed_over() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 3))
    both = np.column_stack([x[:, 0] > 0, x[:, 1] > 0])
    report = ta.scan(DecisionTreeClassifier(min_samples_leaf=20).fit(x, both))
    states = {check.name: (check.status, check.reason) for check in report.checks}
    told = ("skipped", "the model predicts several outputs")
    assert states["max-certain-share"] == states["max-nearly-certain-share"] == told
    assert report.verdict == "review"


def test_one_person_of_many_records_stands_alone_against_nine() -> None:
    """Nine persons say yes once each, the tenth says no nine times: who knows one knows all."""
    rows = pd.DataFrame({"x": np.zeros(18), "who": [*range(9), *[9] * 9]})
    rows["label"] = ["yes"] * 9 + ["no"] * 9
    tree = DecisionTreeClassifier().fit(rows[["x"]], rows.label)
    assert ta.scan(tree)["TA102"].details.nearly_certain_people == 0
    report = ta.scan(tree, train=rows, person="who")
    assert report["TA102"].details.nearly_certain_people == 10
    assert report["TA103"].people == 9


def checked(report):
    (check,) = [one for one in report.checks if one.name == "max-nearly-certain-share"]
    return check.status, check.measured


def test_weights_that_hide_who_is_nearly_certain_pass_nothing() -> None:
    """In a leaf of 97 and 1 knowing one person gives 97 away, whatever they weigh."""
    y = np.repeat([0, 1, 0, 1, 2], [97, 1, 30, 20, 52])
    x = np.repeat([0.0, 1.0], [98, 102])[:, None]
    people = pd.DataFrame({"x0": x[:, 0], "y": y})
    stated = DecisionTreeClassifier(class_weight={0: 1, 1: 30, 2: 2}).fit(x, y)
    assert checked(ta.scan(stated)) == ("fail", 0.49)
    weight = np.random.default_rng(0).random(200) + np.where(y == 1, 20, 0.5)
    for model in (
        DecisionTreeClassifier(class_weight="balanced").fit(x, y),
        DecisionTreeClassifier().fit(x, y, sample_weight=weight),
    ):
        alone = ta.scan(model)
        assert checked(alone) == ("skipped", None)
        assert alone.verdict == "review"
        told = ta.scan(model, train=people, target="y")
        assert checked(told) == ("fail", 0.49)
        assert any("those of the training people are counted" in one for one in told.warnings)
        assert told["TA102"].details.measured_on == "people"


@given(forests(1))
def test_renaming_the_labels_changes_nothing(forest) -> None:
    tree = forest.trees[0]
    turned = ta.Tree(
        parent=tree.parent,
        feature=tree.feature,
        low=tree.low,
        high=tree.high,
        categories=tree.categories,
        n_records=tree.n_records,
        counts=tree.counts[:, ::-1],
    )
    before, after = run(forest), run(ta.Forest(trees=(turned,), schema=forest.schema))
    for name, value in plain_data(before.details).items():
        same = plain_data(after.details)[name]
        assert same == value or math.isclose(same, value, abs_tol=1e-9)


def nearly(model, **people) -> str:
    report = ta.scan(ta.release(ta.load(model)), **people)
    return next(one.shown for one in report.checks if one.name == "max-nearly-certain-share")


def test_shares_of_draws_are_stated_by_what_is_certain_of_them() -> None:
    """Somebody drawn three times may be one exception, or three people."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(400, 3))
    y = (x[:, 0] + rng.normal(0, 0.3, 400) > 0).astype(int)
    labels = RandomForestClassifier(1, min_samples_leaf=10, random_state=0).fit(x, y)
    assert nearly(labels) == "up to 96.0%"
    labels = RandomForestClassifier(3, min_samples_leaf=10, random_state=0).fit(x, y)
    assert nearly(labels) == "up to 96.0% in tree 0, 100.0% over all trees"
    amounts = np.where(y == 1, 100.0 * rng.integers(1, 9, 400), 0.0)
    numbers = RandomForestRegressor(3, min_samples_leaf=10, random_state=0).fit(x, amounts)
    assert nearly(numbers, train=(x, amounts)) == "at least 41.1%, at most 51.2%"


def test_draws_of_a_vote_are_no_people() -> None:
    x, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(3, max_depth=3, random_state=0)
    policy = ta.Policy(name="one", values={"min-entropy-l": 1.0})
    for members, measured, verdict in (
        ([("tree", DecisionTreeClassifier(max_depth=3)), ("forest", forest)], "draws", "review"),
        ([("tree", DecisionTreeClassifier(max_depth=3, random_state=0))], "people", "pass"),
    ):
        report = ta.scan(VotingClassifier(members).fit(x, y), policy=policy)
        assert report["TA102"].details.measured_on == measured
        assert report.verdict == verdict


def test_the_smallest_leaves_of_one_label_are_shown_first() -> None:
    """Who is alone is exposed; a large leaf of one label is often a fact of the population."""
    finding = run(leaves([[9, 0], [1, 0], [555, 0], [0, 3], [4, 4]]))
    assert [leaf.people for leaf in finding.evidence] == [1, 3, 9, 555]


def test_one_of_two_other_classes_is_no_certain_label():
    """A leaf of a first round without one of three labels, as a tree of all three tells it."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 1))
    y = np.where(rng.random(600) < 0.5, "a", "b")
    y[(x[:, 0] > 0) & (rng.random(600) < 0.3)] = "c"
    boosted = HistGradientBoostingClassifier(max_iter=1, max_leaf_nodes=2).fit(x, y)
    tree = DecisionTreeClassifier(max_depth=1).fit(x, y)
    for model in (boosted, tree):
        assert ta.scan(model, attacks=["TA102"])["TA102"].details.certain_share == 0
