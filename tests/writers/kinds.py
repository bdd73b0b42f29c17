"""A fitted model of every kind that the writers know, and data to ask it about."""

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

IRIS, CANCER, DIABETES = (
    load(return_X_y=True) for load in (load_iris, load_breast_cancer, load_diabetes)
)
NAMED = (CANCER[0], np.array(["yes", "no"])[CANCER[1]])

AVERAGING = [
    DecisionTreeClassifier(random_state=0),
    DecisionTreeClassifier(max_depth=4, criterion="entropy", class_weight="balanced"),
    ExtraTreeClassifier(random_state=0),
    RandomForestClassifier(5, random_state=0),
    RandomForestClassifier(5, bootstrap=False, random_state=0),
    RandomForestClassifier(12, class_weight="balanced", max_depth=4, random_state=0),
    ExtraTreesClassifier(5, random_state=0),
    BaggingClassifier(n_estimators=4, random_state=0),
    BaggingClassifier(n_estimators=4, max_features=0.5, random_state=0),
]
BOOSTED = [
    AdaBoostClassifier(n_estimators=4, random_state=0),
    GradientBoostingClassifier(n_estimators=4, random_state=0),
    GradientBoostingClassifier(n_estimators=4, init="zero", subsample=0.7, random_state=0),
    HistGradientBoostingClassifier(max_iter=4, random_state=0),
]
NUMBERS = [
    DecisionTreeRegressor(random_state=0),
    DecisionTreeRegressor(criterion="absolute_error", max_depth=3),
    ExtraTreeRegressor(random_state=0),
    RandomForestRegressor(4, random_state=0),
    ExtraTreesRegressor(4, random_state=0),
    BaggingRegressor(n_estimators=4, random_state=0),
    AdaBoostRegressor(n_estimators=4, random_state=0),
    GradientBoostingRegressor(n_estimators=4, random_state=0),
    GradientBoostingRegressor(n_estimators=4, loss="quantile", alpha=0.3, random_state=0),
    HistGradientBoostingRegressor(max_iter=4, random_state=0),
]
WITHOUT_LABELS = [
    IsolationForest(n_estimators=4, random_state=0),
    IsolationForest(n_estimators=4, contamination=0.1, max_features=0.5, random_state=0),
    IsolationForest(n_estimators=4, max_samples=0.3, bootstrap=True, random_state=0),
    RandomTreesEmbedding(4, random_state=0),
]
TWO = [("one", AVERAGING[1]), ("gone", "drop"), ("many", AVERAGING[5])]
VOTING = [
    VotingClassifier(TWO, voting="soft", weights=[2, 5, 1]),
    VotingClassifier([("one", AVERAGING[1]), ("bag", AVERAGING[8]), ("wood", AVERAGING[4])]),
]
VOTING_NUMBERS = VotingRegressor(
    [("one", NUMBERS[1]), ("wood", NUMBERS[3]), ("rounds", NUMBERS[7])], weights=[1, 2, 3]
)


def cases() -> Iterator[tuple]:
    """Every model with data that suits it: three numbered classes, two named ones, numbers."""
    for model in AVERAGING + BOOSTED + VOTING:
        yield model, IRIS
        yield model, NAMED
    for model in [*NUMBERS, VOTING_NUMBERS, *WITHOUT_LABELS]:
        yield model, DIABETES


def id_of(model, data) -> str:
    """Name a case in a line."""
    stated = {name: value for name, value in vars(model).items() if isinstance(value, float | str)}
    labels = "named" if data[1].dtype.kind == "U" else "numbered"
    return "-".join([type(model).__name__, labels, *(f"{k}={v}" for k, v in stated.items())])


def fit(model, data):
    """Fit, and say nothing about settings that some version wants changed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(*data)


def others(data, n: int = 10_000) -> np.ndarray:
    """People like those of the data, and none of them."""
    rng = np.random.default_rng(1)
    x = data[0][rng.integers(0, len(data[0]), n)]
    return x + rng.normal(size=x.shape) * data[0].std(axis=0) / 2
