"""Everyday files that are no tree models: named by what they are, never called unsafe."""

import array
import collections
import datetime
import decimal
import enum
import functools
import inspect
import io
import ipaddress
import logging
import operator
import os
import pickle
import random
import re
import signal
import zoneinfo
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import interpolate, sparse, spatial, stats
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity, KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    LabelEncoder,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from tests.outcome import refusal
from tests.readers.damage import pickled, refused
from treeaudit import UnsafeModelError, UnsupportedModelError, load

try:
    import cloudpickle
except ImportError:
    cloudpickle = None

X, Y = load_iris(return_X_y=True)
FRAME = pd.DataFrame(
    {
        "number": [1, 2],
        "text": ["x", "y"],
        "category": pd.Categorical(["u", "v"]),
        "day": pd.to_datetime(["2020", "2021"]),
        "maybe": pd.array([1, None], dtype="Int64"),
    }
)
OF_PANDAS = (
    FRAME.index,
    FRAME.set_index(["number", "text"]),
    FRAME["day"].dt.tz_localize("UTC"),
    pd.Series(pd.period_range("2020", periods=3, freq="M")),
    pd.Series(pd.interval_range(0, 3)),
    pd.date_range("2020", periods=3),
    pd.Timestamp("2020"),
    pd.Timedelta("1D"),
    dict(list(FRAME.groupby("number"))),
)
MODELS = {
    "KNeighborsClassifier": KNeighborsClassifier(algorithm="kd_tree").fit(X, Y),
    "KernelDensity": KernelDensity(algorithm="ball_tree").fit(X),
    "SVC": SVC().fit(X, Y),
    "LogisticRegression": LogisticRegression(max_iter=1000).fit(X, Y),
    "SGDClassifier": SGDClassifier(random_state=0).fit(X, Y),
    "StandardScaler": StandardScaler().fit(X),
    "OneHotEncoder": OneHotEncoder().fit(X),
    "OrdinalEncoder": OrdinalEncoder().fit(X),
    "LabelEncoder": LabelEncoder().fit(Y),
    "SimpleImputer": SimpleImputer().fit(X),
    "KNNImputer": KNNImputer().fit(X),
    "PCA": PCA().fit(X),
    "KMeans": KMeans(2, n_init=1, random_state=0).fit(X),
    "GaussianNB": GaussianNB().fit(X, Y),
    "GaussianProcessClassifier": GaussianProcessClassifier().fit(X[::10], Y[::10]),
    "MLPClassifier": MLPClassifier((2,), tol=1e9, n_iter_no_change=1).fit(X, Y),
    "TfidfVectorizer": TfidfVectorizer().fit(["apple bun", "bun cat"]),
    "Scorer": make_scorer(f1_score, average="macro"),
    "Bunch": load_iris(),
    "Pipeline": make_pipeline(StandardScaler(), SVC()).fit(X, Y),
    "GridSearchCV": GridSearchCV(SVC(), {"C": [1, 2]}, cv=2).fit(X, Y),
}
VALUES: dict[str, Any] = {
    "list": ["age", "income"],
    "dict": {"a": X, "b": Y},
    "tuple": (1, "a"),
    "a set": {1, 2},
    "5": 5,
    "'hello'": "hello",
    "no model": X,
    "log1p": np.log1p,
    "a tuple": (operator.getitem, ("a", 0), 1),
    "_mareconstruct": np.ma.array([1, 2], mask=[0, 1]),
    "bare array": np.rec.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
    "poly1d": np.poly1d([1, 2]),
    "generator_ctor": np.random.default_rng(0),
    "datetime": datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC),
    "Decimal": decimal.Decimal("1.1"),
    "deque": collections.deque([1]),
    "Counter": collections.Counter("aab"),
    "defaultdict": collections.defaultdict(list, a=[1]),
    "re._compile": re.compile("a+"),
    "range": range(3),
    "ValueError": ValueError("x"),
    "Ellipsis": ...,
    "csr_matrix": sparse.csr_matrix(X),
    "csr_array": sparse.csr_array(X),
    "rv_continuous_frozen": stats.norm(0, 1),
    "CubicSpline": interpolate.CubicSpline([0, 1, 2], [0, 1, 4]),
    "cKDTree": spatial.cKDTree(X),
    "DataFrame": FRAME,
    "Series": FRAME["text"],
}


