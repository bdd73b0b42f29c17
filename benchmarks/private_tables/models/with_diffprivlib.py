"""The forest of diffprivlib, categories as numbers: it knows no others."""

import numpy as np

from benchmarks.private_tables.folds import Split
from benchmarks.private_tables.models.model import Answers, Model
from benchmarks.private_tables.scoring import in_order

__all__ = ["MODELS", "version"]


def version() -> str:
    from importlib.metadata import version as of

    return f"diffprivlib {of('diffprivlib')}"


def _of(depth: int) -> Model:
    def answers(split: Split, epsilon: float | None) -> Answers:
        from diffprivlib.models import RandomForestClassifier

        model = RandomForestClassifier(
            n_estimators=10,
            max_depth=depth,
            epsilon=epsilon,
            bounds=(split.low, split.high),
            classes=list(range(split.n_classes)),
        ).fit(split.X, split.y)
        shares = in_order(model.predict_proba(split.unseen), model.classes_, split.n_classes)
        return np.asarray(model.predict(split.unseen), dtype=int), shares

    return Model(answers=answers, title=f"diffprivlib forest, 10 trees of depth {depth}")


MODELS = {f"diffprivlib-{depth}": _of(depth) for depth in (5, 10)}
