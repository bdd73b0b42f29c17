"""A curator whose answers cost rho: counts with Gaussian noise, and choices as ever."""

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Wide
from treeaudit.dp.concentrated import pure_epsilon, rounded_down
from treeaudit.dp.curator import Curator, Selection
from treeaudit.dp.gaussian import GAUSSIAN, discrete_gaussian, fine_variance
from treeaudit.dp.ledger import Composition, Query
from treeaudit.errors import PrivacyError

__all__ = ["ConcentratedCurator"]


class ConcentratedCurator(Curator):
    """Answer as `Curator` does, where every cost, and the ceiling, is a rho.

    Of a row of counts one record moves one by one, a person's K records of one relation move all
    of them together by at most the factor f of `treeaudit.dp.ledger.factor` in Euclidean length:
    noise of variance ``f^2 / (2 rho)`` is rho-concentrated. Parts of one call are told at
    once, as one vector, so disjoint parts need no theorem of their own; calls of one name are
    charged anew. A choice is private by ``sqrt(2 rho)``, and what is private by epsilon is
    ``epsilon^2 / 2`` concentrated.

    Examples
    --------
    >>> curator = ConcentratedCurator(ceiling=Fraction(1))
    >>> answer = curator.count("leaf counts", [[3, 0], [1, 2]], Fraction(1, 2))
    >>> best = curator.choose("best", [[10, 900]], Fraction(1, 2))
    >>> curator.spent, [(q.mechanism, q.epsilon, q.rho) for q in curator.queries][0]
    (Fraction(1, 1), ('discrete Gaussian', Fraction(0, 1), Fraction(1, 2)))
    """

    def count(
        self,
        name: str,
        counts: npt.ArrayLike,
        cost: Fraction,
        *,
        most: int = 1,
        composition: Composition = "parallel",
    ) -> Wide:
        """Return counts with discrete Gaussian noise; see `Curator.count`."""
        table = np.asarray(counts, dtype=np.int64)
        if composition == "parallel" and any(query.name == name for query in self.queries):
            raise ValueError(f"{name!r} was asked before: name it anew")
        cost = rounded_down(cost)
        variance = self.variance(cost, most)
        moved = self.factor * most
        self.note(
            *(name, GAUSSIAN, Fraction(0), Fraction(1), len(table)),
            composition=composition,
            used=moved * moved / (2 * variance),
            rho=cost,
        )
        return self._noisy(table, discrete_gaussian(variance, table.size, self.entropy))

    def variance(self, cost: Fraction, most: int = 1) -> Fraction:
        """Return the variance of the noise of counts for a rho; see `count`.

        Raises
        ------
        PrivacyError
            If it is too large for the noise to be drawn.
        """
        moved = self.factor * most
        variance = None if cost <= 0 else fine_variance(moved * moved / (2 * cost))
        if variance is None:
            raise PrivacyError(
                f"a rho of {float(cost):g} for a count is too small: nothing can be learned"
            )
        return variance

    def rate(self, cost: Fraction, most: int = 1) -> Fraction:
        """Return the rate of Laplace noise that is as wide."""
        return Fraction(math.sqrt(2 / self.variance(cost, most)))

    def strength(self, cost: Fraction) -> float:
        """Return the epsilon that a choice of such a cost leaves for one record."""
        return float(pure_epsilon(cost)) / self.factor

    def noise(self, cost: Fraction) -> str:
        """Return in words what noise a count has that costs so much."""
        return f"discrete Gaussian noise of variance {float(self.variance(cost)):.6g}"

    def choose(
        self,
        name: str,
        scores: npt.ArrayLike,
        cost: Fraction,
        *,
        sensitivity: Fraction | int = 1,
        unit: int = 1,
        mechanism: Selection = "permute-and-flip",
        weights: npt.ArrayLike | None = None,
        composition: Composition = "parallel",
    ) -> Wide:
        """Return one good candidate per row; see `Curator.choose`."""
        return super().choose(
            *(name, scores, pure_epsilon(cost)),
            sensitivity=sensitivity,
            unit=unit,
            mechanism=mechanism,
            weights=weights,
            composition=composition,
        )

    @staticmethod
    def _cost(query: Query) -> Fraction:
        return query.concentrated
