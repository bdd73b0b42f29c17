"""TA103 with known people: the paper's user A, forests, and what is said when it cannot be."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.attacks.test_homogeneity import leaves
from treeaudit.attacks.background.view import FallingLeaf

TABLE_4 = pd.DataFrame(
    [
        (150, 50, 20, "yes"),
        (160, 55, 30, "yes"),
        (165, 59, 40, "no"),
        (150, 60, 20, "no"),
        (160, 70, 30, "no"),
        (175, 70, 14, "yes"),
        (173, 70, 33, "yes"),
        (171, 80, 19, "no"),
        (180, 90, 15, "no"),
    ],
    columns=["Height", "Weight", "Age", "Health"],
)
A = TABLE_4.iloc[[6]]


def finding(forest, known, **people):
    return ta.scan(forest, known=known, attacks=["TA103"], policy="observe", **people)["TA103"]


def test_the_papers_user_a_from_the_file_alone(figure_3) -> None:
    """Knowing that A (173 cm, 33 years) is healthy discloses everybody else there."""
    found = finding(figure_3, A)
    known = found.details.known
    assert known.followed == "leaves"
    assert known.people_falling == 2
    assert known.falling == (FallingLeaf(tree=0, leaf=6, people=2, label="no", known_rows=(1,)),)
    first = found.evidence[0]
    assert first.says == "Health = no for 2 others once row 1 of known is taken out"
    assert (first.leaf, first.people) == (6, 3)
    assert found.severity == "high"


def test_the_papers_user_a_with_the_people(figure_3) -> None:
    known = finding(figure_3, A, train=TABLE_4).details.known
    assert known.followed == "people"
    assert [(who.row, who.label) for who in known.people] == [(8, "no"), (9, "no")]
    assert known.people_falling_at_once == 2
    assert known.people_certain_before == 3


def test_unseen_people_tell_memory_from_fact(figure_3) -> None:
    """The same claims on people of whom half have the label."""
    others = pd.DataFrame(
        {"Height": 175, "Weight": 70, "Age": np.arange(20, 60), "Health": ["yes", "no"] * 20}
    )
    found = finding(figure_3, A, train=TABLE_4, test=others)
    one, control = found.controls
    assert one.of == "the others in leaves where one known person is enough"
    assert (one.claim.value, one.verified.value, one.verified.n) == (1, 1, 4)
    assert (control.claim.value, control.verified.value, control.verified.n) == (1, 1, 2)
    assert (control.control.value, control.control.n) == (0.5, 40)
    assert control.excess.low > 0
    assert control.memorised.low > 0
    assert "beyond what unseen people would show" in control.sentence


def wrong(text: str):
    return pytest.raises(ta.DataError, match=text)


def test_somebody_who_fits_no_leaf() -> None:
    tree = ta.Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 0],
        low=[-np.inf, -np.inf, 5],
        high=[np.inf, 3, np.inf],
        n_records=[4, 2, 2],
        counts=[[2, 2], [1, 1], [1, 1]],
    )
    forest = ta.Forest(trees=(tree,), schema=ta.Schema.numeric(["age"], ["no", "yes"]))
    with wrong("row 1: this person fits no leaf that holds people"):
        finding(forest, pd.DataFrame({"age": [4], "label": ["no"]}))


def test_weights_fall_where_they_prove_enough() -> None:
    """Three people, two labels by weight: two known of one label leave the other."""
    forest = leaves([[2, 1], [2, 2]], counts_are="weighted", counts_reason="weights")
    known = pd.DataFrame({"x": [-1.0, -1.0], "label": ["class 0", "class 0"]})
    found = finding(forest, (known[["x"]], known["label"])).details.known
    assert (found.people_falling, found.falling[0].label) == (1, "class 1")


def small_data(n=60, seed=0):
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(rng.integers(0, 5, (n, 3)), columns=["a", "b", "c"])
    x["id"] = np.arange(n)
    y = pd.Series(rng.choice(["no", "yes"], n), name="label")
    return x, y


def test_a_forest_lets_people_fall_who_fall_in_no_single_tree() -> None:
    x, y = small_data()
    model = RandomForestClassifier(
        3, bootstrap=False, min_samples_leaf=6, max_features=1, random_state=0
    )
    model.fit(x, y)
    rows = np.arange(0, 60, 2)
    found = ta.scan(model, train=(x, y), known=(x.iloc[rows], y.iloc[rows]), attacks=["TA103"])[
        "TA103"
    ]
    known = found.details.known
    assert known.people_falling_as_a_consequence > 0
    assert known.rounds > 1
    for who in known.people:
        assert y[who.row - 1] == who.label
        assert model.apply(x)[who.row - 1, who.tree] == (who.leaf)
    alone = ta.scan(model, known=(x.iloc[rows], y.iloc[rows]), attacks=["TA103"])["TA103"]
    assert alone.details.known.followed == "leaves"
    assert alone.details.known.trees_used == 3


def test_bootstrap_draws_prove_nothing_from_the_file_alone() -> None:
    x, y = small_data()
    model = RandomForestClassifier(5, max_depth=2, random_state=0).fit(x, y)
    known = (x.iloc[:30], y.iloc[:30])
    result = ta.scan(model, known=known, attacks=["TA103"]).results[0]
    assert isinstance(result, ta.Skipped)
    assert result.reason.endswith("no tree tells whether it was trained on a known person")
    # With the people, leaves that hold everybody who fits them prove something.
    result = ta.scan(model, known=known, train=(x, y), attacks=["TA103"]).results[0]
    assert "discloses nobody else in train" in result.reason


def test_a_single_tree_agrees_with_counting_by_hand() -> None:
    x, y = small_data(200)
    model = DecisionTreeClassifier(min_samples_leaf=3, random_state=0).fit(x, y)
    chosen = np.random.default_rng(1).permutation(200)[:60]
    found = finding(model, (x.iloc[chosen], y.iloc[chosen]), train=(x, y)).details.known
    home = model.apply(x)
    falls = set()
    for leaf in np.unique(home):
        here = np.flatnonzero(home == leaf)
        left = [i for i in here if i not in set(chosen)]
        if y[here].nunique() > 1 and y[left].nunique() == 1:
            falls |= {i + 1 for i in left}
    assert {who.row for who in found.people} == falls
    assert found.people_falling == len(falls) > 0
    assert found.people_falling_as_a_consequence == 0
    leaves_only = finding(model, (x.iloc[chosen], y.iloc[chosen])).details.known
    assert leaves_only.people_falling == len(falls)
