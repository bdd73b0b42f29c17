"""Genuine files to damage: small models, as every pickler and protocol writes them."""

import importlib
import io
import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import joblib
import numpy as np

__all__ = ["corpus", "seeds"]

# Of the corpus: the smallest files of the version that is installed.
_SMALLEST = 40


def _models() -> list[Any]:
    """Train small models of many kinds."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import (
        AdaBoostClassifier,
        BaggingClassifier,
        ExtraTreesRegressor,
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
        IsolationForest,
        RandomForestClassifier,
        StackingClassifier,
        VotingClassifier,
    )
    from sklearn.impute import SimpleImputer
    from sklearn.model_selection import GridSearchCV
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

    def tree_of(depth: int) -> Any:
        return DecisionTreeClassifier(max_depth=depth)

    rng = np.random.default_rng(7)
    x = rng.integers(0, 9, (24, 3)).astype(float)
    y = np.array(["no", "yes"], dtype=object)[(x[:, 0] + x[:, 1] > 8).astype(int)]
    holes = np.where(rng.random(x.shape) < 0.2, np.nan, x)
    histograms = HistGradientBoostingClassifier(max_iter=2, max_depth=2, min_samples_leaf=5)
    tree = DecisionTreeClassifier(max_depth=3, random_state=1)
    models = [
        tree.fit(x, y),
        DecisionTreeClassifier(max_depth=2, class_weight="balanced").fit(x, x[:, 2] > 4),
        DecisionTreeRegressor(max_depth=2, min_samples_leaf=5).fit(x, x[:, 0]),
        RandomForestClassifier(3, max_depth=2, random_state=np.random.RandomState(0)).fit(x, y),
        ExtraTreesRegressor(2, max_depth=2, min_samples_leaf=5).fit(x, x[:, :2]),
        make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2)).fit(x, y),
        GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}, cv=2).fit(x, y),
        make_pipeline(SimpleImputer(), RobustScaler(), MinMaxScaler(), tree_of(2)).fit(x, y),
        BaggingClassifier(tree_of(2), 2, max_features=2, random_state=0).fit(x, y),
        GradientBoostingClassifier(n_estimators=2, max_depth=1).fit(x, y),
        AdaBoostClassifier(tree_of(1), n_estimators=2, random_state=0).fit(x, y),
        tree_of(1).fit(x, y),
        DecisionTreeClassifier(max_depth=2, random_state=0).fit(holes, y == "no"),
        ExtraTreeClassifier(max_depth=2, random_state=0).fit(x, x[:, 2] > 4),
        tree_of(2).fit(x, np.c_[y == "no", x[:, 2] > 4]),
        IsolationForest(n_estimators=2, max_samples=8, random_state=0).fit(x),
        histograms.fit(x, y),
        VotingClassifier([("a", tree_of(1)), ("b", tree_of(2))]).fit(x, y),
        StackingClassifier([("a", tree_of(1))], tree_of(1), cv=2).fit(x, y),
        CalibratedClassifierCV(tree_of(1), cv=2).fit(x, y),
        OneVsRestClassifier(tree_of(1)).fit(x, x[:, 0] // 3),
    ]
    models[0].feature_names_in_ = np.array(["age", "income", "zip"], dtype=object)
    return [*models, {"model": models[0], "list": [1.5, "x", None]}]


def _in_python(value: object, protocol: int) -> bytes:
    sink = io.BytesIO()
    pickle._Pickler(sink, protocol).dump(value)
    return sink.getvalue()


def _by_joblib(compress: object) -> Callable[[object, int], bytes]:
    def dump(value: object, protocol: int) -> bytes:
        sink = io.BytesIO()
        joblib.dump(value, sink, compress=compress, protocol=protocol)
        return sink.getvalue()

    return dump


def _picklers() -> list[tuple[Callable[[object, int], bytes], range]]:
    """Return what writes pickles, and the protocols that it is asked for."""
    every, late = range(6), range(2, 6)
    found = [
        (pickle.dumps, every),
        (_in_python, every),
        (cloudpickle.dumps, late),
        (_by_joblib(0), range(6)),
        (_by_joblib(("zlib", 3)), range(3, 6)),
    ]
    return found + [(_by_joblib((form, 3)), range(4, 5)) for form in ("gzip", "bz2", "xz")]


def _by_dill(models: list[Any]) -> list[bytes]:
    try:
        dill = importlib.import_module("dill")
    except ImportError:
        return []
    made = [dill.dumps(model, protocol) for model in models for protocol in range(2, 6)]
    # It changes the pickler in Python for everybody.
    dill.extend(use_dill=False)
    return made


def seeds() -> list[bytes]:
    """Train small models and store them in every form."""
    from treeaudit import load
    from treeaudit.writers.native_json import to_dict

    models, stored = _models(), []
    for model in models:
        for dump, protocols in _picklers():
            for protocol in protocols:
                try:
                    stored.append(dump(model, protocol))
                except AssertionError:
                    # The pickler in Python fails at two empty arrays.
                    continue
    stored += _by_dill(models)
    return stored + [json.dumps(to_dict(load(model))).encode() for model in models[:4]]


def corpus() -> list[bytes]:
    """Return the smallest files of the corpus that this scikit-learn wrote, if there is one."""
    import sklearn

    folder = Path(os.environ.get("TREEAUDIT_MODELS", "")) / sklearn.__version__
    names = sorted(folder.glob("*.pkl")) + sorted(folder.glob("*.joblib"))
    # Of these some code of their own is named.
    plain = [path for path in names if not path.name.startswith(("dt_user", "cloud_lambda"))]
    return sorted((path.read_bytes() for path in plain), key=len)[:_SMALLEST]
