"""``python -m benchmarks.people``: what it costs to read people, and tables past memory.

Tables are made once into a folder that is kept. Everything in a table was measured in one run, in
turn; a figure over its bound is marked. ``--cluster PYTHON`` names an interpreter with Dask and Ray
beside treeaudit, for the rows of clusters: that of the peers unless told.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import PEERS
from benchmarks.sections import RESULTS, replace_section

_WATCH = """
import json, os, resource, subprocess, sys, threading, time

def tree(root):
    kids, cpu, peak = {}, {}, {}
    for one in os.listdir("/proc"):
        if one.isdigit():
            try:
                stat = open(f"/proc/{one}/stat").read().rpartition(")")[2].split()
                kids.setdefault(int(stat[1]), []).append(int(one))
                cpu[int(one)] = (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
                for line in open(f"/proc/{one}/status"):
                    if line.startswith("VmHWM"):
                        peak[int(one)] = int(line.split()[1]) / 1024
            except OSError:
                pass
    found, todo = [], [root]
    while todo:
        here = todo.pop()
        found.append(here)
        todo += kids.get(here, [])
    return {p: (cpu[p], peak.get(p, 0.0)) for p in found if p in cpu}

begun = time.perf_counter()
program = subprocess.Popen(json.loads(sys.argv[1]), stdout=subprocess.PIPE, text=True)
seen, over = {}, threading.Event()

def watch():
    while not over.wait(0.05):
        for p, (cpu, peak) in tree(program.pid).items():
            before = seen.get(p, (0, 0))
            seen[p] = (max(cpu, before[0]), max(peak, before[1]))

threading.Thread(target=watch, daemon=True).start()
said = program.communicate()[0]
wall = time.perf_counter() - begun
over.set()
used = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu = max(sum(c for c, _ in seen.values()), used.ru_utime + used.ru_stime)
print(json.dumps([cpu, max(m for _, m in seen.values()), wall, said]))
"""
"""Runs a program and prints its CPU seconds with those of its workers, the peak of the largest
of them in MB, its wall seconds and what it said."""

_COUNT = """
import sys, time, numpy as np, treeaudit as ta
from treeaudit.people.streaming import stream_records
from treeaudit.people.input.sources import source_of
if {engine!r} == "dask":
    import joblib; from distributed import Client
    import treeaudit.people.streaming
    client = Client(n_workers=2, threads_per_worker=1, dashboard_address=None)
    joblib.parallel_config("dask")
if {engine!r} == "ray":
    import joblib, ray; from ray.util.joblib import register_ray
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False); register_ray()
    joblib.parallel_config("ray")
model = ta.load({model!r})
if {jobs!r}:
    # The workers of a cluster are there before the question: a small one wakes them.
    stream_records(source_of({small!r}), model, target="y", jobs={jobs!r})
begun = time.perf_counter()
found = stream_records(source_of({table!r}), model, target="y", jobs={jobs!r})
spent, counts = time.perf_counter() - begun, found.whole.counts.ravel()
print(spent, int((counts * np.arange(1, counts.size + 1)).sum()))
"""

_MANY = "20 million rows"
_CLUSTER = str(PEERS) if PEERS.is_file() else sys.executable
_CLUSTERS = {
    "counts, two workers of Dask": "distributed",
    "counts, two workers of Ray": "ray.util.joblib",
}

_TODAY = """
import time, numpy as np, treeaudit as ta
from treeaudit.people.records import read_records
from treeaudit.model.routing import router_of
from treeaudit.people.records import LeafCounts
model = ta.load({model!r})
begun = time.perf_counter()
found = read_records({table!r}, model, target="y")
root = router_of(model.trees, model.schema).root
counts = LeafCounts.of(found.node, found.labels, root, 2).counts
print(time.perf_counter() - begun, int((counts.ravel() * np.arange(1, counts.size + 1)).sum()))
"""

_ONE_HOT = """
import sys, time, numpy as np, pandas as pd, treeaudit as ta
from sklearn.tree import DecisionTreeClassifier
from treeaudit.people.records import read_records
rows, columns = {rows}, {columns}
rng = np.random.default_rng(0)
city = rng.integers(0, columns, rows)
frame = pd.DataFrame({{"city": pd.Series(city).map("c{{}}".format)}})
frame["age"] = rng.integers(18, 90, rows)
y = rng.integers(0, 2, rows)
every = pd.DataFrame({{"city": [f"c{{i}}" for i in range(columns)], "age": 30}})
some = pd.get_dummies(pd.concat([every, frame.head(2000)])).astype("float32")
model = DecisionTreeClassifier(max_depth=6, random_state=0).fit(some, np.r_[y[:columns], y[:2000]])
if {ours}:
    forest = ta.load(model)
    frame["y"] = y
    begun = time.process_time()
    found = read_records(frame, forest, target="y").node