def _is_named(value: Any, name: str, folder: Path) -> None:
    for protocol in (0, 2, 4, 5):
        if name in ("'hello'", "CubicSpline", "cKDTree") and protocol == 0:
            continue
        assert name in refused(folder, pickle.dumps(value, protocol))
    refused(folder, in_joblib(value))
    if cloudpickle is not None:
        refused(folder, cloudpickle.dumps(value))


def in_joblib(value: Any) -> bytes:
    joblib.dump(value, file := io.BytesIO())
    return file.getvalue()


@pytest.mark.parametrize("method", ["score", "predict", "apply", "get_params"])
def test_a_bound_method_is_no_attack(method: str, tmp_path: Path) -> None:
    """Wrappers keep the method that they will call: MLflow keeps ``predict`` and ``score``."""
    bound = getattr(DecisionTreeClassifier(max_depth=2).fit(X, Y), method)
    for value in (bound, {"call": bound}):
        path = tmp_path / "model"
        path.write_bytes(pickle.dumps(value))
        assert load(path).n_trees == 1
    # What is called while the file is loaded is another matter.
    refused(tmp_path, dumped(_Called(bound, (X, Y))), UnsafeModelError)


def test_a_model_behind_a_bound_method_is_a_model_of_the_file(tmp_path: Path) -> None:
    model, other = (DecisionTreeClassifier(max_depth=n).fit(X, Y) for n in (1, 2))
    model.backup_ = other.score
    path = pickled(tmp_path, model)
    assert {left.kind for left in load(path).extras} == {"unseen"}


@pytest.mark.parametrize(
    ("name", "value"), [*MODELS.items(), *VALUES.items(), *(("", value) for value in OF_PANDAS)]
)
def test_other_models_and_values_are_named(name: str, value: Any, tmp_path: Path) -> None:
    _is_named(value, name, tmp_path)


# -- libraries that are not here: their pickles, by hand --------------------------


def made(module: str, name: str, *args: Any) -> Any:
    """Return a call of a function that need not exist, for `dumped`."""
    return _Made(f"{module}\n{name}\n", args)


class _Made:
    def __init__(self, name: str, args: tuple[Any, ...], state: Any = None) -> None:
        self.name, self.args, self.state = name, args, state


class _Called(NamedTuple):
    function: Any
    args: tuple[Any, ...]


class _Pickler(pickle._Pickler):  # type: ignore[name-defined]
    def save(self, value: Any, save_persistent_id: bool = True) -> None:
        if isinstance(value, _Called):
            super().save(value.function)
            super().save(value.args)
            self.write(b"R")
            return
        if not isinstance(value, _Made):
            super().save(value, save_persistent_id)
            return
        self.write(b"c" + value.name.encode())
        super().save(value.args)
        self.write(b"R" if value.state is None else b"\x81")
        if value.state is not None:
            super().save(value.state)
            self.write(b"b")


def dumped(value: Any) -> bytes:
    file = io.BytesIO()
    _Pickler(file, 2).dump(value)
    return file.getvalue()


def thing(module: str, name: str, **state: Any) -> Any:
    return _Made(f"{module}\n{name}\n", (), state)


