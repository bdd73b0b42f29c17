"""Move thresholds to a public grid, or round the counts of the leaves."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np

from treeaudit.arrays import Flag, Float, Wide
from treeaudit.defenses.defense import (
    Bounds,
    Defense,
    DefenseWords,
    other_methods,
    tree_by_tree,
    weights_of,
)
from treeaudit.defenses.strip import without_counts
from treeaudit.defenses.tree_edits import recount
from treeaudit.errors import DataError
from treeaudit.model.forest import Forest
from treeaudit.model.tree import Tree
from treeaudit.model.words import number_of

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
        return f"rounded thresholds to {self.digits} digits" + (f" ({named})" if named else "")

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


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCounts(Defense):
    """Round counts to multiples of ``base``; no leaf changes its answer, or tells of more people.

    A leaf that tells of k people holds k at least.

    Attributes
    ----------
    base
        The B of rounding.
    """

    id = "round-counts"
    title = "Round the counts"
    did = "rounded counts to multiples of {0.base}"
    words = DefenseWords(
        does="rounds the class counts of every leaf to multiples of B. Each leaf answers as "
        "before, and states no more people than it holds. Parents are the sum of their children",
        fixes="exact counts, and the single person by whom two releases of a model differ",
        leaves="groups are as small as before; rare labels round to nobody, so that more leaves "
        "seem to have one label",
        reference="Hundepool et al. (2012), Statistical Disclosure Control, section 5.4",
    )
    base: Annotated[int, Bounds(2)] = 5

    def __post_init__(self) -> None:
        if self.base < 2:
            raise DataError("--round-counts needs a base of at least 2")

    def apply(self, forest: Forest) -> Forest:
        """Return the model with rounded counts.

        Raises DataError if its counts are weights; or, when a tree is asked for, if a leaf holds
        fewer people.
        """
        if forest.counts_are == "weighted":
            raise DataError(
                f"the class numbers are weights, no people ({forest.counts_reason}), and cannot be "
                f"rounded to people: {other_methods(forest.trees[0], forest)}"
            )
        stated = forest.counts_are in ("exact", "likely", "noisy")
        return replace(
            tree_by_tree(forest, lambda tree, i: self._rounded(tree, forest, i)),
            counts_are="noisy" if stated else forest.counts_are,
            counts_reason=f"class counts are rounded to multiples of {self.base}"
            if stated
            else forest.counts_reason,
            n_records=None,
        )

    def _rounded(self, tree: Tree, forest: Forest, i: int) -> Tree:
        leaf = tree.is_leaf
        counts, n_records = tree.counts, tree.n_records
        people = n_records if counts is None or n_records is not None else counts.sum(axis=1)
        # What noise made small is no small group.
        if people is not None and forest.privacy is None:
            self._check(people, leaf)
        if n_records is not None:
            n_records = self.base * (n_records // self.base)
        if counts is not None:
            rounded = _as_answered(counts, weights_of(tree, forest, i), self.base)
            counts = np.where(leaf[:, None], rounded, 0.0)
            if n_records is not None and forest.records_are != "bootstrap":
                n_records = np.where(tree.n_records == 0, 0, counts.sum(axis=1)).astype(np.int64)
        return recount(replace(tree, counts=counts, n_records=n_records), leaf)

    def _check(self, held: Float | Wide, leaf: Flag) -> None:
        small = np.flatnonzero(leaf & (held > 0) & (held < self.base))
        if len(small):
            n = number_of(round(float(held[small[0]])), "person", "people")
            raise DataError(
                f"leaf {small[0]} holds {n}, which a count of {self.base:,} would hide: ask for "
                f"leaves of {self.base:,} first (--min-leaf {self.base})"
            )


def _as_answered(counts: Float, weights: Float, base: int) -> Float:
    """Round to multiples that add up to no more, and the class that is answered stays it."""
    counts = np.maximum(counts, 0)
    answer, row = (counts * weights).argmax(axis=1), np.arange(len(counts))
    total = counts.sum(axis=1)
    room = np.where(total > 0, np.maximum(base * np.floor(total / base), base), 0)
    rounded = base * np.rint(counts / base)
    kept_count = np.clip(rounded[row, answer], np.minimum(base, room), room)
    # Of classes alike the first is answered.
    ratio = np.full(counts.shape, np.inf)
    weighed = np.broadcast_to(weights * base, counts.shape)
    np.divide((kept_count * weights[answer])[:, None], weighed, out=ratio, where=weighed > 0)
    first = np.arange(counts.shape[1]) < answer[:, None]
    rounded = np.minimum(rounded, base * np.where(first, np.ceil(ratio) - 1, np.floor(ratio)))
    rounded[row, answer] = kept_count
    while (over := np.flatnonzero(rounded.sum(axis=1) > room)).size:
        gained = np.where(rounded[over] > 0, rounded[over] - counts[over], -np.inf)
        gained[np.arange(len(over)), answer[over]] = -np.inf
        rounded[over, gained.argmax(axis=1)] -= base
    return np.asarray(rounded)
