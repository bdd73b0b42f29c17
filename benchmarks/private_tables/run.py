"""Ask workers for the cells that are missing."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from benchmarks.private_tables.cells import EPSILONS, Cell, mend, scores_in
from benchmarks.private_tables.folds import keep_folds
from benchmarks.private_tables.models import RUNNERS, module_of
from benchmarks.private_trees_data import Table, coded, splits

__all__ = ["fold", "measure", "wanted"]

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class _Task:
    """The cells of a table that a runner measures for a seed."""

    runner: str
    table: str
    cells: tuple[Cell, ...]


def fold(table: Table, seeds: int, file: Path) -> int:
    """Write a table and its splits for the workers, and return how many classes it has."""
    features, classes = table.schema.features, table.schema.classes or ()
    X, y = coded(table)
    public = {
        "n_categories": np.array([len(feature.categories or ()) for feature in features]),
        "low": X.min(axis=0),
        "high": X.max(axis=0),
        "n_classes": np.array(len(classes)),
    }
    keep_folds(file, X, y, public, list(splits(table, seeds)))
    return len(classes)


def wanted(n_classes: Mapping[str, int], seeds: int, runners: Iterable[str]) -> list[Cell]:
    """Return every cell, seed by seed: a run that is stopped has whole seeds.

    Parameters
    ----------
    n_classes
        By table, in the order of the run.
    seeds
        How many splits.
    runners
        Whose models.
    """
    models = [m for runner in runners for m in module_of(RUNNERS[runner]).MODELS.items()]
    return [
        Cell(table, seed, name, epsilon)
        for seed in range(seeds)
        for table, classes in n_classes.items()
        for name, model in models
        if model.most_classes is None or classes <= model.most_classes
        for epsilon in (EPSILONS if model.private else (None,))
    ]


def measure(
    cells: Sequence[Cell], pythons: Mapping[str, Path], folds: Path, scores: Path, jobs: int
) -> None:
    """Measure the cells that the file does not have, and add them to it.

    Parameters
    ----------
    cells
        All that is wanted.
    pythons
        Of every runner's environment.
    folds
        Folder with the splits of every table.
    scores
        The file. One run at a time.
    jobs
        Workers at a time.
    """
    mend(scores)
    there = scores_in(scores)
    runner_of = {name: r for r in pythons for name in module_of(RUNNERS[r]).MODELS}
    missing: dict[tuple[int, str, str], list[Cell]] = {}
    for cell in cells:
        if cell not in there:
            key = (cell.seed, cell.table, runner_of[cell.model])
            missing.setdefault(key, []).append(cell)
    tasks = [_Task(runner, table, tuple(c)) for (_, table, runner), c in missing.items()]
    left = sum(len(task.cells) for task in tasks)
    print(f"{len(cells)} cells, {left} to measure", file=sys.stderr)
    begun = time.monotonic()
    done = 0
    # A thread waits for a process: the models run in environments of their own.
    calls = (delayed(_run)(task, pythons[task.runner], folds, scores) for task in tasks)
    for task in Parallel(jobs, prefer="threads", return_as="generator_unordered")(calls):
        done += len(task.cells)
        minutes = (time.monotonic() - begun) / 60
        print(
            f"{task.table}, seed {task.cells[0].seed}, {task.runner}: {left - done} cells left, "
            f"some {minutes / done * (left - done):.0f} minutes",
            file=sys.stderr,
            flush=True,
        )


def _run(task: _Task, python: Path, folds: Path, scores: Path) -> _Task:
    asked = json.dumps([(cell.seed, cell.model, cell.epsilon) for cell in task.cells])
    worker = [python, "-m", "benchmarks.private_tables.worker", task.runner, task.table]
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    subprocess.run(
        [*worker, str(folds / f"{task.table}.npz"), str(scores)],
        input=asked,
        text=True,
        cwd=_ROOT,
        env={**os.environ, **one},
        stdout=sys.stderr,
        check=True,
    )
    return task
