"""TA109 on models worked out by hand and on real ones, held against plain numpy."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import (
    IsolationForest,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta

INF = np.inf
RANDOM = np.random.default_rng(4)


def _forest(n: list[int], spread: list[float] | None, root: float = 10.0) -> ta.Forest:
    """Return a tree of so many leaves side by side."""
    k = len(n)
    tree = ta.Tree(
        parent=[-1, *[0] * k],
        feature=[-1, *[0] * k],
        low=[-INF, -INF, *range(k - 1)],
        high=[INF, *range(k - 1), INF],
        n_records=[sum(n), *n],
        value=[0.0, *range(k)],
        spread=None if spread is None else [root, *spread],
    )
    return ta.Forest(trees=(tree,), schema=ta.Schema.numeric(["age"]), counts_are="absent")


def _found(model, **options):
    return ta.scan(model, attacks=["TA109"], policy="observe", **options)["TA109"]


def test_leaves_worked_out_by_hand() -> None:
    # Everybody's numbers deviate by 10, so 0.1 is close. Alone: known. Ten people who differ by
    # 0.03: known, and off by at most 0.03 * sqrt(9) = 0.09. Ten who differ by 0.05 are known,
    # but one of them may be off by 0.15. Of 20 who differ by 2 nothing is known.
    found = _found(_forest([1, 10, 10, 20], [0.0, 0.03, 0.05, 2.0])).details
    assert found.tolerance == pytest.approx(0.1)
    assert (found.exact_people, found.known_people, found.certain_people) == (1, 21, 11)
    assert found.known_share == 21 / 41
    assert found.narrowest == 0.03
    assert found.spread_of == "file"


def test_one_person_who_is_nearly_the_whole_total() -> None:
    # Of ten people one has 1000 and nine have 1: a mean of 100.9, a spread of 299.7. The squares
    # are 1,000,009 of 1009^2: that person has at least 98.2 % of the total. Of eleven, one of
    # whom has 100 and ten of whom have 5, it is 7.6 times less sure: 10,250 of 150^2, 46 %.
    model = _forest([10, 11], [299.7, 27.31], root=300.0)
    tree = replace(model.trees[0], value=np.array([60.0, 100.9, 13.64]))
    found = _found(replace(model, trees=(tree,)))
    assert (found.details.dominating_people, found.people) == (1, 1)
    assert found.summary == (
        "The number of 1 person is known within 3, or as nine tenths of the total of a leaf "
        "(4.8%), of 0 exactly."
    )
    # Where a mean is below zero nothing follows.
    below = replace(model.trees[0], value=np.array([60.0, 100.9, -13.64]))
    assert _found(replace(model, trees=(below,))).people == 0


def test_a_stated_tolerance_is_taken_and_others_are_refused() -> None:
    model = _forest([10, 30], [1.9, 4.0])
    assert _found(model).details.known_people == 0
    assert _found(model, tolerance=2.0).details.known_people == 10
    for wrong in (-1.0, INF, np.nan):
        with pytest.raises(ta.DataError, match="tolerance"):
            ta.scan(model, tolerance=wrong)


@given(
    numbers=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=12),
    tolerance=st.floats(0, 100),
)
def test_whoever_is_bounded_is_within_the_tolerance(numbers, tolerance) -> None:
    """Samuelson: nobody is further off the mean than the spread times the root of n - 1."""
    values = np.array(numbers)
    found = _found(
        _forest([len(values), 5], [float(values.std()), 999.0], root=1e4), tolerance=tolerance
    ).details
    if found.certain_people:
        assert np.all(np.abs(values - values.mean()) <= tolerance * (1 + 1e-9) + 1e-2)
    assert found.exact_people <= found.certain_people <= found.known_people


def _table(n=600):
    rows = RANDOM.normal(size=(n, 3)).astype(np.float32).astype(np.float64)
    return rows, np.round(3 * rows[:, 0] + RANDOM.normal(size=n), 2)


def _by_hand(estimators, rows, numbers, tolerance) -> tuple[int, float]:
    """Return the most people of a tree who are known, without our code."""
    most = 0
    for tree in estimators:
        leaf = tree.apply(rows.astype(np.float32))
        known = 0
        for one in np.unique(leaf):
            inside = numbers[leaf == one]
            amounts = np.abs(inside)
            if len(inside) == 1 or inside.std() <= tolerance:
                known += len(inside)
            elif amounts.max() >= 0.9 * amounts.sum():
                known += 1
        most = max(most, known)
    return most, most / len(rows)


@pytest.mark.parametrize("leaf", [1, 2, 3, 8])
def test_a_tree_as_numpy_counts_it(leaf) -> None:
    rows, numbers = _table()
    model = DecisionTreeRegressor(min_samples_leaf=leaf, random_state=0).fit(rows, numbers)
    expected = _by_hand([model], rows, numbers, 0.2031)
    # The spread that the file keeps, and that of the people where it keeps none.
    for one in (ta.load(model), ta.release(ta.load(model))):
        told = _found(one, tolerance=0.2031, train=(rows, numbers)).details
        assert (told.known_people, told.known_share) == expected
    assert _found(model, tolerance=0.2031).details.known_people == expected[0]


def test_labels_and_random_trees_have_no_numbers() -> None:
    rows, numbers = _table()
    for model in (
        DecisionTreeClassifier(max_depth=3).fit(rows, numbers > 0),
        IsolationForest(n_estimators=2, random_state=0).fit(rows),
    ):
        report = ta.scan(model, policy="strict")
        (result,) = (one for one in report.results if one.id == "TA109")
        assert result.reason.startswith("not applicable")
        (check,) = (one for one in report.checks if one.name == "max-known-number-share")
        assert (check.status, check.reason) == ("not-applicable", result.reason)


@pytest.mark.parametrize("policy", ["default", "strict"])
def test_a_regressor_can_pass_and_fail(policy) -> None:
    rows, numbers = _table()
    good = DecisionTreeRegressor(min_samples_leaf=15).fit(rows, numbers)
    assert ta.scan(good, policy=policy, train=(rows, numbers)).verdict == "pass"
    # Leaves of ten whose numbers agree within 0.0015, in a table that deviates by 9.
    group = np.repeat(np.arange(60.0), 10)
    close = RANDOM.normal(50, 9, 60)[group.astype(int)] + RANDOM.uniform(0, 0.0015, 600)
    bad = DecisionTreeRegressor(min_samples_leaf=10).fit(group[:, None], close)
    report = ta.scan(bad, policy=policy)
    assert report.verdict == "fail"
    assert {c.name for c in report.checks if c.status == "fail"} >= {"max-known-number-share"}
    assert report["TA109"].details.known_people == 600
