"""An ensemble gives all its members one setting: which of several each of them has is a text."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from treeaudit.readers import load

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
Y = (X[:, 0] > 0).astype(int)
FOREST = RandomForestClassifier(40, max_depth=2, min_samples_leaf=20, random_state=0).fit(X, Y)
for one in (FOREST, *FOREST.estimators_):
    one.random_state = None
PLAIN = "ccp_alpha min_impurity_decrease min_samples_leaf max_leaf_nodes splitter".split()
CHOICES = {
    "numbers": [0.0, 0.5],
    "signs of zero": [0.0, -0.0],
    "classes": [np.float64, dict],
    "functions": [np.log1p, np.exp],
    "types of numbers": [np.dtype("<f8"), np.dtype("<f4")],
}


@pytest.fixture(autouse=True)
def as_it_is(monkeypatch) -> None:
    """Pickle what stands in a tree: scikit-learn writes its own version over another."""
    version = {"_sklearn_version": sklearn.__version__}
    monkeypatch.setattr(DecisionTreeClassifier, "__getstate__", lambda one: version | vars(one))


def named(model, **change):
    """Return the attributes of members that are named, each of which was changed."""
    copy = pickle.loads(pickle.dumps(model))
    for name, values in change.items():
        for one, value in zip(copy.estimators_, values, strict=True):
            setattr(one, name, value)
    found = load(copy).leftovers.found
    return {one.where.rpartition(".")[2] for one in found if one.kind == "extra"}


def test_members_as_they_are_are_explained() -> None:
    assert named(FOREST) == set()


@pytest.mark.parametrize(
    "setting",
    [
        {"class_weight": "balanced"},
        {"class_weight": {0: 1.0, 1: 2.5}},
        {"class_weight": "balanced", "monotonic_cst": [1, 0, -1, 0]},
        {"max_features": "sqrt", "criterion": "entropy", "splitter": "random"},
    ],
    ids=["text", "weights", "constraints", "options"],
)
def test_members_that_all_have_a_setting_are_explained(setting) -> None:
    tree = DecisionTreeClassifier(max_depth=2, min_samples_leaf=20, **setting)
    for model in (BaggingClassifier(tree, 12), AdaBoostClassifier(tree, n_estimators=8)):
        found = load(model.fit(X, Y)).leftovers.found
        assert not [one for one in found if one.kind == "extra"]


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("choice", CHOICES.values(), ids=CHOICES)
def test_one_of_two_settings_each_is_a_bit(name, choice) -> None:
    bits = RNG.integers(0, 2, 40)
    assert named(FOREST, **{name: [choice[bit] for bit in bits]}) == {name}


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("choice", list(CHOICES.values())[:3], ids=list(CHOICES)[:3])
def test_settings_are_changed_between_a_few_rounds(name, choice) -> None:
    """Of a warm start: ten trees each, and another setting, or one from before, for the next."""
    rounds = [choice[i // 10 % 2] for i in range(40)]
    assert named(FOREST, **{name: rounds}) == set()
    assert named(FOREST, **{name: [choice[i // 5 % 2] for i in range(40)]}) == {name}


@given(st.lists(st.sampled_from([1, 2, 3, 4]), min_size=40, max_size=40))
def test_as_many_as_four_runs_are_rounds(values) -> None:
    runs = 1 + sum(one != other for one, other in pairwise(values))
    forest = pickle.loads(pickle.dumps(FOREST))
    for one, value in zip(forest.estimators_, values, strict=True):
        one.min_samples_leaf = value
    found = [one.kind for one in load(forest).leftovers.found if one.kind == "extra"]
    assert bool(found) == (runs > 4)


@pytest.mark.parametrize("name", [*PLAIN, "random_state", "feature_names_in_", "classes_"])
def test_a_number_of_its_own_in_an_array_without_an_axis(name) -> None:
    assert named(FOREST, **{name: [np.array(value) for value in RNG.random(40)]}) == {name}


@pytest.mark.parametrize("name", ["feature_names_in_", "classes_", "_sklearn_version"])
def test_numbers_are_no_names_no_labels_and_no_version(name) -> None:
    assert named(FOREST, **{name: RNG.random(40).tolist()}) == {name}
    assert named(FOREST, **{name: RNG.integers(0, 2**60, 40).tolist()}) == {name}


def test_members_are_of_one_version() -> None:
    versions = ["1." + "".join(RNG.choice([*"abcdefgh"], 8)) for _ in range(40)]
    assert named(FOREST, _sklearn_version=versions) == {"_sklearn_version"}


def test_metadata_is_asked_for_alike_and_its_names_are_weighed() -> None:
    words = "alpha beta gamma delta eta theta tau rho max_iter tol C l1_ratio".split()
    with sklearn.config_context(enable_metadata_routing=True):
        forest = pickle.loads(pickle.dumps(FOREST))
        for one in forest.estimators_:
            one.set_fit_request(sample_weight=True)
        assert named(forest) == set()
        for one in forest.estimators_:
            told = one._metadata_request.fit._requests
            told[str(RNG.choice(words))] = str(RNG.choice(words))
        assert named(forest) == {"_metadata_request"}


def test_members_have_one_form_of_output() -> None:
    forms = [{"transform": str(RNG.choice(["default", "pandas"]))} for _ in range(40)]
    assert named(FOREST, _sklearn_output_config=forms) == {"_sklearn_output_config"}


@pytest.mark.parametrize("name", PLAIN)
def test_a_number_refers_to_nothing_else_in_the_file(name) -> None:
    """Which of forty lists of labels, that are all the same, is a text."""
    forest = pickle.loads(pickle.dumps(FOREST))
    labels = [one.classes_ for one in forest.estimators_]
    for i, one in enumerate(forest.estimators_):
        setattr(one, name, labels[RNG.integers(i, 40)])
    assert named(forest) == {name}
