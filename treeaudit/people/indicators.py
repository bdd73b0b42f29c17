"""Features that stand for one value of a column each, set by the values of that column."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Wide
from treeaudit.dataclass import dataclass
from treeaudit.errors import DataError
from treeaudit.people.cells import code_of, respelled

__all__ = ["Layers", "Met", "check_met", "indicate", "met_together"]

Layers = Sequence[Mapping[str, int]]
"""Which feature stands for which value; several, where two features stand for the same one."""
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


def indicate(
    values: npt.NDArray[np.floating[Any]],
    codes: Wide,
    names: Sequence[str | None],
    layers: Layers,
) -> Met:
    """Set the indicator of each row's value, as ``pandas.get_dummies`` would have made it.

    Parameters
    ----------
    values
        Shape ``(n_rows, n_features)``, filled here.
    codes, names
        As `treeaudit.people.series_columns.Column.distinct` returns them.

    Examples
    --------
    >>> values = np.zeros((3, 2))
    >>> indicate(values, np.array([1, 0, -1]), ["Farm", "Tech"], [{"Tech": 1}]).some
    True
    >>> values.tolist()
    [[0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    """
    some = False
    for layer in layers:
        code = code_of(layer)
        places = [None if name is None else code(name) for name in names]
        at = np.array([*(-1 if place is None else place for place in places), -1])[codes]
        rows = np.flatnonzero(at >= 0)
        values[rows, at[rows]] = 1
        some = some or len(rows) > 0
    held = [] if some else [names[code] for code in np.unique(codes[codes >= 0]).tolist()]
    others = sorted({name for name in held if name is not None})
    return Met(some=some, others=tuple(others[:_TOLD]), known=tuple(layers[0]))


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
