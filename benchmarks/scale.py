"""``python -m benchmarks.scale``: how CPU and memory grow, as pictures and exponents.

An exponent is the slope of the least-squares line through the logarithms of size and cost:
1 is linear. Memory is what the peak grows beyond that of a small audit. Ours above 1.1 is a MISS.
"""

import argparse
import pickle
import platform
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from benchmarks.growth import Line, draw
from benchmarks.measure import Cost, Program, side_by_side
from benchmarks.models import data, many_files, many_trees
from benchmarks.sections import RESULTS, commit, replace_section
from benchmarks.synthetic import chain, full, write

__all__ = ["AXES", "exponent"]

_FIGURES = Path(__file__).parent / "figures"
_MOST = 1.1
_OURS = "treeaudit"
_SMALL = 1.0
"""Megabytes and hundredths of a CPU second below which there is nothing to fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What grows, and what is measured along it.

    Attributes
    ----------
    sizes
        From the smallest to the largest, by the size of the run.
    programs
        Gives the programs of one size: ours first, then floors and peers.
    cause
        Why ours grows faster, where it is known to.
    """

    name: str
    sizes: dict[str, tuple[int, ...]]
    programs: Callable[[Path, int], dict[str, Program]]
    cause: str = ""


@dataclass(slots=True)
class _Measured:
    sizes: list[int] = field(default_factory=list)
    costs: list[Cost] = field(default_factory=list)


_WARM = (
    "import treeaudit as ta; from benchmarks.synthetic import full; ta.scan(full(3))\n"
    "import numpy as np, pandas as pd, pickle\n"
)
_FLOOR = (
    "model = pickle.load(open(path, 'rb'))\n"
    "for e in getattr(model, 'estimators_', [model]):\n"
    "    leaf = e.tree_.children_left < 0; n = e.tree_.n_node_samples[leaf]\n"
    "    pure = (e.tree_.value[leaf, 0] > 0).sum(axis=1) == 1\n"
    "    (n == 1).sum(), (n < 5).sum(), n[pure].sum()"
)
_SACRO = (
    "import logging, pickle, tempfile, warnings; warnings.simplefilter('ignore')\n"
    "import numpy as np\n"
    "from sacroml.attacks.structural_attack import StructuralAttack\n"
    "from sacroml.attacks.target import Target\n"
    "logging.disable(logging.CRITICAL)\n"
    "def attack(model, x, y):\n"
    "    n = len(x) // 4\n"
    "    target = Target(model=model, X_train=x, y_train=y, X_test=x[:n], y_test=y[:n])\n"
    "    StructuralAttack(output_dir=tempfile.mkdtemp(), write_report=False).attack(target)\n"
)


def _of_file(path: Path, code: str = "ta.scan(path)") -> dict[str, Program]:
    setup = f"{_WARM}path = {str(path)!r}"
    return {_OURS: Program(setup, code), "load, count by numpy": Program(setup, _FLOOR)}


def _leaves(folder: Path, n: int) -> dict[str, Program]:
    depth = n.bit_length() - 1
    path = write(folder, f"full-{depth}", full(depth))
    rows = f"x = np.random.default_rng(0).random(({4 * n}, {depth}), dtype=np.float32)"
    setup = f"{_SACRO}{rows}\nmodel = pickle.load(open({str(path)!r}, 'rb'))\ny = model.predict(x)"
    programs = _of_file(path)
    if n <= 1 << 16:
        programs["SACRO-ML, 4 rows a leaf"] = Program(setup, "attack(model, x, y)", peer=True)
    if n <= 1 << 16:
        frame = (
            f"{_WARM}from pycanon import anonymity; model = ta.load({str(path)!r})\n"
            "frame = ta.reconstruct(model).expand(); names = model.schema.names"
        )
        kl = "anonymity.k_anonymity(frame, names); anonymity.l_diversity(frame, names, ['label'])"
        programs["pyCANON, k and l"] = Program(frame, kl, peer=True)
    return programs


def _trees(folder: Path, n: int) -> dict[str, Program]:
    return _of_file(many_trees(folder, n))


def _files(folder: Path, n: int) -> dict[str, Program]:
    inside = str(many_files(folder, n))
    run = "subprocess.run([sys.executable, '-m', 'treeaudit', 'scan', {!r}, '-q'])"
    load = "for path in pathlib.Path({!r}).glob('*/*.pkl'): pickle.loads(path.read_bytes())"
    return {
        _OURS: Program("import subprocess, sys", run.format(inside)),
        "pickle.load": Program("import pathlib, pickle, sklearn.tree", load.format(inside)),
    }


