"""``python -m benchmarks.forests``: whom a forest gives away for certain, and how long it takes.

Tables are those of Ferry et al. (2024), in ``$TREEAUDIT_DATA/forests``. Each line stands beside
what was asked of it; times are seconds of the processor, without training and reading the file.
``python -m benchmarks.likely_forests`` instead measures tables that are likely: from draws without
their seeds, and from noise.
"""

import importlib
import os
import re
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)

from treeaudit.attacks.reconstruction.people import checked_on
from treeaudit.inference.boosted import BoostedSolution, infer_boosted
from treeaudit.inference.exact import Solution, infer_exact
from treeaudit.inference.scope import Budget
from treeaudit.model.forest import Forest
from treeaudit.people.records import read_records
from treeaudit.readers import load

LABELS = {
    "compas": "recidivate-within-two-years:1",
    "adult": "income",
    "default_credit": "DEFAULT_PAYEMENT",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One forest: its table, and the people and seconds that were asked for."""

    name: str
    table: pd.DataFrame
    label: str
    trees: int
    leaf: int
    people: float
    seconds: float


def main() -> None:
    """Print the table."""
    warnings.filterwarnings("ignore")
    print(f"{'forest':44} {'certain':>10} {'exact':>10} {'asked':>10} {'s':>6} {'asked':>6} wrong")
    for line in lines():
        values, labels = line.table.drop(columns=line.label), line.table[line.label]
        model = RandomForestClassifier(
            line.trees, bootstrap=False, min_samples_leaf=line.leaf, random_state=0
        ).fit(values, labels)
        _show(line, load(model))
    compas = pd.read_csv(Path(os.environ["TREEAUDIT_DATA"]) / "forests" / "compas.csv.gz")
    # Libraries refuse some signs in names.
    table = compas.sample(1_000, random_state=0).rename(columns=lambda name: _plain(str(name)))
    for name, model in boosters():
        line = Line(
            name=f"{name} as it comes, compas, 1,000 people", table=table, people=1_000, seconds=15,
            label=_plain(LABELS["compas"]), trees=100, leaf=1,
        )  # fmt: skip
        model.fit(table.drop(columns=line.label), table[line.label])
        _show(line, load(model))


def _show(line: Line, forest: Forest) -> None:
    values, labels = line.table.drop(columns=line.label), line.table[line.label]
    begun, budget = time.process_time(), Budget(seconds=60)
    answer: Solution | BoostedSolution
    if forest.boosting is None:
        answer = infer_exact(forest, budget=budget)
        tables = tuple((one.cell, one.bounds) for one in answer.labels)
    else:
        answer = infer_boosted(forest, budget=budget)
        tables = answer.tables
    seconds = time.process_time() - begun
    train = read_records((values, labels), forest, origin="train")
    checked = checked_on(train, answer.cells, tables)
    print(
        f"{line.name:44} {answer.certified:10,} {answer.exact:10,} {line.people:10,.0f} "
        f"{seconds:6.2f} {line.seconds:6g} {int(checked.wrong)} of {int(checked.cells):,}",
        flush=True,
    )


def boosters() -> Iterator[tuple[str, Any]]:
    """Yield classifiers with the settings that their libraries come with."""
    yield "HistGradientBoosting", HistGradientBoostingClassifier()
    yield "GradientBoosting", GradientBoostingClassifier()
    for library, estimator, silent in (
        ("xgboost", "XGBClassifier", 0),
        ("lightgbm", "LGBMClassifier", -1),
    ):
        try:
            module = importlib.import_module(library)
        except ImportError:
            continue
        yield library, getattr(module, estimator)(n_jobs=1, verbosity=silent)


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name.replace(">", "above").replace("<", "below"))


def lines() -> Iterator[Line]:
    """Yield the forests, one at a time."""
    folder = Path(os.environ["TREEAUDIT_DATA"]) / "forests"
    read = {name: pd.read_csv(folder / f"{name}.csv.gz") for name in LABELS}
    adult, n = read["adult"], len(read["adult"])
    for name, table, leaf, people, seconds in (
        ("adult", adult.sample(500, random_state=0), 1, 480, 0.5),
        ("compas", read["compas"], 1, len(read["compas"]), 0.1),
        ("adult", adult, 1, n, 2),
        ("default_credit", read["default_credit"], 1, len(read["default_credit"]), 2),
        ("adult", adult, 10, 0.88 * n, 20),
    ):
        yield Line(
            name=f"{name}, {len(table):,} people, 100 trees, leaves of {leaf}",
            table=table, label=LABELS[name], trees=100, leaf=leaf, people=people, seconds=seconds,
        )  # fmt: skip
    for size, people, seconds in ((1_000_000, 999_900, 3), (20_000, 14_000, 10)):
        yield Line(
            name=f"like adult, {size:,} people, 20 trees, leaves of 10",
            table=flipped(adult, size), label=LABELS["adult"], trees=20, leaf=10, people=people,
            seconds=seconds,
        )  # fmt: skip
    rng = np.random.default_rng(0)
    base = rng.integers(0, 2, (200, 24))
    values = base[rng.integers(0, 200, 5_000)] ^ (rng.random((5_000, 24)) < 0.05)
    table = pd.DataFrame(values, columns=[f"c{i}" for i in range(24)])
    table["label"] = (values[:, :5].sum(axis=1) + rng.normal(0, 1, 5_000) > 2.5) * 1
    yield Line(
        name="2^24 cells, 5,000 people, 50 trees, leaves of 1",
        table=table, label="label", trees=50, leaf=1, people=5_000, seconds=60,
    )  # fmt: skip


def flipped(table: pd.DataFrame, size: int) -> pd.DataFrame:
    """Draw people from a table, each column but education turned over for 3 % of them."""
    rng = np.random.default_rng(0)
    drawn = table.iloc[rng.integers(0, len(table), size)].reset_index(drop=True)
    for column in table.columns:
        if column != LABELS["adult"] and not column.startswith("education_"):
            drawn[column] ^= rng.random(size) < 0.03
    return drawn


if __name__ == "__main__":
    main()