LINEAR = thing("torch.nn.modules.linear", "Linear", training=True, _parameters={})
STRANGE = {
    "torch-module": (LINEAR, "torch.nn.modules.linear.Linear"),
    "torch-state": ({"weight": made("torch._utils", "_rebuild_parameter", 1, True, {})}, "dict"),
    "torch-size": (made("torch", "Size", (1, 2)), "torch.Size"),
    "torch-bytes": (made("torch.storage", "_load_from_bytes", b"PK"), "PyTorch"),
    "keras-2": (
        made("keras.saving.pickle_utils", "deserialize_model_from_bytecode", b"x"),
        "Keras",
    ),
    "keras-layer": (thing("keras.layers.core.dense", "Dense", units=1), "keras.layers"),
    "statsmodels": (
        thing("statsmodels.regression.linear_model", "RegressionResultsWrapper", _results=1),
        "RegressionResultsWrapper",
    ),
    "statsmodels-link": (thing("statsmodels.genmod.families.links", "logit", x=1), "logit"),
    "polars": (thing("polars.dataframe.frame", "DataFrame", x=1), "polars"),
    "arrow": (made("pyarrow.lib", "_reconstruct_table", [], 1), "pyarrow"),
    "old-pandas": (
        made("pandas.indexes.base", "_new_Index", 1, {"data": ["a"]}),
        "_new_Index",
    ),
    "old-zone": (made("pytz", "_p", "Europe/Paris", 540, 0, "LMT"), "pytz"),
    "utc": (made("dateutil.tz.tz", "tzutc"), "tzutc"),
    "old-knn": (made("sklearn.neighbors.kd_tree", "newObj", 1), "newObj"),
    "prophet": (thing("prophet.forecaster", "Prophet", growth="linear"), "Prophet"),
    "surprise": (thing("surprise.prediction_algorithms.matrix_factorization", "SVD", n=1), "SVD"),
    "spacy": (thing("spacy.lang.en", "English", vocab=1), "English"),
    "old-ufunc": (
        made("numpy.core", "_ufunc_reconstruct", "scipy.special._ufuncs", "expit"),
        "scipy.special._ufuncs.expit",
    ),
    "own-class": (thing("__main__", "MyModel", model=1), "MyModel"),
    "boruta": (
        thing("boruta.boruta_py", "BorutaPy", n=1, __version__="0.3"),
        "treeaudit does not read boruta: the file holds a boruta.boruta_py.BorutaPy",
    ),
    "econml": (thing("econml.dml.dml", "LinearDML", n=1), "treeaudit does not read econml"),
    "shap": (
        thing("shap.utils._legacy", "IdentityLink", n=1),
        "treeaudit does not read shap: the file holds a shap.utils._legacy.IdentityLink",
    ),
    "quantile-forest": (
        thing("quantile_forest._quantile_forest", "RandomForestQuantileRegressor", n=1),
        "treeaudit does not read quantile_forest",
    ),
    "river": (thing("river.tree.hoeffding", "Tree", n=1), "treeaudit does not read river"),
}


@pytest.mark.parametrize("name", STRANGE)
def test_libraries_that_are_not_here(name: str, tmp_path: Path) -> None:
    value, part = STRANGE[name]
    assert part in refused(tmp_path, dumped(value))


def test_a_tensor_keeps_its_numbers_elsewhere(tmp_path: Path) -> None:
    storage = b"(U\x07storagectorch\nFloatStorage\nU\x010U\x03cpuK\x06tQ"
    tensor = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"K\x00))I00\nNtR."
    refused(tmp_path, b"\x80\x02" + tensor)


@pytest.mark.parametrize(
    "persistent",
    [b"U\x01aQ", b"(U\x07storagecos\nsystem\nU\x01atQ", b"(U\x07storageU\x01atQ", b"(lQ", b"P1\n"],
    ids=repr,
)
def test_other_persistent_objects_are_unsafe(persistent: bytes, tmp_path: Path) -> None:
    refused(tmp_path, b"\x80\x02" + persistent + b".", UnsafeModelError)


