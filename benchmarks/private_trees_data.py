"""The tables of the benchmarks of private trees, with a schema taken as public."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from treeaudit.model.schema import Feature, Schema

__all__ = ["Table", "coded", "read_table", "splits"]

NO_FEATURES = {"loan": ["ID", "ZIP Code"]}


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Records without missing values, their labels and what is public about them."""

    X: pd.DataFrame
    y: np.ndarray
    schema: Schema


def read_table(name: str) -> Table:
    """Read ``$TREEAUDIT_DATA/<name>.csv.gz``; the last column holds the labels.

    A column of numbers is one of categories if it has no more than two.
    """
    place = Path(os.environ["TREEAUDIT_DATA"]) / f"{name}.csv.gz"
    frame = pd.read_csv(place, dtype=str, keep_default_na=False)
    frame = frame[(frame != "").all(axis=1)].reset_index(drop=True)
    labels = frame.iloc[:, -1].to_numpy(dtype=object)
    frame = frame.iloc[:, :-1].drop(columns=NO_FEATURES.get(name, []))
    features = []
    for column in frame:
        numbers = pd.to_numeric(frame[column], errors="coerce")
        if numbers.notna().all() and numbers.nunique() > 2:
            frame[column] = numbers.astype(float)
            low, high = float(numbers.min()), float(numbers.max())
            features.append(Feature(name=str(column), low=low, high=high))
        else:
            categories = tuple(sorted(frame[column].unique()))
            features.append(Feature(name=str(column), categories=categories))
    classes = tuple(sorted(set(labels)))
    return Table(frame, labels, Schema(features=tuple(features), classes=classes))


def coded(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Return a table as numbers: categories and labels by their place in the schema."""
    columns = []
    for feature in table.schema.features:
        values = table.X[feature.name]
        if feature.categories is None:
            columns.append(values.to_numpy(dtype=float))
        else:
            place = {name: float(i) for i, name in enumerate(feature.categories)}
            columns.append(values.map(place).to_numpy(dtype=float))
    place = {label: i for i, label in enumerate(table.schema.classes or ())}
    return np.column_stack(columns), np.array([place[label] for label in table.y])


def splits(table: Table, seeds: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the rows to train and to test on, 80 to 20."""
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(table.y))
        n_test = len(order) // 5
        yield order[n_test:], order[:n_test]
