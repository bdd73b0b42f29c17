"""Move thresholds to a public grid."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np

from treeaudit.arrays import Float
from treeaudit.defenses.defense import Bounds, Defense, DefenseWords, tree_by_tree
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree

__all__ = ["Coarsen"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coarsen(Defense):
    """Round thresholds to a step per feature, or to significant digits.

    Attributes
    ----------
    steps
        Steps by feature: thresholds become multiples of them.
    digits
        Significant digits of the thresholds of all other features.
    """

    id = "coarsen"
    title = "Thresholds on a public grid"
    words = DefenseWords(
        does="moves every threshold to the nearest point of a grid that is chosen without looking "
        "at the data",
        fixes="thresholds that are values of single people, or lie midway between two",
        leaves="the counts: they are of the people on the old sides; people between old and new "
        "threshold are answered by the other side, and two thresholds may become one",
        reference="rounding of quantitative attributes; Hundepool et al. (2012), section 3.3",
    )
    steps: Mapping[str, float] = field(default_factory=dict)
    digits: Annotated[int, Bounds(1)] = 2

    @property
    def step(self) -> str:
        """What it did, in a few words."""
        named = ", ".join(f"{name} in steps of {step:g}" for name, step in self.steps.items())
        return f"thresholds rounded to {self.digits} digits" + (f" ({named})" if named else "")

    def apply(self, forest: Forest) -> Forest:
        """Return the model with coarse thresholds.

        Raises
        ------
        DataError
            If a feature does not exist, or a step is not above 0.
        """
        place = {name: i for i, name in enumerate(forest.schema.names)}
        width = np.full(len(place), np.nan)
        for name, step in self.steps.items():
            if name not in place or not 0 < step < np.inf:
                raise DataError(f"no feature {name!r} can have thresholds in steps of {step!r}")
            width[place[name]] = step
        coarse = tree_by_tree(forest, lambda tree, _: self._coarse(tree, width))
        return replace(coarse, noise=forest.noise)

    def _coarse(self, tree: Tree, width: Float) -> Tree:
        step = np.where(tree.feature < 0, np.nan, width[tree.feature])
        return replace(
            tree,
            low=_rounded(tree.low, step, self.digits),
            high=_rounded(tree.high, step, self.digits),
        )


def _rounded(bound: Float, step: Float, digits: int) -> Float:
    finite = np.isfinite(bound) & (bound != 0)
    size = np.abs(np.where(finite, bound, 1.0))
    unit = 10.0 ** (np.floor(np.log10(size)) - digits + 1)
    unit = np.where(np.isnan(step), unit, step)
    near = np.rint(np.where(finite, bound, 0.0) / unit) * unit
    # A bound just below a grid point says "less than": it stays what it is.
    close = np.abs(near - bound) <= 4 * np.spacing(size)
    result: Float = np.where(finite & ~close, near, bound)
    return result
