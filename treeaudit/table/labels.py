"""What the leaves say of their people: of the labels, by class counts, or of another column."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Wide, any_of_row, sum_of_row
from treeaudit.model.forest import CountsAre
from treeaudit.table.diversity import Crosstab, Worst, counted

_MOST_DRAWN = 3
"""Of those whom a bootstrap draws, one in thirty is drawn more often than this."""
_NEARLY = 0.95


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labels:
    """What class counts say, one entry per leaf; of another column, its values are the classes."""

    # Classes that occur in the leaf; 0 where nobody is in it, and in trees that hold no class
    # counts or do not tell how many people are in a leaf
    distinct: npt.NDArray[np.int32]
    absent: npt.NDArray[np.int32]  # Classes that occur in the tree but not in the leaf
    share: Float  # Share of the largest class
    majority: Float  # People in the largest class; NaN where counts are not people
    fewest: Float  # People in the smallest class that occurs; NaN where counts are not people
    others: Float  # People of other classes, or what is known of them: see `exceptions`
    top: npt.NDArray[np.int32]  # The largest class, as a column of `Tree.counts`
    # The worst diversity per tree; None for trees of which nothing is known
    trees: tuple[Worst | None, ...]

    def only(self, held: npt.NDArray[np.bool_]) -> "Labels":
        """Return the entries of some leaves."""
        return Labels(**{name: getattr(self, name)[held] for name in _COLUMNS}, trees=self.trees)

    def placed(self, at: Wide, n_leaves: int) -> "Labels":
        """Return these entries among so many leaves, of which the others are blank."""
        found = _blank(n_leaves)
        for name in _COLUMNS:
            getattr(found, name)[at] = getattr(self, name)
        return replace(found, trees=self.trees)


class LazyLabels:
    """Labels that are measured when they are first asked for."""

    __slots__ = ("_found", "_measure")

    def __init__(self, measure: Callable[[], Labels | None]) -> None:
        self._measure: Callable[[], Labels | None] | None = measure
        self._found: Labels | None = None

    def __call__(self) -> Labels | None:
        """Return the labels, the same every time."""
        if self._measure is not None:
            self._found, self._measure = self._measure(), None
        return self._found


_COLUMNS = ("distinct", "absent", "share", "majority", "fewest", "others", "top")


def people_per_class(counts: Float, size: Wide, counts_are: CountsAre) -> Float:
    """Return people per class, or NaN in rows where the file does not tell.

    Counts are people where they are stated to be and add up to the people in
    the leaf: under bootstrap that is where everybody was drawn once. A leaf
    with one class holds exactly ``size`` people of it, whatever they weigh.

    * ``counts``: shape ``(n_leaves, n_classes)``, as in `Tree.counts`.
    * ``size``: shape ``(n_leaves,)``: people per leaf.
    * ``counts_are``: as in `Forest`.
    """
    known = np.zeros(len(counts), dtype=np.bool_)
    if counts_are in ("exact", "likely"):
        known = sum_of_row(counts) == size
    one_class = sum_of_row((counts > 0).astype(np.int32)) == 1
    people = np.where(known[:, None], counts, np.nan)
    return np.where(one_class[:, None], (counts > 0) * size[:, None].astype(np.float64), people)


def exceptions(
    counted: Float,
    largest: Float,
    distinct: Wide,
    size: npt.NDArray[np.number[Any]],
    counts_are: CountsAre,
) -> Float:
    """Return how many people, no fewer, have another label than the commonest of their leaf.

    Of draws few people have more than three: where they are all that is told, the number is
    an estimate on the safe side. Weights do not tell how many there
    are: as many as there are other classes where the commonest is nearly certain,
    and as many as anybody asks for elsewhere.

    * ``counted``, ``largest``: shape ``(n_leaves,)``: what the class counts add up to, and the
      largest.
    * ``distinct``, ``size``: classes that occur, and people.
    * ``counts_are``: as in `Forest`.
    """
    if counts_are not in ("exact", "likely"):
        few = (distinct == 1) | (largest >= _NEARLY * counted)
        return np.where(few, distinct - 1.0, np.inf)
    drawn = np.maximum(np.ceil((counted - largest) / _MOST_DRAWN), distinct - 1)
    found: Float = np.where(counted == size, size - largest, np.maximum(drawn, size - largest))
    return np.where(distinct > 1, found, 0.0)


def nearly_certain(share: Float, others: Float, k: int) -> npt.NDArray[np.bool_]:
    """Tell which leaves all but give the label of their people away."""
    return (others <= 1) | ((share >= _NEARLY) & (others < k))


def labels_of(counts: Float | None, size: Wide, counts_are: CountsAre) -> Labels | None:
    """Measure the leaves of one tree; None if it tells nothing of them.

    * ``counts``: shape ``(n_leaves, n_classes)``, or None.
    * ``size``: shape ``(n_leaves,)``: people per leaf; those without are left blank.
    * ``counts_are``: as in `Forest`.
    """
    if counts is None:
        return None
    held = (size > 0) & any_of_row(counts > 0)
    at = np.flatnonzero(held)
    if not len(at):
        return None
    counts, size = counts[held], size[held]
    present = np.flatnonzero(counts.any(axis=0))
    table = counted(counts[:, present])
    found = measured(table, at, len(held))
    found.top[at] = present[table.top]
    # Elsewhere a class has some of the people; one that is alone has all of them.
    known = table.size == size if counts_are in ("exact", "likely") else np.zeros_like(size)
    alone = np.where(table.distinct == 1, size, np.nan)
    found.majority[at] = np.where(known, table.largest, alone)
    found.fewest[at] = np.where(known, table.least, alone)
    found.others[at] = exceptions(table.size, table.largest, table.distinct, size, counts_are)
    return found


def measured(table: Crosstab, at: Wide, n_leaves: int) -> Labels:
    """Return what people say who are counted by leaf and value."""
    found = _blank(n_leaves)
    found.distinct[at] = table.distinct
    found.absent[at] = np.count_nonzero(table.overall) - table.distinct
    found.share[at] = table.dominance
    found.majority[at], found.fewest[at] = table.largest, table.least
    found.others[at] = table.size - table.largest
    found.top[at] = table.top
    return replace(found, trees=(table.worst(),))


def _blank(n: int) -> Labels:
    return Labels(
        distinct=np.zeros(n, dtype=np.int32),
        absent=np.zeros(n, dtype=np.int32),
        share=np.zeros(n),
        majority=np.full(n, np.nan),
        fewest=np.full(n, np.nan),
        others=np.full(n, np.nan),
        top=np.zeros(n, dtype=np.int32),
        trees=(None,),
    )


def joined(each: Sequence[Labels | None], n_leaves: Sequence[int]) -> Labels | None:
    """Put the labels of all trees in a row, blank for trees without; None without any."""
    if all(labels is None for labels in each):
        return None
    full = [labels or _blank(n) for labels, n in zip(each, n_leaves, strict=True)]
    columns = {name: np.concatenate([getattr(one, name) for one in full]) for name in _COLUMNS}
    return Labels(**columns, trees=tuple(worst for one in full for worst in one.trees))
