"""How good a split is, as whole numbers, and how far one person moves it.

A score takes the class counts of every part that a split would make and
returns whole numbers in units of 2^-20 (`UNIT` of them make one). Adding one
person changes one part only. All three scores are *monotone*: adding a person
moves all candidates in the same direction or not at all, by at most the
sensitivity. So two candidates move apart by at most the sensitivity, and the
choice may use ``exp(epsilon * score / sensitivity)``; twice that, as printed by
Friedman & Schuster (2010), is not needed.

References
----------
Friedman & Schuster (2010), appendix A: the sensitivities under add-remove.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Float, Wide, sum_of_row

UNIT = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One way to say how good a split is.

    Attributes
    ----------
    name
        As in `SCORES`.
    of
        From counts of shape ``(…, n_parts, n_classes)`` to scores of shape
        ``(…)``, the larger the better, in units of 2^-20. Parts without
        people count nothing, so that shorter splits may be filled with zeros.
    sensitivity
        From a public bound on the number of records to how far apart two
        candidates move when one person is added or removed, in units of 2^-20.
    """

    name: str
    of: Callable[[npt.ArrayLike], Wide]
    sensitivity: Callable[[int], Fraction]


def on_grid(scores: npt.ArrayLike) -> Wide:
    """Round real scores down to whole units of 2^-20, for mechanisms on whole numbers."""
    grid: Wide = np.floor(np.asarray(scores, dtype=np.float64) * UNIT).astype(np.int64)
    return grid


def grid_sensitivity(sensitivity: float) -> Fraction:
    """Return how far apart two candidates of `on_grid` move, in units.

    For monotone scores, which all move in one direction and by at most the
    sensitivity D, a whole number of units. Where a score is computed with an error
    below half a unit, before and after differ by more than -D - 1 and less than
    1, so the rounded ones by a whole number from -D - 1 to 1: two units more than
    D lie between two candidates.
    """
    return Fraction(math.ceil(sensitivity * UNIT) + 2)


def _gini(counts: npt.ArrayLike) -> Wide:
    table = np.asarray(counts, dtype=np.int64)
    size = sum_of_row(table)
    squares = sum_of_row(table * table)
    there = np.maximum(size, 1)
    whole, rest = np.divmod(squares, there)
    # floor(UNIT * (squares / size - size)) without a rounded step in between
    return sum_of_row((whole - size) * UNIT + rest * UNIT // there)


def _max(counts: npt.ArrayLike) -> Wide:
    largest: Wide = np.asarray(counts, dtype=np.int64).max(axis=-1)
    return sum_of_row(largest) * UNIT


def _information(counts: npt.ArrayLike) -> Wide:
    table = np.asarray(counts, dtype=np.float64)
    size = table.sum(axis=-1)
    score = _n_log_n(table).sum(axis=-1) - _n_log_n(size)
    total: Wide = on_grid(score).sum(axis=-1)
    return total


def _n_log_n(n: Float) -> Float:
    return n * np.log2(np.maximum(n, 1.0))


def _information_sensitivity(n_most: int) -> Fraction:
    if n_most < 1:
        raise ValueError("the bound on the number of records must be at least 1")
    exact = (n_most + 1) * math.log2(n_most + 1) - n_most * math.log2(n_most)
    return grid_sensitivity(exact)


GINI = Score(name="gini", of=_gini, sensitivity=lambda _: Fraction(2 * UNIT))
r"""Minus the number of records times the Gini impurity after the split.

A part with counts n_c and size n adds ``s = sum n_c^2 / n - n``. Adding one
record of class x changes it by ``(2 n_x + 1 - sum n_c^2 / n) / (n + 1) - 1``.
The fraction lies in (-1, 1]: it is at most ``(2 n_x + 1 - n_x^2 / n) / (n + 1)
<= 1``, since ``n_x^2 / n >= 2 n_x - n``; and above -1, since the sum of squares
is at most ``n^2``. So a change lies in (-2, 0]: monotone, sensitivity 2.
Rounding down to a whole number of units keeps both, and only the part of the
person is rounded anew: no step has to be added.
"""

MAX = Score(name="max", of=_max, sensitivity=lambda _: Fraction(UNIT))
"""The number of records that the majority of each part gets right.

Adding a record raises the largest count of its part by 0 or 1: monotone,
sensitivity 1.
"""

INFORMATION_GAIN = Score(
    name="information gain", of=_information, sensitivity=_information_sensitivity
)
"""Minus the number of records times the entropy of the class after the split.

With ``f(n) = n log2 n`` a part adds ``sum f(n_c) - f(n)``. Adding a record of
class x changes it by ``(f(n_x + 1) - f(n_x)) - (f(n + 1) - f(n))``; f is convex,
so its steps grow, and the change lies between ``-(f(N + 1) - f(N))`` (a class
that was not there) and 0 (all of one class): monotone. N must be a public bound
on the number of records. The logarithms are rounded by less than half a unit as
long as ``N log2 N`` times the classes stays below 2^31; rounding down can then
move two candidates apart by two units more, which are added.
"""
