"""Random trees whose counts are those of a sample, small ones left out: private without noise.

References
----------
Nojima & Wang (2023), Differentially private random forests without noise; Waseda, Nojima & Wang
(2024), Applied Sciences 14, 7625. Their theorem is Li, Qardaji & Su (2012), On sampling,
anonymization, and differential privacy, theorem 5.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from treeaudit.dp.accounting import FINEST_COUNT, dyadic
from treeaudit.dp.curator import Curator
from treeaudit.dp.ledger import factor
from treeaudit.dp.subsampling import least_threshold, loose_threshold_delta
from treeaudit.errors import PrivacyError
from treeaudit.trainers.answers import PrivateClassifier
from treeaudit.trainers.fit_checks import WITH_DELTA, check_delta, check_share
from treeaudit.trainers.private_trees import Grown, Listed
from treeaudit.trainers.random_trees import (
    branching,
    counted,
    leaves_within,
    levels_of,
    random_trees,
)
from treeaudit.trainers.training_rows import TrainingRows

_FOR_SIZE = 50
"""The number of people costs one part of so many of epsilon and delta."""


@dataclass(kw_only=True, eq=False, repr=False)
class ThresholdForestClassifier(PrivateClassifier):
    """Random trees without noise: each counts its own sample, and tells no count below k.

    The claim is (epsilon, delta): with a chance of delta a person may lose more than epsilon. It
    bounds nothing where a policy asks for epsilon alone, and cannot be paid from an account.

    Notes
    -----
    Trees ask at random, from the public schema alone. Per tree a fresh sample keeps every record
    with chance beta, and every count of a (leaf, label) cell below k is told as 0. One record is
    in one cell, whose sampled count has the law Bin(N, beta) or Bin(N - 1, beta): exact in
    `treeaudit.dp.subsampling.threshold_delta`. tau trees with samples of their own cost tau
    times (epsilon / tau, delta / tau) (sequential composition). A threshold on the people of a
    leaf, whatever their labels, would not do: a label of one person shows with chance beta.
    Where f records are protected, each is at epsilon / f and at most delta exp(-epsilon) / f
    (group privacy).

    Examples
    --------
    >>> from treeaudit.model.schema import Feature, Schema
    >>> schema = Schema(features=(Feature(name="age", low=0, high=120),), classes=("no", "yes"))
    >>> model = ThresholdForestClassifier(epsilon=8.0, schema=schema)
    >>> model = model.fit([[20], [25], [90], [95]] * 500, ["no", "no", "yes", "yes"] * 500)
    >>> float(model.privacy_.epsilon), float(model.privacy_.delta)
    (8.0, 1e-06)
    """

    algorithm: ClassVar[str] = "threshold-forest"
    listed: ClassVar[Listed] = Listed(
        paper="Nojima & Wang 2023, by Li, Qardaji & Su 2012",
        query="β/τ and δ/τ",
        tree="random",
        depth="by people and threshold",
        trees="4",
        numbers="random points",
        published="(β, δ), k by theorem 5",
        sound="(β, δ), k exact",
    )

    n_estimators: int = 4
    max_depth: int | None = None
    delta: float = 1e-6
    sampling_rate: float | None = None
    n_records: int | None = None
    max_leaves: int | None = 4096

    def _checked(self) -> Fraction:
        check_share("delta", self.delta)
        check_delta(self.delta)
        epsilon = super()._checked()
        self._rate(self._of_a_tree(epsilon)[0])
        return epsilon

    def _spend(self, epsilon: Fraction, reasons: tuple[str, ...]) -> None:
        raise PrivacyError(WITH_DELTA)

    def _of_a_tree(self, epsilon: Fraction) -> tuple[Fraction, Fraction]:
        """Return epsilon and delta of a tree."""
        delta = Fraction(str(float(self.delta)))
        left = 1 if self.n_records is not None else 1 - Fraction(1, _FOR_SIZE)
        return epsilon * left / int(self.n_estimators), delta * left / int(self.n_estimators)

    def _rate(self, epsilon: Fraction) -> Fraction:
        """Return the sampling rate for what a sample may cost."""
        each = epsilon / factor(self.neighbours, self.rows_per_person)
        if self.sampling_rate is None:
            return dyadic(min(each / 2, Fraction(1, 2)), FINEST_COUNT)
        most = -np.expm1(-float(each))
        rate: object = self.sampling_rate
        if not isinstance(rate, int | float) or not 0 < rate <= most:
            raise PrivacyError(
                f"sampling_rate is {self.sampling_rate!r}: it must be above 0 and at most "
                f"1 - exp(-epsilon / tau), {most:.6g}"
            )
        return dyadic(Fraction(float(self.sampling_rate)), FINEST_COUNT)

    def _least(self, rows: TrainingRows, epsilon: Fraction) -> Fraction:
        return min(self._of_a_tree(epsilon)[0], epsilon / _FOR_SIZE) / 2

    def _grow(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> Grown:
        each, delta = self._of_a_tree(epsilon)
        rate = self._rate(each)
        k = curator.threshold(each, delta, rate)
        if self.variant == "published":
            printed = float(each / curator.factor), float(delta / curator.factor)
            k = max(k, least_threshold(float(rate), *printed, loose_threshold_delta))
        n = self.n_records or self._people(rows, curator, epsilon)
        depth = self.max_depth
        if depth is None:
            leaves = int(n * rate / (2 * k))
            depth = max(1, levels_of(max(1, leaves), branching(rows.schema)))
        n_trees = int(self.n_estimators)
        leaves = leaves_within(self.max_leaves, n_trees)
        trees = random_trees(rows.schema, n_trees, depth, leaves, curator.entropy)

        def ask(name: str, counts: np.ndarray) -> np.ndarray:
            return curator.sample(name, counts, each, delta=delta, rate=rate, least=k)

        return Grown(
            trees=counted(trees, rows, ask, self.n_jobs),
            counts_reason=f"counts in a sample at a rate of {float(rate):.9g}, all below {k} as 0",
            answers="mean",
            noise=None,
            records_are="unknown",
            public=() if self.n_records is None else ("the number of records",),
        )

    def _people(self, rows: TrainingRows, curator: Curator, epsilon: Fraction) -> int:
        """Estimate how many records there are, from a sample; 1 where that tells too few."""
        cost, delta = epsilon / _FOR_SIZE, Fraction(str(float(self.delta))) / _FOR_SIZE
        each = cost / curator.factor / 2
        rate = dyadic(min(each, Fraction(1, 2)), FINEST_COUNT)
        told = curator.sample("people", [[len(rows)]], cost, delta=delta, rate=rate)
        return max(1, int(int(told[0, 0]) / rate))
