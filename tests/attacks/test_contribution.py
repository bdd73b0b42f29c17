"""TA101's contribution of the features: by hand, and with the people at hand."""

import json

import numpy as np
import pytest

import treeaudit as ta
from treeaudit.attacks import Case
from treeaudit.attacks.singling_out.view import contribution
from treeaudit.findings.details import plain_data
from treeaudit.people.records import read_records


def case_of(forest, **options) -> Case:
    return Case(forest=forest, table=ta.reconstruct(forest).groups, **options)


def test_the_papers_tree(figure_3) -> None:
    """Below 3: one person (height, age) and two people (height, weight)."""
    case = case_of(figure_3, k=3)
    found = contribution(case, case.table.size < 3)
    by_name = {entry.feature: entry for entry in found}
    assert {name: entry.people for name, entry in by_name.items()} == {
        "Height": 3,
        "Weight": 2,
        "Age": 1,
    }
    assert by_name["Weight"].last_split_people == 2
    assert by_name["Age"].last_split_share == pytest.approx(1 / 3)
    assert by_name["Height"].last_split_people == 0
    assert found[0].feature == "Weight"
    assert found[0].hidden_share is None


def test_a_row_number_is_what_singles_people_out() -> None:
    """The label is a coin, so only the number tells the people apart."""
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    x = np.column_stack([np.arange(600.0), rng.integers(0, 2, 600)])
    y = rng.integers(0, 2, 600)
    forest = ta.load(DecisionTreeClassifier(random_state=0).fit(x, y))
    case = case_of(forest, train=read_records((x, y), forest))
    found = contribution(case, case.table.size < case.k)
    assert json.loads(json.dumps(plain_data(found))) == plain_data(found)
    assert found[0].feature == "x0"
    assert found[0].hidden_share == 1.0
    assert found[-1].hidden_share < 0.5
