"""Features that stand for one value of a column each, as ``pandas.get_dummies`` makes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Wide
from treeaudit.errors import DataError
from treeaudit.people.input.cell_parsing import code_of, respelled

__all__ = ["Indicators", "Met", "check_met", "indicate", "indicators_by_place", "met_together"]

_NOTHING = ("nan", "<NA>", "NaT")
"""What ``dummy_na=True`` calls missing values, by the kind of the column."""
_TOLD = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """Whether values of a column have an indicator.

    Attributes
    ----------
    some
        Whether any row's value has one.
    others
        The first two, in the order of the alphabet, of those that have none.
    known
        The values that have one.
    """

    some: bool
    others: tuple[str, ...]
    known: tuple[str, ...]

    def __add__(self, other: "Met") -> "Met":
        """Join what is known of two parts of a column."""
        others = sorted({*self.others, *other.others})[:_TOLD]
        return Met(some=self.some or other.some, others=tuple(others), known=self.known)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Indicators:
    """The features that indicate values of one column.

    Attributes
    ----------
    layers
        Features by the value that they indicate: several, where two indicate the same.
    nothing
        The feature that is set where the column has no value, or None.
    """

    layers: tuple[Mapping[str, int], ...]
    nothing: int | None


def indicators_by_place(
    source: Sequence[int], indicates: Sequence[str | None]
) -> dict[int, Indicators]:
    """Return what indicates values of each column, by its place.

    Parameters
    ----------
    source, indicates
        For each feature the place of its column, and the value whose indicator it is, or None.

    Examples
    --------
    >>> found = indicators_by_place([0, 1, 1, 1], [None, "a", "b", "nan"])
    >>> found[1].layers, found[1].nothing
    (({'a': 1, 'b': 2, 'nan': 3},), 3)
    """
    of_column: dict[int, list[tuple[str, int]]] = {}
    for i, (place, value) in enumerate(zip(source, indicates, strict=True)):
        if value is not None:
            of_column.setdefault(place, []).append((value, i))
    return {place: _indicators(mine) for place, mine in of_column.items()}


def _indicators(mine: Sequence[tuple[str, int]]) -> Indicators:
    value, last = mine[-1]
    # Values are sorted, and missing ones stand behind them: else "nan" is the text.
    nothing = last if value in _NOTHING else None
    if nothing is not None and any(other == value for other, _ in mine[:-1]):
        mine = mine[:-1]
    layers: list[dict[str, int]] = []
    for value, i in mine:
        free = next((layer for layer in layers if value not in layer), None)
        if free is None:
            layers.append(free := {})
        free[value] = i
    return Indicators(layers=tuple(layers), nothing=nothing)


def indicate(
    values: npt.NDArray[np.floating[Any]],
    codes: Wide,
    names: Sequence[str | None],
    indicators: Indicators,
) -> Met:
    """Set the indicators of each row's value, and tell whether any row's value has one.

    Parameters
    ----------
    values
        Shape ``(n_rows, n_features)``: changed in place.
    codes, names
        As `treeaudit.people.input.columns.Column.distinct` returns them.

    Examples
    --------
    >>> values = np.zeros((3, 2))
    >>> (of_column,) = indicators_by_place([0, 0], ["a", "nan"]).values()
    >>> indicate(values, np.array([0, -1, 1]), ["a", "b"], of_column).some
    True
    >>> values.tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    some = False
    for layer in indicators.layers:
        code = code_of(layer)
        some |= _set(values, codes, [None if name is None else code(name) for name in names])
    if indicators.nothing is not None:
        nothing = indicators.nothing
        _set(values, codes, [nothing if name is None else None for name in names], nothing)
    held = [] if some else [names[code] for code in np.unique(codes[codes >= 0]).tolist()]
    others = sorted({name for name in held if name is not None})
    return Met(some=some, others=tuple(others[:_TOLD]), known=tuple(indicators.layers[0]))


def _set(
    values: npt.NDArray[np.floating[Any]],
    codes: Wide,
    features: Sequence[int | None],
    nothing: int | None = None,
) -> bool:
    """Set for each row the feature of its name, or of no name; tell whether any was set."""
    at = np.array([-1 if i is None else i for i in (*features, nothing)])[codes]
    rows = np.flatnonzero(at >= 0)
    values[rows, at[rows]] = 1
    return len(rows) > 0


def met_together(one: Mapping[str, Met], other: Mapping[str, Met]) -> dict[str, Met]:
    """Return what is known of the columns of two parts of a table."""
    both = one.keys() & other.keys()
    return {**one, **other, **{name: one[name] + other[name] for name in both}}


def check_met(met: Mapping[str, Met], origin: str) -> None:
    """Refuse a table where no row has any of a column's indicators: it was coded otherwise.

    One value alone may be the one that has no indicator, as ``drop_first=True`` leaves one out,
    unless it is one that the model knows in other letters.

    Raises
    ------
    DataError
        Names the column, one of its values, and those that the model knows.

    Examples
    --------
    >>> check_met({"job": Met(some=False, others=("Farm",), known=("Tech",))}, "people.csv")
    >>> check_met({"zone": Met(some=False, others=("1", "2"), known=("01", "02"))}, "people.csv")
    Traceback (most recent call last):
    ...
    treeaudit.errors.DataError: people.csv: no value of 'zone', such as '1', is one of those that \
the model's columns zone_… stand for (01, 02); write them as before training
    """
    for column, found in met.items():
        if found.some or not found.others:
            continue
        plain = {_plain(known) for known in found.known}
        if len(found.others) < _TOLD and not plain & set(map(_plain, found.others)):
            continue
        more = ", …" if len(found.known) > 6 else ""
        raise DataError(
            f"{origin}: no value of {column!r}, such as {found.others[0][:40]!r}, is one of those "
            f"that the model's columns {column}_… stand for ({', '.join(found.known[:6])}{more}); "
            "write them as before training"
        )


def _plain(value: str) -> str:
    return respelled(value.strip()).casefold()
