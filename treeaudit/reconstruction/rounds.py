"""Boosted trees as equations on how many people of each class are in each cell.

Let z0 and z1 people of the two classes be in a cell that has the score s before a tree, hence the
share p, ``q = 1 - p`` and the curvature ``h = p q``. All of this follows from the trees before.
A leaf that holds n people, the curvature H, and moves the score by v says of its cells

    sum z0 + z1 = n                                              where n is in the file
    sum h z0 + h z1 = H                                          where H is in the file
    sum (v h + rate p) z0 + (v h - rate q) z1 = -v penalty

and a leaf of the first tree tells z0 and z1. Libraries round: whatever a coefficient or a number
may be off, by the arithmetic that the library is known to do, is kept beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.special import expit

from treeaudit.arrays import Float, Wide
from treeaudit.errors import DataError
from treeaudit.model.boosting import Boosting
from treeaudit.model.tree import Tree
from treeaudit.reconstruction.cells import Cells

__all__ = ["Equations", "Scores", "equations_of", "scores_of"]

_SINGLE, _DOUBLE = 2.0**-23, 2.0**-50
"""How far one addition is off, as a part of the sum."""
_FLOOR = 1e-6
"""XGBoost takes no curvature to be less."""
_OWN = 1e-12
"""How far sums of our own are off, as a part of their terms."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Equations:
    """``least <= sum a x <= most`` on whole numbers x of 0 and more.

    Attributes
    ----------
    middle, width
        Shape ``(n_rows, n_unknowns)``: each a is no further from ``middle`` than ``width``.
    told
        The middle between least and most.
    off
        How far they are from it.
    people
        No more people than so many are in a row.
    most
        No more people than so many are in a cell, per unknown.
    n_people
        All of them.
    tells
        Which rows tell more than numbers of people.
    """

    middle: sparse.csr_matrix
    width: sparse.csr_matrix
    told: Float
    off: Float
    people: Float
    most: Float
    n_people: float
    tells: np.ndarray

    def errors(self, most: Float) -> Float:
        """Return how far ``middle @ x`` may be from ``told``, if no x is above some numbers."""
        widest = self.width.max(axis=1).toarray().ravel()
        size = abs(self.middle).max(axis=1).toarray().ravel() * self.people
        wide = np.minimum(self.width @ most, widest * self.people)
        found: Float = self.off + wide + _OWN * (1 + np.abs(self.told) + size)
        return found

    def too_many(self, known: Float) -> bool:
        """Tell whether some people alone are more than an equation leaves room for."""
        most = self.told + self.off + self.width @ known + _OWN * (1 + np.abs(self.told))
        adds = self.middle.min(axis=1).toarray().ravel() >= 0
        over = self.middle @ known * (1 - _OWN) > most
        return bool((known > self.most).any() or (adds & over).any())

    def without(self, known: Float) -> "Equations":
        """Return the equations on everybody but some people, so many in each cell.

        What coefficients are off by is off for these people, too.
        """
        held, size = self.middle @ known, abs(self.middle) @ known
        return replace(
            self,
            told=self.told - held,
            off=self.off + self.width @ known + _OWN * (1 + np.abs(self.told) + size),
            most=self.most - known,
            n_people=self.n_people - float(known.sum()),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scores:
    """What is known of cells before a tree: shares and curvatures, with what they may be off."""

    p: Float
    p_off: Float
    q: Float
    q_off: Float
    h: Float
    h_off: Float


def scores_of(score: Float, largest: Float, done: int, boosting: Boosting) -> Scores:
    """Return shares and curvatures.

    Parameters
    ----------
    score
        Of each cell, before the tree.
    largest
        The largest size of a score on the way to it.
    done
        How many trees were added up.

    Examples
    --------
    >>> from treeaudit.model.boosting import Boosting
    >>> exact = Boosting(trees=(), start=0, rate=1, mass=lambda _: None, single=False,
    ...                  derivatives=0.0, stored=0.0)
    >>> one = scores_of(np.log([3.0]), np.log([3.0]), 0, exact)
    >>> one.p.tolist(), one.h.tolist()
    ([0.75], [0.1875])
    """
    unit = _SINGLE if boosting.single else _DOUBLE
    away = (done + 4) * unit * np.maximum(largest, 1)
    p, q = expit(score), expit(-score)
    near = boosting.derivatives + 1e-15
    moved = p * q * away * np.exp(away)
    p_off, q_off = moved + near * p, moved + near
    if not boosting.single:
        q_off = moved + near * q
    h, h_off = p * q, p * q_off + q * p_off + p_off * q_off + near * p * q
    if boosting.single:
        h_off = np.maximum(h_off, _FLOOR - h)
    return Scores(p=p, p_off=p_off, q=q, q_off=q_off, h=h, h_off=h_off)


def equations_of(cells: Cells, trees: Sequence[Tree], boosting: Boosting) -> Equations:
    """Return the equations on the people of each cell: unknown 2 i + c is class c in cell i.

    Raises
    ------
    DataError
        If the first tree holds no class counts.
    """
    first = trees[0].counts
    if first is None:
        raise DataError("the first tree holds no class counts")
    leaf = cells.leaf.astype(np.int64)
    n_cells, n_people = leaf.shape[1], float(first[trees[0].leaves].sum())
    most = first[leaf[0]][:, :2].astype(np.float64)
    score = np.full(n_cells, boosting.start)
    largest = np.abs(score)
    rows = _Rows(n_cells)
    for i, tree in enumerate(trees):
        if tree.value is None:
            raise DataError("a tree holds no values")
        held, place = np.unique(leaf[i], return_inverse=True)
        now = scores_of(score, largest, i, boosting)
        v = boosting.scale * tree.value[held] - (boosting.shift if i == 0 else 0.0)
        one, none = np.ones(n_cells), np.zeros(n_cells)
        told = boosting.mass(i)
        mass = np.full(len(held), np.nan) if told is None else told[held]
        least = np.full(len(held), np.inf)
        np.minimum.at(least, place, now.h - now.h_off)
        people = np.full(len(held), n_people)
        if tree.n_records is not None:
            people = tree.n_records[held].astype(np.float64)
        elif told is not None:
            with np.errstate(divide="ignore"):
                by_mass = np.where(least > 0, mass / np.maximum(least, 1e-300) * (1 + 1e-6), np.inf)
            people = np.minimum(n_people, by_mass)
        if i == 0:
            for label in (0, 1):
                pair = [(one, none), (none, none)]
                counts = first[held, label]
                rows.add(place, pair[:: 1 if label == 0 else -1], counts, 0 * counts, counts)
        elif tree.n_records is not None:
            rows.add(place, [(one, none)] * 2, people, 0 * people, people)
        if told is not None:
            off = boosting.stored * np.abs(mass)
            rows.add(place, [(now.h, now.h_off)] * 2, mass, off, people, tells=i > 0)
        size, rate = np.abs(v)[place], boosting.rate
        pairs = [
            (v[place] * now.h + rate * now.p, size * now.h_off + rate * now.p_off),
            (v[place] * now.h - rate * now.q, size * now.h_off + rate * now.q_off),
        ]
        curved = np.where(np.isfinite(mass), mass, people / 4) + boosting.penalty
        away = boosting.stored * np.abs(v) + _DOUBLE * abs(boosting.shift) * (i == 0)
        rows.add(place, pairs, -v * boosting.penalty, 2 * away * (1 + curved), people, tells=i > 0)
        most = np.minimum(most, people[place][:, None])
        score = score + v[place]
        largest = np.maximum(largest, np.abs(score))
    return rows.equations(most.ravel(), n_people)


class _Rows:
    """Equations, while they are put together."""

    def __init__(self, n_cells: int) -> None:
        self.n_cells, self.n_rows = n_cells, 0
        self.row: list[Wide] = []
        self.column: list[Wide] = []
        self.middle: list[Float] = []
        self.width: list[Float] = []
        self.sides: list[tuple[Float, Float, Float, np.ndarray]] = []

    def add(
        self,
        place: Wide,
        pairs: Sequence[tuple[Float, Float]],
        told: Float,
        off: Float,
        people: Float,
        *,
        tells: bool = False,
    ) -> None:
        """Add an equation a leaf; pairs are the coefficients of the two classes in each cell."""
        for label, (middle, width) in enumerate(pairs):
            self.row.append(place + self.n_rows)
            self.column.append(2 * np.arange(self.n_cells) + label)
            self.middle.append(middle)
            self.width.append(width)
        known = np.isfinite(told)
        told, off = np.where(known, told, 0.0), np.where(known, off, np.inf)
        self.sides.append((told, off, people, np.full(len(told), tells) & known))
        self.n_rows += len(told)

    def equations(self, most: Float, n_people: float) -> Equations:
        """Return all that were added and tell something."""
        told, off, people, tells = map(np.concatenate, zip(*self.sides, strict=True))
        at = np.concatenate(self.row), np.concatenate(self.column)
        shape = (self.n_rows, 2 * self.n_cells)
        middle, width = (
            sparse.csr_matrix((np.concatenate(one), at), shape=shape)
            for one in (self.middle, self.width)
        )
        kept = np.flatnonzero(np.isfinite(off))
        middle, width = middle[kept], width[kept]
        middle.eliminate_zeros()
        width.eliminate_zeros()
        return Equations(
            middle=middle,
            width=width,
            told=told[kept],
            off=off[kept],
            people=people[kept],
            most=most,
            n_people=n_people,
            tells=tells[kept],
        )
