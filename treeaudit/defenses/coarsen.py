"""Move thresholds to a public grid."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np

from treeaudit.arrays import Float
from treeaudit.defenses.defense import Bounds, Defense, DefenseWords, tree_by_tree
from treeaudit.defenses.strip import without_counts
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree

_MOVED = "thresholds were moved, so that leaves hold others than were counted"


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
        leaves="the answers; people between old and new threshold are answered by the other side, "
        "two thresholds may become one, and the counts, which were of the people on the old sides, "
        "are taken out",
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

        Where one moved, leaves hold others than were counted: counts are taken out, but for those
        of a differentially private model, of which nobody's number was exact. What is left cannot
        be audited any more, which is never a pass.

        Raises DataError if a feature does not exist, or a step is not above 0 or so small that
        thresholds are no numbers any more.
        """
        place = {name: i for i, name in enumerate(forest.schema.names)}
        width = np.full(len(place), np.nan)
        for name, step in self.steps.items():
            if name not in place or not 0 < step < np.inf:
                raise DataError(f"no feature {name!r} can have thresholds in steps of {step!r}")
            width[place[name]] = step
        coarse = tree_by_tree(forest, lambda tree, _: self._coarse(tree, width))
        if forest.privacy is not None:
            return replace(coarse, noise=forest.noise)
        same = all(
            np.array_equal(one.low, other.low) and np.array_equal(one.high, other.high)
            for one, other in zip(forest.trees, coarse.trees, strict=True)
        )
        return forest if same else without_counts(coarse, _MOVED)

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
    with np.errstate(all="ignore"):
        near = np.rint(np.where(finite, bound, 0.0) / unit) * unit
    if not np.isfinite(near).all():
        raise DataError("a threshold is not a number on so fine a grid: ask for larger steps")
    # A bound just below a grid point says "less than": it stays what it is.
    close = np.abs(near - bound) <= 4 * np.spacing(size)
    result: Float = np.where(finite & ~close, near, bound)
    return result
