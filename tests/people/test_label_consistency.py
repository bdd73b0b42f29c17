"""Labels that nothing shows to be those of the training are named, and nothing rests on them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from treeaudit.findings.findings import Skipped
from treeaudit.people.checks.label_consistency import unverified_labels
from treeaudit.people.checks.leaf_values import (
    draws_in_order,
)
from treeaudit.people.checks.training_data import verify
from treeaudit.people.records import read_records

ASKED = "are these the labels it was trained with"


def people(n=600, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(rng.normal(size=(n, 4)).round(2), columns=list("abcd"))
    score = x["a"] + rng.normal(0, 0.8, n)
    cuts = np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1])
    return x, np.array(["u", "v", "w"])[np.digitize(score, cuts)]


def said(model, x, y) -> str:
    forest = ta.load(model)
    train = read_records((x, y), forest, origin="train.csv")
    assert verify(forest, train) == ""
    return unverified_labels(forest, train)


def told_apart(model, x, y) -> bool:
    try:
        return bool(said(model, x, y))
    except ta.DataError as error:
        return "is not the training data" in str(error)


def forest(**asked):
    return RandomForestClassifier(20, random_state=0, **asked)


MODELS = {
    "forest": forest(),
    "large leaves": forest(min_samples_leaf=30),
    "weights of classes": forest(min_samples_leaf=5, class_weight="balanced_subsample"),
    "few drawn": forest(min_samples_leaf=5, max_samples=0.3),
    "draws and random splits": ExtraTreesClassifier(
        20, bootstrap=True, max_depth=4, random_state=0
    ),
    "bag": BaggingClassifier(DecisionTreeClassifier(max_depth=4), 10, random_state=0),
    "bag without draws": BaggingClassifier(
        DecisionTreeClassifier(max_depth=4), 10, max_samples=0.6, bootstrap=False, random_state=0
    ),
    "one versus one": OneVsOneClassifier(DecisionTreeClassifier(max_depth=3)),
    "one versus the rest": OneVsRestClassifier(forest(min_samples_leaf=30)),
    "folds": CalibratedClassifierCV(DecisionTreeClassifier(max_depth=3), cv=3),
    "weighed again": AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=10),
    "boosting": GradientBoostingClassifier(n_estimators=5, max_depth=2),
    "boosting of draws": GradientBoostingClassifier(n_estimators=5, max_depth=2, subsample=0.7),
    "boosting of bins": HistGradientBoostingClassifier(max_iter=5, max_depth=2),
}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
class TestModels:
    def test_true_labels_are_held(self, name, classes) -> None:
        x, y = people(classes=classes)
        assert said(clone(MODELS[name]).fit(x, y), x, y) == ""

    @pytest.mark.parametrize("how", ["dealt out anew", "of another column", "turned round"])
    def test_others_are_refused_or_named(self, name, classes, how) -> None:
        x, y = people(classes=classes)
        rng = np.random.default_rng(1)
        wrong = {
            "dealt out anew": rng.permutation(y),
            "of another column": rng.choice(np.unique(y), len(y)),
            "turned round": np.array(["u", "v", "w"])[:classes][::-1][
                np.searchsorted(np.unique(y), y)
            ],
        }
        assert told_apart(clone(MODELS[name]).fit(x, y), x, wrong[how])


def test_labels_of_another_column_are_no_ground_for_a_pass(tmp_path) -> None:
    rng = np.random.default_rng(0)
    n = 900
    x = pd.DataFrame(rng.normal(size=(n, 6)).round(2), columns=list("abcdef"))
    table = x.assign(
        ill=np.where(x["a"] * 0.4 + rng.normal(0, 1, n) > 0, "yes", "no"),
        smoker=rng.choice(["yes", "no"], n),
    )
    model = RandomForestClassifier(60, min_samples_leaf=40, max_features=2, random_state=1)
    ta.save(ta.load(model.fit(x, table["ill"])), tmp_path / "clean.pkl")
    drawn = ta.load(tmp_path / "clean.pkl")
    assert drawn.seeds is None
    true = table.drop(columns="smoker")
    report = ta.scan(drawn, train=true, target="ill", attacks=["TA106"])
    assert report["TA106"].status == "found"
    assert not report.warnings
    wrong = table.drop(columns="ill")
    report = ta.scan(drawn, train=wrong, target="smoker", attacks=["TA106"])
    (skipped,) = report.results
    assert isinstance(skipped, Skipped)
    assert report.verdict == "review"
    (warning,) = report.warnings
    assert warning == skipped.reason
    assert warning == (
        "the labels of train could not be verified: nothing shows that they are those of the "
        "training, since other labels would go with the leaves of the model as well; if it was "
        "trained with another column, name that (--target): nothing that rests on them "
        "was looked at"
    )


class TestSeeds:
    """Where seeds draw the rows again, every count of a label is that of the draw."""

    x, y = people()
    model = forest(min_samples_leaf=30).fit(x, y)

    def test_one_wrong_label_is_enough(self) -> None:
        wrong = self.y.copy()
        wrong[17] = "u" if wrong[17] == "v" else "v"
        with pytest.raises(ta.DataError, match=rf"drawn again with the seeds .*; {ASKED}"):
            said(self.model, self.x, wrong)

    def test_in_another_order_the_labels_are_held_as_without_seeds(self) -> None:
        order = np.random.default_rng(0).permutation(len(self.y))
        x, y = self.x.iloc[order], self.y[order]
        read = ta.load(self.model)
        assert not draws_in_order(read, read_records((x, y), read))
        assert said(self.model, x, y) == ""


NUMBERS = {
    "forest": RandomForestRegressor(10, min_samples_leaf=5, random_state=0),
    "bag": BaggingRegressor(DecisionTreeRegressor(max_depth=4), 5, random_state=0),
    "weighed again": AdaBoostRegressor(n_estimators=5, random_state=0),
    "boosting": GradientBoostingRegressor(n_estimators=5, max_depth=2),
    "boosting of bins": HistGradientBoostingRegressor(max_iter=5),
    "changed": TransformedTargetRegressor(
        RandomForestRegressor(10, random_state=0), func=np.negative, inverse_func=np.negative
    ),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_another_column_are_named_too(name) -> None:
    x, _ = people()
    rng = np.random.default_rng(1)
    y = np.exp(x["a"].to_numpy() + rng.normal(0, 0.5, len(x)))
    model = clone(NUMBERS[name]).fit(x, y)
    read = ta.load(model)
    assert unverified_labels(read, read_records((x, y), read)) == ""
    wrong = read_records((x, rng.permutation(y)), read, origin="train.csv")
    assert unverified_labels(read, wrong) == (
        "the numbers of train.csv could not be verified: nothing shows that they are those of the "
        "training, since other numbers would go with the leaves of the model as well; if it was "
        "trained with another column, name that (--target): nothing that rests on them "
        "was looked at"
    )
    turned = read_records((x, -y), read)
    assert (unverified_labels(read, turned) == "") == (name == "changed")
