"""A training set is believed only where it fits the counts of the file."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from treeaudit.people.records import read_records
from treeaudit.people.verification import verify


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    return x, np.where(x[:, 0] + rng.normal(0, 0.7, n) > 0, "yes", "no")


def check(model, x, y) -> None:
    forest = ta.load(model)
    verify(forest, read_records((x, y), forest, origin="train.csv"))


MODELS = {
    "tree": DecisionTreeClassifier(random_state=0),
    "small tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "weighted": DecisionTreeClassifier(class_weight="balanced", random_state=0),
    "forest": RandomForestClassifier(10, random_state=0),
    "no bootstrap": ExtraTreesClassifier(10, random_state=0),
    "regressor": DecisionTreeRegressor(random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_people_it_was_trained_on_fit(name) -> None:
    x, y = people()
    if name == "regressor":
        y = x[:, 1]
    check(MODELS[name].fit(x, y), x, y)


@pytest.mark.parametrize("name", ["tree", "weighted", "forest", "no bootstrap"])
class TestAnotherTable:
    def test_fewer_people(self, name) -> None:
        x, y = people()
        with pytest.raises(ta.DataError, match=r"it has 399 rows, the model was trained on 400"):
            check(MODELS[name].fit(x, y), x[1:], y[1:])

    def test_everybody_twice(self, name) -> None:
        x, y = people()
        with pytest.raises(ta.DataError, match="every row seems to be there 2 times"):
            check(MODELS[name].fit(x, y), np.vstack([x, x]), np.concatenate([y, y]))

    def test_other_people(self, name) -> None:
        x, y = people()
        with pytest.raises(ta.DataError, match=r"train\.csv is not the training data of the model"):
            check(MODELS[name].fit(x, y), *people(seed=1))

    def test_other_labels(self, name) -> None:
        x, y = people()
        wrong = np.where(y == "yes", "no", "yes")
        with pytest.raises(ta.DataError, match=r"holds .* in the file and"):
            check(MODELS[name].fit(x, y), x, wrong)


def test_the_leaf_is_named_in_words() -> None:
    x, y = people()
    frame = pd.DataFrame(x, columns=["age", "income", "height"])
    forest = ta.load(DecisionTreeClassifier(max_depth=1).fit(frame, y))
    wrong = frame.assign(age=-frame["age"])
    with pytest.raises(ta.DataError, match=r"leaf 1 \(age ≤ .*\) holds .* people in the file"):
        verify(forest, read_records((wrong, y), forest))


def test_one_wrong_label_is_enough() -> None:
    x, y = people()
    model = DecisionTreeClassifier(max_depth=2).fit(x, y)
    y[17] = "no" if y[17] == "yes" else "yes"
    with pytest.raises(ta.DataError, match="are these the labels it was trained with"):
        check(model, x, y)


def test_leaves_that_a_repair_took_out_are_not_asked_about(tmp_path) -> None:
    x, y = people()
    tree = DecisionTreeClassifier(min_samples_leaf=3, random_state=0).fit(x, y)
    ta.save(ta.defend(tree, method="prune-leaves", min_leaf=10), tmp_path / "pruned.pkl")
    check(tmp_path / "pruned.pkl", x, y)
    assert ta.load(tmp_path / "pruned.pkl").n_records is None
    with pytest.raises(ta.DataError, match=r"train\.csv is not the training data of the model"):
        check(tmp_path / "pruned.pkl", *people(seed=1))


def test_a_file_without_counts_verifies_nothing() -> None:
    bare = ta.Forest(
        trees=(ta.Tree(parent=[-1], feature=[-1], low=[-np.inf], high=[np.inf]),),
        schema=ta.Schema.numeric(1, ["no", "yes"]),
        counts_are="absent",
    )
    assert "could not be verified" in verify(bare, read_records(([[1.0]], ["no"]), bare))
    assert "could not be verified" in ta.scan(bare, train=([[1.0]], ["no"])).warnings[0]


def test_counts_that_were_worked_out_from_weights_may_be_what_does_not_fit() -> None:
    # Of class 0, two weigh 1 and 3 in one leaf, two weigh 1 in the other: one, if all weighed 2.
    x = pd.DataFrame({"old": [0, 0, 1, 1, 1]})
    y = pd.Series([0, 0, 0, 0, 1], name="ill")
    model = DecisionTreeClassifier().fit(x, y, sample_weight=[1, 3, 1, 1, 2])
    assert ta.load(model).counts_are == "likely"
    with pytest.raises(ta.DataError, match="and did all rows of a class weigh the same"):
        ta.scan(model, train=x.assign(ill=y), target="ill")
