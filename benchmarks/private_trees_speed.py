"""How long private trees take on many rows, each in a process of its own."""

from benchmarks.measure import Program, side_by_side

__all__ = ["speed_section"]

_DATA = """
import warnings; warnings.simplefilter("ignore")
import numpy as np
rng = np.random.default_rng(0)
n = {rows}
X = rng.random((n, 10))
y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.random(n) > 0.9).astype(int)
"""
_SETUP = """
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers import *
{data}schema = Schema(
    features=tuple(Feature(name=f"x{i}", low=0.0, high=1.0) for i in range(10)),
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
_PEERS = {
    # diffprivlib 0.6.6 imports two names that scikit-learn has lost.
    "diffprivlib, 10 trees of depth 5": Program(
        "import sklearn.tree._tree as names; names.DOUBLE, names.DTYPE = np.float64, np.float32\n"
        "from diffprivlib.models import RandomForestClassifier as Theirs",
        "Theirs(10, max_depth=5, epsilon=0.1, bounds=(0, 1), classes=[0, 1]).fit(X, y)",
        peer=True,
    ),
    "scikit-learn, a tree of depth 5, not private": Program(
        "from sklearn.tree import DecisionTreeClassifier",
        "DecisionTreeClassifier(max_depth=5, random_state=0).fit(X, y)",
    ),
}


def speed_section(rows: int) -> list[str]:
    """Return the table."""
    data = _DATA.format(rows=rows)
    setup = _SETUP.replace("{data}", data)
    programs = {name: Program(setup, code) for name, code in _FITS.items()}
    programs |= {name: one._replace(setup=data + one.setup) for name, one in _PEERS.items()}
    costs = side_by_side(programs, 3)
    alone = costs.pop("the data alone")
    lines = [
        "",
        f"## Time and memory on {rows:,} rows × 10 numbers",
        "",
        "CPU seconds of the fit, all measured in turn; growth of the peak over that of the data "
        "alone.",
        "",
        "| | CPU seconds | growth, MB |",
        "| --- | --- | --- |",
    ]
    lines += [
        f"| {name} | FAILED: {cost.failed} | – |"
        if cost.failed
        else f"| {name} | {cost.call:.2f} | {cost.peak - alone.peak:.0f} |"
        for name, cost in costs.items()
    ]
    return lines