def test_a_file_within_is_not_read_and_hides_no_payload(tmp_path: Path) -> None:
    """What that file would run cannot be seen from here."""
    within = made("torch.storage", "_load_from_bytes", b"PK")
    refused(tmp_path, dumped([within, made("posix", "system", "id")]), UnsafeModelError)
    said = refused(tmp_path, dumped([within, DecisionTreeClassifier(max_depth=2).fit(X, Y)]))
    assert "a file within the file" in said


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.", "a PyTorch file"),
        (b"PK\x05\x06" + bytes(18), "an empty zip archive"),
    ],
    ids=["torch", "zip"],
)
def test_other_containers(data: bytes, kind: str, tmp_path: Path) -> None:
    assert kind in refused(tmp_path, data)


def test_a_memmapped_array_is_an_array(tmp_path: Path) -> None:
    """To rebuild a memmap opens no file, to call it does."""
    from treeaudit.readers.pickle.pickle_vm import read_pickle

    array = np.memmap(tmp_path / "array", dtype="f8", mode="w+", shape=(3,))
    root = read_pickle(pickle.dumps(array)).root
    assert isinstance(root, np.ndarray)
    assert root.tolist() == [0, 0, 0]
    refused(tmp_path, dumped(made("numpy", "memmap", "/etc/passwd")), UnsafeModelError)


# -- members of classes: `getattr`, dotted names, `type(None)` --------------------


MEMBERS: dict[str, tuple[Any, str]] = {
    "zone": (made("__builtin__", "getattr", zoneinfo.ZoneInfo, "_unpickle"), "ZoneInfo"),
    "zone-of-a-time": (
        datetime.datetime(2020, 1, 1, tzinfo=zoneinfo.ZoneInfo("UTC")),
        "datetime",
    ),
    "bound-method": (
        np.random.default_rng(0).normal,
        "__generator_ctor.normal",
    ),
    "str.lower": (str.lower, "lower"),
    "NoneType": (type(None), "NoneType"),
    "ellipsis": (type(...), "ellipsis"),
    "itemgetter": (operator.itemgetter(1), "itemgetter"),
    "regular-flag": (re.IGNORECASE, "RegexFlag"),
    "regular-flag-by-name": (
        made("__builtin__", "getattr", re.RegexFlag, "IGNORECASE"),
        "RegexFlag.IGNORECASE",
    ),
    "status-by-name": (made("builtins", "getattr", HTTPStatus, "NOT_FOUND"), "NOT_FOUND"),
    "logger": (logging.getLogger("a"), "logging.getLogger"),
    "partial": (functools.partial(f1_score, average="macro"), "partial"),
    "array": (array.array("d", [1, 2]), "array"),
    "random": (random.Random(0), "random.Random"),
    "network": (ipaddress.ip_network("10.0.0.0/8"), "IPv4Network"),
    "vectorize": (np.vectorize(abs), "vectorize"),
    "context": (decimal.getcontext(), "decimal.Context"),
    "user-list": (collections.UserList([1]), "UserList"),
    "bound-method-of-a-model": (MODELS["SVC"].predict, "SVC.predict"),
    "lower-case": (FunctionTransformer(str.lower), "FunctionTransformer"),
    "length": (FunctionTransformer(len), "FunctionTransformer"),
}


@pytest.mark.parametrize("name", MEMBERS)
def test_members_stay_names(name: str, tmp_path: Path) -> None:
    value, part = MEMBERS[name]
    by_hand = isinstance(value, _Made)
    for data in [dumped(value)] if by_hand else [pickle.dumps(value, n) for n in (2, 4)]:
        assert part in refused(tmp_path, data)


@pytest.mark.parametrize(
    ("owner", "member"),
    [
        *((re.RegexFlag, name) for name in ("mro", "__class__", "_missing_", "from_bytes", "A.B")),
        *((HTTPStatus, name) for name in ("__init__", "to_bytes")),
        *((owner, "RED") for owner in (inspect.Parameter, signal.Signals, os.PathLike)),
    ],
)
def test_what_else_hangs_on_an_enumeration_is_refused(owner, member, tmp_path) -> None:
    refused(tmp_path, dumped(made("builtins", "getattr", owner, member)), UnsafeModelError)


