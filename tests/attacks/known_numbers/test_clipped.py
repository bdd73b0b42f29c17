"""Leaves that a monotonic constraint clips do not tell the mean of their people (TA109)."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import BaggingRegressor
from sklearn.tree import DecisionTreeRegressor

import treeaudit as ta

sklearn = pytest.importorskip("sklearn", minversion="1.4")
SAID = "monotonicity constraints clip the numbers in its leaves, which may be no means"


def _dominating(model, **options):
    checks = ta.scan(model, **options).checks
    (check,) = (one for one in checks if one.name == "max-dominating-people")
    return check.status, check.measured


def _clipped():
    """Return a tree in which three people have nine tenths of the totals of their leaves."""
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(200, 3))
    numbers = np.exp(rng.normal(size=200) * rng.uniform(1, 3) - rows[:, 0])
    tree = DecisionTreeRegressor(monotonic_cst=[1, 0, 0], min_samples_leaf=6, random_state=0)
    return tree.fit(rows, numbers), rows, numbers


def test_the_total_of_a_clipped_leaf_is_not_told() -> None:
    tree, rows, numbers = _clipped()
    each = pd.Series(numbers).groupby(tree.apply(rows))
    assert int((each.max() >= 0.9 * each.sum()).sum()) == 3
    assert _dominating(tree) == ("skipped", None)
    assert _dominating(tree, train=(rows, numbers)) == ("fail", 3.0)
    assert SAID in ta.load(tree).warnings
    bag = BaggingRegressor(DecisionTreeRegressor(monotonic_cst=[1, 0, 0], min_samples_leaf=6), 3)
    assert SAID in ta.load(bag.fit(rows, numbers)).warnings
