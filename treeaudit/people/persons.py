"""Whose record each row is; whether repeated rows are copies, and some rows synthetic."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Int, Wide
from treeaudit.errors import DataError
from treeaudit.people.input.cell_parsing import check_single, coded_whole, lost_in
from treeaudit.people.records import Records

if TYPE_CHECKING:
    import pandas as pd


_CUTS = 20
_SHARE, _TIMES = 0.02, 10
"""Copies are more than a fiftieth of the records and ten times the pairs of chance.

Of 2,000 tables of independent columns and 500 of correlated ones none is called
copies, and no public table that was tried: at most 0.9 % of their records repeat.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """How often rows repeat."""

    records: int
    distinct: int
    pairs: int
    expected: float

    @property
    def look_like_copies(self) -> bool:
        """Whether far more rows are equal than chance makes."""
        repeated = self.records - self.distinct
        return repeated > _SHARE * self.records and self.pairs > _TIMES * max(self.expected, 1.0)


def repeats_in(frame: "pd.DataFrame", leave: tuple[str, ...] = ()) -> tuple[Repeats, Wide]:
    """Count equal rows, and return a number per row, the same for equal ones."""
    names = [c for c in frame if str(c) not in leave and not _numbers_rows(frame[c])]
    codes = [coded_whole(frame[c]) for c in names]
    n = len(frame)
    group = _joined(codes, n)
    pairs, possible = _pairs(group), n * (n - 1) / 2
    expected, rng = 0.0, np.random.default_rng(0)
    # One column agrees as often as it does.
    for _ in range(_CUTS if pairs and len(codes) > 1 else 0):
        order = rng.permutation(len(codes))
        halves = np.array_split(order, 2)
        agree = [_pairs(_joined([codes[i] for i in half], n)) for half in halves]
        expected = max(expected, agree[0] * agree[1] / possible)
    if len(codes) < 2:
        expected = float(pairs)
    distinct = int(group.max()) + 1
    return Repeats(records=n, distinct=distinct, pairs=pairs, expected=expected), group


def _numbers_rows(series: "pd.Series[int]") -> bool:
    """Tell whether a column counts the rows, as an index that was saved with the table."""
    if series.dtype.kind not in "iu" or len(series) < 3 or series.hasnans:
        return False
    return bool((np.diff(series.to_numpy().astype(np.int64)) == 1).all())


def _joined(codes: list[Wide], n: int) -> Wide:
    """Return a number per row, from 0, the same where all codes are."""
    group: Wide = np.zeros(n, dtype=np.int64)
    for code in codes:
        key = group * (int(code.max()) + 1) + code
        group = np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return group