def test_a_member_of_an_enumeration_is_not_called(tmp_path: Path) -> None:
    flag = b"cbuiltins\ngetattr\ncre\nRegexFlag\nX\x01\0\0\0I\x86R"
    refused(tmp_path, b"\x80\x02" + flag + b"K\x01\x85R.", UnsafeModelError)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_columns_with_time_zones_and_splines(protocol: int, tmp_path: Path) -> None:
    zone = zoneinfo.ZoneInfo("Europe/Paris")
    frame = pd.DataFrame({"day": pd.date_range("2020", periods=3, tz=zone)})
    path = tmp_path / "model"
    for value in (zone, frame, interpolate.interp1d([0, 1, 2], [0, 1, 4]), pd.NaT):
        refused(tmp_path, pickle.dumps({"data": value}, protocol))
        model = {"data": value, "model": DecisionTreeClassifier(max_depth=2).fit(X, Y)}
        path.write_bytes(pickle.dumps(model, protocol))
        assert refusal(path) is None


def test_a_method_by_its_dotted_name_is_a_name(tmp_path: Path) -> None:
    for module, name, expected in (
        ("scipy.interpolate", "interp1d._call_linear", UnsupportedModelError),
        ("pandas", "DataFrame.eval", UnsafeModelError),
    ):
        texts = b"".join(b"\x8c" + bytes([len(t)]) + t.encode() for t in (module, name))
        assert f"{module}.{name}" in refused(tmp_path, b"\x80\x04" + texts + b"\x93.", expected)


def test_a_keras_3_model_is_a_file_within(tmp_path: Path) -> None:
    unpickle = b"cbuiltins\ngetattr\nckeras.src.models.sequential\nSequential\n"
    unpickle += b"X\x0f\x00\x00\x00_unpickle_model\x86R"
    data = b"\x80\x04" + unpickle + b"c_io\nBytesIO\n)\x81\x85R."
    assert "a model of Keras" in refused(tmp_path, data)


def test_text_of_variable_width_is_named(tmp_path: Path) -> None:
    dtypes = pytest.importorskip("numpy.dtypes")
    if not hasattr(dtypes, "StringDType"):
        pytest.skip("numpy before 2.0 has no StringDType")
    values = np.array(["a"], dtype=dtypes.StringDType())
    for data in (pickle.dumps(values), in_joblib(values)):
        path = tmp_path / "model"
        path.write_bytes(data)
        assert "StringDType" in str(refusal(path))


def test_an_unknown_ensemble_of_trees_is_read_tree_by_tree(tmp_path: Path) -> None:
    trees = [DecisionTreeClassifier(max_depth=1).fit(X, Y)]
    balanced = thing("imblearn.ensemble._forest", "Balanced", estimators_=trees)
    stacking = thing("mlxtend.classifier", "Stacking", clf=trees[0], clfs_=trees)
    fresh = thing("mlxtend.classifier", "Stacking", clf=DecisionTreeClassifier(), clfs_=[])
    for made, inside in ((balanced, "estimators_[0]"), (stacking, "clf")):
        path = tmp_path / "model"
        path.write_bytes(dumped(made))
        assert load(path).source.inside == inside
    assert "which is no tree model" in refused(tmp_path, dumped(fresh))


class Wrapper:
    """A class of an author around a model."""

    def __init__(self, model: Any) -> None:
        self.model_ = model
        self.threshold = 0.4


def shortened(x: Any) -> Any:
    return x


@pytest.mark.parametrize("protocol", [0, 1, 2, 4])
def test_a_model_in_a_class_of_the_author_is_audited(protocol: int, tmp_path: Path) -> None:
    tree = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    path = tmp_path / "model"
    for value, inside in ((Wrapper(tree), "model_"), ({"m": Wrapper(tree)}, "['m'].model_")):
        path.write_bytes(pickle.dumps(value, protocol))
        forest = load(path)
        assert forest.source.inside == inside
        assert {one.where for one in forest.extras if one.kind == "calls"} == {
            f"{__name__}.Wrapper"
        }


