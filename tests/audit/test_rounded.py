"""Files whose counts were rounded: the people who end in their leaves are counted."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from treeaudit.audit.counts_from_people import counted_if_rounded
from treeaudit.defenses import RoundCounts
from treeaudit.people.records import read_records

MODELS = [
    DecisionTreeClassifier(min_samples_leaf=7, random_state=0),
    DecisionTreeRegressor(min_samples_leaf=7, random_state=0),
    RandomForestRegressor(
        3, bootstrap=False, max_features=1, min_samples_leaf=7, random_state=0
    ),
    HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=7),
]  # fmt: skip


def people(seed: int, n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 6, (n, 3)).astype(float)
    label = (values.sum(axis=1) + rng.integers(0, 4, n) > 9).astype(int)
    return pd.DataFrame(values, columns=["a", "b", "c"]).assign(y=label)


@pytest.mark.parametrize("model", MODELS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("saved", [False, True])
def test_its_training_people_are_counted(model, saved, tmp_path) -> None:
    table = people(0)
    original = ta.load(model.fit(table[["a", "b", "c"]], table["y"]))
    forest = RoundCounts(base=5).apply(original)
    if saved:
        forest = ta.load(ta.save(forest, tmp_path / "rounded.json"))
    train = read_records(table, forest, target="y")
    counted, said = counted_if_rounded(forest, train)
    assert "multiples of 5" in said
    assert counted.counts_are == "noisy"
    for tree, true in zip(counted.trees, original.trees, strict=True):
        assert (tree.n_records <= true.n_records)[tree.leaves].all()
    report = ta.scan(forest, train=table, target="y")
    assert any("no leaf counts for more than it tells" in one for one in report.warnings)
    # 7 people are told as 5.
    least = min(int(tree.n_records[tree.leaves].min()) for tree in original.trees)
    assert report["TA101"].details.min_leaf == 5 * (least // 5)
    assert not any(one.id == "TA108" and hasattr(one, "details") for one in report.results)


def test_other_people_make_no_small_leaf_larger() -> None:
    # One number divides leaves of 4 and 8 people: of others 6 and 10 end there.
    values = np.repeat([0.0, 1.0], [4, 8])[:, None]
    labels = np.tile([0, 1], 6)
    tree = ta.load(
        DecisionTreeClassifier(max_depth=1, random_state=0).fit(
            values, labels ^ (values[:, 0] > 0).astype(int) * (np.arange(12) % 3 == 0)
        )
    )
    assert sorted(tree.trees[0].n_records[tree.trees[0].leaves].tolist()) == [4, 8]
    others = np.repeat([0.0, 1.0], [6, 10])[:, None]
    report = ta.scan(tree, train=(others, np.tile([0, 1], 8)))
    assert report["TA101"].details.min_leaf == 4
    assert report.verdict != "pass"
