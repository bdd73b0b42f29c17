"""DP-EBM of interpret: (epsilon, delta), two classes."""

import numpy as np

from benchmarks.private_tables.folds import Split
from benchmarks.private_tables.models.model import Answers, Model
from benchmarks.private_tables.scoring import in_order

__all__ = ["MODELS", "version"]


def version() -> str:
    from importlib.metadata import version as of

    return f"interpret-core {of('interpret-core')}"


def _answers(split: Split, epsilon: float | None) -> Answers:
    from interpret.privacy import DPExplainableBoostingClassifier

    numbers = split.n_categories == 0
    model = DPExplainableBoostingClassifier(
        epsilon=epsilon,
        delta=1e-5,
        feature_types=["continuous" if number else "nominal" for number in numbers],
        privacy_bounds=np.column_stack([split.low, split.high]),
        n_jobs=1,
    ).fit(split.X, split.y)
    shares = in_order(model.predict_proba(split.unseen), model.classes_, split.n_classes)
    return np.asarray(model.predict(split.unseen), dtype=int), shares


MODELS = {"dp-ebm": Model(answers=_answers, title="DP-EBM, δ = 1e-5", most_classes=2)}
