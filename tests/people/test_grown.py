"""Forests grown tree after tree answer what scikit-learn's own do, to the last digit."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from treeaudit.people.grown import grown_answers


def people(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(300, 5)).round(1)
    answer = np.array([2, 5, 9])[
        (values[:, 0] + rng.normal(0, 1, 300) > 0).astype(int) + (values[:, 1] > 1)
    ]
    return values, answer, rng.normal(size=(80, 5))


FORESTS = [
    RandomForestClassifier(9, min_samples_leaf=3),
    RandomForestClassifier(9, max_features=0.5, max_depth=4, criterion="entropy"),
    RandomForestClassifier(9, max_samples=0.3),
    RandomForestClassifier(9, class_weight="balanced"),
    RandomForestClassifier(9, bootstrap=False, max_leaf_nodes=7),
    ExtraTreesClassifier(9, ccp_alpha=0.01),
    ExtraTreesClassifier(9, bootstrap=True, max_features=0.5, min_samples_leaf=0.05),
    DecisionTreeClassifier(max_features=2),
]


@pytest.mark.parametrize("forest", FORESTS, ids=repr)
@pytest.mark.parametrize("seed", [0, 2**31 - 1])
def test_the_same_as_scikit_learn(forest, seed) -> None:
    values, answer, asked = people(seed)
    forest.set_params(random_state=seed)
    classes, answers = grown_answers(forest, values, answer, asked)
    assert classes.tolist() == [2, 5, 9]
    np.testing.assert_array_equal(answers, forest.fit(values, answer).predict_proba(asked))


@pytest.mark.filterwarnings("ignore:overflow")
def test_values_out_of_range_are_refused_as_ever() -> None:
    values, answer, asked = people(1)
    values[3, 2] = 1e300
    with pytest.raises(ValueError, match=r"too large|infinity"):
        grown_answers(RandomForestClassifier(3, random_state=0), values, answer, asked)
