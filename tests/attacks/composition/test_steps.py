"""TA106 of boosting: what steps can tell at most, by hand and by scikit-learn alone."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

import treeaudit as ta
from treeaudit.attacks.composition.equations import said_by_people
from treeaudit.attacks.composition.joint import solve
from treeaudit.people.predict.predictions import column_of_each_tree
from treeaudit.people.records import read_records

RNG = np.random.default_rng(0)
X = RNG.normal(size=(250, 4)).round(1)
NUMBER = X[:, 0] + RNG.normal(size=250)
THREE = np.searchsorted([-0.5, 0.7], NUMBER)


def test_leaves_tell_the_labels_of_those_who_end_in_them() -> None:
    model = GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0).fit(X, THREE)
    forest = ta.load(model)
    people = read_records((X, THREE), forest)
    column = column_of_each_tree(forest)
    assert column.tolist() == [0, 1, 2] * 3
    said = said_by_people(forest, people, column)
    at = said.node + said.start[:-1]
    for i, tree in enumerate(model.estimators_.ravel()):
        leaf = tree.apply(X)
        wanted = [(THREE[leaf == one] == i % 3).mean() for one in leaf]
        assert said.mean[at[:, i], 0] == pytest.approx(wanted)
        assert said.informative[at[:, i]].all()


def test_sums_of_three_leaves_give_three_labels_back() -> None:
    # Of a and b one is of the class, of b and c none, of c and d one: a and d.
    leaf = {
        "low": [-np.inf, -np.inf, 0.5],
        "high": [np.inf, 0.5, np.inf],
        "value": [0.0, -1.0, 1.0],
    }
    trees = tuple(ta.Tree(parent=[-1, 0, 0], feature=[-1, i, i], **leaf) for i in range(3))
    source = ta.Source(format="lightgbm-text", library="LightGBM", estimator="LightGBM binary")
    schema = ta.Schema.numeric(3, ["no", "yes"])
    forest = ta.Forest(
        trees=trees, schema=schema, answers="sum", counts_are="absent", source=source
    )
    x = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1.0]])
    people = read_records((x, np.array(["yes", "no", "no", "yes"])), forest)
    said = said_by_people(forest, people, column_of_each_tree(forest))
    assert said.mean[:, 0].reshape(3, 2).tolist() == [[0.5, 0.5], [1.0, 0.0], [0.5, 0.5]]
    assert solve(said).answer.tolist() == [1, 0, 0, 1]


def test_where_steps_begin_must_be_told() -> None:
    model = GradientBoostingClassifier(n_estimators=3, loss="exponential").fit(X, THREE > 0)
    report = ta.scan(model, train=(X, THREE > 0), attacks=["TA106"])
    assert "where the steps begin is not told" in report.results[0].reason


def test_numbers_of_few_values_are_the_nearest_of_them() -> None:
    grade = (RNG.random(250) < 0.5).astype(float)
    model = GradientBoostingRegressor(n_estimators=40, max_depth=3, random_state=0).fit(X, grade)
    details = ta.scan(model, train=(X, grade), attacks=["TA106"])["TA106"].details
    assert details.own == pytest.approx((np.rint(model.predict(X)) == grade).mean())
    # Labels were drawn at random: beyond its own answers, what comes back is memory.
    assert details.excess > 0.03
