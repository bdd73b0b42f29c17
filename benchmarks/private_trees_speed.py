"""How long private trees take on many rows, each in a process of its own."""

import os

from benchmarks.measure import Cost, Program, side_by_side
from treeaudit.trainers.algorithms import ALGORITHMS

__all__ = ["speed_section"]

_DATA = """
import warnings; warnings.simplefilter("ignore")
import numpy as np
rng = np.random.default_rng(0)
n = {rows}
X = rng.random((n, 10))
number = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.random(n)
y = (number > 0.9).astype(int)
"""
_OURS = """
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers.algorithms import *
def described(high, target={"classes": (0, 1)}):
    features = tuple(Feature(name=f"x{i}", low=0.0, high=high) for i in range(10))
    return Schema(features=features, named=False, **target)
schema = described(1.0)
"""
_OF_NUMBERS = 'schema, y = described(1.0, {"target_low": 0.0, "target_high": 2.5}), number\n'
# diffprivlib 0.6.6 imports two names that scikit-learn has lost.
_THEIRS = """
import sklearn.tree._tree as names; names.DOUBLE, names.DTYPE = np.float64, np.float32
from diffprivlib.models import RandomForestClassifier as Theirs
"""
_FLOOR = "scikit-learn, a tree of depth 10, not private"
_ALONE = "the data alone"


def speed_section(sizes: list[int], runs: int) -> list[str]:
    """Return the tables of fits for each number of rows, and the one of predictions."""
    load = os.getloadavg()[0]
    lines = [
        "",
        "## Time and memory",
        "",
        "All of a table was measured in one run, in turn, each in a process of its own; medians of "
        f"{runs}. The machine has {os.cpu_count()} cores and had a load of {load:.0f} when it "
        "began: CPU seconds are more than on a quiet one, ratios about the same.",
    ]
    for rows in sizes:
        lines += _fits(rows, runs)
    return lines + _predictions(runs)


def _fits(rows: int, runs: int) -> list[str]:
    data = _DATA.format(rows=rows)
    programs = {_ALONE: Program(data, "pass")}
    programs[_FLOOR] = Program(
        data + "from sklearn.tree import DecisionTreeClassifier",
        "DecisionTreeClassifier(max_depth=10, random_state=0).fit(X, y)",
    )
    programs["diffprivlib, 10 trees of depth 5"] = Program(
        data + _THEIRS, "Theirs(bounds=(0, 1), classes=[0, 1]).fit(X, y)", peer=True
    )
    for trainer in ALGORITHMS:
        name = trainer.__name__
        setup = data + _OURS + (_OF_NUMBERS if name.endswith("Regressor") else "")
        setup += f"{name}(schema=schema).fit(X[:500], y[:500])"
        programs[name] = Program(setup, f"{name}(schema=schema).fit(X, y)")
    costs = side_by_side(programs, runs, warm_up=False)
    alone = costs.pop(_ALONE)
    return [
        "",
        f"### Fits on {rows:,} rows × 10 numbers",
        "",
        "Trainers as they are unless told. Growth is that of the peak over that of the data alone.",
        "",
        "| | CPU seconds | of the tree of scikit-learn | growth, MB |",
        "| --- | --- | --- | --- |",
        *(_fit(name, cost, costs[_FLOOR], alone) for name, cost in costs.items()),
    ]


def _fit(name: str, cost: Cost, floor: Cost, alone: Cost) -> str:
    if cost.failed:
        return f"| {name} | FAILED: {cost.failed} | – | – |"
    share, growth = cost.call / floor.call, cost.peak - alone.peak
    return f"| {name} | {cost.call:.2f} | {share:.2f} | {growth:.0f} |"


def _predictions(runs: int) -> list[str]:
    data = _DATA.format(rows=100_000)
    # Numbers of eight kinds in a table with names, as codes of categories are.
    codes = (
        "import pandas as pd\n"
        'X = pd.DataFrame(rng.integers(0, 8, X.shape), columns=[f"x{i}" for i in range(10)])\n'
    )
    lines = [
        "",
        "### Predictions for 100,000 rows by 100 random trees",
        "",
        "| | diffprivlib, CPU seconds | ours, CPU seconds | ratio |",
        "| --- | --- | --- | --- |",
    ]
    for depth in (5, 8):
        for what, more, high in (("floats", "", 1.0), ("a DataFrame of codes", codes, 7.0)):
            theirs = f"model = Theirs(100, max_depth={depth}, bounds=(0, {high}), classes=[0, 1])"
            ours = (
                f"schema = described({high})\n"
                f"model = SmoothSensitivityForestClassifier(schema=schema, max_depth={depth})"
            )
            fitted = "\nmodel.fit(X, y).predict(X[:3000])"
            programs = {
                "theirs": Program(
                    data + more + _THEIRS + theirs + fitted, "model.predict(X)", True
                ),
                "ours": Program(data + more + _OURS + ours + fitted, "model.predict(X)"),
            }
            costs = side_by_side(programs, max(3, runs))
            lines.append(_prediction(f"{what}, depth {depth}", costs["theirs"], costs["ours"]))
    return lines


def _prediction(name: str, theirs: Cost, ours: Cost) -> str:
    if theirs.failed:
        return f"| {name} | FAILED: {theirs.failed} | {ours.call:.2f} | – |"
    return f"| {name} | {theirs.call:.2f} | {ours.call:.2f} | {ours.call / theirs.call:.2f} |"
