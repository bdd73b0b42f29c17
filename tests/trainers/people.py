"""A small public schema, and people who fit it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from treeaudit.dp.claims import unbounded_because
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers import PrivateClassifier, PrivateRegressor
from treeaudit.trainers.algorithms import ALGORITHMS

SCHEMA = Schema(
    features=(
        Feature(name="age", low=0.0, high=100.0),
        Feature(name="sex", categories=("f", "m", "x")),
        Feature(name="dose", low=-1.0, high=1.0),
    ),
    classes=("no", "yes"),
    target="ill",
)

OF_NUMBERS = replace(SCHEMA, classes=None, target="visits", target_low=0.0, target_high=10.0)
CLASSIFIERS = [trainer for trainer in ALGORITHMS if issubclass(trainer, PrivateClassifier)]
PURE = [trainer for trainer in ALGORITHMS if trainer().get_params().get("delta") is None]
"""Those whose epsilon is a bound, and not but for a chance of delta."""
REGRESSORS = [trainer for trainer in ALGORITHMS if issubclass(trainer, PrivateRegressor)]


def schema_for(trainer: type[Any]) -> Schema:
    """Return the public schema with a target that a trainer predicts."""
    return OF_NUMBERS if trainer in REGRESSORS else SCHEMA


def people(n: int = 600, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return people of whom the old ones are ill."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.uniform(0, 100, n),
            "sex": rng.choice(["f", "m"], n),
            "dose": rng.uniform(-1, 1, n),
        }
    )
    return frame, np.where(frame["age"] > 50, "yes", "no")


def people_for(trainer: type[Any], n: int = 600, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return people with what a trainer predicts: the old ones are ill, or go to a doctor."""
    frame, ill = people(n, seed)
    return frame, np.where(ill == "yes", 8.5, 1.0) if trainer in REGRESSORS else ill


def answers_of(model: Any, X: Any) -> np.ndarray:
    """Return all that a model answers: shares of classes, or numbers."""
    return getattr(model, "predict_proba", model.predict)(X)


def proved(model: Any) -> bool:
    """Tell whether nothing speaks against the claim of a model, its delta included."""
    because = unbounded_because(model.forest_)
    if type(model) in PURE:
        return because is None
    return because == "the ledger states a delta above 0: its epsilon may be broken"
