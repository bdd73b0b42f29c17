"""Which model to take: never one that is both less accurate and gives away more."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from tests.trainers.people import SCHEMA, people
from treeaudit.comparison.compare import choose, dominates
from treeaudit.comparison.measures import Leakage
from treeaudit.people.predict.utility import explained
from treeaudit.people.records import read_records
from treeaudit.reports.comparison_cells import advice, cells, claimed, verdict
from treeaudit.stats import Estimate
from treeaudit.trainers.private_tree import PrivateTreeClassifier
from treeaudit.trainers.smooth_sensitivity_forest import SmoothSensitivityForestClassifier


def estimate(value: float, half: float = 0.02) -> Estimate:
    return Estimate(value=value, low=value - half, high=value + half, n=1000)


def model(name, accuracy, leak=None, epsilon=None, verdict="pass"):
    leakage = Leakage() if leak is None else Leakage(membership=estimate(leak))
    useful = None if accuracy is None else estimate(accuracy)
    return SimpleNamespace(
        name=name, useful=useful, leakage=leakage, epsilon=epsilon, verdict=verdict
    )


@pytest.mark.parametrize(
    ("models", "best"),
    [
        ([("a", 0.8, 0.1), ("b", 0.7, 0.05)], "a"),
        ([("a", 0.8, 0.1), ("b", 0.79, 0.01)], "b"),
        ([("a", 0.67, 0.16), ("private", 0.70, 0.0, 1)], "private"),
        ([("a", 0.71, 0.01), ("private", 0.70, 0.02, 1)], "a"),
        ([("a", 0.71, 0.02), ("private", 0.70, 0.01, 1)], "private"),
        ([("a", 0.8, 0.3, None, "fail"), ("b", 0.6, 0.1)], "b"),
        ([("a", 0.8, None), ("b", 0.9, None)], "b"),
        ([("a", None, None), ("b", 0.9, None)], "b"),
        ([("a", 0.8, 0.1, None, "fail"), ("b", 0.9, 0.1, None, "review")], None),
    ],
)
def test_the_model_to_take(models, best) -> None:
    choice = choose([model(*one) for one in models])
    assert (None if choice is None else choice.best.name) == best


share = st.floats(0, 1, allow_subnormal=False)


@given(
    st.lists(
        st.builds(
            model,
            st.just("m"),
            st.none() | share,
            st.none() | share,
            st.none() | st.just(1.0),
            st.sampled_from(["pass", "fail", "review"]),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_nothing_that_passes_is_both_more_accurate_and_gives_away_less(models) -> None:
    choice = choose(models)
    assert (choice is None) == all(one.verdict != "pass" for one in models)
    if choice is not None:
        assert choice.best.verdict == "pass"
        assert not any(dominates(one, choice.best) for one in models if one.verdict == "pass")
        assert all(one.verdict != "pass" for one in choice.better)


@pytest.fixture(scope="module")
def found() -> ta.Comparison:
    """A tree that knows everybody, a private one, and one as printed that is not private."""
    (train, y), (test, other) = people(1500), people(1500, seed=9)
    coded = [pd.get_dummies(x, dtype=float) for x in (train, test)]
    coded[1] = coded[1].reindex(columns=coded[0].columns, fill_value=0.0)
    full = DecisionTreeClassifier(random_state=0).fit(coded[0], y)
    private = PrivateTreeClassifier(schema=SCHEMA, epsilon=1.0).fit(train, y)
    loose = PrivateTreeClassifier(schema=SCHEMA, epsilon=5.0).fit(train, y)
    with pytest.warns(ta.PrivacyWarning):
        printed = SmoothSensitivityForestClassifier(
            schema=SCHEMA, n_estimators=3, variant="published"
        ).fit(train, y)
    tables = [x.assign(label=labels) for x, labels in ((train, y), (test, other))]
    return ta.compare(
        full, private, loose, printed,
        names=["full", "private", "loose", "printed"],
        train=tables[0], test=tables[1], target="label",
        attacks=["TA101", "TA102", "TA105", "TA202", "TA205", "TA206"],
    )  # fmt: skip


def test_private_models_are_judged_by_what_their_ledger_bounds(found) -> None:
    full, private, loose, printed = found.models
    assert full.report.verdict == "fail"
    assert (private.report.verdict, private.verdict, private.epsilon) == ("review", "pass", 1)
    assert (loose.verdict, loose.epsilon) == ("fail", 5)
    assert printed.verdict != "pass"
    assert printed.epsilon is None
    assert any("its epsilon bounds nothing" in note for note in printed.notes)
    assert found.best is private
    said = " ".join(advice(found))
    assert "Take private" in said
    assert "printed" not in said
    assert "Weighed: accuracy against what attacks found beyond the guess (membership)" in said


def test_leaves_of_noise_are_no_claims_about_people(found) -> None:
    """More would be true than is claimed, or more people certain than there are."""
    full, private, loose, _ = found.models
    for one in (private, loose):
        assert claimed(one, "alone") == claimed(one, "certain") == ("noise", "")
        assert verdict(one) == (one.verdict, "by policy private")
    assert claimed(full, "certain") == ("1,500", "")
    assert cells(found, "smallest")[1:3] == ["noise", "noise"]
    assert "by policy private" in " ".join(str(found).split())
    claims = SimpleNamespace(told=True, certain=255, certain_true=1_167, certain_expected=None)
    merged = SimpleNamespace(claims=claims, epsilon=None)
    assert claimed(merged, "certain") == ("255", "(1,167 in truth)")


def test_the_picture_has_accuracy_leakage_and_epsilon(found) -> None:
    page = found._repr_html_()
    for said in ("ε 1", "ε 5", "accuracy on unseen people →", "1. full", "membership +"):
        assert said in page, said
    assert "ε 1" not in page.split("4. printed")[1][:400]


def test_numbers_are_judged_by_their_explained_variance() -> None:
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(3000, 2)), columns=["age", "pay"])
    y = 3 * x.age + rng.normal(size=3000)
    trees = [DecisionTreeRegressor(max_depth=d, random_state=0) for d in (2, 6)]
    for tree in trees:
        tree.fit(x[:1500], y[:1500])
    found = ta.compare(*trees, test=(x[1500:], y[1500:]), attacks=["TA101"])
    for tree, one in zip(trees, found.models, strict=True):
        assert one.useful.value == pytest.approx(tree.score(x[1500:], y[1500:]))
        assert one.useful.low < one.useful.value < one.useful.high
    assert "R²" in str(found)
    assert "accuracy" not in str(found).split("Weighed")[0]


def test_the_interval_of_explained_variance_covers() -> None:
    rng, held = np.random.default_rng(1), 0
    x = rng.normal(size=(200_000, 1))
    y = x[:, 0] + rng.normal(size=len(x))
    tree = DecisionTreeRegressor(max_depth=3).fit(x[:2000], y[:2000])
    forest, truth = ta.load(tree), tree.score(x[2000:], y[2000:])
    for k in range(300):
        rows = slice(2000 + 600 * k, 2600 + 600 * k)
        one = explained(forest, read_records((x[rows], y[rows]), forest))
        held += one.low <= truth <= one.high
    assert held >= 0.92 * 300
