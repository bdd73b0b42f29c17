"""Impurities of regression trees follow from what is below, as exactly as they were worked out."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeRegressor

import treeaudit as ta
from tests.strategies import examples


def unexplained(model):
    found = ta.load(pickle.loads(pickle.dumps(model))).leftovers.found
    return [one.where for one in found if one.kind == "extra"]


@st.composite
def targets(draw):
    """Numbers as people have them: incomes and prices are far from normal."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n = draw(st.sampled_from([5, 60, 400, 1500]))
    shape = draw(st.sampled_from(["normal", "incomes", "tails", "far away", "tiny", "counts"]))
    y = {
        "normal": lambda: rng.normal(size=n),
        "incomes": lambda: rng.lognormal(9, draw(st.sampled_from([1, 3, 5])), size=n),
        "tails": lambda: rng.standard_t(1.5, size=n),
        "far away": lambda: rng.normal(size=n) + 1e6,
        "tiny": lambda: 1e-12 * rng.normal(size=n),
        "counts": lambda: rng.poisson(2, size=n) + 0.0,
    }[shape]()
    if draw(st.booleans()):
        y = np.column_stack([y, rng.normal(size=n)])
    weights = {
        "none": lambda: None,
        "even": lambda: rng.random(n),
        "far apart": lambda: rng.lognormal(0, 4, size=n),
        "draws": lambda: rng.poisson(1, size=n) + 0.0,
    }
    weight = weights[draw(st.sampled_from([*weights]))]()
    if weight is not None and not weight.any():
        weight = None
    return rng.normal(size=(n, 3)).round(2), y, weight


@pytest.mark.filterwarnings("ignore:.*friedman_mse:FutureWarning")
@examples(60)
@given(
    targets(),
    st.sampled_from([DecisionTreeRegressor, ExtraTreeRegressor]),
    st.sampled_from(["squared_error", "friedman_mse"]),
    st.sampled_from([1, 4]),
)
def test_what_was_trained_is_explained(people, kind, criterion, least) -> None:
    x, y, weight = people
    model = kind(criterion=criterion, min_samples_leaf=least, random_state=0)
    assert unexplained(model.fit(x, y, sample_weight=weight)) == []


def test_skewed_numbers_of_three_hundred_people_are_explained() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 3)), rng.lognormal(0, 4, size=300)
    assert unexplained(DecisionTreeRegressor(random_state=0).fit(x, y)) == []


def test_a_person_who_weighs_next_to_nothing_is_explained() -> None:
    # scikit-learn takes their square from that of those beside: of 1e17, 16 digits are left.
    x, y = np.array([[0.0], [1.0], [2.0]]), np.array([3.1e8, 3.3e8, 5.0])
    weight = np.array([5.7e4, 3e-5, 1.0])
    model = DecisionTreeRegressor(random_state=0).fit(x, y, sample_weight=weight)
    alone = model.tree_.children_left < 0
    assert np.abs(model.tree_.impurity[alone]).max() > 1e-9 * 3.3e8**2
    assert unexplained(model) == []


def test_a_hundred_thousand_weights_that_are_no_whole_numbers_are_explained() -> None:
    n = 95_333
    x, y = np.arange(n)[:, None], np.arange(n) % 3 == 0
    model = DecisionTreeClassifier(max_depth=1).fit(x, y, sample_weight=np.full(n, 1 / n))
    nodes = model.tree_.__getstate__()["nodes"]
    share = model.tree_.value[0].ravel() / model.tree_.value[0].sum()
    assert abs(nodes["impurity"][0] - (1 - share @ share)) > 1e-12
    assert unexplained(model) == []
    state = model.tree_.__getstate__()
    state["nodes"]["impurity"][0] *= 1 + 1e-10
    model.tree_.__setstate__(state)
    assert unexplained(model) == ["tree_.impurity of nodes"]


@pytest.mark.parametrize("shape", ["normal", "incomes"])
def test_an_impurity_that_was_changed_is_told(shape) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(400, 3)), rng.normal(size=400)
    model = DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
    model.fit(x, y if shape == "normal" else np.exp(y))
    for node in (0, 3, 10):
        made = pickle.loads(pickle.dumps(model))
        state = made.tree_.__getstate__()
        state["nodes"]["impurity"][node] *= 1 + 1e-9
        made.tree_.__setstate__(state)
        assert unexplained(made) == ["tree_.impurity of nodes"], node
