"""Repaired models, written in place, load in the version that wrote them and answer as reported.

``python -m tests.writers.written_models PYTHON…`` does it for each of the interpreters given,
whose scikit-learn may be of any version, and prints a table.
"""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import treeaudit as ta
from treeaudit.defenses import MergeSiblings, Strip
from treeaudit.errors import TreeauditError
from treeaudit.people.predict.predictions import node_shares
from treeaudit.people.records import read_records
from treeaudit.repair.attempts import applied

# XGBoost adds up 32-bit numbers, of hundreds where they are blood sugar.
FAR = 1e-4
THERE = Path(__file__).with_name("elsewhere.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One file: what was done, and how far it is from what its report says."""

    version: str
    name: str
    suffix: str
    repair: str
    nodes: tuple[int, int]
    off: float
    left: tuple[str, ...]


def run(python: str, word: str, folder: Path) -> str:
    """Run the other part in another process, where there is no treeaudit."""
    done = subprocess.run(
        [python, "-I", "-W", "ignore", str(THERE), word, str(folder)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def repaired(forest: ta.Forest) -> tuple[ta.Forest, str]:
    """Merge leaves where they tell their people; what tells none is stripped."""
    for defense in (MergeSiblings(min_leaf=8), Strip()):
        try:
            made = applied(forest, [defense])
            return made, defense.id
        except TreeauditError as error:
            refused = error
    raise refused


def told(forest: ta.Forest, rows: np.ndarray) -> list[np.ndarray]:
    """What every tree answers every row, as the model that is reported on says."""
    values = read_records(rows, forest).values
    leaves = forest.apply(values)
    said = []
    for i, tree in enumerate(forest.trees):
        if tree.value is not None:
            said.append(tree.value[leaves[:, i]][:, None])
            continue
        weights = None if forest.class_weights is None else forest.class_weights[i]
        said.append(node_shares(tree, len(forest.schema.classes), weights)[leaves[:, i]])
    return said


def written(folder: Path, python: str) -> list[Written]:
    """Train, repair, write, and ask in another process."""
    run(python, "make", folder)
    about = {}
    for path in sorted(folder.glob("*/model.*")):
        before = ta.load(path)
        after, how = repaired(before)
        safe = ta.save(after, path.with_name(f"safe{path.suffix}"))
        again = ta.load(safe)
        np.savez(
            path.with_name(f"told{path.suffix}.npz"),
            **{
                f"t{i}": one for i, one in enumerate(told(again, np.load(path.parent / "rows.npy")))
            },
        )
        sizes = tuple(sum(t.n_nodes for t in one.trees) for one in (before, again))
        left = tuple(one.where for one in again.extras.found if one.kind == "extra")
        about[path.parent.name, path.suffix] = (how, sizes, left)
    found = []
    for line in run(python, "ask", folder).splitlines():
        place, suffix, off = json.loads(line)
        how, sizes, left = about.pop((place, suffix))
        version, name = json.loads((folder / place / "about.txt").read_text())
        found.append(
            Written(
                version=version, name=name, suffix=suffix, repair=how, nodes=sizes, off=off,
                left=left,
            )
        )  # fmt: skip
    if about:
        raise RuntimeError(f"not asked: {sorted(about)}")
    return found


def main() -> None:
    every = []
    for python in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            every += written(Path(folder), python)
    print("| scikit-learn | model | file | repair | nodes | off by | unexplained |")
    print("|---|---|---|---|---|---|---|")
    for one in every:
        nodes = f"{one.nodes[0]:,} → {one.nodes[1]:,}"
        cells = (one.version, one.name, one.suffix, one.repair, nodes, f"{one.off:.1e}",
                 ", ".join(one.left) or "none")  # fmt: skip
        print(f"| {' | '.join(cells)} |")
    good = sum(one.off < FAR for one in every)
    print(f"{good} of {len(every)} written models load and answer as their report says")


if __name__ == "__main__":
    main()
