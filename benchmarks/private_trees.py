"""``python -m benchmarks.private_trees``: what private trees cost in accuracy and in time.

Needs ``TREEAUDIT_DATA``. Writes ``benchmarks/PRIVATE.md``. diffprivlib is run
beside if the Python of an environment that has it is given
(``--diffprivlib PYTHON``); it needs a scikit-learn below 1.9.
"""

import argparse
import platform
import warnings
from pathlib import Path
from statistics import median, stdev
from typing import Any

import numpy as np

from benchmarks.private_trees_data import ADULT, Table, read_table, splits
from benchmarks.private_trees_empty_leaves import empty_leaves_section
from benchmarks.private_trees_peers import PRINTED, diffprivlib_scores, plain_scores
from benchmarks.private_trees_single_split import single_split_section
from benchmarks.private_trees_speed import speed_section
from treeaudit.errors import PrivacyWarning
from treeaudit.trainers import (
    DiffPID3Classifier,
    DPDFClassifier,
    PrivateForestClassifier,
    PrivateTreeClassifier,
    SmoothSensitivityForestClassifier,
)

WRITTEN = Path(__file__).parent / "PRIVATE.md"

TARGETS = {
    ("adult", 0.1): 0.820,
    ("adult", 1.0): 0.832,
    ("nursery", 0.1): 0.84,
    ("nursery", 1.0): 0.885,
    ("mushroom", 0.1): 0.93,
    ("mushroom", 1.0): 0.99,
}

TRAINERS: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "PrivateTreeClassifier": (PrivateTreeClassifier, {}),
    "PrivateForestClassifier": (PrivateForestClassifier, {}),
    "SmoothSensitivityForest": (SmoothSensitivityForestClassifier, {}),
    "DPDF, 1 tree": (DPDFClassifier, {"n_estimators": 1}),
    "DPDF, 4 trees": (DPDFClassifier, {}),
    "DiffPID3, ranges, max": (DiffPID3Classifier, {}),
    "DiffPID3, bins, gini": (DiffPID3Classifier, {"numbers": "bins", "criterion": "gini"}),
}


def main() -> None:
    """Measure everything in one run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="random splits of every data set")
    parser.add_argument("--repeats", type=int, default=200, help="runs of the single split")
    parser.add_argument("--rows", type=int, default=3_000_000, help="of the speed test")
    parser.add_argument("--diffprivlib", metavar="PYTHON", help="an environment that has it")
    parser.add_argument("--no-file", action="store_true", help="print only")
    options = parser.parse_args()
    text = "\n".join(
        [
            *_heading(
                options.seeds, "" if options.diffprivlib is None else " --diffprivlib PYTHON"
            ),
            *_accuracy(options.seeds, options.diffprivlib),
            *single_split_section(options.repeats),
            *empty_leaves_section(20),
            *speed_section(options.rows),
            "",
        ]
    )
    print(text)
    if not options.no_file:
        WRITTEN.write_text(text, encoding="utf-8")


def _heading(seeds: int, beside: str) -> list[str]:
    import sklearn

    return [
        "# Private trees: what they cost",
        "",
        f"Written by `python -m benchmarks.private_trees{beside}`. Python "
        f"{platform.python_version()}, numpy {np.__version__}, "
        f"scikit-learn {sklearn.__version__}, {platform.machine()}. Records without missing "
        f"values; medians over {seeds} random splits, 80 % to train and 20 % to test, in "
        "brackets the 10th and 90th percentile. Bounds, categories and classes are those of the "
        "whole table, taken as public, for every library alike. Neighbours: add-remove.",
    ]


def _accuracy(seeds: int, python: str | None) -> list[str]:
    lines = ["", "## Accuracy on unseen people", ""]
    names = ["adult", "nursery", "mushroom"]
    columns = [(name, epsilon) for name in names for epsilon in (0.1, 1.0)]
    tables = {name: read_table(name) for name in names}
    lines += [
        "| | " + " | ".join(f"{name}, ε {epsilon:g}" for name, epsilon in columns) + " |",
        "| --- " * (len(columns) + 1) + "|",
        "| to reach | " + " | ".join(f"{TARGETS[c]:.3f}" for c in columns) + " |",
    ]
    for label, (trainer, parameters) in TRAINERS.items():
        for variant in ("sound", "published"):
            if variant == "published" and "Private" in label:
                continue
            chosen = {**parameters, "variant": variant}
            cells = [_cell(_ours(trainer, chosen, tables[n], e, seeds)) for n, e in columns]
            shown = f"**{label}**" if "Private" in label else f"{label}, {variant}"
            lines.append(f"| {shown} | " + " | ".join(cells) + " |")
    if python is not None:
        for trees, depth in ((10, 10), (100, 5)):
            cells = [
                _cell(diffprivlib_scores(python, tables[n], e, seeds, trees, depth))
                for n, e in columns
            ]
            shown = f"diffprivlib RandomForest, {trees} trees of depth {depth}"
            lines.append(f"| {shown} | " + " | ".join(cells) + " |")
    for label, printed in PRINTED.items():
        cells = [printed.get(column, "–") for column in columns]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    plain = {name: plain_scores(tables[name], seeds) for name in names}
    for depth in (5, 10):
        cells = [f"{median(plain[name][depth]):.4f}" for name, _ in columns]
        lines.append(f"| scikit-learn tree of depth {depth}, not private | {' | '.join(cells)} |")
    lines += [
        "",
        "The published variants of DPDF and of the smooth-sensitivity forest are not private "
        "(`PrivacyWarning`). The nursery of PrivaTree has two classes, that of the others five.",
        *_auc(tables[ADULT], seeds),
    ]
    return lines


def _auc(adult: Table, seeds: int) -> list[str]:
    cells = []
    for label in ("PrivateTreeClassifier", "PrivateForestClassifier"):
        trainer, parameters = TRAINERS[label]
        for epsilon in (0.1, 1.0):
            found = _areas(trainer, parameters, adult, epsilon, seeds)
            cells.append(f"{label} {median(found):.3f} at ε {epsilon:g}")
    return ["", f"Area under the ROC curve on adult: {'; '.join(cells)}."]


def _ours(
    trainer: type[Any], parameters: dict[str, Any], table: Table, epsilon: float, seeds: int
) -> list[float]:
    found = []
    for train, test in splits(table, seeds):
        model = trainer(epsilon=epsilon, schema=table.schema, **parameters)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)
            model.fit(table.X.iloc[train], table.y[train])
        found.append(float(model.score(table.X.iloc[test], table.y[test])))
    return found


def _areas(
    trainer: type[Any], parameters: dict[str, Any], table: Table, epsilon: float, seeds: int
) -> list[float]:
    from sklearn.metrics import roc_auc_score

    found = []
    for train, test in splits(table, seeds):
        model = trainer(epsilon=epsilon, schema=table.schema, **parameters)
        model.fit(table.X.iloc[train], table.y[train])
        shares = model.predict_proba(table.X.iloc[test])[:, 1]
        found.append(float(roc_auc_score(table.y[test] == model.classes_[1], shares)))
    return found


def _cell(found: list[float]) -> str:
    low, high = np.quantile(found, [0.1, 0.9])
    spread = f" [{low:.3f}, {high:.3f}]" if len(found) > 1 and stdev(found) > 0 else ""
    return f"{median(found):.4f}{spread}"


if __name__ == "__main__":
    main()
