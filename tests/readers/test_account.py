# ruff: noqa: E501 -- a line per model
"""Nothing of an ordinary model is unexplained, whatever wrote it."""

import io
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import ensemble, tree
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import (
    ColumnTransformer,
    TransformedTargetRegressor,
    make_column_selector,
)
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.feature_selection import RFECV, SelectFromModel, SelectKBest, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    LabelEncoder,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeaudit as ta
from treeaudit.readers.leftovers.account import Account
from treeaudit.readers.leftovers.extra import masked, size_of
from treeaudit.readers.leftovers.leftovers import leftovers
from treeaudit.readers.pickles.pickle_vm import read_pickle

N = 137
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 5)).round(3) + 5
FRAME = pd.DataFrame(X, columns=["age", "Pay (monthly)", "height", "w", "code"]).assign(
    sex=RNG.choice(["woman", "man"], N), town=RNG.choice(["A town", "B", "C"], N)
)
NUMBER = X[:, 0] + RNG.normal(size=N)
THREE = np.digitize(NUMBER, np.quantile(NUMBER, [0.3, 0.6]))
WORDS = np.array(["no", "sometimes", "yes"])[THREE]
T = DecisionTreeClassifier
COLUMNS = ["age", "Pay (monthly)"]


def _table(*steps):
    return make_pipeline(ColumnTransformer(list(steps), remainder="drop"), T(max_depth=3))


