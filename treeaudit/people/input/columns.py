"""A column of a table, whatever holds it: its names, its numbers, and what is said of its cells."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Wide
from treeaudit.errors import DataError
from treeaudit.model.words import label_text
from treeaudit.people.input.cell_parsing import NO_NAMES, no_single, numbers_in

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SHOWN", "Column", "SeriesColumn", "names_of", "numbers_of", "text_of"]

SHOWN = 40
"""Characters of a cell that a message tells."""
_NOTHING = ("", "na", "n/a", "nan", "null", "none", "nat")
"""What stands in a column of numbers where there is none."""


class Column(Protocol):
    """A column of some rows, whatever holds it."""

    def distinct(self) -> tuple[Wide, list[str | None]]:
        """Return for each row which name it has, -1 for none, and the names; None for nothing."""

    def numbers(self) -> tuple[Float, npt.NDArray[np.intp]]:
        """Return the number in each row, and the rows with something else than one."""

    def text(self, row: int) -> str:
        """Return what stands in a row."""


@dataclass(frozen=True, slots=True, eq=False)
class SeriesColumn:
    """A `Column` that pandas holds."""

    series: "pd.Series[Any]"

    def distinct(self) -> tuple[Wide, list[str | None]]:  # noqa: D102  # of the protocol
        import pandas as pd

        codes, values = pd.factorize(self.series, use_na_sentinel=True)
        if self.series.dtype == object and not all(isinstance(v, str) for v in values):
            # True, 1 and 1.0 are equal: named by the first of them, a part would differ from all.
            codes, values = pd.factorize(self.series.map(text_of), use_na_sentinel=True)
        return codes, [text_of(v) for v in list(values)]

    def numbers(self) -> tuple[Float, npt.NDArray[np.intp]]:  # noqa: D102  # of the protocol
        values = numbers_in(self.series)
        lost = np.flatnonzero(np.isnan(values))
        if getattr(self.series.dtype, "kind", "O") in "iufb" or not len(lost):
            return values, lost[:0]
        cells = self.series.iloc[lost]
        nothing = cells.isna() | cells.astype(str).str.strip().str.lower().isin(_NOTHING)
        return values, lost[~nothing.to_numpy()]

    def text(self, row: int) -> str:  # noqa: D102  # of the protocol
        return str(self.series.iloc[row])


def text_of(value: object) -> str | None:
    """Return a value as the text that a category is named by; None for what stands for nothing."""
    plain: Any = value.item() if isinstance(value, np.generic) else value
    if plain is None or (isinstance(plain, float) and np.isnan(plain)):
        return None
    return label_text(plain).strip()


def names_of(column: Column, where: str) -> tuple[Wide, list[str | None]]:
    """Return what `Column.distinct` does, or say where a column holds no names."""
    try:
        return column.distinct()
    except NO_NAMES:
        raise no_single(where) from None


def numbers_of(column: Column, where: str, first: int, *, missing: bool = False) -> Float:
    """Return the number in each row, or say where there is none."""
    try:
        values, wrong = column.numbers()
    except NotImplementedError:
        raise DataError(f"{where} holds no numbers that are read; save them as numbers") from None
    if len(wrong):
        row = int(wrong[0])
        raise DataError(
            f"{where}, row {first + row + 1}: {column.text(row)[:SHOWN]!r} is not a number"
            f"{_comma(column.text(row))}"
        )
    if not np.isfinite(values).all():
        bad = np.flatnonzero(np.isinf(values) | (np.isnan(values) & (not missing)))
        if len(bad):
            what = "has no value" if np.isnan(values[bad[0]]) else "is infinite"
            raise DataError(f"{where}, row {first + int(bad[0]) + 1} {what}")
    return values


def _comma(text: str) -> str:
    """Return what helps where a number has a comma for its point, or words around it."""
    if re.fullmatch(r"[-+\d.]*\d,\d+", text):
        return "; write its decimals behind a point"
    return "; write the number alone" if re.search(r"\d", text) else ""
