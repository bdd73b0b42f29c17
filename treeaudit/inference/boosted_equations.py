"""Boosted trees as equations on how many people of each class are in each cell.

Let z1 people of the class of a tree and z0 others be in a cell that has the share p of that class
before the tree, ``q = 1 - p`` and the curvature ``h = curve p q``. All of this follows from the
trees before. A leaf that holds n people, the curvature H, and moves the score by v says of its
cells

    sum z0 + z1 = n                                              where n is in the file
    sum h z0 + h z1 = H                                          where H is in the file
    sum (v h + rate p) z0 + (v h - rate q) z1 = -v penalty

and a leaf of the first tree of a class tells z0 and z1. Libraries round: whatever a coefficient or
a number may be off, by the arithmetic that the library is known to do, is kept beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.special import expit, logsumexp

from treeaudit.arrays import Float, Wide
from treeaudit.errors import DataError
from treeaudit.inference.cells import Cells
from treeaudit.model.forest import Boosting
from treeaudit.model.tree import Tree

_SINGLE, _DOUBLE = 2.0**-23, 2.0**-50
"""How far one addition is off, as a part of the sum."""
_FLOOR = 1e-6
"""XGBoost takes no curvature to be less."""
_NEXT_TO_NONE = 1e-100
_SOFTMAX = 4.0
"""How many times the error of a share of two a share of several is off: it is a sum, divided."""
_OWN = 1e-12
"""How far sums of our own are off, as a part of their terms."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Equations:
    """``least <= sum a x <= most`` on whole numbers x of 0 and more."""

    # Shape ``(n_rows, n_unknowns)``: each a is no further from ``middle`` than ``width``
    middle: sparse.csr_matrix
    width: sparse.csr_matrix
    target: Float  # The middle between least and most
    tolerance: Float  # How far they are from it
    people: Float  # No more people than so many are in a row
    most: Float  # No more people than so many are in a cell, per unknown
    n_people: float  # All of them
    informative: np.ndarray  # Which rows tell more than numbers of people

    def errors(self, most: Float) -> Float:
        """Return how far ``middle @ x`` may be from ``target``, if no x is above some numbers."""
        widest = self.width.max(axis=1).toarray().ravel()
        size = abs(self.middle).max(axis=1).toarray().ravel() * self.people
        wide = np.minimum(self.width @ most, widest * self.people)
        result: Float = self.tolerance + wide + _OWN * (1 + np.abs(self.target) + size)
        return result

    def too_many(self, known: Float) -> bool:
        """Tell whether some people alone are more than an equation leaves room for."""
        most = self.target + self.tolerance + self.width @ known + _OWN * (1 + np.abs(self.target))
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
            target=self.target - held,
            tolerance=self.tolerance + self.width @ known + _OWN * (1 + np.abs(self.target) + size),
            most=self.most - known,
            n_people=self.n_people - float(known.sum()),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Scores:
    """What is known of cells before a tree: shares and curvatures, with what they may be off."""

    p: Float
    p_off: Float
    q: Float
    q_off: Float
    h: Float
    h_off: Float


def _scores_of(score: Float, k: int, largest: Float, done: int, boosting: Boosting) -> _Scores:
    """Return shares and curvatures of the class of a tree.

    ``score``: of each cell, before the tree: shape ``(n_scores, n_cells)``. ``k``: the score that
    the tree moves. ``largest``: the largest size of a score on the way to it. ``done``: how many
    trees were added up in a score.
    """
    unit = _SINGLE if boosting.single else _DOUBLE
    away = (done + 4) * unit * np.maximum(largest, 1)
    near = boosting.derivatives + 1e-15
    if len(score) == 1:
        odds = score[0]
    else:
        # The odds are off by the own score and by those of the others.
        others = np.delete(score, k, axis=0)
        odds, away, near = score[k] - logsumexp(others, axis=0), 2 * away, _SOFTMAX * near
    p, q = expit(odds), expit(-odds)
    moved = p * q * away * np.exp(away)
    p_off, q_off = moved + near * p, moved + near
    if not boosting.single:
        # What is subtracted from 1 is off by a part of 1.
        q_off = moved + near * q + (_DOUBLE if len(score) > 1 else 0.0)
    h, h_off = p * q, p * q_off + q * p_off + p_off * q_off + near * p * q
    h, h_off = boosting.curve * h, boosting.curve * h_off
    if boosting.single:
        h_off = np.maximum(h_off, _FLOOR - h)
    return _Scores(p=p, p_off=p_off, q=q, q_off=q_off, h=h, h_off=h_off)


