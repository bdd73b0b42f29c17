"""How a number of the paper is named, and how repeated measurements of it are summed up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["DATA", "DEPTHS", "THRESHOLDS", "Cell", "Measured", "Spread", "spread"]

DATA = ("nursery", "loan", "adult")
DEPTHS = (3, 4, 5, 6, 7)
THRESHOLDS = (5, 10, 20, 30, 40, 50)
"""The s of section 4.1; k is s + 1."""


class Cell(NamedTuple):
    """One number: which data, which rule, how deep a tree, which threshold, and what is counted."""

    data: str
    rule: str
    depth: int
    s: int
    what: str


Measured = Mapping[Cell, npt.NDArray[np.float64]]
"""Per number an array of shape ``(n_splits, n_tree_seeds)``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A number over the splits, and how far equally good splits of a node can move it.

    Attributes
    ----------
    mean
        Over splits and tree seeds.
    deviation
        Standard deviation over the splits.
    low, high
        The mean over the splits if every split takes its lowest, or its
        highest, tree seed.
    """

    mean: float
    deviation: float
    low: float
    high: float

    @property
    def tied(self) -> bool:
        """Whether the tree seed changes the number."""
        return self.high - self.low > 1e-12


def spread(values: npt.NDArray[np.float64]) -> Spread:
    """Sum up measurements of shape ``(n_splits, n_tree_seeds)``."""
    return Spread(
        mean=float(values.mean()),
        deviation=float(values.mean(axis=1).std(ddof=1)),
        low=float(values.min(axis=1).mean()),
        high=float(values.max(axis=1).mean()),
    )
