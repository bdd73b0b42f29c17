"""How long private trees take on many rows, each in a process of its own."""

from benchmarks.measure import side_by_side

__all__ = ["speed_section"]

_SETUP = """
import numpy as np
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers import *
rng = np.random.default_rng(0)
n = {rows}
X = rng.random((n, 10))
y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.random(n) > 0.9).astype(int)
schema = Schema(
    features=tuple(Feature(name=f"x{{i}}", low=0.0, high=1.0) for i in range(10)),
    classes=(0, 1), named=False,
)
PrivateTreeClassifier(schema=schema).fit(X[:500], y[:500])
"""

_FITS = {
    "the data alone": "pass",
    "PrivateTreeClassifier, depth 5": (
        "PrivateTreeClassifier(schema=schema, epsilon=0.1, max_depth=5).fit(X, y)"
    ),
    "PrivateForestClassifier, 4 trees of depth 5": (
        "PrivateForestClassifier(schema=schema, epsilon=0.1, max_depth=5).fit(X, y)"
    ),
    "DPDFClassifier, 1 tree": (
        "DPDFClassifier(schema=schema, epsilon=0.1, n_estimators=1, max_depth=5).fit(X, y)"
    ),
    "DiffPID3Classifier, bins, depth 5": (
        "DiffPID3Classifier(schema=schema, epsilon=0.1, numbers='bins', max_depth=5).fit(X, y)"
    ),
}


def speed_section(rows: int) -> list[str]:
    """Return the table."""
    setup = _SETUP.format(rows=rows)
    costs = side_by_side({name: (setup, code) for name, code in _FITS.items()}, 3)
    alone = costs.pop("the data alone")
    lines = [
        "",
        f"## Time and memory on {rows:,} rows × 10 numbers",
        "",
        "CPU seconds of the fit; growth of the peak over that of the data alone. Figures for "
        "comparison, measured earlier on 3,000,000 rows: PrivaTree depth 5 2.1 s and 194 MB, "
        "diffprivlib forest of 10 trees of depth 5 3.2 s, scikit-learn tree of depth 5 29 s.",
        "",
        "| | CPU seconds | growth, MB |",
        "| --- | --- | --- |",
    ]
    lines += [
        f"| {name} | {cost.call:.2f} | {cost.peak - alone.peak:.0f} |"
        for name, cost in costs.items()
    ]
    return lines
