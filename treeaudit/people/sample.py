"""A seeded sample of rows that does not depend on who reads which of them, nor when."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Int, Wide
from treeaudit.people.arrow_columns import frame_of, taken

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MOST", "Sample", "keys_of"]

MOST = 20_000
"""Records that attacks that sample are given; they drew as many from the whole table."""
_FILE = 40
"""Bits of the number of a row in its file."""

Keys = npt.NDArray[np.uint64]


def keys_of(file: int, first: int, n: int, seed: int) -> tuple[Wide, Keys]:
    """Return the number of each row, and its place in a random order of all rows.

    Examples
    --------
    >>> whole, parts = keys_of(0, 0, 6, 1)[1], [keys_of(0, i, 2, 1)[1] for i in (0, 2, 4)]
    >>> np.array_equal(whole, np.concatenate(parts))
    True
    """
    row = np.arange(first, first + n, dtype=np.int64) + (file << _FILE)
    # SplitMix64: every bit of a row and of the seed changes half of those of the key.
    start = np.uint64((seed * 0xD1342543DE82EF95 + 0x9E3779B97F4A7C15) % 2**64)
    key = (row.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) ^ start
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        key = (key ^ (key >> np.uint64(shift))) * np.uint64(factor)
    return row, key ^ (key >> np.uint64(31))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """The rows that come first in the random order, of those that were seen.

    Attributes
    ----------
    row, key
        Of each row, as `keys_of` gives them.
    values, labels, targets, node
        As `treeaudit.people.records.Records` holds them.
    rows
        The columns that were read: of pandas, or of Arrow where that read them.
    """

    row: Wide
    key: Keys
    values: npt.NDArray[np.floating[Any]]
    labels: Int | None
    targets: Float | None
    node: Int
    rows: Any

    def only(self, kept: npt.NDArray[np.intp]) -> "Sample":
        """Return some of the rows."""
        return Sample(
            row=self.row[kept],
            key=self.key[kept],
            values=self.values[kept],
            labels=None if self.labels is None else self.labels[kept],
            targets=None if self.targets is None else self.targets[kept],
            node=self.node[kept],
            rows=self.rows.iloc[kept] if hasattr(self.rows, "iloc") else taken(self.rows, kept),
        )

    @property
    def frame(self) -> "pd.DataFrame":
        """The columns as pandas has them."""
        frame: pd.DataFrame = self.rows if hasattr(self.rows, "iloc") else frame_of(self.rows)
        return frame.reset_index(drop=True)


def first_of(samples: Sequence[Sample]) -> Sample:
    """Return the `MOST` rows of some samples that come first in the random order."""

    def joined(of: Callable[[Sample], Any]) -> Any:  # noqa: ANN401  # arrays, or None
        parts = [of(sample) for sample in samples]
        return None if parts[0] is None else np.concatenate(parts)

    found = Sample(
        row=joined(lambda s: s.row),
        key=joined(lambda s: s.key),
        values=joined(lambda s: s.values),
        labels=joined(lambda s: s.labels),
        targets=joined(lambda s: s.targets),
        node=joined(lambda s: s.node),
        rows=_together([sample.rows for sample in samples]),
    )
    if len(found.key) <= MOST:
        return found
    return found.only(np.argpartition(found.key, MOST - 1)[:MOST])


def _together(rows: Sequence[Any]) -> Any:  # noqa: ANN401  # tables of either kind
    if all(hasattr(one, "schema") and one.schema == rows[0].schema for one in rows):
        import pyarrow as pa

        return pa.concat_tables(rows)
    import pandas as pd

    return pd.concat([one if hasattr(one, "iloc") else frame_of(one) for one in rows])
