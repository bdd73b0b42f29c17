"""TA101: worked example of the paper, literal numbers, laws."""

from html import unescape

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.strategies import forests
from treeaudit.attacks import Case, Uniqueness, run_attack
from treeaudit.defenses import PruneLeaves
from treeaudit.reports.formats import render


def run(forest, k=5):
    return run_attack(Uniqueness(), Case(forest=forest, table=ta.reconstruct(forest).groups, k=k))


def test_the_papers_walk_through(figure_3) -> None:
    """Section 3.1: one user is taller than 170 and under 15 (sixth row of Table 4)."""
    finding = run(figure_3)
    assert finding.details.unique_leaves == 1
    assert finding.details.unique_people == 1
    found = finding.evidence[0]
    assert (found.leaf, found.people, found.says) == (5, 1, "Health = yes")
    assert found.rule == "Height ≥ 170 · Age < 15"


def test_literal_numbers(figure_3) -> None:
    details = run(figure_3, k=3).details
    assert details.below_k_leaves == 2
    assert details.below_k_people == 3
    assert details.min_leaf == 1
    assert details.prosecutor_risk == 1.0
    assert details.marketer_risk == pytest.approx(4 / 9)
    assert [entry.leaves for entry in details.group_sizes] == [1, 3, 0, 0, 0]


@given(forests())
def test_agreement_with_a_count_by_hand(forest) -> None:
    finding = run(forest)
    sizes = [int(n) for t in forest.trees for n in t.n_records[t.leaves] if n > 0]
    assert finding.details.unique_leaves == sum(n == 1 for n in sizes)
    assert finding.leaves == sum(n < 5 for n in sizes)
    small = [sum(n for n in t.n_records[t.leaves] if 0 < n < 5) for t in forest.trees]
    assert finding.people == max(small)
    once = finding.details.below_k_in_any_tree
    assert (once.tree, once.worst) == (small.index(max(small)), max(small))
    assert max(small) <= once.low <= once.high <= sum(small)
    assert finding.details.min_leaf == min(sizes)


def test_a_forest_is_told_tree_by_tree(figure_3) -> None:
    twice = ta.Forest(trees=figure_3.trees * 2, schema=figure_3.schema)
    finding = run(twice)
    assert finding.details.unique_leaves == 2
    assert [row["unique_leaves"] for row in finding.per_tree] == [1, 1]
    assert [row["min_leaf"] for row in finding.per_tree] == [1, 1]


def test_leaves_that_stand_for_others_are_named() -> None:
    x, y = np.arange(60.0).reshape(-1, 1), np.arange(60) % 2
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(x, y)
    pruned = PruneLeaves(min_leaf=5).apply(ta.load(tree))
    gone = int((pruned.trees[0].n_records[pruned.trees[0].leaves] == 0).sum())
    assert gone > 1
    assert ta.scan(pruned)["TA101"].summary == (
        f"Every leaf that tells of anybody holds at least 5 people; {gone} leaves of nobody may "
        "stand for others that were taken out."
    )


def test_a_clear_forest_is_said_to_be_judged_tree_by_tree() -> None:
    """Nothing is told of all trees together without the people, and no page says it was."""
    x, y = np.arange(400.0).reshape(-1, 1) % 37, np.arange(400) % 2
    model = RandomForestClassifier(4, min_samples_leaf=50, random_state=0).fit(x, y)
    report = ta.scan(model)
    assert report["TA101"].status == "clear"
    assert report["TA101"].summary == (
        "Each tree alone: every leaf holds at least 5 people; give --train to judge all trees "
        "together."
    )
    page = render(report, "html")
    assert "singling out (each tree alone)" in page
    assert "singling out (each tree alone) (TA101)" in unescape(render(report, "md"))
    people = pd.DataFrame(x, columns=["a"]).assign(label=y)
    held = ta.scan(model, train=people.rename(columns={"a": "feature_0"}), target="label")
    assert held["TA101"].summary.endswith("TA106 is about all trees together.")


def test_a_model_that_does_not_count_people_is_skipped(figure_3) -> None:
    tree = figure_3.trees[0]
    bare = ta.Tree(parent=tree.parent, feature=tree.feature, low=tree.low, high=tree.high)
    result = run(ta.Forest(trees=(bare,), schema=figure_3.schema, counts_are="absent"))
    assert isinstance(result, ta.Skipped)
    assert "how many people" in result.reason


def test_a_leaf_of_one_persons_visits_holds_one_person_and_not_one_record() -> None:
    rng = np.random.default_rng(3)
    rows = np.repeat(rng.normal(size=(30, 3)), 10, axis=0)
    labels = np.repeat(rng.integers(0, 2, 30), 10)
    visits = pd.DataFrame(rows, columns=["a", "b", "c"]).assign(who=np.repeat(np.arange(30), 10))
    forest = RandomForestClassifier(5, min_samples_leaf=5, random_state=0)
    forest.fit(visits[["a", "b", "c"]], labels)
    by_person = ta.scan(forest, train=visits.assign(y=labels), target="y", person="who")
    assert " leaves hold one person alone; " in by_person["TA101"].summary
    by_bound = ta.scan(forest, rows_per_person=10)
    assert " leaves hold one person alone; " in by_bound["TA101"].summary


@given(forests(1))
def test_more_people_per_leaf_never_raise_the_risk(forest) -> None:
    tree = forest.trees[0]
    doubled = ta.Tree(
        parent=tree.parent,
        feature=tree.feature,
        low=tree.low,
        high=tree.high,
        categories=tree.categories,
        n_records=tree.n_records * 2,
        counts=tree.counts * 2,
    )
    before, after = run(forest), run(ta.Forest(trees=(doubled,), schema=forest.schema))
    assert after.leaves <= before.leaves
    assert after.details.prosecutor_risk <= before.details.prosecutor_risk
    assert after.details.min_leaf >= before.details.min_leaf
