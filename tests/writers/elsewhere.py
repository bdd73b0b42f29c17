"""The part of `written_models` that runs where there is no treeaudit, with any scikit-learn.

``make FOLDER`` trains models, ``ask FOLDER`` loads what was written and compares
it with the originals, whose trees say what the report says that they answer.
"""

import json
import pickle
import sys
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np

__all__ = ["ask", "composed", "make", "trees_of"]

_BOOSTED = ("GradientBoosting", "HistGradient", "XGB", "LGBM")
ANSWERS = ("predict_proba", "decision_function", "predict")


def trees_of(model):
    """Return the models with trees of their own, in the order in which a file holds them."""
    name = type(model).__name__
    if name == "Pipeline":
        return trees_of(model.steps[-1][1])
    if name.startswith(_BOOSTED) or hasattr(model, "tree_"):
        return [model]
    if name == "CalibratedClassifierCV":
        folds = model.calibrated_classifiers_
        inner = [getattr(one, "estimator", None) or one.base_estimator for one in folds]
    elif name == "FrozenEstimator":
        inner = [model.estimator]
    elif name == "TransformedTargetRegressor":
        inner = [model.regressor_]
    else:
        inner = list(model.estimators_)
    return [tree for one in inner for tree in trees_of(one)]


def _says(model, shares):
    """Let a fitted tree answer the rows as it is told."""

    # By their names: calibration asks for that.
    def predict_proba(X, check_input=True):
        return shares

    def predict(X, check_input=True):
        return model.classes_[shares.argmax(axis=1)] if classifies else shares[:, 0]

    classifies = type(model).__name__.endswith("Classifier")
    model.predict = predict
    if classifies:
        model.predict_proba = predict_proba


def composed(model, told, rows):
    """Return what a model answers if its trees answer as told, one array for each tree."""
    left = list(told)
    if hasattr(model, "pairwise_indices_"):
        pairs = combinations(range(len(model.classes_)), 2)
        left = [shares[:, list(pair)] for shares, pair in zip(left, pairs)]  # noqa: B905
    for one in trees_of(model):
        if hasattr(one, "tree_"):
            shares = left.pop(0)
            # One-vs-rest and kin have no more columns than the tree.
            width = getattr(one, "n_classes_", 1)
            _says(one, shares[:, : width if np.ndim(width) == 0 else 1])
            continue
        if type(one).__name__.startswith(("XGB", "LGBM")):
            return {"margin": _margin(one, left)}
        histogram = type(one).__name__.startswith("Hist")
        rounds = one._predictors if histogram else one.estimators_
        n, width = len(rounds), len(rounds[0])
        steps = np.stack([left.pop(0)[:, 0] for _ in range(n * width)], axis=1)
        total = steps.reshape(len(steps), n, width).sum(axis=1)
        if histogram:
            raw = total + np.asarray(one._baseline_prediction).reshape(1, -1)
        else:
            # Its name until 0.20.
            start = getattr(one, "_raw_predict_init", None) or one._init_decision_function
            raw = start(np.asarray(rows)) + one.learning_rate * total
        one._raw_predict = one._decision_function = lambda x, *args, raw=raw: raw
    if left:
        raise ValueError(f"{len(left)} trees are left over")
    return answers(model, rows)


def _margin(model, told):
    """Return what the trees of a booster add up to, beyond what it starts from."""
    width = max(getattr(model, "n_classes_", 1), 1)
    width = width if width > 2 else 1
    steps = np.concatenate(told, axis=1)
    return steps.reshape(len(steps), -1, width).sum(axis=1)


def answers(model, rows):
    """Return what a model answers, by the names of its methods."""
    name = type(model).__name__
    if name.startswith("XGB"):
        import xgboost

        said = model.get_booster().predict(xgboost.DMatrix(rows), output_margin=True)
        start = np.ravel(json.loads(model.get_booster().save_config())["learner"][
            "learner_model_param"]["base_score"].strip("[]").split(",")).astype(float)  # fmt: skip
        if name == "XGBClassifier" and said.ndim == 1:
            start = np.log(start / (1 - start))
        return {"margin": said.reshape(len(rows), -1) - start}
    if name.startswith("LGBM"):
        return {"margin": model.predict(rows, raw_score=True).reshape(len(rows), -1)}
    said = {name: getattr(model, name)(rows) for name in ANSWERS if hasattr(model, name)}
    return {k: np.hstack(v) if isinstance(v, list) else np.asarray(v) for k, v in said.items()}


def differ(one, other):
    """Return the largest difference between two sets of answers."""
    worst = 0.0
    for name, wanted in one.items():
        if wanted.dtype.kind == "f":
            worst = max(worst, float(np.abs(wanted - other[name]).max()))
        elif name == "predict" and "predict_proba" in one and one["predict_proba"].ndim == 2:
            # Which of two equal shares is the answer hangs on the last bit.
            top = np.sort(one["predict_proba"], axis=1)
            clear = top[:, -1] - top[:, -2] > 1e-9
            worst = max(worst, float(np.any(wanted[clear] != other[name][clear])))
        else:
            worst = max(worst, float(np.any(wanted != other[name])))
    return worst


