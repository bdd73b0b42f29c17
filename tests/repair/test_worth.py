"""What a repair is good for: accuracy and AUC of any model, and what may be lost of them."""

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from xgboost import XGBClassifier

import treeaudit as ta
from treeaudit.repair.attempts import with_spreads
from treeaudit.repair.worth import Worth, uses_of
from treeaudit.reports.repairs import far_fewer


def people(classes: int, n: int = 300):
    rng = np.random.default_rng(classes)
    x = rng.normal(size=(n, 3)).round(1)
    return x, np.digitize(x[:, 0] + rng.normal(size=n), np.linspace(-1, 1, classes - 1))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(n_estimators=4, random_state=0),
        XGBClassifier(n_estimators=4),
        LGBMClassifier(n_estimators=4, verbose=-1),
    ],
    ids=lambda one: type(one).__name__,
)
def test_boostings_are_as_accurate_as_their_library_says(model, classes) -> None:
    x, y = people(classes)
    model.fit(x[:150], y[:150])
    train, test = (x[:150], y[:150]), (x[150:], y[150:])
    (use,), untold = uses_of([ta.load(model)], train=train, test=test)
    shares = model.predict_proba(x[150:])
    asked = shares[:, 1] if classes == 2 else shares
    assert untold == ""
    assert use.accuracy.value == pytest.approx(model.score(*test))
    assert use.auc == pytest.approx(roc_auc_score(y[150:], asked, multi_class="ovr"), abs=1e-6)


def test_only_training_people_tell_where_a_boosting_of_numbers_starts() -> None:
    x, _ = people(2)
    model = GradientBoostingRegressor(n_estimators=4, random_state=0).fit(x, x[:, 0])
    forest, given = ta.load(model), (x, x[:, 0])
    (use,), _ = uses_of([forest], train=given, test=given)
    assert use.value == pytest.approx(model.score(*given))
    used, untold = uses_of([forest], train=None, test=given)
    assert used == []
    assert "its training people do (--train)" in untold


def test_losses_of_accuracy_and_auc_add_up() -> None:
    hair, kept = Worth(right=0.831, auc=0.825), Worth(right=0.830, auc=0.880)
    assert kept.total > hair.total
    assert (kept.words, Worth(right=0.5, auc=None).words) == ("AUC 0.880", "R² 0.500")


@pytest.mark.parametrize(
    ("keep", "given", "says"),
    [
        (0.01, True, "no repair that was tried loses at most 0.01 AUC: the nearest has AUC 1.000"),
        (2, True, "keep_auc is a number from 0 to below 1, not 2"),
        (0.01, False, "--keep-auc measures what the AUC loses on labelled people"),
    ],
)
def test_too_much_auc_is_not_given_up(keep, given, says) -> None:
    x, y = people(2)
    tree = DecisionTreeClassifier(random_state=0).fit(x, y == 1)
    train = (x, y == 1) if given else None
    with pytest.raises(ta.DataError, match=says):
        ta.defend(tree, min_leaf=60, train=train, keep_auc=keep)


def test_few_trees_are_announced() -> None:
    text = "1 of 100 trees is left; --keep-auc 0.01 keeps more, --sweep 5,10,20 shows"
    assert far_fewer(100, 1, [], None).startswith(text)
    assert far_fewer(100, 70, [], None) == ""


def test_what_a_file_told_of_leaves_that_stay_decides() -> None:
    x, _ = people(2)
    forest = ta.load(DecisionTreeRegressor(min_samples_leaf=10, random_state=0).fit(x, x[:, 0]))
    clean = ta.release(forest)
    assert clean.trees[0].spread is None
    again = with_spreads(clean, forest)
    assert again.trees[0].spread.tolist() == forest.trees[0].spread.tolist()
    merged = with_spreads(ta.defend(forest, min_leaf=30), forest).trees[0]
    assert not np.isnan(merged.spread).any()


def test_an_estimator_in_is_an_estimator_out() -> None:
    x, y = people(2)
    tree = DecisionTreeClassifier(random_state=0).fit(x, y)
    safer = ta.defend(tree, min_leaf=20)
    assert safer.predict(x).shape == (300,)
    assert isinstance(ta.defend(ta.load(tree), min_leaf=20), ta.Forest)
    boosted = ta.load(XGBClassifier(n_estimators=2).fit(x, y))
    with pytest.raises(ta.UnsupportedModelError, match="cannot be written as a scikit-learn"):
        boosted.to_sklearn()


@pytest.mark.parametrize(
    "call",
    [
        lambda tree: ta.scan("none.pkl"),
        lambda tree: ta.scan(tree, train="none.csv"),
        lambda tree: ta.scan(tree, baseline="none.json"),
        lambda tree: ta.scan(tree, policy="none.toml"),
        lambda tree: ta.compare("none.pkl"),
    ],
)
def test_a_missing_file_is_one_error(call) -> None:
    x, y = people(2)
    with pytest.raises(ta.MissingFileError, match=r"there is no file none\.\w+$") as told:
        call(DecisionTreeClassifier(max_depth=1).fit(x, y))
    assert isinstance(told.value, ta.ReadError)
    assert isinstance(told.value, ta.DataError)