def _rows(folder: Path, n: int) -> dict[str, Program]:
    x, y = data(n)
    names = [f"x{i}" for i in range(14)]
    model = DecisionTreeClassifier(max_depth=8, random_state=0)
    model.fit(pd.DataFrame(x[:40_000], columns=names), y[:40_000])
    path, people = write(folder, "depth-8", model), folder / f"people-{n}.parquet"
    pd.DataFrame(x, columns=names).assign(label=y).to_parquet(people)
    setup = f"{_WARM}import sklearn.tree; path, people = {str(path)!r}, {str(people)!r}"
    apply = (
        "frame = pd.read_parquet(people); model = pickle.load(open(path, 'rb'))\n"
        "model.apply(frame.drop(columns='label'))"
    )
    return {
        _OURS: Program(setup, "ta.scan(path, test=people, target='label')"),
        "read_parquet, apply": Program(setup, apply),
    }


def _columns(folder: Path, n: int) -> dict[str, Program]:
    rng, rows = np.random.default_rng(0), 20_000
    frame = pd.DataFrame({"city": rng.integers(0, n, rows), "age": rng.integers(18, 90, rows)})
    frame["city"] = "c" + frame.city.astype(str)
    frame["label"] = rng.integers(0, 2, rows)
    every = pd.DataFrame({"city": [f"c{i}" for i in range(n)], "age": 30, "label": 0})
    some = pd.concat([every, frame.head(2_000)])
    coded = pd.get_dummies(some.drop(columns="label")).astype("float32")
    model = DecisionTreeClassifier(max_depth=6, random_state=0).fit(coded, some.label)
    path, people = write(folder, f"one-hot-{n}", model), folder / f"one-hot-{n}.pickle"
    people.write_bytes(pickle.dumps(frame))
    setup = (
        f"{_WARM}import sklearn.tree; path = {str(path)!r}\n"
        f"frame = pickle.load(open({str(people)!r}, 'rb'))"
    )
    ours = "ta.scan(path, test=frame, target='label', attacks=[], policy='observe')"
    theirs = (
        "model = pickle.load(open(path, 'rb'))\n"
        "coded = pd.get_dummies(frame.drop(columns='label')).astype('float32')\n"
        "model.apply(coded.reindex(columns=model.feature_names_in_, fill_value=0))"
    )
    return {_OURS: Program(setup, ours), "get_dummies, apply": Program(setup, theirs)}


def _classes(folder: Path, n: int) -> dict[str, Program]:
    return _of_file(write(folder, f"classes-{n}", full(12, classes=n)))


def _depth(folder: Path, n: int) -> dict[str, Program]:
    return _of_file(write(folder, f"chain-{n}", chain(n)))


def _sizes(first: int, factor: int, moderate: int, full: int) -> dict[str, tuple[int, ...]]:
    """Return a geometric row of sizes: three of them, some, or all."""
    times = {"quick": 3, "moderate": moderate, "full": full}
    return {name: tuple(first * factor**i for i in range(n)) for name, n in times.items()}


AXES: tuple[Axis, ...] = (
    Axis(name="leaves", sizes=_sizes(1 << 12, 4, 4, 5), programs=_leaves),
    Axis(name="trees", sizes=_sizes(250, 3, 4, 5), programs=_trees),
    Axis(name="files", sizes=_sizes(50, 3, 3, 4), programs=_files),
    Axis(name="rows", sizes=_sizes(50_000, 3, 3, 5), programs=_rows),
    Axis(name="columns", sizes=_sizes(20, 3, 4, 5), programs=_columns),
    Axis(name="classes", sizes=_sizes(16, 4, 4, 4), programs=_classes),
    Axis(name="depth", sizes=_sizes(1_000, 4, 4, 5), programs=_depth),
)
"""What grows, in the order of the figure."""


def exponent(sizes: Sequence[int], costs: Sequence[float]) -> float | None:
    """Return the slope of the line through the logarithms; None where there is nothing to fit.

    Examples
    --------
    >>> round(exponent([1, 10, 100], [2.0, 200.0, 20_000.0]), 3)
    2.0
    """
    kept = [(size, cost) for size, cost in zip(sizes, costs, strict=True) if cost > 0]
    if len(kept) < 2:
        return None
    x, y = np.log(np.array(kept)).T
    return float(np.polyfit(x, y, 1)[0])