def equations_of(cells: Cells, trees: Sequence[Tree], boosting: Boosting) -> Equations:
    """Return the equations on the people of each cell: unknown K i + c is class c of K in cell i.

    Raises DataError if the first tree of a class holds no class counts.
    """
    n_scores = len(boosting.start)
    n_classes = max(n_scores, 2)
    leaf = cells.leaf.astype(np.int64)
    n_cells, n_people = (
        leaf.shape[1],
        float(own_and_others(trees[0], 0, n_scores)[trees[0].leaves].sum()),
    )
    most = np.full((n_cells, n_classes), n_people)
    score = np.tile(np.array(boosting.start)[:, None], n_cells)
    largest = np.abs(score).max(axis=0)
    moved = np.zeros_like(score)
    rows = _Rows(n_cells, n_classes)
    for i, tree in enumerate(trees):
        if tree.value is None:
            raise DataError("a tree holds no values")
        done, k = divmod(i, n_scores)
        own = k if n_scores > 1 else 1
        leaves, place = np.unique(leaf[i], return_inverse=True)
        now = _scores_of(score, k, largest, done, boosting)
        shift = boosting.shift[k] if done == 0 else 0.0
        v = boosting.scale * tree.value[leaves] - shift
        one, none = np.ones(n_cells), np.zeros(n_cells)
        # A library may write a tree without a split for one that it could not grow.
        grown = tree.n_nodes > 1
        stored = boosting.mass(i) if grown else None
        mass = np.full(len(leaves), np.nan) if stored is None else stored[leaves]
        least = np.full(len(leaves), np.inf)
        np.minimum.at(least, place, now.h - now.h_off)
        people = np.full(len(leaves), n_people)
        if tree.n_records is not None:
            people = tree.n_records[leaves].astype(np.float64)
        elif stored is not None:
            with np.errstate(divide="ignore"):
                by_mass = np.where(least > 0, mass / np.maximum(least, 1e-300) * (1 + 1e-6), np.inf)
            people = np.minimum(n_people, by_mass)
        if done == 0:
            first = own_and_others(tree, k, n_scores)[leaves]
            for counts, mine in zip(first.T, (True, False), strict=True):
                chosen = (np.arange(n_classes) == own) == mine
                pairs = [(one if counted else none, none) for counted in chosen]
                rows.add(place, pairs, counts, 0 * counts, counts)
                most[:, chosen] = np.minimum(most[:, chosen], counts[place][:, None])
        elif tree.n_records is not None:
            rows.add(place, [(one, none)] * n_classes, people, 0 * people, people)
        if stored is not None:
            off = boosting.stored * np.abs(mass)
            rows.add(place, [(now.h, now.h_off)] * n_classes, mass, off, people, tells=done > 0)
        if grown:
            size, rate = np.abs(v)[place], boosting.rate
            pairs = [
                (v[place] * now.h + rate * now.p, size * now.h_off + rate * now.p_off)
            ] * n_classes
            pairs[own] = (v[place] * now.h - rate * now.q, size * now.h_off + rate * now.q_off)
            most_curved = people * boosting.curve / 4
            curved = np.where(np.isfinite(mass), mass, most_curved) + boosting.penalty
            away = boosting.stored * np.abs(v) + _DOUBLE * abs(shift)
            smallest = np.full(len(leaves), np.inf)
            np.minimum.at(smallest, place, now.h)
            # What has next to no curvature is not moved, whatever its gradient.
            gradient = np.where(
                (v == 0) & (smallest < _NEXT_TO_NONE), np.nan, -v * boosting.penalty
            )
            rows.add(place, pairs, gradient, 2 * away * (1 + curved), people, tells=done > 0)
            squares = boosting.squares(i) if done else None
            if squares is not None and tree.n_records is not None:
                _add_squares(rows, tree, squares, leaf[i], own, now)
        most = np.minimum(most, people[place][:, None])
        moved[k] = v[place]
        if k == n_scores - 1:
            score = score + moved
            largest = np.maximum(largest, np.abs(score).max(axis=0))
    return rows.equations(most.ravel(), n_people)


