"""The one door between private records and a model: it answers with noise, and keeps the ledger.

`ConcentratedCurator` is the same where costs are a rho (zCDP).
"""

import math
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from treeaudit.arrays import Wide
from treeaudit.dp.accounting import FINEST_CHOICE, FINEST_COUNT, dyadic, pure_epsilon, rounded_down
from treeaudit.dp.ledger import Composition, Neighbours, Query, factor
from treeaudit.dp.mechanisms import (
    GAUSSIAN,
    discrete_gaussian,
    discrete_laplace,
    exponential_mechanism,
    fine_variance,
    permute_and_flip,
)
from treeaudit.dp.subsampling import Entropy, OperatingSystem, least_threshold, thinned
from treeaudit.errors import PrivacyError

THRESHOLD = "sampling and threshold"
"""The mechanism of `Curator.sample`: its epsilon may be broken with a chance of delta."""

_LARGEST = 1 << 52
_LEAST_DELTA = 1e-250
"""Below it floating point cannot tell a delta from none."""

Selection = Literal["permute-and-flip", "exponential mechanism"]


class Curator:
    """Answer questions about private records, and write down what each answer costs.

    A question is asked of many parts at once, one per row. The parts must be
    disjoint: no record may be in two of them, nor in two calls of the same
    name. Rows of another name, and rows with ``composition="sequential"``,
    add up.

    Parameters
    ----------
    neighbours
        The relation; under ``replace-one`` every answer has half the rate.
    rows_per_person
        How many records one person may have, where neighbours differ in a
        person: every answer has that part of the rate. Whoever asks must see
        no more of anybody.
    entropy
        The operating system unless told.
    ceiling
        The most that all answers together may cost; no bound where None.

    Examples
    --------
    >>> curator = Curator(ceiling=Fraction(1))
    >>> answer = curator.count("leaf counts", [[3, 0], [1, 2]], Fraction(1))
    >>> answer.shape, curator.queries[0].asked, curator.spent
    ((2, 2), 2, Fraction(1, 1))
    >>> curator.count("once more", [[3, 0]], Fraction(1))
    Traceback (most recent call last):
    treeaudit.errors.PrivacyError: 'once more' would bring the cost to 2, above the budget of 1
    """

    def __init__(
        self,
        *,
        neighbours: Neighbours = "add-remove",
        rows_per_person: int | None = None,
        entropy: Entropy | None = None,
        ceiling: Fraction | None = None,
    ) -> None:
        self.neighbours: Neighbours = neighbours
        self.factor = factor(neighbours, rows_per_person)
        self.entropy: Entropy = OperatingSystem() if entropy is None else entropy
        self._ceiling = ceiling
        self._queries: dict[str, Query] = {}
        self._spent = Fraction(0)

    @property
    def queries(self) -> tuple[Query, ...]:
        """What was asked so far, one row per name."""
        return tuple(self._queries.values())

    @property
    def spent(self) -> Fraction:
        """What the answers cost so far."""
        return self._spent

    def count(
        self,
        name: str,
        counts: npt.ArrayLike,
        cost: Fraction,
        *,
        most: int = 1,
        composition: Composition = "parallel",
    ) -> Wide:
        """Return counts, or sums, with discrete Laplace noise; they may come out below zero.

        One added record changes one count of one row by one; or the sums of one row
        by ``most`` altogether.

        Parameters
        ----------
        counts
            Whole numbers, shape ``(n_parts,)`` or ``(n_parts, n_cells)``; the
            cells of a row are disjoint, too, or share what one record adds.
        cost
            Of one row: epsilon.
        most
            How much one record adds to a row: the units of a sum that are one person. It must
            not depend on the records but through what was answered before.
        composition
            ``sequential`` where rows are about the same people.
        """
        table = np.asarray(counts, dtype=np.int64)
        rate = self.rate(cost, most)
        self.note(
            *(name, "discrete Laplace", cost, Fraction(1), len(table)),
            composition=composition,
            used=rate * most * self.factor,
        )
        return self._noisy(table, discrete_laplace(rate, table.size, self.entropy))

    @staticmethod
    def _noisy(table: Wide, noise: Wide) -> Wide:
        # So that sums of many of them are exact, in floating point too.
        answer: Wide = np.clip(table + noise.reshape(table.shape), -_LARGEST, _LARGEST)
        return answer

    def strength(self, cost: Fraction) -> float:
        """Return the epsilon that a choice of such a cost leaves for one record."""
        return float(self._epsilon(cost)) / self.factor

    def noise(self, cost: Fraction) -> str:
        """Return in words what noise a count has that costs so much."""
        return f"discrete Laplace noise of rate {float(self.rate(cost)):.6g}"

    def rate(self, cost: Fraction, most: int = 1) -> Fraction:
        """Return the rate of the noise of counts, or of sums, for a cost; see `count`.

        Raises
        ------
        PrivacyError
            If it is too small for the noise to be drawn.
        """
        rate = dyadic(cost / (self.factor * most), FINEST_COUNT)
        if rate <= 0:
            raise PrivacyError(
                f"an epsilon of {float(cost):g} for a count is too small: nothing can be learned"
            )
        return rate

    def sample(
        self,
        name: str,
        counts: npt.ArrayLike,
        epsilon: Fraction,
        *,
        delta: Fraction,
        rate: Fraction,
        least: int = 0,
    ) -> Wide:
        """Return counts in a random sample of the people, those below a threshold as 0.

        No noise is added. Parts are disjoint, and so are their cells. The answer is
        (epsilon, delta)-differentially private (`treeaudit.dp.subsampling.threshold_delta`).

        Parameters
        ----------
        counts
            Whole numbers, shape ``(n_parts, n_cells)``.
        epsilon, delta
            What all rows cost together.
        rate
            The probability with which a person is in the sample: a whole number by a power of
            two, such that ``-ln(1 - rate)`` is at most what epsilon leaves for one record.
        least
            A threshold of one's own; what `threshold` says is used where that is more.
        """
        table = np.asarray(counts, dtype=np.int64)
        least = max(least, self.threshold(epsilon, delta, rate))
        self.note(*(name, THRESHOLD, epsilon, Fraction(1), len(table)), delta=delta)
        found = thinned(table, rate, self.entropy)
        return np.where(found < least, 0, found)

    def threshold(self, epsilon: Fraction, delta: Fraction, rate: Fraction) -> int:
        """Return the least count that `sample` tells.

        What records of one person cost together: f of them at (epsilon, delta) each cost (f
        epsilon, f exp(f epsilon) delta) at most. Nothing is told where that leaves too little.
        """
        alone = float(delta)
        if self.factor > 1:
            alone *= math.exp(-min(float(epsilon), 1000.0)) / self.factor
        if alone < _LEAST_DELTA:
            return _LARGEST
        return least_threshold(float(rate), float(epsilon / self.factor), alone)

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
        """Return one good candidate per row.

        The law of a row changes by at most epsilon, because it changes by the
        rate times how far apart two candidates' scores move: all that is
        common to them cancels. For scores that only grow when a record is
        added (`treeaudit.dp.scores`) that is the sensitivity itself, not twice it.

        Parameters
        ----------
        scores
            Whole numbers, shape ``(n_parts, n_candidates)``.
        cost
            Of one row: epsilon.
        sensitivity
            How far apart the scores of two candidates move when one record is
            added or removed, in units of the scores.
        unit
            How many units of the scores are one person.
        mechanism
            ``permute-and-flip`` or ``exponential mechanism``.
        weights
            Of the candidates, for the exponential mechanism only.
        composition
            ``sequential`` where rows are about the same people.
        """
        table = np.asarray(scores, dtype=np.int64)
        if mechanism == "permute-and-flip" and weights is not None:
            raise ValueError("permute-and-flip takes no weights")
        scale, epsilon = Fraction(sensitivity) * self.factor, self._epsilon(cost)
        rate = dyadic(epsilon / scale, FINEST_CHOICE)
        self.note(
            *(name, mechanism, epsilon, Fraction(sensitivity) / unit, len(table)),
            composition=composition,
            used=rate * scale,
        )
        if mechanism == "permute-and-flip":
            return permute_and_flip(table, rate, self.entropy)
        return exponential_mechanism(table, rate, self.entropy, weights)

    @staticmethod
    def _epsilon(cost: Fraction) -> Fraction:
        """Return the epsilon of a choice of a cost."""
        return cost

    @staticmethod
    def _cost(query: Query) -> Fraction:
        return query.cost

    def note(
        self,
        name: str,
        mechanism: str,
        epsilon: Fraction,
        sensitivity: Fraction,
        asked: int,
        *,
        composition: Composition = "parallel",
        used: Fraction | None = None,
        delta: Fraction = Fraction(0),
        rho: Fraction = Fraction(0),
    ) -> None:
        """Write down a question; called by itself only for mechanisms as printed.

        Raises
        ------
        PrivacyError
            If it would cost more than is left. Nothing is answered then.
        """
        if epsilon < 0:
            raise ValueError(f"{name!r} costs {epsilon}: nothing costs less than 0")
        scale = sensitivity * self.factor
        before = self._queries.get(name)
        asked_before = before and (before.mechanism, before.composition, before.epsilon, before.rho)
        if asked_before not in (None, (mechanism, composition, epsilon, rho)):
            raise ValueError(f"{name!r} was asked in another way before")
        query = self._queries[name] = Query(
            name=name,
            mechanism=mechanism,
            epsilon=epsilon,
            sensitivity=max(scale, before.sensitivity) if before else scale,
            neighbours=self.neighbours,
            composition=composition,
            asked=asked + (before.asked if before else 0),
            used=None if used == (rho or epsilon) else used,
            delta=delta,
            rho=rho,
        )
        cost = self._cost(query) - (self._cost(before) if before else 0)
        if cost:
            self._spent += cost
        if self._ceiling is not None and self._spent > self._ceiling:
            raise PrivacyError(
                f"{name!r} would bring the cost to {float(self._spent):g}, "
                f"above the budget of {float(self._ceiling):g}"
            )


class ConcentratedCurator(Curator):
    """Answer as `Curator` does, where every cost, and the ceiling, is a rho.

    Of a row of counts one record moves one by one, a person's K records of one relation move all
    of them together by at most the factor f of `treeaudit.dp.ledger.factor` in Euclidean length:
    noise of variance ``f^2 / (2 rho)`` is rho-concentrated. Parts of one call are told at
    once, as one vector, so disjoint parts need no theorem of their own; calls of one name are
    charged anew. A choice is private by ``sqrt(2 rho)``, and what is private by epsilon is
    ``epsilon^2 / 2`` concentrated.
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
        """Return the variance of the noise of counts for a rho; see `count`."""
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

    def noise(self, cost: Fraction) -> str:
        """Return in words what noise a count has that costs so much."""
        return f"discrete Gaussian noise of variance {float(self.variance(cost)):.6g}"

    @staticmethod
    def _epsilon(cost: Fraction) -> Fraction:
        return pure_epsilon(cost)

    @staticmethod
    def _cost(query: Query) -> Fraction:
        return query.concentrated
