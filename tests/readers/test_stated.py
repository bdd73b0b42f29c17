"""What a model says of itself beside its tables, and answers by. The oracle found each of them."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from treeaudit import ReadError, load
from treeaudit.people.predict.predictions import predict_shares

X = np.arange(120.0).reshape(60, 2) % 11
Y = X[:, 0] + X[:, 1] > 9


def _tree() -> Any:
    return DecisionTreeClassifier(max_depth=2, random_state=0)


@pytest.mark.parametrize("name", ["n_classes_", "n_outputs_", "n_features_in_"])
@pytest.mark.parametrize("said", [-1, 0, 1 << 40, 2.0, "2", [2, 2], np.array([3]), {}])
@pytest.mark.parametrize("make", [_tree, lambda: RandomForestClassifier(2, max_depth=2)])
def test_numbers_that_are_not_those_of_the_tables(name: str, said: Any, make: Any) -> None:
    model = make().fit(X, Y)
    setattr(model, name, said)
    with pytest.raises(ReadError, match=f"inconsistent: {name} is"):
        load(model)


def test_a_member_of_a_forest_says_another_number() -> None:
    model = RandomForestClassifier(2, max_depth=2).fit(X, Y)
    model.estimators_[1].n_classes_ = 3
    with pytest.raises(ReadError, match="inconsistent: n_classes_ is 3, its tables have 2"):
        load(model)


@pytest.mark.parametrize("name", ["n_estimators", "n_classes_"])
def test_a_bag_that_would_divide_by_another_number(name: str) -> None:
    model = BaggingClassifier(_tree(), 2).fit(X, Y)
    setattr(model, name, 4095)
    with pytest.raises(ReadError, match=f"{name} is 4095, it has 2"):
        load(model)


@pytest.mark.parametrize("switch", ["with_mean", "with_std"])
@pytest.mark.parametrize("value", [None, 0, "", False])
def test_a_switch_is_off_where_python_takes_it_for_false(switch: str, value: Any) -> None:
    model = make_pipeline(StandardScaler(), _tree()).fit(X, Y)
    setattr(model[0], switch, value)
    assert np.allclose(predict_shares(load(model), X), model.predict_proba(X))


def test_an_imputer_of_a_number_is_not_undone() -> None:
    model = make_pipeline(SimpleImputer(missing_values=3), _tree()).fit(X, Y)
    assert any("transformed units" in said for said in load(model).warnings)


def test_a_scale_next_to_nothing_is_no_warning_of_numpy() -> None:
    model = make_pipeline(MinMaxScaler(), _tree()).fit(X, Y)
    model[0].scale_[0] = 5e-324
    assert any("transformed units" in said for said in load(model).warnings)


@pytest.mark.parametrize("key", [5, 1.5, b"x", ("the", "rows"), None])
def test_an_attribute_is_named_by_a_text(key: object) -> None:
    model = _tree().fit(X, Y)
    model.__dict__[key] = "what nobody would ever ask for"
    with pytest.raises(ReadError, match="an attribute whose name is no text"):
        load(model)
    assert pickle.loads(pickle.dumps(model)).__dict__[key]


def test_an_attribute_of_a_skops_file_is_named_by_a_text(tmp_path: Any) -> None:
    skops = pytest.importorskip("skops.io")
    model = _tree().fit(X, Y)
    model.__dict__[5] = "what nobody would ever ask for"
    path = tmp_path / "model.skops"
    skops.dump(model, path)
    with pytest.raises(ReadError):
        load(path)


@pytest.mark.parametrize("what", [None, 7, "the rows", {"tree_": _tree().fit(X, Y).tree_}])
@pytest.mark.parametrize(
    "make", [lambda: RandomForestClassifier(2, max_depth=2), lambda: BaggingClassifier(_tree(), 2)]
)
def test_what_is_no_model_among_the_trees(make: Any, what: object) -> None:
    model = make().fit(X, Y)
    model.estimators_.append(what)
    with pytest.raises(ReadError, match=r"something among its trees|is no model"):
        load(model)


def test_a_default_of_xgboost_is_left_or_right(tmp_path: Any) -> None:
    xgboost = pytest.importorskip("xgboost")
    table = xgboost.DMatrix(X, Y)
    text = bytes(xgboost.train({"max_depth": 2, "nthread": 1}, table, 1).save_raw("json"))
    path = tmp_path / "model.json"
    path.write_bytes(text.replace(b'"default_left":[0,', b'"default_left":[2,'))
    with pytest.raises(ReadError, match="neither left nor right"):
        load(path)
