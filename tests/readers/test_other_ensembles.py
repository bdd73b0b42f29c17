"""Ensembles of other libraries made of trees of scikit-learn, as those libraries wrote them.

Each was trained on 80 people.
"""

from pathlib import Path

import pytest

import treeaudit as ta

FILES = Path(__file__).parent / "genuine_ensembles"


@pytest.mark.parametrize(
    ("name", "estimator", "n_trees", "n_records"),
    [
        ("imblearn-forest", "BalancedRandomForestClassifier", 3, None),
        ("imblearn-bag", "BalancedBaggingClassifier", 3, 80),
        ("imblearn-easy", "EasyEnsembleClassifier", 4, 80),
        ("imblearn-boosting", "RUSBoostClassifier", 3, None),
        ("quantile-forest", "RandomForestQuantileRegressor", 3, 80),
        ("survival-forest", "RandomSurvivalForest", 3, 80),
        ("survival-boosting", "GradientBoostingSurvivalAnalysis", 3, 80),
        ("shap-forest", "TreeEnsemble", 3, None),
    ],
)
def test_its_trees_are_audited(
    name: str, estimator: str, n_trees: int, n_records: int | None
) -> None:
    forest = ta.load(FILES / f"{name}.pkl")
    assert forest.source.estimator == estimator
    assert (forest.n_trees, forest.n_records) == (n_trees, n_records)
    assert ta.scan(forest, seconds=0).verdict in ("review", "fail")


@pytest.mark.parametrize(
    ("name", "where", "n"),
    [
        ("survival-forest", "unique_times_", 77),
        ("survival-boosting", "_baseline_model.unique_times_", 77),
        ("quantile-forest", "forest_(0)", 80),
        ("shap-forest", "data", 30),
        ("shap-forest", "masker.data", 30),
    ],
)
def test_the_people_in_it_are_reported(name: str, where: str, n: int) -> None:
    found = ta.load(FILES / f"{name}.pkl").extras.found
    assert ("records", where, n) in {(one.kind, one.where, one.n) for one in found}


def test_rows_that_a_sampler_drew_are_no_people_in_the_file() -> None:
    for name in ("imblearn-forest", "imblearn-bag", "imblearn-easy", "imblearn-boosting"):
        found = ta.load(FILES / f"{name}.pkl").extras.found
        assert {one.kind for one in found} <= {"seeds", "extra"}
        assert not any("sample_indices_" in one.where for one in found)


def test_the_trees_of_an_explainer_say_what_it_says() -> None:
    forest = ta.load(FILES / "shap-forest.pkl")
    assert forest.schema.classes == (0, 1)
    assert [len(tree.parent) for tree in forest.trees] == [7, 7, 7]
