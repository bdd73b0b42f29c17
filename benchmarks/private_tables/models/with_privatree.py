"""PrivaTree, from a checkout: it is on no package index."""

import os
import sys
from pathlib import Path

import numpy as np

from benchmarks.private_tables.folds import Split
from benchmarks.private_tables.models.model import Answers, Model
from benchmarks.private_tables.scoring import in_order

__all__ = ["MODELS", "version"]


def version() -> str:
    return f"PrivaTree from {Path(os.environ['PRIVATREE']).name}"


def _answers(split: Split, epsilon: float | None) -> Answers:
    if os.environ["PRIVATREE"] not in sys.path:
        sys.path.append(os.environ["PRIVATREE"])
    from privatree.privatree import PrivaTreeClassifier

    # As in the experiments of its authors.
    model = PrivaTreeClassifier(
        max_depth=4,
        max_bins=10,
        epsilon=epsilon,
        feature_range=np.column_stack([split.low, split.high]),
        categorical_features=split.n_categories,
    ).fit(split.X, split.y)
    shares = in_order(model.predict_proba(split.unseen), model.classes_, split.n_classes)
    return np.asarray(model.predict(split.unseen), dtype=int), shares


MODELS = {"privatree": Model(answers=_answers, title="PrivaTree, depth 4")}
