"""What other libraries reach on the same splits, or print."""

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.private_trees_data import Table, splits

__all__ = ["PRINTED", "diffprivlib_scores", "plain_scores"]

PRINTED = {
    "PrivaTree, as printed (appendix, 5 folds, depth 4, 2 classes)": {
        ("adult", 0.1): "0.79",
        ("adult", 1.0): "0.822",
        ("nursery", 0.1): "(1.00)",
        ("nursery", 1.0): "(1.000)",
        ("mushroom", 0.1): "0.78",
        ("mushroom", 1.0): "0.949",
    },
    "best of diffprivlib 0.6.6, PrivaTree and DP-EBM, as measured earlier (3 splits)": {
        ("adult", 0.1): "0.777",
        ("adult", 1.0): "0.820",
        ("nursery", 0.1): "0.750",
        ("nursery", 1.0): "0.864",
        ("mushroom", 0.1): "0.926",
        ("mushroom", 1.0): "0.959",
    },
}

_PROGRAM = """
import json, sys, warnings
import numpy as np
from diffprivlib.models import RandomForestClassifier
held = np.load(sys.argv[1])
epsilon, trees, depth, seeds = float(sys.argv[2]), *map(int, sys.argv[3:])
X, y = held["X"], held["y"]
warnings.simplefilter("ignore")
found = []
for seed in range(seeds):
    order = np.random.default_rng(seed).permutation(len(y))
    n = len(y) // 5
    model = RandomForestClassifier(
        n_estimators=trees, max_depth=depth, epsilon=epsilon,
        bounds=(X.min(axis=0), X.max(axis=0)), classes=list(range(int(y.max()) + 1)),
    ).fit(X[order[n:]], y[order[n:]])
    found.append(float(model.score(X[order[:n]], y[order[:n]])))
print(json.dumps(found))
"""


def coded(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Return a table as numbers: categories and labels by their place in the schema."""
    columns = []
    for feature in table.schema.features:
        values = table.X[feature.name]
        if feature.categories is None:
            columns.append(values.to_numpy(dtype=float))
        else:
            place = {name: float(i) for i, name in enumerate(feature.categories)}
            columns.append(values.map(place).to_numpy(dtype=float))
    place = {label: i for i, label in enumerate(table.schema.classes or ())}
    return np.column_stack(columns), np.array([place[label] for label in table.y])


def diffprivlib_scores(
    python: str, table: Table, epsilon: float, seeds: int, trees: int, depth: int
) -> list[float]:
    """Train diffprivlib's forest in an environment of its own."""
    X, y = coded(table)
    with tempfile.TemporaryDirectory() as folder:
        held = Path(folder) / "data.npz"
        np.savez(held, X=X, y=y)
        numbers = [str(n) for n in (epsilon, trees, depth, seeds)]
        done = subprocess.run(
            [python, "-c", _PROGRAM, str(held), *numbers],
            capture_output=True,
            text=True,
            check=True,
        )
    return list(json.loads(done.stdout.splitlines()[-1]))


def plain_scores(table: Table, seeds: int) -> dict[int, list[float]]:
    """Train scikit-learn's trees, which are not private, on one-hot columns."""
    import pandas as pd
    from sklearn.tree import DecisionTreeClassifier

    X = pd.get_dummies(table.X).to_numpy(dtype=np.float32)
    found: dict[int, list[float]] = {5: [], 10: []}
    for train, test in splits(table, seeds):
        for depth, scores in found.items():
            model = DecisionTreeClassifier(max_depth=depth, random_state=0)
            scores.append(float(model.fit(X[train], table.y[train]).score(X[test], table.y[test])))
    return found
