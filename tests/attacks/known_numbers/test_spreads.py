"""Which impurities of a file are spreads of people (TA109), held against plain numpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

import treeaudit as ta

CRITERIA = ["squared_error", "absolute_error", "poisson"]
GROUP = np.repeat(np.arange(10.0), 10)
ROWS = GROUP[:, None]


def _found(model, **options):
    return ta.scan(model, attacks=["TA109"], policy="observe", **options)["TA109"]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_leaves_of_one_number_tell_it_whatever_they_were_grown_by(criterion) -> None:
    numbers = np.round(1.7**GROUP + 0.3, 2)
    model = DecisionTreeRegressor(criterion=criterion, min_samples_leaf=10).fit(ROWS, numbers)
    for options in ({}, {"train": (ROWS, numbers)}):
        found = _found(model, **options)
        assert found.details.exact_people == 100, options
        assert found.details.spread_of == "file"
    assert ta.scan(model).verdict == "fail"


def test_absolute_errors_bound_numbers_by_the_median() -> None:
    # Of ten people nine have 5 and one has 6: 0.1 off on average, and nobody more than 1 off.
    numbers = np.r_[[5.0] * 9, 6.0, np.arange(100.0, 110.0)]
    rows = np.repeat([[0.0], [1.0]], 10, axis=0)
    model = DecisionTreeRegressor(criterion="absolute_error", min_samples_leaf=10)
    model.fit(rows, numbers)
    tree = ta.load(model).trees[0]
    assert tree.spread_is == "absolute"
    assert tree.spread[tree.leaves].tolist() == pytest.approx([0.1, 2.5])
    told = _found(model, tolerance=0.1 + 1e-9).details
    assert (told.known_people, told.certain_people, told.exact_people) == (10, 0, 0)
    assert _found(model, tolerance=1 + 1e-9).details.certain_people == 10


@given(numbers=st.lists(st.floats(0.5, 100), min_size=2, max_size=12))
@settings(max_examples=50)
def test_a_poisson_deviance_bounds_the_mean_absolute_deviation(numbers) -> None:
    values = np.array(numbers)
    model = DecisionTreeRegressor(criterion="poisson", max_depth=1)
    tree = ta.load(model.fit(np.zeros((len(values), 1)), values)).trees[0]
    assert tree.spread_is == "poisson"
    off = np.abs(values - values.mean()).mean()
    assert tree.spread[0] >= off * (1 - 1e-6) - 1e-6


def _weights(kind: str) -> np.ndarray:
    rng = np.random.default_rng(3)
    return {
        "one in ten": np.tile([1e6, *[1.0] * 9], 10),
        "one in ten of mean 1": np.tile([1e6, *[1.0] * 9], 10) / 1e5,
        "all different": rng.uniform(0.1, 3, 100),
    }[kind]


@pytest.mark.parametrize("kind", ["one in ten", "one in ten of mean 1", "all different"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_spreads_of_weights_are_not_of_people(kind, criterion) -> None:
    numbers = 100 * GROUP + np.random.default_rng(0).uniform(1, 90, 100)
    model = DecisionTreeRegressor(criterion=criterion, min_samples_leaf=10)
    model.fit(ROWS, numbers, sample_weight=_weights(kind))
    report = ta.scan(model)
    (told,) = (one for one in report.results if one.id == "TA109")
    assert told.reason.startswith("rows weighed differently in training")
    assert report.verdict == "review"
    alone = ta.Policy(name="nearly", values={"max-nearly-certain-share": 0.05})
    (check,) = ta.scan(model, policy=alone).checks
    assert (check.status, check.reason) == ("skipped", told.reason)
    found = _found(model, train=(ROWS, numbers))
    assert (found.people, found.details.spread_of) == (0, "people")


@given(seed=st.integers(0, 1 << 16))
@settings(max_examples=25, deadline=None)
def test_whoever_is_known_is_known(seed) -> None:
    """Of each tree: no more people are known, exact or bounded than numpy says."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 12, 120)
    rows = np.c_[group, rng.integers(0, 3, 120)].astype(float)
    numbers = rng.uniform(1, 90, 12)[group] + rng.random(120) * 10 ** rng.uniform(-3, 1)
    weights = [None, np.where(rng.random(120) < 0.05, 1e6, 1), rng.uniform(0.1, 3, 120)]
    weight = weights[rng.integers(3)]
    model = DecisionTreeRegressor(
        criterion=str(rng.choice(CRITERIA)), min_samples_leaf=int(rng.choice([1, 2, 5, 10]))
    ).fit(rows, numbers, sample_weight=weight)
    result = [one for one in ta.scan(model, policy="observe").results if one.id == "TA109"]
    if not isinstance(result[0], ta.Finding):
        assert weight is not None
        return
    told, leaf = result[0].details, model.apply(rows)
    exact = known = bounded = 0
    for one in np.unique(leaf):
        inside = numbers[leaf == one]
        off = np.abs(inside - model.tree_.value[one, 0, 0])
        same = np.ptp(inside) < 1e-6
        exact += len(inside) * same
        mean = off.mean() if model.criterion in CRITERIA[1:] else np.sqrt((off**2).mean())
        known += len(inside) * (same or mean <= (told.tolerance or 0) * (1 + 1e-6))
        bounded += len(inside) * (same or off.max() <= (told.tolerance or 0) * (1 + 1e-6))
    assert told.exact_people <= exact
    assert told.known_people - told.dominating_people <= known
    assert told.certain_people <= bounded