else:
    names = list(some.columns)
    begun = time.process_time()
    table = pd.get_dummies(frame).reindex(columns=names, fill_value=0).astype("float32")
    found = model.apply(table)
print(time.process_time() - begun, int(np.asarray(found).sum()))
"""


def main() -> None:
    """Measure everything in one run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cluster", help="a Python with Dask and Ray", default=_CLUSTER)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, not written")
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "treeaudit-people"
    )
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join(
        [
            "# People at any size",
            "",
            f"Written by `python -m benchmarks.people`: medians of {options.runs} runs in fresh "
            "processes, in turn. CPU seconds are those of the command and all of its workers, MB "
            f"the peak of the largest of them. Python {platform.python_version()}, "
            f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} when it began.",
            *_streamed(options.folder, options.runs, options.cluster, 10 if options.quick else 1),
            *_one_hot(options.runs, 10 if options.quick else 1),
        ]
    )
    print(text)
    if not options.quick:
        document = RESULTS.read_text(encoding="utf-8") if RESULTS.is_file() else ""
        RESULTS.write_text(replace_section(document, "people", text), encoding="utf-8")


def _streamed(folder: Path, runs: int, cluster: str, less: int) -> list[str]:
    model, tables = _made(folder, less)
    scan = [sys.executable, "-m", "treeaudit", "scan", str(model), "--target", "y", "--exit-zero"]
    scan += ["--quiet", "--test"]
    five, twenty = (str(tables[n]) for n in (5, 20))
    small = str(tables[1])

    def count(table: str, jobs: int | None, engine: str = "", python: str = sys.executable) -> list:
        code = _COUNT.format(model=str(model), table=table, small=small, jobs=jobs, engine=engine)
        return [python, "-c", code]

    today = _TODAY.format(model=str(model), table=five)
    programs = {
        "counts, all rows held (before)": [sys.executable, "-c", today],
        "counts, one process": count(five, None),
        "counts, two processes of loky": count(five, 2),
        "counts, two workers of Dask": count(five, 2, "dask", cluster),
        "counts, two workers of Ray": count(five, 2, "ray", cluster),
        "counts, one process, 20 million rows": count(twenty, None),
        "counts, two processes of loky, 20 million rows": count(twenty, 2),
        "counts, two workers of Dask, 20 million rows": count(twenty, 2, "dask", cluster),
        "counts, two workers of Ray, 20 million rows": count(twenty, 2, "ray", cluster),
        "`scan --test`": [*scan, five],
        "`scan --test --jobs 2`": [*scan, five, "--jobs", "2"],
        "`scan --test`, 20 million rows": [*scan, twenty],
        "`scan --test --jobs 2`, 20 million rows": [*scan, twenty, "--jobs", "2"],
    }
    lost = [name for name, module in _CLUSTERS.items() if not _has(cluster, module)]
    absent = [name for name in programs if name.startswith(tuple(lost))]
    found = _costs({name: one for name, one in programs.items() if name not in absent}, runs)
    lines = [
        "",
        "## A table of Parquet, 14 columns, a tree of depth 8",
        "",
        "5 million rows unless told. Bounds: 8 CPU-s and 500 MB a worker for `scan --test` of 5 "
        "million rows, the same memory for 20 million; wall on two workers at most 0.65 of one. "
        "*Counting* is the wall of the counting alone, with the workers awake; the counts of all "
        "rows of this table are the same number, or the run fails.",
        "",
        "| | CPU-s | peak MB | wall s | counting s | of one worker |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    numbers = {
        (_MANY in name, said.split()[1])
        for name, (*_, said) in found.items()
        if name.startswith("counts")
    }
    assert len(numbers) == 2, found
    for name, (cpu, peak, wall, said) in found.items():
        counting = float(said.split()[0]) if name.startswith("counts") else None
        share = ""
        if "two" in name or "jobs 2" in name:
            alone = "counts, one process" if name.startswith("counts") else "`scan --test`"
            base = found[alone + (f", {_MANY}" if _MANY in name else "")]
            here, there = (counting, float(base[3].split()[0])) if counting else (wall, base[2])
            share = _marked(here / there, 0.65)
        whole = name.startswith("`scan")
        lines.append(
            f"| {name} | {_marked(cpu, 8 if whole and _MANY not in name else None)} | "
            f"{_marked(peak, 500 if 'before' not in name else None, 0)} | {wall:.1f} | "
            f"{'' if counting is None else f'{counting:.2f}'} | {share} |"
        )
    return lines + [f"| {name} | not measured: not installed | | | | |" for name in absent]