def main() -> None:
    """Measure along every axis, draw, and write a section of the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=("quick", "moderate", "full"), default="moderate")
    parser.add_argument("--only", action="append", choices=[axis.name for axis in AXES])
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    lines = _heading(options.size, options.runs)
    pictures: dict[str, tuple[list[Line], list[Line]]] = {}
    with tempfile.TemporaryDirectory() as name:
        small = write(Path(name), "small", full(3))
        idle = side_by_side({"": (f"{_WARM}path = {str(small)!r}", "ta.scan(path)")}, 1)[""]
        for axis in AXES:
            if options.only and axis.name not in options.only:
                continue
            found = _along(axis, Path(name), axis.sizes[options.size], options.runs)
            rows, pictures[axis.name] = _told(axis, found, idle)
            print("\n".join(rows), flush=True)
            lines += rows
    if options.size == "quick" or options.only:
        return
    _FIGURES.mkdir(exist_ok=True)
    for number, (name, what) in enumerate((("cpu", "CPU seconds"), ("memory", "MB"))):
        panels = {axis: both[number] for axis, both in pictures.items()}
        (_FIGURES / f"scale-{name}.svg").write_text(draw(panels, what), encoding="utf-8")
    document = RESULTS.read_text(encoding="utf-8") if RESULTS.is_file() else ""
    RESULTS.write_text(replace_section(document, "scale", "\n".join(lines)), encoding="utf-8")


def _heading(size: str, runs: int) -> list[str]:
    return [
        "# How cost grows",
        "",
        f"Written by `make scale` (commit {commit()}), {size} sizes, {runs} "
        f"run{'s' * (runs > 1)} each. An exponent is the slope of the least-squares line through "
        "the logarithms of size and cost: 1 is "
        "linear (*last step*: through the two largest alone). CPU is that of the call, imports "
        "left out (files: of the whole command, its start left in); memory is what the peak "
        f"grows beyond that of a small audit. Ours above {_MOST:g} is a **MISS**. Python "
        f"{platform.python_version()}, {platform.machine()}. What follows for 10⁹ rows and 10⁶ "
        "models: [docs/scale.md](../docs/scale.md).",
        "",
        "![CPU seconds](figures/scale-cpu.svg)",
        "",
        "![Memory](figures/scale-memory.svg)",
        "",
        "| along | what | sizes | CPU-s | exponent | last step | MB | exponent | |",
        "|---|---|---|---|---:|---:|---|---:|---|",
    ]


def _along(axis: Axis, folder: Path, sizes: Sequence[int], runs: int) -> dict[str, _Measured]:
    found: dict[str, _Measured] = {}
    for size in sizes:
        costs = side_by_side(axis.programs(folder, size), runs, warm_up=runs > 1)
        for name, cost in costs.items():
            one = found.setdefault(name, _Measured())
            one.sizes.append(size)
            one.costs.append(cost)
    return found


def _told(
    axis: Axis, found: dict[str, _Measured], idle: Cost
) -> tuple[list[str], tuple[list[Line], list[Line]]]:
    rows, cpu, memory = [], [], []
    for name, one in found.items():
        if failed := next((cost.failed for cost in one.costs if cost.failed), ""):
            rows.append(f"| {axis.name} | {name} | | FAILED: {failed[:120]} | | | | | |")
            continue
        spent = [cost.call for cost in one.costs]
        peaks = [cost.peak for cost in one.costs]
        grown = [peak - idle.peak for peak in peaks]
        slopes = (
            exponent(one.sizes, spent),
            exponent(one.sizes, [mb if mb > _SMALL else 0.0 for mb in grown]),
        )
        # What is paid once hides growth from the line through all sizes, not from the last step.
        last = exponent(one.sizes[-2:], spent[-2:])
        held = [slope for slope in (*slopes, last) if slope is not None]
        missed = name == _OURS and max(held, default=0) > _MOST
        note = "**MISS**" + (f": {axis.cause}" if axis.cause else "") if missed else ""
        rows.append(
            f"| {axis.name} | {name} | {one.sizes[0]:,} – {one.sizes[-1]:,} | "
            f"{spent[0]:.3f} – {spent[-1]:.3f} | {_shown(slopes[0])} | {_shown(last)} | "
            f"{peaks[0]:,.0f} – {peaks[-1]:,.0f} | {_shown(slopes[1])} | {note} |"
        )
        ours = name == _OURS
        cpu.append(Line(name, one.sizes, spent, slopes[0], ours))
        memory.append(Line(name, one.sizes, peaks, slopes[1], ours))
    return rows, (cpu, memory)


def _shown(slope: float | None) -> str:
    return "flat" if slope is None else f"{slope:.2f}"


if __name__ == "__main__":
    main()