CLASSIFIERS = [
    T(),
    T(class_weight={"no": 2, "yes": 1, "sometimes": 3.5}, max_features="sqrt", random_state=7),
    T(class_weight="balanced", criterion="entropy", monotonic_cst=None),
    tree.ExtraTreeClassifier(),
    RandomForestClassifier(4, random_state=3),
    RandomForestClassifier(4, oob_score=False, max_samples=0.5, class_weight="balanced_subsample"),
    ensemble.ExtraTreesClassifier(4, bootstrap=True),
    ensemble.BaggingClassifier(T(), n_estimators=3, max_features=0.6, random_state=1),
    ensemble.BaggingClassifier(make_pipeline(StandardScaler(), T()), n_estimators=12),
    ensemble.AdaBoostClassifier(n_estimators=5),
    ensemble.AdaBoostClassifier(T(), n_estimators=50),
    ensemble.GradientBoostingClassifier(n_estimators=3),
    ensemble.GradientBoostingClassifier(n_estimators=9, subsample=0.5, n_iter_no_change=2),
    ensemble.GradientBoostingClassifier(n_estimators=3, init=T(max_depth=2)),
    ensemble.HistGradientBoostingClassifier(max_iter=4),
    ensemble.HistGradientBoostingClassifier(max_iter=30, early_stopping=True, scoring="loss"),
    ensemble.HistGradientBoostingClassifier(max_iter=4, categorical_features=[0], max_bins=200),
    ensemble.VotingClassifier([("a tree", T()), ("log", LogisticRegression(max_iter=9999)), ("nb", GaussianNB())]),
    ensemble.StackingClassifier([("a", T()), ("b", RandomForestClassifier(2))], LogisticRegression(max_iter=9999)),
    ensemble.StackingClassifier([("a", T())], RandomForestClassifier(2), passthrough=True),
    CalibratedClassifierCV(T(max_depth=3), cv=3),
    CalibratedClassifierCV(T(max_depth=3), cv=2, method="isotonic"),
    OneVsRestClassifier(T(max_depth=3)),
    OneVsOneClassifier(T(max_depth=3)),
    OutputCodeClassifier(T(max_depth=3), random_state=0),
    GridSearchCV(T(), {"max_depth": [2, 3], "criterion": ["gini", "entropy"]}, cv=2),
    GridSearchCV(make_pipeline(StandardScaler(), T()), [{"decisiontreeclassifier__max_depth": [2, None]}], cv=2),
    GridSearchCV(T(), {"min_samples_leaf": list(range(1, 13))}, scoring=["accuracy", "f1_macro"], refit="accuracy", cv=2, return_train_score=True),
    RandomizedSearchCV(T(), {"ccp_alpha": [0.0, 0.01, 0.1]}, n_iter=2, cv=2, random_state=0),
    make_pipeline(StandardScaler(), T()),
    make_pipeline(MinMaxScaler(), RobustScaler(), T()),
    make_pipeline(SimpleImputer(strategy="median", add_indicator=True), T()),
    make_pipeline(SimpleImputer(strategy="constant", fill_value=-1), T()),
    make_pipeline(KBinsDiscretizer(4, encode="onehot-dense", quantile_method="linear"), T()),
    make_pipeline(KBinsDiscretizer(3, encode="ordinal", strategy="uniform"), T()),
    make_pipeline(QuantileTransformer(n_quantiles=30), T()),
    make_pipeline(PowerTransformer(), PCA(3), T()),
    make_pipeline(PolynomialFeatures(2), T()),
    make_pipeline(TargetEncoder(cv=2), T()),
    make_pipeline(VarianceThreshold(), SelectKBest(k=3), T()),
    make_pipeline(SelectFromModel(RandomForestClassifier(3)), T()),
    make_pipeline(FeatureUnion([("a", StandardScaler()), ("b", PCA(2))]), T()),
    make_pipeline(FunctionTransformer(np.log1p), RandomForestClassifier(3)),
]  # fmt: skip
TABLES = [
    _table(("num", StandardScaler(), COLUMNS), ("cat", OneHotEncoder(), ["sex", "town"])),
    _table(("num", SimpleImputer(), [0, 1]), ("cat", OrdinalEncoder(), [5, 6])),
    _table(("num", "passthrough", slice(0, 3)), ("cat", OneHotEncoder(drop="first", sparse_output=False), ["sex"])),
    _table(("c", make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")), ["town"])),
    _table(("c", OrdinalEncoder(categories=[["man", "woman"], ["A town", "B", "C"]]), ["sex", "town"]), ("d", "drop", ["w"])),
    make_pipeline(ColumnTransformer([("c", OneHotEncoder(min_frequency=3), ["sex"])], remainder="drop").set_output(transform="default"), T()),
]  # fmt: skip
REGRESSORS = [
    DecisionTreeRegressor(monotonic_cst=[1, 0, 0, -1, 0]),
    DecisionTreeRegressor(criterion="absolute_error"),
    tree.ExtraTreeRegressor(),
    RandomForestRegressor(3),
    ensemble.ExtraTreesRegressor(3),
    ensemble.BaggingRegressor(n_estimators=3),
    ensemble.AdaBoostRegressor(n_estimators=3),
    ensemble.GradientBoostingRegressor(n_estimators=3, loss="huber"),
    ensemble.GradientBoostingRegressor(n_estimators=3, loss="quantile"),
    ensemble.HistGradientBoostingRegressor(max_iter=3, monotonic_cst=[1, 0, 0, 0, 0]),
    ensemble.HistGradientBoostingRegressor(max_iter=3, loss="poisson"),
    ensemble.IsolationForest(n_estimators=3, max_samples=100),
    ensemble.VotingRegressor([("a", DecisionTreeRegressor())]),
    ensemble.StackingRegressor([("a", DecisionTreeRegressor())], cv=2),
    TransformedTargetRegressor(DecisionTreeRegressor(), func=np.log1p, inverse_func=np.expm1),
    make_pipeline(StandardScaler(), DecisionTreeRegressor()),
]


def unexplained(model, by=pickle.dumps):
    file = read_pickle(by(model))
    found = leftovers(file.root, N, file.mentioned).found
    return [(one.where, one.n, one.says) for one in found if one.kind == "extra"]


def by_joblib(model):
    import joblib

    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: str(m)[:40].replace("\n", ""))
def test_classifiers(model) -> None:
    made = model.fit(X, WORDS)
    assert unexplained(made) == []
    assert unexplained({"model": made, "columns": ["no", "yes"], "accuracy": 0.875}) == []
    assert unexplained(made, by_joblib) == []


@pytest.mark.parametrize("labels", [THREE, THREE - 1, THREE > 0, THREE / 2, WORDS.astype(object)])
def test_labels(labels) -> None:
    if labels.dtype != float:
        assert unexplained(T().fit(FRAME[COLUMNS], labels)) == []
        assert unexplained(RandomForestClassifier(2).fit(X, labels)) == []
    assert unexplained(MultiOutputClassifier(T()).fit(X, np.c_[THREE, THREE > 1])) == []
    assert unexplained(T().fit(X, np.c_[THREE, THREE > 1])) == []
    assert unexplained(ClassifierChain(T()).fit(X, np.c_[THREE > 0, THREE > 1])) == []


@pytest.mark.parametrize("model", TABLES, ids=range(len(TABLES)))
def test_tables(model) -> None:
    made = model.fit(FRAME, WORDS)
    assert unexplained(made) == []
    search = GridSearchCV(model, {"decisiontreeclassifier__max_depth": [2]}, cv=2)
    assert unexplained(search.fit(FRAME, WORDS)) == []
    encoder = LabelEncoder().fit(WORDS)
    assert unexplained({"model": made, "encoder": encoder, "features": [*FRAME]}) == []


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda m: str(m)[:40].replace("\n", ""))
def test_regressors(model) -> None:
    assert unexplained(model.fit(X, abs(NUMBER))) == []


