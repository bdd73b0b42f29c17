"""What private forests and attribute inference cost beside diffprivlib and ART."""

import json
import subprocess
from pathlib import Path

from benchmarks.measure import PEERS, Program, side_by_side
from benchmarks.tables import Bound, table

__all__ = ["attributes", "private_forests"]


def private_forests(rows: int, runs: int) -> list[str]:
    setup = (
        "import warnings; warnings.simplefilter('ignore')\n"
        "import numpy as np\n"
        "rng = np.random.default_rng(0)\n"
        f"X = rng.random(({rows}, 10))\n"
        "y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.random(len(X)) > 0.9).astype(int)\n"
    )
    theirs = (
        "import sklearn.tree._tree as names; names.DOUBLE, names.DTYPE = np.float64, np.float32\n"
        "from diffprivlib.models import RandomForestClassifier"
    )
    fit = (
        "RandomForestClassifier(10, max_depth=5, epsilon=1.0, bounds=(0, 1), classes=[0, 1])"
        ".fit(X, y)"
    )
    schema = (
        "from treeaudit.model.schema import Feature, Schema\n"
        "from treeaudit.trainers import PrivateForestClassifier\n"
        "features = tuple(Feature(name=f'x{{i}}', low=0.0, high=1.0) for i in range(10))\n"
        "schema = Schema(features=features, classes=(0, 1), named=False)"
    ).replace("{{i}}", "{i}")
    ours = (
        "PrivateForestClassifier(schema=schema, n_estimators=10, max_depth=5, epsilon=1.0)"
        ".fit(X, y)"
    )
    costs = side_by_side(
        {
            "the data alone": (setup, "pass"),
            "diffprivlib RandomForestClassifier": Program(setup + theirs, fit, peer=True),
            "treeaudit PrivateForestClassifier": (setup + schema, ours),
        },
        runs,
    )
    note = f"Ten trees of depth 5, epsilon 1, on {rows:,} rows of 10 numbers. "
    note += "diffprivlib 0.6.6 imports two names that scikit-learn has lost; they are put back."
    bounds = {"treeaudit PrivateForestClassifier": Bound(ratio=1)}
    return table("Private forests", note, costs, "diffprivlib RandomForestClassifier", bounds)


def attributes(rows: int) -> list[str]:
    """Attribute inference beside ART: in one process, as the answers are compared."""
    code = (
        "import json; from benchmarks.attribute_inference import side_by_side_with_art as run; "
        f"print(json.dumps(run({rows})))"
    )
    done = subprocess.run(
        [str(PEERS), "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[1],
    )
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        return ["", "## Attribute inference", "", f"FAILED: {said}"]
    lines: list[str] = json.loads(done.stdout.splitlines()[-1])
    return lines
