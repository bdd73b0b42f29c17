"""Steps before a tree that say one thing twice, and are loaded by the other one."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta

N = 3_000
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4)).round(2)
X[:, 3] = RNG.integers(0, 6, N)
Y = (X[:, 3] + RNG.normal(size=N) > 3).astype(int)
THREE = Y + (X[:, 0] > 0)
TREE = DecisionTreeClassifier(max_leaf_nodes=6, min_samples_leaf=200, random_state=0)
MISSING = np.where(np.arange(N) % 50 == 0, np.nan, X[:, 3])


def _chain(step, columns=X):
    return lambda: Pipeline([("step", clone(step)), ("tree", clone(TREE))]).fit(columns, Y)


def _encoded(encoder):
    return _chain(ColumnTransformer([("code", encoder, [3]), ("rest", "passthrough", [0, 1, 2])]))


def _bag():
    return BaggingClassifier(clone(TREE), n_estimators=2, random_state=0).fit(X, Y)


def _boosted():
    model = HistGradientBoostingClassifier(max_iter=2, categorical_features=[3], random_state=0)
    return model.fit(np.c_[X[:, :3], MISSING], Y)


def _encoder(model):
    inner = model._preprocessor if hasattr(model, "_preprocessor") else model[0]
    return inner.transformers_[0][1]


def _sets(of, **values):
    def change(model) -> None:
        for name, value in values.items():
            setattr(of(model), name, value)

    return change


def _replaced(step, place, value):
    def change(model) -> None:
        steps = model._preprocessor.transformers_
        parts = list(steps[step])
        parts[place] = value
        steps[step] = tuple(parts)

    return change


def _bins(model):
    return model._bin_mapper


def _model(model):
    return model


def _first(model):
    return model[0]


def _cut_off(model) -> None:
    model.steps[0] = ("step", MaxAbsScaler(clip=True).fit(X))


def _turned(model) -> None:
    model._preprocessor.transformers_.reverse()


def _swapped(model) -> None:
    model[0]._transformer_to_input_indices["b"] = [3, 0]


def _answers_for_three(of):
    return lambda: of(clone(TREE)).fit(X, THREE)


def _member_twice(model) -> None:
    model.estimators_ = [*model.estimators_, model.estimators_[0]]


NAMED = pd.DataFrame(X, columns=list("abcd"))
BY_NAME = ColumnTransformer([("a", StandardScaler(), ["b", "c"]), ("b", "passthrough", ["a", "d"])])
BY_NUMBER = ColumnTransformer([("a", StandardScaler(), [1, 2]), ("b", "passthrough", [0, 3])])
DROPPED, LAST = OneHotEncoder(drop="first", sparse_output=False), np.array([4], dtype=object)
PICKED = [np.array([3, 2, 1, 0])] * 2
FORGED = {
    "what is left out of one-hot": (_encoded(DROPPED), _sets(_encoder, drop_idx_=LAST)),
    "what one-hot leaves out": (_encoded(DROPPED), _sets(_encoder, _drop_idx_after_grouping=LAST)),
    "widths of one-hot": (_encoded(OneHotEncoder()), _sets(_encoder, _n_features_outs=[7])),
    "a category that is missing": (
        _encoded(OrdinalEncoder()),
        _sets(_encoder, _missing_indices={0: 3}, encoded_missing_value=-5.0),
    ),
    "ends of a scaler": (
        _chain(MinMaxScaler(clip=True)),
        _sets(_first, feature_range=(0.1, 0.11)),
    ),
    "a scaler that cuts": (_chain(FunctionTransformer()), _cut_off),
    "columns by name": (_chain(BY_NAME, NAMED), _swapped),
    "columns by number": (_chain(BY_NUMBER), _swapped),
    "columns of a bag": (_bag, _sets(_model, estimators_features_=np.array(PICKED))),
    "columns of some of a bag": (_bag, _sets(_model, estimators_features_=PICKED[:1])),
    "columns that nobody picks": (
        lambda: IsolationForest(n_estimators=2, random_state=0).fit(X),
        _sets(_model, estimators_features_=PICKED),
    ),
    "classes of a member": (_bag, lambda bag: setattr(bag.estimators_[0], "classes_", Y[:1])),
    "columns in another order": (_boosted, _turned),
    "other categorical columns": (_boosted, _replaced(0, 2, np.array([True, False, False, False]))),
    "numbers that are scaled": (_boosted, _replaced(1, 1, StandardScaler().fit(X[:, :3]))),
    "numbers that are changed": (_boosted, _replaced(1, 1, FunctionTransformer(np.log1p))),
    "categories of the bins": (_boosted, _sets(_bins, bin_thresholds_=[np.arange(5.0)] * 4)),
    "categorical columns of the bins": (
        _boosted,
        _sets(_bins, is_categorical_=np.array([0, 0, 0, 1], np.uint8)),
    ),
    "trees of a round": (_boosted, _sets(_model, n_trees_per_iteration_=2)),
    "classes of one of a pair": (
        _answers_for_three(OneVsOneClassifier),
        lambda model: setattr(model.estimators_[1], "classes_", np.array([0, 2])),
    ),
    "classes of one behind a step": (
        lambda: OneVsRestClassifier(make_pipeline(StandardScaler(), clone(TREE))).fit(X, THREE),
        lambda model: setattr(model.estimators_[0][-1], "classes_", np.array([1, 0])),
    ),
    "votes for other places": (
        lambda: VotingClassifier([("a", clone(TREE))]).fit(X, THREE + 1),
        lambda model: setattr(model.estimators_[0], "classes_", np.array([1, 2, 3])),
    ),
    "numbers of a code book": (
        _answers_for_three(OutputCodeClassifier),
        lambda model: model.code_book_.__imul__(3),
    ),
    "minus one in a code book of trees": (
        _answers_for_three(OutputCodeClassifier),
        lambda model: model.code_book_.__isub__(model.code_book_ == 0),
    ),
    **{
        f"a member twice of {of.__name__}": (_answers_for_three(of), _member_twice)
        for of in (OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier)
    },
    "an output twice": (
        lambda: MultiOutputClassifier(clone(TREE)).fit(X, np.c_[Y, THREE]),
        _member_twice,
    ),
    "a vote twice": (
        lambda: VotingClassifier([("a", clone(TREE)), ("b", clone(TREE))]).fit(X, Y),
        _member_twice,
    ),
    "a member of a bag twice": (
        lambda: BaggingClassifier(make_pipeline(clone(TREE)), n_estimators=2).fit(X, Y),
        _member_twice,
    ),
    "a calibration twice": (
        lambda: CalibratedClassifierCV(clone(TREE), cv=2).fit(X, Y),
        lambda model: model.calibrated_classifiers_.append(model.calibrated_classifiers_[0]),
    ),
    "categories nobody knows": (_boosted, _sets(_encoder, handle_unknown="ignore")),
    "categories that are missing": (_boosted, _sets(_encoder, _missing_indices={0: 2})),
}


@pytest.mark.parametrize("name", FORGED)
def test_steps_that_say_one_thing_twice(name, tmp_path) -> None:
    make, change = FORGED[name]
    path, model = tmp_path / "m", make()
    path.write_bytes(pickle.dumps(model))
    assert list(ta.load(path).trees)
    change(model)
    path.write_bytes(pickle.dumps(model))
    with pytest.raises(ta.ReadError):
        list(ta.load(path).trees)


def test_one_model_that_is_calibrated_in_several_ways_is_read(tmp_path) -> None:
    frozen = FrozenEstimator(clone(TREE).fit(X, Y))
    model = CalibratedClassifierCV(frozen, cv=3, ensemble=True).fit(X, Y)
    (tmp_path / "m").write_bytes(pickle.dumps(model))
    assert len(list(ta.load(tmp_path / "m").trees)) == 1


@pytest.mark.parametrize("inverse", ["scaler", "function"])
def test_a_target_that_is_changed_back_by_something_else(inverse, tmp_path) -> None:
    tree = DecisionTreeRegressor(max_leaf_nodes=6, min_samples_leaf=200)
    model = TransformedTargetRegressor(tree).fit(X, X[:, 0])
    (tmp_path / "m").write_bytes(pickle.dumps(model))
    assert not any("changed target" in one for one in ta.load(tmp_path / "m").warnings)
    if inverse == "scaler":
        model.transformer_ = StandardScaler().fit(X[:, :1])
    else:
        model.transformer_.inverse_func = np.expm1
    (tmp_path / "m").write_bytes(pickle.dumps(model))
    assert any("changed target" in one for one in ta.load(tmp_path / "m").warnings)
