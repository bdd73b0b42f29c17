"""``python -m benchmarks.private_tables.worker RUNNER TABLE FOLDS SCORES``: measure some cells.

Seed, model and epsilon of the cells come on standard input, as JSON. A cell is written as soon as
it is finished; one that fails is written as failed. It ends with the run that started it.
"""

import json
import os
import sys
import time
import warnings
from pathlib import Path

from benchmarks.private_tables.cells import Cell, Score, keep
from benchmarks.private_tables.folds import Split, split_of
from benchmarks.private_tables.models import RUNNERS, module_of
from benchmarks.private_tables.models.model import Model
from benchmarks.private_tables.scoring import accuracy_and_auc

__all__ = ["main", "measured"]


def main(runner: str, table: str, folds: str, scores: str) -> None:
    """Measure what standard input asks for."""
    warnings.simplefilter("ignore")
    module = module_of(RUNNERS[runner])
    by = module.version()
    last: Split | None = None
    run = os.getppid()
    for seed, name, epsilon in json.load(sys.stdin):
        if os.getppid() != run:
            return
        if last is None or last.seed != seed:
            last = split_of(Path(folds), seed)
        score = measured(module.MODELS[name], last, epsilon, by)
        keep(Path(scores), Cell(table, seed, name, epsilon), score)


def measured(model: Model, split: Split, epsilon: float | None, by: str) -> Score:
    """Fit, answer and score; an error is a result, unless the library is not there."""
    begun = time.process_time()
    try:
        predicted, shares = model.answers(split, epsilon)
        seconds = round(time.process_time() - begun, 3)
        accuracy, auc = accuracy_and_auc(split.truth, predicted, shares)
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a library raises, it gave no model
        failed = f"{type(error).__name__}: {error}"[:300]
        used = round(time.process_time() - begun, 3)
        return Score(accuracy=None, auc=None, seconds=used, by=by, failed=failed)
    return Score(accuracy=round(accuracy, 5), auc=round(auc, 5), seconds=seconds, by=by)


if __name__ == "__main__":
    main(*sys.argv[1:])