def _has(python: str, module: str) -> bool:
    return not subprocess.run(
        [python, "-c", f"import {module}, treeaudit"], capture_output=True
    ).returncode


def _one_hot(runs: int, less: int) -> list[str]:
    programs = {}
    for columns in (10, 100):
        for ours in (True, False):
            name = f"{columns} columns, {'treeaudit' if ours else '`get_dummies` and `apply`'}"
            code = _ONE_HOT.format(rows=1_000_000 // less, columns=columns, ours=ours)
            programs[name] = [sys.executable, "-c", code]
    found = _costs(programs, runs)
    lines = [
        "",
        "## A million rows of one-hot columns",
        "",
        "Bounds: 6 CPU-s and 1 GB at 100 columns, three times `get_dummies` and `apply`. The call "
        "without imports; the peak is of the process, which makes the table too.",
        "",
        "| | call, CPU-s | peak MB | ratio |",
        "|---|---:|---:|---:|",
    ]
    for columns in (10, 100):
        theirs = found[f"{columns} columns, `get_dummies` and `apply`"]
        for name in (
            f"{columns} columns, treeaudit",
            f"{columns} columns, `get_dummies` and `apply`",
        ):
            _, peak, _, said = found[name]
            call, ends = said.split()
            assert ends == theirs[3].split()[1], "different leaves"
            ours = "treeaudit" in name
            ratio = float(call) / float(theirs[3].split()[0])
            lines.append(
                f"| {name} | {_marked(float(call), 6 if ours else None)} | "
                f"{_marked(peak, 1000 if ours else None, 0)} | "
                f"{_marked(ratio, 3) if ours else '1'} |"
            )
    return lines


def _marked(value: float, bound: float | None, digits: int = 2) -> str:
    text = f"{value:,.{digits}f}"
    return f"{text} **MISS** ({bound:g})" if bound is not None and value > bound else text


def _costs(programs: dict[str, list[str]], runs: int) -> dict[str, tuple[float, float, float, str]]:
    """Return CPU-s, MB, wall seconds (medians) and the last words of each program, run in turn."""
    figures: dict[str, list[list]] = {name: [] for name in programs}
    for _ in range(runs):
        for name, program in programs.items():
            done = subprocess.run(
                [sys.executable, "-c", _WATCH, json.dumps(program)],
                capture_output=True,
                text=True,
                check=True,
            )
            if not done.stdout.strip() or not json.loads(done.stdout)[3].strip():
                raise RuntimeError(f"{name}: {done.stderr[-2000:]}")
            figures[name].append(json.loads(done.stdout))
            print(name, *figures[name][-1][:3], file=sys.stderr, flush=True)
    found = {}
    for name, rows in figures.items():
        cpu, peak, wall = (statistics.median(row[i] for row in rows) for i in range(3))
        said = sorted((row[3].strip().splitlines()[-1] for row in rows), key=_first)
        found[name] = (cpu, peak, wall, said[len(said) // 2])
    return found


def _first(said: str) -> float:
    try:
        return float(said.split()[0])
    except ValueError:
        return 0.0


def _made(folder: Path, less: int) -> tuple[Path, dict[int, Path]]:
    import joblib
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet
    from sklearn.tree import DecisionTreeClassifier

    names = [f"x{i}" for i in range(14)]
    size = 1_000_000 // less
    model, tables = folder / "model.joblib", {n: folder / f"{n}-{less}.parquet" for n in (1, 5, 20)}
    rng = np.random.default_rng(0)

    def rows() -> "pa.Table":
        x = rng.normal(size=(size, 14)).round(3)
        y = ((x[:, 0] * x[:, 1] + x[:, 2] > 0) ^ (rng.random(size) < 0.1)).astype(np.int64)
        return pa.table({**{name: x[:, i] for i, name in enumerate(names)}, "y": y})

    for n, path in tables.items():
        if not path.exists():
            first = rows()
            with parquet.ParquetWriter(path, first.schema) as writer:
                for i in range(n):
                    writer.write_table(first if i == 0 else rows())
    if not model.exists():
        frame = rows().slice(0, 50_000).to_pandas()
        tree = DecisionTreeClassifier(max_depth=8, random_state=0).fit(frame[names], frame["y"])
        joblib.dump(tree, model)
    return model, tables


if __name__ == "__main__":
    main()