def _models():
    from sklearn import ensemble, multiclass, multioutput, pipeline, preprocessing, tree
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.linear_model import LogisticRegression

    one = tree.DecisionTreeClassifier(random_state=0)
    wood = ensemble.RandomForestClassifier(5, random_state=0)
    number = tree.DecisionTreeRegressor(random_state=0)
    numbers = ensemble.RandomForestRegressor(4, random_state=0)
    scaled = pipeline.make_pipeline(preprocessing.StandardScaler(), wood)
    pair, both = [("one", one), ("wood", wood)], [("one", number), ("wood", numbers)]
    yield "tree", one, "cancer"
    yield "forest", wood, "iris"
    yield "pipeline", scaled, "cancer"
    yield "vote", ensemble.VotingClassifier(pair, voting="soft"), "iris"
    if hasattr(ensemble, "StackingClassifier"):
        yield "vote of numbers", ensemble.VotingRegressor(both), "diabetes"
        last = LogisticRegression(max_iter=1000)
        yield "stack", ensemble.StackingClassifier(pair, last, cv=3), "cancer"
        yield "stack of numbers", ensemble.StackingRegressor(both, cv=3), "diabetes"
    yield "calibration", CalibratedClassifierCV(wood, cv=3), "cancer"
    yield "isotonic", CalibratedClassifierCV(one, method="isotonic", cv=3), "cancer"
    yield "one-vs-rest", multiclass.OneVsRestClassifier(wood), "iris"
    yield "one-vs-one", multiclass.OneVsOneClassifier(one), "iris"
    yield "outputs", multioutput.MultiOutputRegressor(number), "both"
    yield "boosted votes", ensemble.AdaBoostClassifier(one.set_params(max_depth=3)), "iris"
    yield "bag", ensemble.BaggingClassifier(n_estimators=4, random_state=0), "cancer"
    yield "bag of columns", ensemble.BaggingRegressor(max_features=0.5, n_estimators=4), "diabetes"
    yield "boosting", ensemble.GradientBoostingClassifier(n_estimators=5), "cancer"
    yield "boosting of numbers", ensemble.GradientBoostingRegressor(n_estimators=5), "diabetes"
    if hasattr(ensemble, "HistGradientBoostingClassifier"):
        histogram = ensemble.HistGradientBoostingClassifier(max_iter=4)
        yield "histograms", histogram, "iris"
        coded = ensemble.HistGradientBoostingClassifier(max_iter=4, categorical_features=[0])
        yield "categories", coded, "coded"
    yield from _boosters()


def _boosters():
    try:
        import lightgbm
        import xgboost
    except ImportError:
        return
    yield "XGBoost", xgboost.XGBClassifier(n_estimators=4, max_depth=4), "iris"
    yield "XGBoost of numbers", xgboost.XGBRegressor(n_estimators=4, max_depth=4), "diabetes"
    yield (
        "LightGBM",
        lightgbm.LGBMClassifier(n_estimators=4, verbose=-1, min_child_samples=3),
        "cancer",
    )
    yield "LightGBM of numbers", lightgbm.LGBMRegressor(n_estimators=4, verbose=-1), "diabetes"


def _data(name):
    from sklearn import datasets

    if name == "both":
        x, y = datasets.load_diabetes(return_X_y=True)
        return x, np.column_stack([y, -y])
    if name == "coded":
        x, y = datasets.load_breast_cancer(return_X_y=True)
        x = x.copy()
        x[:, 0] = np.random.RandomState(0).randint(0, 6, len(x))
        return x, y
    return getattr(datasets, "load_" + {"cancer": "breast_cancer"}.get(name, name))(return_X_y=True)


def make(folder):
    """Train every model, and write it with rows that it has not seen."""
    import sklearn

    for i, (name, model, data) in enumerate(_models()):
        x, y = _data(data)
        rng = np.random.RandomState(1)
        rows = x[rng.randint(0, len(x), 200)] + rng.normal(size=(200, x.shape[1])) * x.std(axis=0)
        if data == "coded":
            rows[:, 0] = rng.randint(0, 6, len(rows))
        place = folder / f"{sklearn.__version__}-{i:02d}"
        place.mkdir()
        fitted = model.fit(x, y)
        (place / "model.pkl").write_bytes(pickle.dumps(fitted, protocol=2 + i % 3))
        np.save(place / "rows.npy", rows)
        (place / "about.txt").write_text(json.dumps([sklearn.__version__, name]))
        if name in ("tree", "stack", "categories"):
            _as_skops(fitted, place / "model.skops")
        if name.startswith("XGBoost"):
            fitted.save_model(place / "model.json")
            fitted.save_model(place / "model.ubj")
        if name.startswith("LightGBM"):
            fitted.booster_.save_model(place / "model.txt")


def _as_skops(fitted, path):
    try:
        from skops.io import dump
    except ImportError:
        return
    dump(fitted, path)


def load(path):
    """Return the model of a file."""
    if path.suffix == ".skops":
        from skops.io import get_untrusted_types
        from skops.io import load as by_skops

        return by_skops(path, trusted=get_untrusted_types(file=path))
    if path.suffix in (".json", ".ubj", ".txt"):
        return _booster(path)
    return pickle.loads(path.read_bytes())


def _booster(path):
    model = pickle.loads(path.with_name("model.pkl").read_bytes())
    if path.suffix == ".txt":
        import lightgbm

        model._Booster = lightgbm.Booster(model_file=path)
    else:
        model.load_model(path)
    return model


def ask(folder):
    """Compare what was written with the originals; one JSON line for each file."""
    import sklearn

    for path in sorted(folder.glob(f"{sklearn.__version__}-*/safe.*")):
        rows = np.load(path.parent / "rows.npy")
        with np.load(path.parent / f"told{path.suffix}.npz") as file:
            told = [file[f"t{i}"] for i in range(len(file.files))]
        wanted = composed(load(path.with_name(f"model{path.suffix}")), told, rows)
        off = differ(wanted, answers(load(path), rows))
        print(json.dumps([path.parent.name, path.suffix, off]))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    {"make": make, "ask": ask}[sys.argv[1]](Path(sys.argv[2]))
