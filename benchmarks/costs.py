"""``python -m benchmarks.costs``: what treeaudit costs beside floors and peers.

The models are trained once into a folder that is kept (``--folder``). Run by `make bench`,
which installs the peers into an environment of its own.
"""

import argparse
import pickle
import platform
import tempfile
from pathlib import Path
from typing import NamedTuple

from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from benchmarks.costs_peers import attributes, private_forests
from benchmarks.measure import Program, side_by_side
from benchmarks.models import many_files, many_trees, model_files
from benchmarks.sections import RESULTS, commit, replace_section
from benchmarks.tables import Bound, table

__all__ = ["SIZES", "Size"]


class Size(NamedTuple):
    """How large everything is."""

    rows: int
    trees: int
    small_trees: int
    files: int
    private_rows: int
    runs: int


SIZES = {
    "quick": Size(20_000, 10, 500, 60, 30_000, 1),
    "short": Size(60_000, 20, 2_000, 200, 100_000, 3),
    "full": Size(400_000, 100, 10_000, 1_000, 1_000_000, 5),
}


def main() -> None:
    """Measure everything in one run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--write", action="store_true", help="other sizes than full too")
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "treeaudit-benchmarks"
    )
    options = parser.parse_args()
    size = SIZES[options.size]
    files = model_files(options.folder, size.rows, size.trees)
    lines = _heading(options.size, size)
    for lines_of in (_start, _safety, _reading, _scanning, _many_files, _measures):
        more = lines_of(files, size)
        print("\n".join(more), flush=True)
        lines += more
    for more in (
        private_forests(size.private_rows, size.runs),
        attributes(min(size.rows // 10, 40_000)),
    ):
        print("\n".join(more), flush=True)
        lines += more
    if options.size == "full" or options.write:
        document = RESULTS.read_text(encoding="utf-8") if RESULTS.is_file() else ""
        text = "\n".join(lines)
        RESULTS.write_text(replace_section(document, "costs", text), encoding="utf-8")


def _heading(name: str, size: Size) -> list[str]:
    import numpy as np
    import sklearn

    return [
        "# What treeaudit costs",
        "",
        f"Written by `make bench` ({name} size, commit {commit()}): {size.rows:,} training rows, "
        f"14 features, one unlimited tree and a forest of {size.trees} unlimited trees. Medians of "
        f"{size.runs}; everything in a table was measured in one run, in turn, each in processes "
        "of its own. *Call* leaves out imports, *process* does not. A row that misses a bound of "
        "ours says **MISS**. Peers are those of [peers.txt](peers.txt), installed by `make bench`; "
        "DRAFT is on no package index and is not measured.",
        f"Python {platform.python_version()}, numpy {np.__version__}, scikit-learn "
        f"{sklearn.__version__}, {platform.machine()}.",
    ]


def _start(files: dict[str, Path], size: Size) -> list[str]:
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
            "`import numpy`": ("", "import numpy"),
            "`import sklearn.tree`": ("", "import sklearn.tree"),
        },
        size.runs,
    )
    note = "Floors: Python itself, the import of numpy, that of scikit-learn."
    return table("Start", note, costs, "`import numpy`", {})


def _small(files: dict[str, Path]) -> Path:
    """Return a file of a few kilobytes, with which modules are loaded before anything counts."""
    path = files["tree pickle"].with_name("small.pickle")
    if not path.is_file():
        tree = DecisionTreeClassifier(max_depth=5, random_state=0)
        path.write_bytes(pickle.dumps(tree.fit(*load_breast_cancer(return_X_y=True))))
    return path


def _safety(files: dict[str, Path], size: Size) -> list[str]:
    path = _small(files)
    run = (  # in a folder of its own: fickling leaves a file where it runs
        "subprocess.run([sys.executable, '-m', {}, {!r}], stdout=subprocess.DEVNULL, "
        "cwd=tempfile.mkdtemp())"
    )
    costs = side_by_side(
        {
            "fickling --check-safety": Program(
                "import subprocess, sys, tempfile",
                run.format("'fickling', '--check-safety'", str(path)),
                peer=True,
            ),
            "picklescan": Program(
                "import subprocess, sys, tempfile",
                run.format("'picklescan', '-p'", str(path)),
                peer=True,
            ),
            "`treeaudit scan`, whole audit": (
                "import subprocess, sys, tempfile",
                run.format("'treeaudit', 'scan'", str(path)),
            ),
            "`import numpy`": ("", "import numpy"),
        },
        size.runs,
    )
    note = f"A tree of {path.stat().st_size / 1e3:.1f} kB, as typed. Peers: is it safe to load?"
    bounds = {"`treeaudit scan`, whole audit": Bound(process=0.5)}
    return table("A small file", note, costs, "fickling --check-safety", bounds)


def _reading(files: dict[str, Path], size: Size) -> list[str]:
    lines = []
    most = {"tree": 4.0, "forest": 4.0, "small trees": 10.0}
    paths = files | {
        "small trees pickle": many_trees(files["tree pickle"].parent, size.small_trees)
    }
    for name, path in paths.items():
        kind, _, form = name.rpartition(" ")
        start, load = (
            ("import joblib, sklearn.ensemble", "joblib.load(path)")
            if form == "joblib"
            else (
                "import pickle, sklearn.ensemble",
                "with open(path, 'rb') as file: pickle.load(file)",
            )
        )
        whole = (
            "forest = treeaudit.readers.load(path)\n"
            "for tree in forest.trees: pass\n"
            "forest.source.sha256"
        )
        start, ours = f"{start}; path = {str(path)!r}", "all of it read"
        costs = side_by_side(
            {
                f"{form}.load": (start, load),
                f"{form}.load, SHA-256": (
                    start,
                    f"import hashlib\n{load}\n"
                    "with open(path, 'rb') as file: hashlib.file_digest(file, 'sha256')",
                ),
                f"treeaudit: {ours}": (
                    f"import treeaudit.readers; path = {str(_small(files))!r}\n{whole}\n"
                    f"path = {str(path)!r}",
                    whole,
                ),
            },
            size.runs,
        )
        note = (
            f"{path.stat().st_size / 1e6:,.0f} MB. *{ours.capitalize()}*: every byte accounted "
            "for, the SHA-256 of the file, and every tree built and checked."
        )
        bound = {f"treeaudit: {ours}": Bound(ratio=most[kind])}
        lines += table(f"Reading a {kind} ({form})", note, costs, f"{form}.load", bound)
    return lines


def _scanning(files: dict[str, Path], size: Size) -> list[str]:
    lines = []
    bounds = {
        "tree": Bound(),
        "forest": Bound(process_ratio=2),
    }
    for kind, bound in bounds.items():
        path, small = str(files[f"{kind} pickle"]), str(_small(files))
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
                "SACRO-ML, structural attack": _sacro(path, size.rows),
                "treeaudit.scan": (
                    f"import treeaudit as ta; ta.scan({small!r}); path = {path!r}",
                    "report = ta.scan(path)",
                ),
                "treeaudit.scan, JSON and HTML": (
                    "import treeaudit as ta; from treeaudit.reports.formats import render\n"
                    f"render(ta.scan({small!r}), 'html'); path = {path!r}",
                    "report = ta.scan(path); render(report, 'json'); render(report, 'html')",
                ),
            },
            size.runs if kind == "tree" else 1,
        )
        note = (
            "SACRO-ML needs the training rows, which it is handed in memory; treeaudit reads the "
            "file alone." + (" One run." if kind == "forest" else "")
        )
        held = {"treeaudit.scan": bound}
        lines += table(f"Scanning a {kind}", note, costs, next(iter(costs)), held)
    return lines


def _sacro(path: str, rows: int) -> Program:
    return Program(
        "import logging, pickle, tempfile, warnings; warnings.simplefilter('ignore')\n"
        "from benchmarks.models import data\n"
        "from sacroml.attacks.structural_attack import StructuralAttack\n"
        "from sacroml.attacks.target import Target\n"
        "logging.disable(logging.CRITICAL)\n"
        f"path, (x, y) = {path!r}, data({rows}); n = len(x) // 4",
        "model = pickle.load(open(path, 'rb'))\n"
        "target = Target(model=model, X_train=x, y_train=y, X_test=x[:n], y_test=y[:n])\n"
        "StructuralAttack(output_dir=tempfile.mkdtemp(), write_report=False).attack(target)",
        peer=True,
    )


def _many_files(files: dict[str, Path], size: Size) -> list[str]:
    folder = many_files(files["tree pickle"].parent, size.files)
    costs = side_by_side(
        {
            "pickle.load of each, one process": (
                f"import pickle, sklearn.tree, pathlib; folder = pathlib.Path({str(folder)!r})",
                "for path in folder.glob('*/*.pkl'): pickle.loads(path.read_bytes())",
            ),
            "`treeaudit scan FOLDER --jobs 2`": (
                "import subprocess, sys",
                "subprocess.run([sys.executable, '-m', 'treeaudit', 'scan', "
                f"{str(folder)!r}, '--jobs', '2', '-q'], stdout=subprocess.DEVNULL)",
            ),
        },
        size.runs if size.files < 1_000 else 1,
    )
    note = (
        f"{size.files:,} trees of depth 3 to 6, three damaged files and one that would run code, "
        "which the floor leaves out."
    )
    most = Bound(process=0.06 * size.files) if size.files >= 200 else Bound()
    bound = {"`treeaudit scan FOLDER --jobs 2`": most}
    return table("Many files", note, costs, "pickle.load of each, one process", bound)


def _measures(files: dict[str, Path], size: Size) -> list[str]:
    """k, l and t of a tree's table, against pyCANON on the same table person by person."""
    rows = 4_000
    setup = (
        "import numpy as np, pandas as pd, treeaudit as ta\n"
        "from benchmarks.models import data\n"
        "from sklearn.tree import DecisionTreeClassifier\n"
        "measured = lambda groups: (groups.size.min(), groups.labels.trees[0])\n"
        "small = DecisionTreeClassifier(max_depth=3).fit(*data(90))\n"
        "measured(ta.reconstruct(ta.load(small)).groups)\n"
        f"model = ta.load(DecisionTreeClassifier(random_state=0).fit(*data({rows})))\n"
    )
    ours = "measured(ta.reconstruct(model).groups)"
    theirs = (
        "k = anonymity.k_anonymity(frame, names), anonymity.l_diversity(frame, names, ['label'])\n"
        "t = anonymity.t_closeness(frame, names, ['label'])"
    )
    frame = (
        "from pycanon import anonymity\n"
        "frame = ta.reconstruct(model).expand(); names = model.schema.names"
    )
    costs = side_by_side(
        {
            "pyCANON: k, l, t": Program(setup + frame, theirs, peer=True),
            "treeaudit: k, l, t, entropy-l, (c, l)": (setup, ours),
        },
        size.runs,
    )
    note = f"The table of an unlimited tree on {rows:,} rows."
    bounds = {"treeaudit: k, l, t, entropy-l, (c, l)": Bound(ratio=1)}
    return table("Group measures", note, costs, "pyCANON: k, l, t", bounds)


if __name__ == "__main__":
    main()
