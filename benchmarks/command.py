"""``python -m benchmarks.command``: what the user waits for, as it is typed, cold.

Every command runs in processes of its own, in turn with what it is held against;
CPU seconds of the whole process, medians, ratios within one run. A bound that is
not kept is marked MISS. treeaudit and fickling are installed as their users install
them, each into an environment of its own.
"""

import argparse
import copy
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import side_by_side
from benchmarks.sections import RESULTS, replace_section

ROOT = Path(__file__).resolve().parents[1]
ROWS = 400_000
COUNT = (
    "import pickle, sklearn.ensemble\n"
    "with open({path!r}, 'rb') as file: model = pickle.load(file)\n"
    "for e in getattr(model, 'estimators_', [model]):\n"
    "    n = e.tree_.n_node_samples[e.tree_.children_left < 0]; (n == 1).sum(), (n < 5).sum()\n"
)
READ = (
    "forest = treeaudit.readers.load(path); forest.source.sha256; [t.n_nodes for t in forest.trees]"
)
OWN = {
    "xgboost": ("import xgboost", "xgboost.Booster(model_file=path)"),
    "lightgbm": ("import lightgbm", "lightgbm.Booster(model_file=path)"),
    "catboost": ("import catboost", "catboost.CatBoost().load_model(path, format='json')"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What is measured: a command, or a program; and how much it may cost.

    Attributes
    ----------
    words
        The command line.
    ratio
        Times the cost of the first row, at most.
    cpu, peak
        CPU seconds and megabytes at most.
    """

    words: list[str]
    ratio: float | None = None
    cpu: float | None = None
    peak: float | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds of a process with its own, and megabytes."""

    cpu: float
    peak: float


def once(words: list[str]) -> Cost:
    """Run a command, its output thrown away."""
    null = os.open(os.devnull, os.O_WRONLY)
    to = [(os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)]
    _, _, used = os.wait4(os.posix_spawnp(words[0], words, os.environ, file_actions=to), 0)
    os.close(null)
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def table(title: str, rows: dict[str, Row], runs: int) -> list[str]:
    """Measure some rows in turn, the first being what the others are held against."""
    found: dict[str, list[Cost]] = {name: [] for name in rows}
    for turn in range(runs + (runs > 1)):
        for name, row in rows.items():
            cost = once(row.words)
            if turn or runs == 1:
                found[name].append(cost)
    lines = [
        "",
        f"## {title}",
        "",
        "| | CPU-s | peak MB | ratio | bound |",
        "|---|---:|---:|---:|---|",
    ]
    base = statistics.median(one.cpu for one in found[next(iter(rows))])
    for name, row in rows.items():
        cpu = statistics.median(one.cpu for one in found[name])
        peak = statistics.median(one.peak for one in found[name])
        kept = (
            ("{:g} ×", row.ratio, cpu / base),
            ("{:g} CPU-s", row.cpu, cpu),
            ("{:,.0f} MB", row.peak, peak),
        )
        told = "; ".join(
            form.format(most) + ("" if measured <= most else " **MISS**")
            for form, most, measured in kept
            if most is not None
        )
        lines.append(f"| {name} | {cpu:.3f} | {peak:,.0f} | {cpu / base:.2f} | {told} |")
    return lines


def reading(
    title: str, theirs: tuple[str, str], path: Path, small: Path, most: float, runs: int
) -> list[str]:
    """Measure reading beside the loader of the library, imports of both left out.

    Ours are there once a small file of the format was read.
    """
    at = f"; path = {str(path)!r}"
    warm = f"; treeaudit.readers.load({str(small)!r}).source.sha256"
    costs = side_by_side(
        {
            "theirs": (theirs[0] + at, theirs[1]),
            "ours": (f"import treeaudit.readers{at}{warm}", READ),
        },
        runs,
    )
    theirs_cpu, ours = (costs[name].call for name in ("theirs", "ours"))
    told = f"{most:g} ×" + ("" if ours <= most * theirs_cpu else " **MISS**")
    return [f"| {title} | {theirs_cpu:.3f} | {ours:.3f} | {ours / theirs_cpu:.2f} | {told} |"]


def models(folder: Path) -> dict[str, Path]:
    """Return the files, made once: trained trees, and forests of copies of them."""
    files = {name: folder / f"{name}.pkl" for name in ("small", "tree", "forest", "many")}
    if all(path.is_file() for path in files.values()):
        return files
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    from benchmarks.models import data

    folder.mkdir(parents=True, exist_ok=True)
    x, y = load_breast_cancer(return_X_y=True)
    files["small"].write_bytes(
        pickle.dumps(DecisionTreeClassifier(max_depth=5, random_state=0).fit(x, y), protocol=5)
    )
    many = RandomForestClassifier(100, max_depth=5, random_state=0).fit(x, y)
    many.estimators_ = [copy.deepcopy(many.estimators_[i % 100]) for i in range(10_000)]
    many.n_estimators = 10_000
    files["many"].write_bytes(pickle.dumps(many, protocol=5))
    x, y = data(ROWS)
    tree = DecisionTreeClassifier(random_state=0).fit(x, y)
    files["tree"].write_bytes(pickle.dumps(tree, protocol=5))
    forest = RandomForestClassifier(1, max_depth=2, random_state=0).fit(x, y)
    forest.estimators_ = [copy.deepcopy(tree) for _ in range(100)]
    forest.n_estimators = 100
    files["forest"].write_bytes(pickle.dumps(forest, protocol=5))
    return files


def boosters(folder: Path) -> dict[str, tuple[Path, Path]]:
    """Return of each format a model of 1,000 trees, and one of 10."""
    formats = {
        "xgboost": "xgboost.json",
        "xgboost, UBJSON": "xgboost.ubj",
        "lightgbm": "lightgbm.txt",
        "catboost": "catboost.json",
    }
    files = {key: (folder / name, folder / f"small-{name}") for key, name in formats.items()}
    if all(path.is_file() for pair in files.values() for path in pair):
        return files
    import catboost
    import lightgbm
    import xgboost

    from benchmarks.models import data

    x, y = data(4_000)
    quiet = {"verbose": 0, "allow_writing_files": False}
    for i, n in enumerate((1000, 10)):
        made = xgboost.XGBClassifier(n_estimators=n, max_depth=5).fit(x, y)
        made.save_model(files["xgboost"][i])
        made.save_model(files["xgboost, UBJSON"][i])
        made = lightgbm.LGBMClassifier(n_estimators=n, num_leaves=15, verbose=-1).fit(x, y)
        made.booster_.save_model(files["lightgbm"][i])
        made = catboost.CatBoostClassifier(iterations=n, depth=5, **quiet).fit(x, y)
        made.save_model(str(files["catboost"][i]), format="json")
    return files


def installed(home: Path, *packages: str) -> Path:
    """Install packages into an environment of its own; return the folder of its programs."""
    if not (home / "bin" / "pip").is_file():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    pip = [str(home / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *packages], check=True)
    return home / "bin"


def own(home: Path) -> Path:
    """Install treeaudit as it is now; return the folder of its programs."""
    installed(home, f"{ROOT}[parquet]")
    return installed(home, "--force-reinstall", "--no-deps", str(ROOT))


def main() -> None:
    """Measure everything in one run, and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "treeaudit-commands"
    )
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    # What trains them is large, and the peak of a process begins with that of its parent.
    make = "from benchmarks.command import boosters, models, Path\n"
    make += f"folder = Path({str(options.folder)!r}); models(folder), boosters(folder)"
    subprocess.run([sys.executable, "-c", make], check=True)
    files = models(options.folder)
    os.chdir(options.folder)  # fickling leaves a file where it runs
    programs = own(options.folder / "treeaudit")
    fickling = installed(options.folder / "fickling", "fickling", "typing_extensions") / "fickling"
    python, treeaudit = str(programs / "python"), str(programs / "treeaudit")
    scan = [treeaudit, "scan"]
    small, tree, forest = (str(files[name]) for name in ("small", "tree", "forest"))
    out = str(options.folder / "table")
    numpy = Row(words=[python, "-c", "import numpy"])
    lines = [
        "# What the user waits for",
        "",
        "Written by `python -m benchmarks.command`: cold commands as they are typed, installed "
        "with pip into an environment of their own, output thrown away, CPU seconds of the whole "
        "process; the first row of a table is what the others are held against, in turn, medians "
        f"of {options.runs}. The forest is 100 copies of the tree on {ROWS:,} rows; the seconds "
        "that `--seconds` gives its reconstruction are in it.",
        *table(
            "Start",
            {
                "`import numpy`": numpy,
                "`treeaudit --help`": Row(words=[treeaudit, "--help"], ratio=1.2),
                "`treeaudit scan small.pkl`": Row(words=[*scan, small], ratio=2),
                "`treeaudit scan small.pkl --quiet`": Row(words=[*scan, small, "-q"], ratio=2),
                "`treeaudit scan small.pkl --fix`": Row(words=[*scan, small, "--fix"]),
            },
            options.runs,
        ),
        *table(
            "Is the file safe",
            {
                "`fickling --check-safety small.pkl`": Row(
                    words=[str(fickling), "--check-safety", small]
                ),
                "`treeaudit scan small.pkl`": Row(words=[*scan, small], ratio=3),
            },
            options.runs,
        ),
        *table(
            "One tree, 71,515 leaves",
            {
                "`treeaudit.scan`": Row(
                    words=[python, "-c", f"import treeaudit; treeaudit.scan({tree!r})"]
                ),
                "`treeaudit scan tree.pkl`": Row(words=[*scan, tree], ratio=1.5),
                "`treeaudit scan tree.pkl --fix`": Row(words=[*scan, tree, "--fix"]),
                "`treeaudit reconstruct tree.pkl -o table.csv`": Row(
                    words=[treeaudit, "reconstruct", tree, "--force", "-o", f"{out}.csv"]
                ),
            },
            options.runs,
        ),
        *table(
            "Forest, 7,151,500 leaves, 1.1 GB",
            {
                "loading and counting": Row(words=[python, "-c", COUNT.format(path=forest)]),
                "`treeaudit scan forest.pkl`": Row(words=[*scan, forest], ratio=2, cpu=9),
                "`treeaudit reconstruct forest.pkl -o table.parquet`": Row(
                    words=[treeaudit, "reconstruct", forest, "--force", "-o", f"{out}.parquet"],
                    cpu=60,
                    peak=1500,
                ),
            },
            1,
        ),
        *["", "## Reading", "", "Of both the call alone, imports warm; ours with the SHA-256 and"],
        "every check, all trees built.",
        *["", "| | theirs, CPU-s | ours, CPU-s | ratio | bound |", "|---|---:|---:|---:|---|"],
    ]
    theirs = ("import pickle, sklearn.ensemble", "with open(path, 'rb') as file: pickle.load(file)")
    for title, name, most in (
        ("one tree, 11 MB", "tree", 2),
        ("forest, 1.1 GB", "forest", 1.3),
        ("10,000 small trees, 28 MB", "many", 2.5),
    ):
        runs = 1 if name == "forest" else options.runs
        lines += reading(title, theirs, files[name], files["small"], most, runs)
    for name, (path, few) in boosters(options.folder).items():
        library = OWN[name.partition(",")[0]]
        lines += reading(f"{name}, 1,000 trees", library, path, few, 4, options.runs)
    text = "\n".join(lines)
    print(text)
    document = RESULTS.read_text(encoding="utf-8") if RESULTS.is_file() else ""
    RESULTS.write_text(replace_section(document, "commands", text), encoding="utf-8")


if __name__ == "__main__":
    main()
