"""What the class counts of the leaves say about the labels of the people in them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from treeaudit.model.forest import CountsAre
from treeaudit.table import diversity

__all__ = ["Labels", "TreeLabels", "joined", "labels_of", "people_per_class"]

Float = npt.NDArray[np.float64]
Wide = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeLabels:
    """The worst diversity of any leaf of one tree."""

    distinct_l: int
    entropy_l: float
    recursive_c: float
    t_closeness: float
    ordered_t_closeness: float
    delta_disclosure: float
    beta_likeness: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labels:
    """What the class counts say, one entry per leaf.

    Attributes
    ----------
    distinct
        Classes that occur in the leaf; 0 where nobody is in it, and in trees
        that hold no class counts or do not tell how many people are in a leaf.
    absent
        Classes that occur in the tree but not in the leaf.
    share
        Share of the largest class.
    majority
        People in the largest class; NaN where counts are not people.
    fewest
        People in the smallest class that occurs; NaN where counts are not people.
    top
        The largest class, as a column of `Tree.counts`.
    trees
        The worst diversity per tree; None for trees of which nothing is known.
    """

    distinct: npt.NDArray[np.int32]
    absent: npt.NDArray[np.int32]
    share: Float
    majority: Float
    fewest: Float
    top: npt.NDArray[np.int32]
    trees: tuple[TreeLabels | None, ...]

    def only(self, held: npt.NDArray[np.bool_]) -> "Labels":
        """Return the entries of some leaves."""
        return Labels(**{name: getattr(self, name)[held] for name in _COLUMNS}, trees=self.trees)


_COLUMNS = ("distinct", "absent", "share", "majority", "fewest", "top")


def people_per_class(counts: Float, size: Wide, counts_are: CountsAre) -> Float:
    """Return people per class, or NaN in rows where the file does not tell.

    Counts are people where they are stated to be and add up to the people in
    the leaf: under bootstrap that is where everybody was drawn once. A leaf
    with one class holds exactly ``size`` people of it, whatever they weigh.

    Parameters
    ----------
    counts
        Shape ``(n_leaves, n_classes)``, as in `Tree.counts`.
    size
        Shape ``(n_leaves,)``: people per leaf.
    counts_are
        As in `Forest`.

    Examples
    --------
    >>> draws = np.array([[2.0, 1.0], [3.0, 1.0], [5.0, 0.0]])
    >>> people_per_class(draws, np.array([3, 2, 2]), "exact").tolist()
    [[2.0, 1.0], [nan, nan], [2.0, 0.0]]
    """
    known = np.zeros(len(counts), dtype=np.bool_)
    if counts_are in ("exact", "likely"):
        known = counts.sum(axis=1) == size
    one_class = (counts > 0).sum(axis=1) == 1
    people = np.where(known[:, None], counts, np.nan)
    return np.where(one_class[:, None], (counts > 0) * size[:, None].astype(np.float64), people)


def labels_of(counts: Float | None, size: Wide, counts_are: CountsAre) -> Labels | None:
    """Measure the leaves of one tree; None where it tells nothing of them.

    Parameters
    ----------
    counts
        Shape ``(n_leaves, n_classes)``, or None.
    size
        Shape ``(n_leaves,)``: people per leaf; those without are left blank.
    counts_are
        As in `Forest`.
    """
    held = size > 0
    if counts is None or not held.any():
        return None
    found = _blank(len(size))
    counts, size = counts[held], size[held]
    overall = counts.sum(axis=0)
    row, kind = _kinds(np.column_stack([counts, size]))
    counts, size = counts[row], size[row]
    found.top[held] = counts.argmax(axis=1)[kind]
    counts, overall = counts[:, overall > 0], overall[overall > 0]
    distinct = diversity.distinct(counts)
    people = people_per_class(counts, size, counts_are)
    found.distinct[held] = distinct[kind]
    found.absent[held] = (len(overall) - distinct)[kind]
    found.share[held] = diversity.dominance(counts)[kind]
    found.majority[held] = people.max(axis=1)[kind]
    found.fewest[held] = np.where(people == 0, np.inf, people).min(axis=1)[kind]
    return replace(found, trees=(_worst(counts, overall, int(distinct.min())),))


def _kinds(table: Float) -> tuple[Wide, Wide]:
    """Return one row of each kind, and the kind of each row: thousands of leaves hold the same.

    Rows of which no small number can be made are each of a kind of their own.
    """
    width = table.max(axis=0) + 1
    if table.min() < 0 or np.prod(width) > 2**62 or (table != np.rint(table)).any():
        return np.arange(len(table)), np.arange(len(table))
    key = np.zeros(len(table), dtype=np.int64)
    for column, n in zip(table.T, width, strict=True):
        key = key * int(n) + column.astype(np.int64)
    _, row, kind = np.unique(key, return_index=True, return_inverse=True)
    return row, kind.reshape(-1)


def _worst(counts: Float, overall: Float, distinct: int) -> TreeLabels:
    ordered = diversity.ordered_closeness(counts, overall)
    return TreeLabels(
        distinct_l=distinct,
        entropy_l=float(diversity.entropy_l(counts).min()),
        recursive_c=float(diversity.recursive_c(counts).max()),
        t_closeness=round(float(diversity.closeness(counts, overall).max()), 12),
        ordered_t_closeness=round(float(ordered.max()), 12),
        delta_disclosure=float(diversity.delta_disclosure(counts, overall).max()),
        beta_likeness=round(float(diversity.beta_likeness(counts, overall).max()), 12),
    )


def _blank(n: int) -> Labels:
    return Labels(
        distinct=np.zeros(n, dtype=np.int32),
        absent=np.zeros(n, dtype=np.int32),
        share=np.zeros(n),
        majority=np.full(n, np.nan),
        fewest=np.full(n, np.nan),
        top=np.zeros(n, dtype=np.int32),
        trees=(None,),
    )


def joined(each: Sequence[Labels | None], n_leaves: Sequence[int]) -> Labels | None:
    """Put the labels of all trees in a row, blank where there are none; None without any.

    Parameters
    ----------
    each
        One entry per tree.
    n_leaves
        Leaves of each tree.
    """
    if all(labels is None for labels in each):
        return None
    full = [labels or _blank(n) for labels, n in zip(each, n_leaves, strict=True)]
    return Labels(
        **{name: np.concatenate([getattr(one, name) for one in full]) for name in _COLUMNS},
        trees=tuple(worst for one in full for worst in one.trees),
    )