def test_attributes_of_years_ago() -> None:
    bag = ensemble.BaggingRegressor(n_estimators=2).fit(X, NUMBER)
    bag.n_features_ = bag.__dict__.pop("n_features_in_")
    assert unexplained(bag) == []
    model = CalibratedClassifierCV(T(max_depth=3), cv=2, method="isotonic").fit(X, THREE > 1)
    for each in (one.calibrators[0] for one in model.calibrated_classifiers_):
        each._necessary_X_ = np.linspace(0, 1, 30)
        each._necessary_y_ = each.__dict__.pop("y_thresholds_")
        del each.X_thresholds_
    assert unexplained(model) == []
    file = read_pickle(pickle.dumps(model))
    found = leftovers(file.root, N, file.mentioned).found
    assert [one.kind for one in found if "_necessary_X_" in one.where] == ["column-values"] * 2
    each._necessary_X_[1] = 0.9
    assert len(unexplained(model)) == 1


OFTEN = [
    _table(("n", SimpleImputer(), COLUMNS)).set_output(transform="pandas"),
    _table(("n", "passthrough", make_column_selector(dtype_include="number"))),
    CalibratedClassifierCV(FrozenEstimator(T(max_depth=2).fit(FRAME[COLUMNS], WORDS))),
    CalibratedClassifierCV(T(max_depth=2), method="temperature", cv=2),
    ensemble.StackingClassifier([("a", _table(("n", "passthrough", COLUMNS)))], T(), cv=2),
    make_pipeline(IterativeImputer(max_iter=2), T()),
    make_pipeline(RFECV(T(max_depth=2), cv=2), T()),
    make_pipeline(SplineTransformer(), T()),
]


@pytest.mark.parametrize("model", OFTEN, ids=range(len(OFTEN)))
def test_often_seen(model) -> None:
    wide = "Stack" in str(model) or "ColumnT" in str(model)
    made = model.fit(FRAME if wide else FRAME[COLUMNS], WORDS)
    assert unexplained(made) == []
    assert unexplained({"model": made, "trained": "2026-11-01", "version": "1.2.0"}) == []


def test_boosted_categories() -> None:
    frame = FRAME.astype({"sex": "category", "town": "category"})
    model = ensemble.HistGradientBoostingClassifier(max_iter=3, categorical_features="from_dtype")
    assert unexplained(model.fit(frame, WORDS)) == []


@pytest.mark.parametrize("model", CLASSIFIERS[:6] + CLASSIFIERS[11:17] + CLASSIFIERS[29:34])
def test_skops(model, tmp_path) -> None:
    skops = pytest.importorskip("skops.io")
    skops.dump(model.fit(X, WORDS), tmp_path / "m.skops")
    found = ta.load(tmp_path / "m.skops").leftovers.found
    assert [one for one in found if one.kind == "extra"] == []


@pytest.mark.libraries
@pytest.mark.parametrize(
    "name", ["XGBClassifier", "XGBRegressor", "LGBMClassifier", "LGBMRegressor"]
)
def test_wrappers(name, tmp_path) -> None:
    library = pytest.importorskip("xgboost" if name.startswith("X") else "lightgbm")
    model = getattr(library, name)(n_estimators=3).fit(FRAME[["age", "w"]], THREE)
    for made in (model, make_pipeline(StandardScaler(), model)):
        assert unexplained(made) == []


def test_a_generator_as_seed_is_a_seed() -> None:
    model = T(random_state=np.random.RandomState(0), max_features=2).fit(X, WORDS)
    file = read_pickle(pickle.dumps(model))
    assert {one.kind for one in leftovers(file.root, N, file.mentioned).found} == {"seeds"}


def test_what_is_shared_counts_once() -> None:
    model = T().fit(X, WORDS)
    model.first_ = model.second_ = b"z" * 1000
    assert sum(n for _, n, _ in unexplained(model)) == 1000 + len("first_")


def test_what_is_named_is_masked() -> None:
    model = T().fit(X, WORDS)
    model.notes_ = "Anna Lee;1984-02-01;diabetes;positive"
    ((where, n, says),) = unexplained(model)
    assert (where, n) == ("notes_", 37 + len("notes_"))
    assert says.endswith("a text of 37 characters ('aaaa aaa;9999-99-99;aaaa…')")


def test_a_cycle_and_a_deep_list_end() -> None:
    loop: list = [1]
    loop.append({"again": loop})
    model = T().fit(X, WORDS)
    model.loop_ = loop
    assert [where for where, _, _ in unexplained(model)] == ["loop_"]


def test_weights() -> None:
    assert size_of([np.zeros(3), [1.0] * 5, {b"ab"}, 1 << 640]) == 24 + 40 + 2 + 81
    assert masked("a1-Ü٣\n") == "a9-a9?"
    assert Account.__doc__