def test_two_models_in_a_class_of_the_author_are_named(tmp_path: Path) -> None:
    wrapper = Wrapper(DecisionTreeClassifier(max_depth=1).fit(X, Y))
    wrapper.other = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    path = pickled(tmp_path, wrapper)
    with pytest.raises(UnsupportedModelError, match=r"2 models \(model_, other\)"):
        load(path)


def test_a_pipeline_with_a_function_of_the_author_is_audited(tmp_path: Path) -> None:
    model = make_pipeline(FunctionTransformer(shortened), DecisionTreeClassifier(max_depth=2))
    path = pickled(tmp_path, model.fit(X, Y))
    names = [one.where for one in load(path).extras if one.kind == "calls"]
    assert names == [f"{__name__}.shortened"]


class Colour(enum.Enum):
    """Nothing in a file tells a value of an own enumeration from a call of an own function."""

    RED = 1


def test_a_call_of_an_own_class_is_not_read(tmp_path: Path) -> None:
    said = refused(tmp_path, pickle.dumps(Colour.RED))
    assert "treeaudit does not read tests: the file holds" in said
    assert "Colour" in said


def test_a_function_that_uses_numpy_is_carried_code(tmp_path: Path) -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    assert "no tree model" in refused(tmp_path, cloudpickle.dumps(lambda x: np.log1p(x)))


def test_classes_of_treeaudit_are_inert_data(tmp_path: Path) -> None:
    tree = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    forest = load(tree)
    for protocol in (2, 4, 5):
        for value in (forest.schema, next(iter(forest.trees))):
            refused(tmp_path, pickle.dumps(value, protocol))
    trainer = thing("treeaudit.trainers.forest", "PrivateForest", tree=1)
    ledger = made("treeaudit.dp.ledger", "Ledger", 1.0)
    refused(tmp_path, dumped([trainer, ledger]))
    refused(tmp_path, dumped(made("treeaudit.readers", "load", "/etc/passwd")), UnsafeModelError)


def own_objective(labels, scores):
    share = 1 / (1 + np.exp(-scores))
    return share - labels, share * (1 - share)


@pytest.mark.libraries
@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_an_objective_of_ones_own_is_named_as_code(library, tmp_path) -> None:
    module = pytest.importorskip(library)
    kind = module.LGBMClassifier if library == "lightgbm" else module.XGBClassifier
    x = np.random.default_rng(0).normal(size=(300, 3))
    labels = (x[:, 0] > 0).astype(int)
    model = kind(n_estimators=3, n_jobs=1, objective=own_objective).fit(x, labels)
    path = pickled(tmp_path, model)
    assert "calls" in {one.kind for one in load(path).extras}
    booster = model.booster_ if library == "lightgbm" else model.get_booster()
    document = tmp_path / ("model.txt" if library == "lightgbm" else "model.json")
    booster.save_model(document)
    assert load(document).n_trees == 3


@pytest.mark.libraries
def test_the_boosters_of_a_cross_validation_are_read(tmp_path) -> None:
    lgb = pytest.importorskip("lightgbm")
    x = np.random.default_rng(0).normal(size=(300, 3))
    asked = {"objective": "binary", "verbose": -1, "num_threads": 1}
    rows = lgb.Dataset(x, (x[:, 0] > 0).astype(int))
    made = lgb.cv(asked, rows, 3, nfold=3, return_cvbooster=True)["cvbooster"]
    path = pickled(tmp_path, made)
    with pytest.raises(UnsupportedModelError, match="the file holds 3 models"):
        load(path)
    path.write_bytes(pickle.dumps(made.boosters[0]))
    assert load(path).n_trees == 3
