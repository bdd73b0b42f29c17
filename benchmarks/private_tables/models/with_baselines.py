"""What has to be beaten, and what cannot be had: naive Bayes, the majority, trees without noise."""

import numpy as np

from benchmarks.private_tables.folds import Split
from benchmarks.private_tables.models.model import Answers, Model
from benchmarks.private_tables.scoring import in_order

__all__ = ["MODELS", "version"]

_BINS = 16


def version() -> str:
    import sklearn

    return f"scikit-learn {sklearn.__version__}, numpy {np.__version__}"


def _codes(X: np.ndarray, split: Split) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers by their bin of equal width, and how many codes a column has."""
    sizes = np.where(split.n_categories > 0, split.n_categories, _BINS)
    width = np.where(split.high > split.low, split.high - split.low, 1.0)
    binned = np.clip((X - split.low) / width * _BINS, 0, _BINS - 1)
    return np.where(split.n_categories > 0, X, binned).astype(int), sizes


def _naive_bayes(split: Split, epsilon: float | None) -> Answers:
    """Class by code in every column and the classes alone, each with Laplace noise.

    A record is in one cell of each of the ``m + 1`` tables, so the noise of scale
    ``(m + 1) / epsilon`` is pure epsilon under add-remove. Counts are drawn towards the share of
    the classes by one deviation of the noise. Noise in floating point: a baseline, no release.
    """
    codes, sizes = _codes(split.X, split)
    unseen, _ = _codes(split.unseen, split)
    n_classes, scale = split.n_classes, (len(sizes) + 1) / (epsilon or np.nan)
    rng = np.random.default_rng([split.seed, round(1000 * (epsilon or 0))])
    people = np.bincount(split.y, minlength=n_classes) + rng.laplace(0, scale, n_classes)
    prior = np.maximum(people, 1.0) / np.maximum(people, 1.0).sum()
    logs = np.tile(np.log(prior), (len(unseen), 1))
    weight = scale * np.sqrt(2 * n_classes)
    for column, size in enumerate(sizes):
        held = np.bincount(codes[:, column] * n_classes + split.y, minlength=size * n_classes)
        noisy = held.reshape(size, n_classes) + rng.laplace(0, scale, (size, n_classes))
        drawn = np.maximum(noisy, 0) + weight * prior
        shares = drawn / drawn.sum(axis=1, keepdims=True)
        logs += np.log(shares)[unseen[:, column]] - np.log(prior)
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return shares.argmax(axis=1), shares


def _majority(split: Split, epsilon: float | None) -> Answers:
    shares = np.bincount(split.y, minlength=split.n_classes) / len(split.y)
    rows = np.tile(shares, (len(split.unseen), 1))
    return rows.argmax(axis=1), rows


def _one_hot(X: np.ndarray, split: Split) -> np.ndarray:
    parts = [
        np.eye(n, dtype=np.float32)[X[:, i].astype(int)] if n else X[:, [i]].astype(np.float32)
        for i, n in enumerate(split.n_categories)
    ]
    return np.concatenate(parts, axis=1)


def _tree(split: Split, depth: int) -> Answers:
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(max_depth=depth, random_state=0)
    model.fit(_one_hot(split.X, split), split.y)
    shares = model.predict_proba(_one_hot(split.unseen, split))
    ordered = in_order(shares, model.classes_, split.n_classes)
    return ordered.argmax(axis=1), ordered


MODELS = {
    "naive-bayes": Model(answers=_naive_bayes, title="naive Bayes, private"),
    "majority": Model(answers=_majority, title="majority class, not private", private=False),
    "tree-5": Model(
        answers=lambda split, _: _tree(split, 5),
        title="scikit-learn tree of depth 5, not private",
        private=False,
    ),
    "tree-10": Model(
        answers=lambda split, _: _tree(split, 10),
        title="scikit-learn tree of depth 10, not private",
        private=False,
    ),
}
