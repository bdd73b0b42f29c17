"""``python -m benchmarks``: measure what treeaudit costs, write a section of ``RESULTS.md``.

The models are trained once into a folder that is kept (``--folder``). The full
run needs 4 GB of disk and about ten minutes; ``--quick`` takes a tenth of the
rows and does not write the results.
"""

import argparse
import importlib.util
import platform
import tempfile
from pathlib import Path

from benchmarks.attribute_inference import side_by_side_with_art
from benchmarks.measure import Cost, side_by_side
from benchmarks.models import model_files
from benchmarks.sections import RESULTS, replace_section


def main() -> None:
    """Measure everything in one run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, no results file")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "treeaudit-benchmarks"
    )
    options = parser.parse_args()
    rows, trees = (40_000, 20) if options.quick else (400_000, 100)
    files = model_files(options.folder, rows, trees)
    text = "\n".join(
        [
            *_heading(rows, trees),
            *_start(options.runs),
            *_reading(files, options.runs),
            *_scanning(files, options.runs),
            *_measures(files["tree pickle"], options.runs),
            *side_by_side_with_art(rows // 10),
        ]
    )
    print(text)
    if not options.quick:
        document = RESULTS.read_text(encoding="utf-8") if RESULTS.is_file() else ""
        RESULTS.write_text(replace_section(document, "costs", text), encoding="utf-8")


def _heading(rows: int, trees: int) -> list[str]:
    import numpy as np
    import sklearn

    return [
        "# What treeaudit costs",
        "",
        f"Written by `make bench`: {rows:,} training rows, 14 features, one unlimited tree and a "
        f"forest of {trees} unlimited trees. Medians; everything in a table was measured in one "
        "run, in turn. CPU seconds of one process; *call* leaves out imports, *process* does not.",
        f"Python {platform.python_version()}, numpy {np.__version__}, scikit-learn "
        f"{sklearn.__version__}, {platform.machine()}.",
    ]


def _table(title: str, note: str, costs: dict[str, Cost], base: str) -> list[str]:
    lines = [
        "",
        f"## {title}",
        "",
        note,
        "",
        "| | call, CPU-s | process, CPU-s | peak MB | ratio |",
    ]
    lines.append("|---|---:|---:|---:|---:|")
    for name, cost in costs.items():
        ratio = "1" if name == base else f"{cost.call / max(costs[base].call, 1e-9):.2f}"
        lines.append(
            f"| {name} | {cost.call:.3f} | {cost.process:.3f} | {cost.peak:,.0f} | {ratio} |"
        )
    return lines


def _start(runs: int) -> list[str]:
    command = "import runpy; sys.argv = ['treeaudit', '--help']"
    leave = (
        "import contextlib, io\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        "    runpy.run_module('treeaudit', run_name='__main__')"
    )
    costs = side_by_side(
        {
            "`python -c pass`": ("", "pass"),
            "`import treeaudit`": ("", "import treeaudit"),
            "`treeaudit --help`": (command, leave),
            "`import sklearn.tree`": ("", "import sklearn.tree"),
        },
        runs,
    )
    note = "Bound: `--help` within 0.3 CPU-s. Floor and peer: Python itself, scikit-learn's import."
    return _table("Start", note, costs, "`import sklearn.tree`")


def _reading(files: dict[str, Path], runs: int) -> list[str]:
    lines = []
    for kind in ("tree", "forest"):
        for form in ("joblib", "pickle"):
            path = str(files[f"{kind} {form}"])
            loader = "joblib.load" if form == "joblib" else "pickle.load"
            theirs = (
                (f"import joblib, sklearn.ensemble; path = {path!r}", "joblib.load(path)")
                if form == "joblib"
                else (
                    f"import pickle, sklearn.ensemble; path = {path!r}",
                    "with open(path, 'rb') as file: pickle.load(file)",
                )
            )
            costs = side_by_side(
                {
                    loader: theirs,
                    "treeaudit.load": (
                        f"import treeaudit.readers; path = {path!r}",
                        "forest = treeaudit.readers.load(path); forest.source.sha256\n"
                        "nodes = [tree.n_nodes for tree in forest.trees]",
                    ),
                },
                runs,
            )
            size = Path(path).stat().st_size / 1e6
            note = (
                f"{size:,.0f} MB. Bound: 1.5 times the genuine loader. Ours includes the SHA-256 "
                "of the file and all consistency checks; neither counts its imports in *call*."
            )
            lines += _table(f"Reading a {kind} ({form})", note, costs, loader)
    return lines


def _scanning(files: dict[str, Path], runs: int) -> list[str]:
    lines = []
    bounds = {
        "tree": "Bound: 0.5 CPU-s beyond interpreter start, 250 MB.",
        "forest": "Bound: 10 CPU-s, 3 GB.",
    }
    for kind, bound in bounds.items():
        path = str(files[f"{kind} pickle"])
        floor = (
            f"import pickle, sklearn.ensemble, numpy as np; path = {path!r}",
            "model = pickle.load(open(path, 'rb'))\n"
            "for e in getattr(model, 'estimators_', [model]):\n"
            "    leaf = e.tree_.children_left < 0\n"
            "    n = e.tree_.n_node_samples[leaf]\n"
            "    pure = (e.tree_.value[leaf, 0] > 0).sum(axis=1) == 1\n"
            "    (n == 1).sum(), (n < 5).sum(), n[pure].sum()",
        )
        costs = side_by_side(
            {
                "floor: load with scikit-learn, count leaves by numpy": floor,
                "treeaudit.scan": (
                    f"import treeaudit as ta; path = {path!r}",
                    "report = ta.scan(path)",
                ),
                "treeaudit.scan, JSON and HTML": (
                    f"import treeaudit as ta; path = {path!r}",
                    "from treeaudit.reports import render\n"
                    "report = ta.scan(path); render(report, 'json'); render(report, 'html')",
                ),
            },
            runs,
        )
        lines += _table(f"Scanning a {kind}", bound, costs, next(iter(costs)))
    return lines


def _measures(path: Path, runs: int) -> list[str]:
    """k, l and t of a tree's table, against pyCANON on the same table person by person."""
    title = "Group measures"
    if importlib.util.find_spec("pycanon") is None:
        return ["", f"## {title}", "", "Not measured: `pip install pycanon` to compare."]
    rows = 4_000
    setup = (
        "import numpy as np, pandas as pd, treeaudit as ta\n"
        "from benchmarks.models import data\n"
        "from sklearn.tree import DecisionTreeClassifier\n"
        f"model = ta.load(DecisionTreeClassifier(random_state=0).fit(*data({rows})))\n"
    )
    ours = "groups = ta.reconstruct(model).groups; groups.size.min(), groups.labels.trees[0]"
    theirs = (
        "k = anonymity.k_anonymity(frame, names), anonymity.l_diversity(frame, names, ['label'])\n"
        "t = anonymity.t_closeness(frame, names, ['label'])"
    )
    costs = side_by_side(
        {
            "pyCANON: k, l, t": (
                setup + "from pycanon import anonymity\n"
                "frame = ta.reconstruct(model).expand(); names = model.schema.names",
                theirs,
            ),
            "treeaudit: k, l, t, entropy-l, (c, l)": (setup, ours),
        },
        runs,
    )
    note = f"The table of an unlimited tree on {rows:,} rows."
    return _table(title, note, costs, "pyCANON: k, l, t")


if __name__ == "__main__":
    main()
