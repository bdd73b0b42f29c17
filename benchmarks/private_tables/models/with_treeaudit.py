"""Every trainer of ours that answers with a class, at its defaults."""

import subprocess
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.private_tables.folds import Split
from benchmarks.private_tables.models.model import Answers, Model
from benchmarks.private_tables.scoring import in_order
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers import PrivateClassifier
from treeaudit.trainers.algorithms import ALGORITHMS
from treeaudit.trainers.private_additive_tree import PrivateAdditiveTreeClassifier
from treeaudit.version import __version__

__all__ = ["MODELS", "WITH_DELTA", "version"]

WITH_DELTA, DELTA = "private-additive-delta", 1e-5
"""That of ours which claims what DP-EBM claims."""


def version() -> str:
    """Return the version, and the last commit that changed what trains."""
    root = Path(__file__).parents[3]
    git = ["git", "-C", str(root)]
    trains = ["--", "treeaudit/trainers", "treeaudit/dp"]
    try:
        commit = subprocess.check_output([*git, "log", "-1", "--format=%h", *trains], text=True)
        changed = subprocess.check_output([*git, "status", "--porcelain", *trains], text=True)
    except (OSError, subprocess.CalledProcessError):
        return f"treeaudit {__version__}"
    return f"treeaudit {__version__} {commit.strip()}{' and changes' if changed else ''}"


def _schema(split: Split) -> Schema:
    features = []
    for i, n in enumerate(split.n_categories):
        if n:
            categories = tuple(str(code) for code in range(n))
            features.append(Feature(name=f"x{i}", categories=categories))
        else:
            low, high = float(split.low[i]), float(split.high[i])
            features.append(Feature(name=f"x{i}", low=low, high=high))
    return Schema(features=tuple(features), classes=tuple(range(split.n_classes)))


def _frame(X: np.ndarray, schema: Schema) -> pd.DataFrame:
    columns = {}
    for feature, values in zip(schema.features, X.T, strict=True):
        if feature.categories is None:
            columns[feature.name] = values
        else:
            columns[feature.name] = np.array(feature.categories, dtype=object)[values.astype(int)]
    return pd.DataFrame(columns)


def _of(trainer: type[PrivateClassifier], title: str = "", **options: float) -> Model:
    def answers(split: Split, epsilon: float | None) -> Answers:
        schema = _schema(split)
        model = trainer(epsilon=epsilon, schema=schema, **options).fit(
            _frame(split.X, schema), split.y
        )
        unseen = _frame(split.unseen, schema)
        shares = in_order(model.predict_proba(unseen), model.classes_, split.n_classes)
        return np.asarray(model.predict(unseen), dtype=int), shares

    return Model(answers=answers, title=title or trainer.__name__)


MODELS = {
    trainer.algorithm: _of(trainer)
    for trainer in ALGORITHMS
    if issubclass(trainer, PrivateClassifier)
} | {
    WITH_DELTA: _of(
        PrivateAdditiveTreeClassifier, "PrivateAdditiveTreeClassifier, δ = 1e-5", delta=DELTA
    )
}
