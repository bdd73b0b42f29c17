"""Numbers of a table that no leaf bears out pass nothing, and those of every criterion are held."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeRegressor

import treeaudit as ta


def claims(seed: int):
    """Return people of whom three of a hundred have a number, and all others nothing."""
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(rng.integers(0, 10, (300, 3)).astype(float), columns=list("abc"))
    return x, np.where(rng.random(300) < 0.03, rng.lognormal(3, 1, 300).round(2), 0.0)


@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
@pytest.mark.parametrize("seed", range(4))
def test_numbers_of_few_are_nearly_certain_for_all_others(criterion, seed) -> None:
    x, y = claims(seed)
    model = DecisionTreeRegressor(min_samples_leaf=20, criterion=criterion, max_leaf_nodes=6)
    report = ta.scan(model.fit(x, y), train=x.assign(y=y), target="y")
    leaves = pd.DataFrame({"leaf": model.apply(x), "none": y == 0}).groupby("leaf")["none"]
    size, others = leaves.size(), leaves.size() - leaves.sum()
    nearly = (others <= 1) | ((1 - others / size >= 0.95) & (others < 5))
    assert report["TA109"].details.nearly_certain_share >= size[nearly].sum() / 300 > 0.05
    assert report.verdict == "fail"
