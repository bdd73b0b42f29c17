"""Whose each record is, and which of anybody's records are used.

A person may stand in many rows. Where the claim is about persons, at most K rows
of each are used: the first K of their own, in the order of the table. Which
those are follows from the rows of that person alone, so that data sets which
differ in one person differ, once bounded, in the rows of that person: at most K,
or K that go and K that come.
"""

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from treeaudit.arrays import Flag, Wide
from treeaudit.errors import DataError
from treeaudit.people.input.cell_parsing import cells_in, in_array
from treeaudit.people.persons import check_whole, coded, nobody
from treeaudit.trainers.columns import CURATOR

__all__ = ["first_rows", "persons_of"]


def persons_of(person: object, n_rows: int) -> Wide:
    """Return a number per row for whose it is; 7, 7.0 and "7" are one person.

    Raises
    ------
    DataError
        If there is not one for every row.

    Examples
    --------
    >>> persons_of(["A", "B", "A"], 3).tolist()
    [0, 1, 0]
    """
    if isinstance(person, pd.Series | pd.Index | ExtensionArray):
        told = in_array(cells_in(pd.Series(person)))
    else:
        told = np.asarray(person, dtype=object)
    if told.shape != (n_rows,):
        raise DataError(
            f"person has the shape {told.shape}: it must be one name or number for each of the "
            f"{n_rows:,} rows"
        )
    # Pandas would make texts of its own of them, which hold no text that is none of Unicode.
    series = pd.Series(told, dtype=object)
    lost = nobody(series)
    if lost.any():
        row = int(np.argmax(lost)) + 1
        raise DataError(f"row {row} names no person. {CURATOR}: every row needs its person")
    # An array of objects no longer tells how many digits its numbers had.
    typed = isinstance(person, np.ndarray | pd.Series) and person.dtype != object
    check_whole(pd.Series(person) if typed else series, "person")
    return coded(series)[0]


def first_rows(person: Wide, fit: Flag, most: int) -> Flag:
    """Tell which rows are used: the first of every person among those that fit, so many at most.

    Examples
    --------
    >>> person = np.array([0, 1, 0, 0, 1])
    >>> first_rows(person, np.array([True, True, False, True, True]), 2).tolist()
    [True, True, False, True, True]
    >>> first_rows(person, np.ones(5, dtype=bool), 2).tolist()
    [True, True, True, False, True]
    """
    rows = np.flatnonzero(fit)
    rows = rows[np.argsort(person[rows], kind="stable")]
    own = person[rows]
    number = np.arange(len(rows)) - np.searchsorted(own, own)
    used = np.zeros(len(fit), dtype=np.bool_)
    used[rows[number < most]] = True
    return used
