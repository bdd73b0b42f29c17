"""``python -m benchmarks.private_regression``: what privacy costs where a number is predicted.

Needs ``TREEAUDIT_DATA``. Writes a section of ``RESULTS.md``; two CPU minutes.
"""

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import r2_score
from sklearn.tree import DecisionTreeRegressor

from benchmarks.sections import RESULTS, replace_section
from treeaudit.dp.claims import bounded
from treeaudit.dp.curator import Curator
from treeaudit.model.schema import Feature, Schema
from treeaudit.trainers.private_regressors import PrivateForestRegressor, PrivateTreeRegressor
from treeaudit.trainers.training_rows import NUMBERS, STEPS, in_bounds

_TABLES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "diabetes": ("diabetes", "target", ()),
    "magic, fDist": ("magic", "fDist", ()),
    "wall, SD_front": ("wall_following", "SD_front", ()),
    "pendigits, x8": ("pendigits", "x8", ()),
    "adult, hours *": ("adult", "hours-per-week", ()),
    "loan, income *": ("loan", "Income", ("ID", "ZIP Code")),
}
_BUDGETS = (0.1, 0.5, 1.0, 2.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Records without missing values, their numbers and what is public about them."""

    X: pd.DataFrame
    coded: np.ndarray
    y: np.ndarray
    schema: Schema

    def splits(self, seeds: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the rows to train and to test on, 80 to 20."""
        for seed in range(seeds):
            order = np.random.default_rng(seed).permutation(len(self.y))
            n_test = len(order) // 5
            yield order[n_test:], order[:n_test]


def _read(name: str, target: str, without: tuple[str, ...]) -> _Table:
    if name == "diabetes":
        from sklearn.datasets import load_diabetes

        frame = load_diabetes(as_frame=True, scaled=False).frame
    else:
        place = Path(os.environ["TREEAUDIT_DATA"]) / f"{name}.csv.gz"
        frame = pd.read_csv(place, na_values="", keep_default_na=False).dropna()
    frame = frame.reset_index(drop=True).drop(columns=list(without))
    y = frame.pop(target).to_numpy(dtype=float)
    features, coded = [], []
    for column in frame:
        if pd.api.types.is_numeric_dtype(frame[column]):
            frame[column] = frame[column].astype(float)
            low, high = float(frame[column].min()), float(frame[column].max())
            features.append(Feature(name=str(column), low=low, high=high))
            coded.append(frame[column].to_numpy())
        else:
            codes, found = pd.factorize(frame[column], sort=True)
            features.append(Feature(name=str(column), categories=tuple(map(str, found))))
            coded.append(codes.astype(float))
    schema = Schema(
        features=tuple(features),
        target=target,
        target_low=float(y.min()),
        target_high=float(y.max()),
    )
    return _Table(frame, np.column_stack(coded), y, schema)


def _of_trainer(trainer: type[Any], table: _Table, epsilon: float, seeds: int) -> list[float]:
    found = []
    for train, test in table.splits(seeds):
        model = trainer(epsilon=epsilon, schema=table.schema)
        model.fit(table.X.iloc[train], table.y[train])
        ledger = model.privacy_
        exact = sum((q.cost for q in ledger.queries), Fraction(0)) == ledger.budget
        if not exact or ledger.used > ledger.epsilon or not bounded(model.forest_):
            raise AssertionError(f"the ledger of {trainer.__name__} does not add up")
        found.append(float(model.score(table.X.iloc[test], table.y[test])))
    return found


def _of_mean(table: _Table, epsilon: float, seeds: int) -> list[float]:
    """Return how well the mean of all, asked with the whole epsilon, predicts."""
    found = []
    for train, test in table.splits(seeds):
        steps = NUMBERS.code(table.y[train], table.schema, "raise")
        both = [[int(steps.sum()), int((STEPS - steps).sum())]]
        sums = Curator().count("sums", both, Fraction(str(epsilon)), most=STEPS)[0].clip(0)
        mean = in_bounds(sums[:1] / max(1, sums.sum()), table.schema)
        found.append(float(r2_score(table.y[test], np.repeat(mean, len(test)))))
    return found


def _of_plain(table: _Table, depth: int, seeds: int) -> list[float]:
    found = []
    for train, test in table.splits(seeds):
        tree = DecisionTreeRegressor(max_depth=depth, min_samples_leaf=5, random_state=0)
        tree.fit(table.coded[train], table.y[train])
        found.append(float(tree.score(table.coded[test], table.y[test])))
    return found


def _cell(found: list[float]) -> str:
    low, high = np.quantile(found, [0.1, 0.9])
    return f"{median(found):.3f} [{low:.2f}, {high:.2f}]"


def main() -> None:
    """Measure everything in one run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="random splits of every table")
    parser.add_argument("--no-file", action="store_true", help="print only")
    options = parser.parse_args()
    tables = {name: _read(*where) for name, where in _TABLES.items()}
    rows: dict[str, list[str]] = {}
    for epsilon in _BUDGETS:
        for trainer in (PrivateTreeRegressor, PrivateForestRegressor):
            cells = [_of_trainer(trainer, t, epsilon, options.seeds) for t in tables.values()]
            rows[f"{trainer.__name__}, ε {epsilon:g}"] = list(map(_cell, cells))
        cells = [_of_mean(table, epsilon, options.seeds) for table in tables.values()]
        rows[f"private mean, ε {epsilon:g}"] = list(map(_cell, cells))
    for depth in (2, 3, 5, 8):
        cells = [_of_plain(table, depth, options.seeds) for table in tables.values()]
        rows[f"scikit-learn tree of depth {depth}, not private"] = list(map(_cell, cells))
    text = "\n".join(_section(tables, rows, options.seeds))
    print(text)
    if not options.no_file:
        document = RESULTS.read_text(encoding="utf-8") if RESULTS.is_file() else ""
        written = replace_section(document, "private regression", text)
        RESULTS.write_text(written, encoding="utf-8")


def _section(tables: dict[str, _Table], rows: dict[str, list[str]], seeds: int) -> list[str]:
    n_ledgers = len(_BUDGETS) * 2 * len(tables) * seeds
    return [
        "# Private regression",
        "",
        f"Written by `python -m benchmarks.private_regression`. R² on unseen people: medians over "
        f"{seeds} random splits, 80 % to train and 20 % to test, in brackets the 10th and 90th "
        "percentile. Bounds, of the target too, and categories are those of the whole table, taken "
        "as public. Neighbours: add-remove. Defaults were chosen on the two tables with a star "
        "alone. scikit-learn's trees have at least 5 people in a leaf, and see categories as "
        f"numbers. The rows of each of the {n_ledgers} ledgers summed to epsilon exactly, and "
        "`treeaudit.dp.claims` held.",
        "",
        "| | " + " | ".join(tables) + " |",
        "| --- " * (len(tables) + 1) + "|",
        "| records | " + " | ".join(f"{len(table.y):,}" for table in tables.values()) + " |",
        *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items()),
    ]


if __name__ == "__main__":
    main()
