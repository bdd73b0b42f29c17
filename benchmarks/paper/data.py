"""Nursery, Loan and Adult as the paper's numbers say that they were coded.

The tables are read from the folder that ``TREEAUDIT_DATA`` names; nothing of
them is kept.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = ["People", "folder", "read"]

_ADULT_TEST = slice(32561, None)
_ADULT_TRAIN = slice(None, 32561)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class People:
    """A data set, all of it.

    Attributes
    ----------
    features
        All columns that the printed numbers were made with, as numbers.
    numbering
        Those of them that number the rows: no features, and leaks of their own.
    labels
        Shape ``(n_people,)``.
    emptied
        What a node answers whose counts were emptied; see `printed_rules`.
    spared
        Column that one candidate for the printed Method 1 does not empty, or empty.
    by_position
        Whether the printed Method 2 removed nodes by their position; see `printed_rules`.
    n_seeds
        How many tree seeds are tried for ties.
    """

    features: pd.DataFrame
    numbering: tuple[str, ...]
    labels: npt.NDArray[np.object_]
    emptied: str
    spared: str = ""
    by_position: bool = False
    n_seeds: int = 5


def folder() -> Path:
    """Return the folder that holds the tables.

    Raises
    ------
    SystemExit
        If ``TREEAUDIT_DATA`` does not name one.
    """
    name = os.environ.get("TREEAUDIT_DATA", "")
    if not name or not Path(name).is_dir():
        raise SystemExit(
            "TREEAUDIT_DATA does not name a folder with nursery.csv.gz, loan.csv.gz, adult.csv.gz"
        )
    return Path(name)


def read(name: str) -> People:
    """Read one of the three data sets."""
    return {"nursery": _nursery, "loan": _loan, "adult": _adult}[name]()


def _table(name: str) -> pd.DataFrame:
    return pd.read_csv(folder() / f"{name}.csv.gz", dtype=str, keep_default_na=False)


def _nursery() -> People:
    """Code the values 0, 1, 2, … in their documented order, in which they first appear."""
    table = _table("nursery")
    features = table.drop(columns="class").apply(lambda column: pd.factorize(column)[0])
    # That nodes answer spec_prior is read off the printed accuracies: no other class fits.
    labels = table["class"].to_numpy(object)
    return People(features=features, numbering=(), labels=labels, emptied="spec_prior")


def _loan() -> People:
    """Keep all thirteen columns: the printed depth-6 numbers only come out with the ID."""
    table = _table("loan")
    features = table.drop(columns="Personal Loan").astype(float)
    labels = table["Personal Loan"].to_numpy(object)
    # Cheap trees with many ties.
    return People(features=features, numbering=("ID",), labels=labels, emptied="0", n_seeds=20)


def _adult() -> People:
    """Take the test part first, code values alphabetically, and number the rows."""
    table = _table("adult")
    table = pd.concat([table[_ADULT_TEST], table[_ADULT_TRAIN]], ignore_index=True)
    columns = table.drop(columns="income").apply(_number_or_code)
    features = pd.concat([columns, pd.Series(np.arange(len(table)), name="row number")], axis=1)
    return People(
        features=features,
        numbering=("row number",),
        labels=table["income"].to_numpy(object),
        emptied="<=50K",
        spared="capital-gain",
        by_position=True,
    )


def _number_or_code(column: "pd.Series[str]") -> "pd.Series[float]":
    numbers = pd.to_numeric(column, errors="coerce")
    if numbers.notna().all():
        return numbers.astype(float)
    return pd.Series(pd.factorize(column, sort=True)[0], index=column.index, dtype=float)
