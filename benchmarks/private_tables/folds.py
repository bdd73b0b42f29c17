"""What every model is given: a table as numbers, what is public about it, and its splits."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = ["Split", "keep_folds", "split_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """People to train on and people to test on.

    Attributes
    ----------
    X, y
        To train: ``(n, n_columns)`` numbers, categories by position, and positions of classes.
    unseen, truth
        The same to test.
    n_categories
        For each column, 0 for a number.
    low, high
        For each column, public.
    n_classes
        Public.
    seed
        Of the split.
    """

    X: np.ndarray
    y: np.ndarray
    unseen: np.ndarray
    truth: np.ndarray
    n_categories: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_classes: int
    seed: int


def keep_folds(
    file: Path,
    X: np.ndarray,
    y: np.ndarray,
    public: Mapping[str, np.ndarray],
    splits: list[tuple[np.ndarray, np.ndarray]],
) -> None:
    """Write a table, its ``n_categories``, ``low``, ``high``, ``n_classes`` and its splits."""
    rows = {f"train_{seed}": train for seed, (train, _) in enumerate(splits)}
    rows |= {f"test_{seed}": test for seed, (_, test) in enumerate(splits)}
    np.savez(file, X=X, y=y, **public, **rows)


def split_of(file: Path, seed: int) -> Split:
    """Read one split."""
    with np.load(file) as held:
        X, y = held["X"], held["y"]
        train, test = held[f"train_{seed}"], held[f"test_{seed}"]
        public = [held[name] for name in ("n_categories", "low", "high")]
        n_classes = int(held["n_classes"])
    return Split(X[train], y[train], X[test], y[test], *public, n_classes, seed)
