"""The models that are measured: 14 mixed features, noisy labels, unlimited trees."""

import pickle
from pathlib import Path

import joblib
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

__all__ = ["data", "model_files"]

_CATEGORIES = (2, 5, 15, 42, 7, 6, 16, 9)


def data(rows: int, noise: float = 0.21) -> tuple[np.ndarray, np.ndarray]:
    """Return six normal and eight categorical columns, and labels of which some are flipped."""
    rng = np.random.default_rng(0)
    x = np.empty((rows, 14), dtype=np.float32)
    x[:, :6] = rng.normal(size=(rows, 6))
    for column, categories in enumerate(_CATEGORIES, start=6):
        x[:, column] = rng.integers(0, categories, rows)
    signal = x[:, 0] + 0.7 * x[:, 1] * (x[:, 6] > 0) + 0.06 * x[:, 8] - 0.5 * (x[:, 9] > 20)
    y = (signal + 0.2 * x[:, 2] > 0.6).astype(int)
    return x, np.where(rng.random(rows) < noise, 1 - y, y)


def model_files(folder: Path, rows: int, trees: int) -> dict[str, Path]:
    """Return pickles and joblib files of one tree and of a forest; trains them once."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        f"{kind} {form}": folder / f"{kind}-{rows}-{trees if kind == 'forest' else 1}.{form}"
        for kind in ("tree", "forest")
        for form in ("pickle", "joblib")
    }
    if all(path.is_file() for path in files.values()):
        return files
    x, y = data(rows)
    fitted = {
        "tree": DecisionTreeClassifier(random_state=0).fit(x, y),
        "forest": RandomForestClassifier(trees, random_state=0, n_jobs=2).fit(x, y),
    }
    for name, path in files.items():
        kind, form = name.split()
        if form == "joblib":
            joblib.dump(fitted[kind], path)
        else:
            path.write_bytes(pickle.dumps(fitted[kind], protocol=5))
    return files
