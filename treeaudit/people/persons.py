"""Whose record each row is, in all tables of an audit."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from treeaudit.arrays import Wide
from treeaudit.errors import DataError
from treeaudit.people.cells import check_single
from treeaudit.people.records import Records
from treeaudit.people.repeats import repeats_in

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["apart", "check_whole", "coded", "named", "of_copies"]

Tables = dict[str, Records | None]


def named(tables: Mapping[str, Records | None], person: str) -> Tables:
    """Return tables whose persons are told by a column, where they have it.

    Raises
    ------
    DataError
        If the training data has no such column, or a row names nobody.
    """
    import pandas as pd

    found = dict(tables)
    series = {}
    for role, records in tables.items():
        column = None if records is None else [c for c in records.frame if str(c) == person]
        if records is None or (not column and role != "train"):
            continue
        if not column:
            names = ", ".join(map(str, records.frame.columns[:8]))
            raise DataError(f"{records.origin} has no column {person!r} (--person); it has {names}")
        told = records.frame[column[0]]
        if told.isna().any():
            row = int(np.flatnonzero(told.isna().to_numpy())[0]) + 1
            raise DataError(
                f"{records.origin}, row {row}: {person!r} names nobody; every row needs its person"
            )
        check_single(told, f"{records.origin}, column {person!r}")
        check_whole(told, f"{records.origin}, column {person!r}")
        series[role] = told.astype(object)
    if series:
        code = coded(pd.concat(series.values(), ignore_index=True))
        ends = np.cumsum([len(one) for one in series.values()])[:-1]
        for role, part in zip(series, np.split(code, ends), strict=True):
            records = tables[role]
            if records is not None:
                found[role] = replace(records, persons=part.astype(np.int32))
    return found


def check_whole(told: "pd.Series[Any]", where: str) -> None:
    """Refuse numbers of persons that were stored as fractions and may have merged.

    Raises
    ------
    DataError
        If a number is above 2^53: of such, floating point keeps no odd one.
    """
    import pandas as pd

    lost: object = told.dtype
    numbers = told if getattr(lost, "kind", "O") == "f" else None
    if numbers is None and told.dtype == object:
        numbers = pd.Series([v for v in told if isinstance(v, float | np.floating)], dtype=float)
    if numbers is not None and (numbers.abs() >= 2**53).any():
        raise DataError(
            f"{where} holds numbers of persons as fractions, above 2^53, where different persons "
            "have become one; give them as whole numbers or text"
        )


def coded(told: "pd.Series[Any]") -> Wide:
    """Return a number per row for whose it is; no entry is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> coded(pd.Series([7, "B", "7", 7.0], dtype=object)).tolist()
    [0, 1, 0, 0]
    """
    import pandas as pd

    code, found = pd.factorize(told)
    same: Wide = pd.factorize(np.array([_plain(one) for one in found], dtype=object))[0]
    return same[code]


def _plain(value: object) -> str:
    """Return an identifier as text: 7 and 7.0 are one, as tables with gaps read them."""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole and isinstance(value, float) else str(value).strip()


def of_copies(train: Records, test: Records | None, leave: tuple[str, ...]) -> Tables:
    """Return tables in which equal rows are one person."""
    import pandas as pd

    frames = [train.frame] if test is None else [train.frame, test.frame]
    shared = [c for c in train.frame if all(c in frame for frame in frames)]
    if test is not None and len(shared) < len(train.frame.columns):
        # Fewer columns would make more rows equal.
        frames, shared, test = [train.frame], list(train.frame), None
    rows = pd.concat([frame[shared] for frame in frames], ignore_index=True)
    group = repeats_in(rows, leave)[1].astype(np.int32)
    found: Tables = {"train": replace(train, persons=group[: len(train)])}
    if test is not None:
        found["test"] = replace(test, persons=group[len(train) :])
    return found


def apart(train: Records, test: Records) -> tuple[Records, int]:
    """Return the records of persons who are not in the training data, and how many are.

    Raises
    ------
    DataError
        If all of them are in it.
    """
    if train.persons is None or test.persons is None:
        return test, 0
    inside = np.isin(test.persons, train.persons)
    if inside.all():
        raise DataError(
            f"everybody in {test.origin} stands in {train.origin} too; --test takes people who "
            "were not in the training data"
        )
    return (test.only(~inside) if inside.any() else test), int(inside.sum())
