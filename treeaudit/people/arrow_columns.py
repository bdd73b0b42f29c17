"""Columns that Arrow holds, read as pandas would, without it where they are plain."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Wide
from treeaudit.people.coding import SeriesColumn, text_of

__all__ = ["ArrowColumn"]


@dataclass(frozen=True, slots=True, eq=False)
class ArrowColumn:
    """A `treeaudit.people.coding.Column` of an Arrow array."""

    array: Any

    def distinct(self) -> tuple[Wide, list[str | None]]:  # noqa: D102  # of the protocol
        from pyarrow import types

        kind, array = self.array.type, self.array
        held = kind.value_type if types.is_dictionary(kind) else kind
        if not (
            types.is_string(held)
            or types.is_large_string(held)
            or types.is_boolean(held)
            or types.is_integer(held)
            or types.is_floating(held)
        ):
            return self._series().distinct()
        if not types.is_dictionary(kind):
            array = array.dictionary_encode()
        codes = array.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return codes, [text_of(value) for value in array.dictionary.to_pylist()]

    def numbers(self) -> tuple[Float, npt.NDArray[np.intp]]:  # noqa: D102  # of the protocol
        from pyarrow import types

        kind, array = self.array.type, self.array
        if types.is_boolean(kind):
            array = array.cast("uint8")
        elif not types.is_integer(kind) and not types.is_floating(kind):
            return self._series().numbers()
        values = array.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
        return values, np.zeros(0, dtype=np.intp)

    def text(self, row: int) -> str:  # noqa: D102  # of the protocol
        return self._series().text(row)

    def _series(self) -> SeriesColumn:
        return SeriesColumn(self.array.to_pandas())