def _pairs(group: Wide) -> int:
    times = np.bincount(group)
    return int((times * (times - 1) // 2).sum())


_MOSTLY = 0.5


def look_synthetic(frame: "pd.DataFrame", labels: Int) -> list[str]:
    """Return columns of whole numbers in which fractions stand for some labels only."""
    times = np.bincount(labels)
    times = times[times > 0]
    if len(times) < 2 or len(set(times.tolist())) > 1:
        return []
    found = []
    for name in frame:
        if frame[name].dtype.kind != "f":
            continue
        values = frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
        broken = np.isfinite(values) & (values != np.rint(values))
        # A class with no fraction at all has been left as it was measured.
        untouched = len(times) - len(np.unique(labels[broken]))
        if broken.any() and untouched and broken.mean() < _MOSTLY:
            found.append(str(name))
    return found


if TYPE_CHECKING:
    import pandas as pd


_WHOLE = re.compile(r"([+-]?[0-9]{1,40})(?:\.0*)?", re.ASCII)

_OF_ONE_KIND = ("string", "integer", "floating")
"""Names of pandas for columns of objects whose cells are all of a kind."""

Tables = dict[str, Records | None]


def named(tables: Mapping[str, Records | None], person: str) -> Tables:
    """Return tables whose persons are told by a column, where they have it."""
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
        lost = np.flatnonzero(nobody(told))
        if len(lost):
            raise DataError(
                f"{records.origin}, row {lost[0] + 1}: {person!r} names nobody; every row needs "
                "its person"
            )
        check_single(told, f"{records.origin}, column {person!r}")
        check_whole(told, f"{records.origin}, column {person!r}")
        series[role] = told.astype(object)
    if series:
        for role, part in zip(series, coded(*series.values()), strict=True):
            records = tables[role]
            if records is not None:
                found[role] = replace(records, persons=part.astype(np.int32))
    return found


def nobody(told: "pd.Series[Any]") -> npt.NDArray[np.bool_]:
    """Return which rows name no person: an empty text is none, as a file of text reads it."""
    import pandas as pd

    lost = pd.Series(lost_in(told), index=told.index)
    if getattr(told.dtype, "kind", "O") not in "iufb":
        lost |= told.map(lambda one: isinstance(one, str) and not one.strip()).astype(bool)
    return lost.to_numpy(dtype=np.bool_)


def check_whole(told: "pd.Series[Any]", where: str) -> None:
    """Refuse numbers of persons that were stored as fractions and may have merged."""
    if hasattr(told, "cat"):
        told = told.cat.categories.to_series()
    kinds: set[Any] = {told.dtype} if told.dtype != object else set(map(type, told))
    for kind in kinds:
        if not (digits := _digits(kind)):
            continue
        some = told if told.dtype != object else told[[type(one) is kind for one in told]]
        if (some.astype(np.float64).abs() >= 2.0**digits).any():
            raise DataError(
                f"{where} holds numbers of persons as fractions, above 2^{digits}, where different "
                "persons have become one; give them as whole numbers or text"
            )


def _digits(kind: Any) -> int:  # noqa: ANN401  # a type, of numpy or pandas
    """Return how many binary digits a kind of floating point keeps; 0 for all else."""
    try:
        dtype: np.dtype[Any] = np.dtype(getattr(kind, "numpy_dtype", kind))
    except TypeError:
        return 0
    return int(np.finfo(dtype).nmant) + 1 if dtype.kind == "f" else 0


def coded(*tables: "pd.Series[Any]") -> list[Wide]:
    """Return for each table a number per row for whose it is; no entry is missing."""
    import pandas as pd

    # By name first: to pandas True, 1 and 1.0 are equal, and the first of them names all.
    parts = [pd.factorize(np.array(_names(told), dtype=object)) for told in tables]
    names = [found.tolist() for _, found in parts]
    apart = {number for each in names for number in _told_apart(each)}
    meant = [
        name if (number := _number(name)) in apart else number for each in names for name in each
    ]
    same: Wide = pd.factorize(np.array(meant, dtype=object))[0]
    ends = np.cumsum([len(each) for each in names])[:-1]
    return [of[code] for (code, _), of in zip(parts, np.split(same, ends), strict=True)]


def _told_apart(names: Iterable[str]) -> set[str]:
    """Return the numbers that are written in more than one way."""
    ways: dict[str, str] = {}
    return {_number(name) for name in names if ways.setdefault(_number(name), name) != name}


def _names(told: "pd.Series[Any]") -> list[str]:
    """Return the name of each row; where equal cells have equal names, each is named once."""
    import pandas as pd

    held = told.astype(object)
    plain = told.dtype != object and not isinstance(told.dtype, pd.CategoricalDtype)
    # Floats of two widths may be equal, and are named by their own digits.
    if not plain and (
        pd.api.types.infer_dtype(held, skipna=False) not in _OF_ONE_KIND
        or len(set(map(type, held))) > 1
    ):
        return [_plain(one) for one in held]
    codes, found = pd.factorize(held)
    names = [_plain(one) for one in found]
    return [names[code] for code in codes]


def _plain(value: object) -> str:
    """Return an identifier as text: 7 and 7.0 are one, as tables with gaps read them."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    try:
        return str(value).strip()
    except ValueError:
        if not isinstance(value, Rational):
            raise
        # More digits than Python writes in tens.
        return f"{value.numerator:#x}/{value.denominator:#x}"


def _number(name: str) -> str:
    """Return a whole number as its plain text, whatever spells it; else the text."""
    found = _WHOLE.fullmatch(name)
    return str(int(found[1])) if found else name


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
    """Return the records of persons who are not in the training data, and how many are."""
    if train.persons is None or test.persons is None:
        return test, 0
    inside = np.isin(test.persons, train.persons)
    if inside.all():
        raise DataError(
            f"everybody in {test.origin} stands in {train.origin} too; --test takes people who "
            "were not in the training data"
        )
    return (test.only(~inside) if inside.any() else test), int(inside.sum())
