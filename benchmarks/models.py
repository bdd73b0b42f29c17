"""The models that are measured: 14 mixed features, noisy labels, unlimited trees."""

import copy
import os
import pickle
from pathlib import Path

import joblib
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

__all__ = ["data", "many_files", "many_trees", "model_files"]

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


class _Call:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("true",)


def many_files(folder: Path, n: int) -> Path:
    """Return a folder of small trees, three damaged files and one that would run code."""
    inside = folder / f"files-{n}"
    if inside.is_dir():
        return inside
    x, y = data(500)
    last = b""
    for i in range(n - 4):
        path = inside / f"team-{i % 10}" / f"model-{i:05}.pkl"
        path.parent.mkdir(parents=True, exist_ok=True)
        tree = DecisionTreeClassifier(
            max_depth=3 + i % 4, min_samples_leaf=1 + i % 30, random_state=i
        )
        last = pickle.dumps(tree.fit(x, y), protocol=5)
        path.write_bytes(last)
    (inside / "cut.pkl").write_bytes(last[: len(last) // 2])
    (inside / "empty.pkl").write_bytes(b"")
    (inside / "page.pkl").write_bytes(b"<!doctype html><html>not found</html>")
    (inside / "hostile.pkl").write_bytes(pickle.dumps(_Call()))
    return inside


def many_trees(folder: Path, n: int) -> Path:
    """Return a pickle of a forest of many small trees: of a hundred that were trained, copies."""
    path = folder / f"small-trees-{n}.pickle"
    if not path.is_file():
        forest = RandomForestClassifier(100, max_depth=5, random_state=0).fit(*data(600))
        grown = forest.estimators_
        forest.estimators_ = [copy.deepcopy(grown[i % 100]) for i in range(n)]
        forest.n_estimators = n
        path.write_bytes(pickle.dumps(forest, protocol=5))
    return path