def _add_squares(
    rows: "_Rows", tree: Tree, squares: Float, leaf: Wide, own: int, now: _Scores
) -> None:
    """Add what is left of a node's squared gradients for the leaves right below it."""
    inner = np.flatnonzero(~tree.is_leaf[1:]) + 1
    left, size, people = squares.copy(), squares.copy(), np.zeros(tree.n_nodes)
    np.add.at(left, tree.parent[inner], -squares[inner])
    np.add.at(size, tree.parent[inner], squares[inner])
    records = np.zeros(0) if tree.n_records is None else tree.n_records.astype(np.float64)
    np.add.at(people, tree.parent[tree.leaves], records[tree.leaves])
    above, place = np.unique(tree.parent[leaf], return_inverse=True)
    pairs = [(now.p**2, (2 * now.p + now.p_off) * now.p_off)] * rows.n_classes
    pairs[own] = (now.q**2, (2 * now.q + now.q_off) * now.q_off)
    # They were added up one after another.
    off = (_DOUBLE + records[0] * 2.0**-52) * size
    rows.add(place, pairs, left[above], off[above], people[above], tells=True)


def own_and_others(tree: Tree, k: int, n_scores: int) -> Float:
    """Return how many people of its class, and others, a first tree holds, ``(n_nodes, 2)``.

    Raises DataError if the tree does not tell.
    """
    if tree.counts is None:
        raise DataError("the first tree holds no class counts")
    if n_scores == 1:
        return tree.counts[:, 1::-1].astype(np.float64)
    if tree.n_records is None:
        raise DataError("the first trees do not tell how many people are in their leaves")
    # Of several classes all others stand in the column of one of them.
    own = tree.counts[:, k].astype(np.float64)
    return np.column_stack([own, tree.n_records - own])


class _Rows:
    """Equations, while they are put together."""

    def __init__(self, n_cells: int, n_classes: int) -> None:
        self.n_cells, self.n_classes, self.n_rows = n_cells, n_classes, 0
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
        """Add an equation a leaf; pairs are the coefficients of each class in every cell."""
        for label, (middle, width) in enumerate(pairs):
            self.row.append(place + self.n_rows)
            self.column.append(self.n_classes * np.arange(self.n_cells) + label)
            self.middle.append(middle)
            self.width.append(width)
        known = np.isfinite(told)
        told, off = np.where(known, told, 0.0), np.where(known, off, np.inf)
        self.sides.append((told, off, people, np.full(len(told), tells) & known))
        self.n_rows += len(told)

    def equations(self, most: Float, n_people: float) -> Equations:
        """Return all that were added and tell something."""
        target, tolerance, people, informative = map(np.concatenate, zip(*self.sides, strict=True))
        at = np.concatenate(self.row), np.concatenate(self.column)
        shape = (self.n_rows, self.n_classes * self.n_cells)
        middle, width = (
            sparse.csr_matrix((np.concatenate(one), at), shape=shape)
            for one in (self.middle, self.width)
        )
        known = np.flatnonzero(np.isfinite(tolerance))
        middle, width = middle[known], width[known]
        middle.eliminate_zeros()
        width.eliminate_zeros()
        return Equations(
            middle=middle,
            width=width,
            target=target[known],
            tolerance=tolerance[known],
            people=people[known],
            most=most,
            n_people=n_people,
            informative=informative[known],
        )
