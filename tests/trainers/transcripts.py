"""The exact loss of a whole transcript of answers, between data sets that differ in one unit.

A fit is given answers, as likely or as strange as one likes: any that can be given may be.
What they were drawn from, true counts, scores and rates, is kept. Then the same answers
are forced on a neighbouring data set. Logarithms of ratios add up, and what was released must be
the same: then nothing but the answers depends on the data, and the sum is what
the answers give away.
"""

import json
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np

from tests.dp.exact import (
    Loss,
    laplace_loss,
    mechanism_loss,
    permute_and_flip_loss,
    sample_law,
)
from treeaudit.dp import curator as curator_module
from treeaudit.dp import subsampling
from treeaudit.dp.curator import ConcentratedCurator, Curator
from treeaudit.dp.mechanisms import IMPOSSIBLE
from treeaudit.dp.subsampling import Seeded
from treeaudit.trainers import (
    diffpid3,
    private_search,
    private_tree,
    private_trees,
    smooth_sensitivity_forest,
)
from treeaudit.writers.native_json import to_dict

__all__ = ["Transcript", "fitted_alike", "replayed"]


@dataclass
class Transcript:
    """Questions and answers of a fit; forced on a second one, with the loss of it."""

    wild: bool
    rng: np.random.Generator
    forced: bool = False
    entries: list[Any] = field(default_factory=list)
    at: int = 0
    loss: Loss = field(default_factory=Loss)
    rho: Fraction = Fraction(0)
    counts: Any = None
    held: Any = None
    rate: Fraction | None = None

    def turn(self, kind: str, name: object, asked: Any, rate: Fraction, answer: Any) -> Any:
        """Keep an answer, or return the one that was kept with what it was drawn from."""
        if not self.forced:
            given = answer()
            self.entries.append((kind, name, asked, rate, given))
            return given, None
        entry = self.entries[self.at]
        self.at += 1
        assert entry[:2] == (kind, name)
        assert entry[3] == rate
        return entry[4], entry[2]

    def laplace(self, rate: Fraction, n: int, entropy: object) -> np.ndarray:
        """Stand for `discrete_laplace`: noise that brings about the answer."""
        true = self.counts.ravel()
        assert n == true.size
        answer, before = self.turn("count", true.size, true, rate, lambda: self._count(true, rate))
        if before is not None:
            laplace_loss(self.loss, before, true, answer, rate)
        return answer - true

    def gaussian(self, variance: Fraction, n: int, entropy: object) -> np.ndarray:
        """Stand for `discrete_gaussian`; what it gives away is a rho, the same for any answer."""
        true = self.counts.ravel()
        assert n == true.size
        rate = 1 / variance
        answer, before = self.turn("wide", true.size, true, rate, lambda: self._count(true, rate))
        if before is not None:
            self.rho += Fraction(int(((true - before) ** 2).sum())) / (2 * variance)
        return answer - true

    def _count(self, true: np.ndarray, rate: Fraction) -> np.ndarray:
        noise = np.round(self.rng.laplace(size=true.size) / float(rate)).astype(np.int64)
        if not self.wild or self.rng.random() < 0.5:
            return true + noise
        return true + self.rng.choice([-(10**6), -3, 0, 40, 10**6], true.size)

    def sample(self, curator: Curator, counts: np.ndarray, rate: Fraction, least: int) -> Any:
        """Stand for counts of a sample, those below the least told as 0: likely ones always."""

        def drawn() -> np.ndarray:
            found = self.rng.binomial(counts, float(rate))
            return np.where(found < least, 0, found)

        answer, before = self.turn("sample", counts.shape, counts, rate, drawn)
        for i in [] if before is None else zip(*np.nonzero(before != counts), strict=True):
            sides = (int(before[i]), int(counts[i]))
            self.loss.add(Fraction(0), tuple(sample_law(n, rate, least)[answer[i]] for n in sides))
        return answer

    def choose(self, mechanism: str, scores: Any, rate: Fraction, weights: Any) -> np.ndarray:
        """Stand for a mechanism that chooses."""
        table = np.asarray(scores)
        if self.held is not None:
            self.rate = rate
            return np.zeros(1, dtype=np.int64)
        answer, before = self.turn(
            mechanism, table.shape, table, rate, lambda: self._chosen(table, rate)
        )
        for i in [] if before is None else np.flatnonzero((before != table).any(axis=1)):
            one, other = (_distances(t[i]) for t in (before, table))
            if one == other:
                continue
            chosen = int(answer[i])
            if mechanism == "permute-and-flip":
                permute_and_flip_loss(self.loss, one, other, chosen, rate)
            else:
                mass = [1] * len(one)
                mechanism_loss(self.loss, (one, mass, chosen), (other, mass, chosen), rate)
        return answer

    def _chosen(self, table: np.ndarray, rate: Fraction) -> np.ndarray:
        shaken = table * float(rate) + self.rng.gumbel(size=table.shape)
        if self.wild and self.rng.random() < 0.5:
            shaken = self.rng.random(table.shape)
        return np.where(table > IMPOSSIBLE, shaken, -np.inf).argmax(axis=1)

    def point(self, original: Any, curator: Curator, name: str, *rest: Any) -> int:
        """Stand for `choose_point`: what is released is a point, not the range that it lies in."""
        first, n, scores = self.held = rest[-1]
        public, curator.entropy = curator.entropy, Seeded(0)
        original(curator, name, *rest)
        self.held, curator.entropy = None, public
        rate = self.rate
        assert rate is not None
        answer, before = self.turn(
            "point", name, (first, n, scores), rate,
            lambda: int(self.rng.integers(first[0], first[-1] + n[-1])),
        )  # fmt: skip
        if before is not None:
            sides = [
                (_distances(s), w.tolist(), int(np.searchsorted(f, answer, "right")) - 1)
                for f, w, s in (before, (first, n, scores))
            ]
            mechanism_loss(self.loss, *sides, rate)
        return answer


def _distances(scores: np.ndarray) -> list[int]:
    """Return how far below the best each candidate is; what is impossible is endlessly far."""
    best = int(scores.max())
    return [best - s if s > IMPOSSIBLE else 1 << 400 for s in scores.tolist()]


@contextmanager
def told_by(transcript: Transcript, seed: int, times: Any):
    """Let a transcript answer, at the place where mechanisms draw."""
    point = diffpid3.choose_point

    def counted(kind):
        count = kind.count

        def counting(self, name, counts, *rest, **more):
            transcript.counts = np.asarray(counts, dtype=np.int64)
            return count(self, name, counts, *rest, **more)

        return counting

    def choosing(mechanism):
        return lambda scores, rate, entropy, weights=None: transcript.choose(
            mechanism, scores, rate, weights
        )

    def sampled(self, name, counts, epsilon, *, delta, rate, least=0):
        least = max(least, self.threshold(epsilon, delta, rate))
        self.note(name, curator_module.THRESHOLD, epsilon, Fraction(1), len(counts), delta=delta)
        return transcript.sample(self, np.asarray(counts, dtype=np.int64), rate, least)

    def tree_of_record(entropy, bound, n):
        return np.random.default_rng(seed).integers(0, bound, 1000)[:n]

    with ExitStack() as stack:
        for target, name, stand_in in (
            (Curator, "count", counted(Curator)),
            (ConcentratedCurator, "count", counted(ConcentratedCurator)),
            (curator_module, "discrete_gaussian", transcript.gaussian),
            (Curator, "sample", sampled),
            # Once in every tree; how often else, `poisson_epsilon` pays for.
            (subsampling, "poisson", lambda _, n: times(n)),
            (subsampling, "tree_of_each", tree_of_record),
            (curator_module, "discrete_laplace", transcript.laplace),
            (curator_module, "permute_and_flip", choosing("permute-and-flip")),
            (curator_module, "exponential_mechanism", choosing("exponential mechanism")),
            (diffpid3, "choose_point", lambda *a: transcript.point(point, *a)),
            # Coins that do not depend on data: the same for the same record and question.
            (private_trees, "entropy_of", lambda _: Seeded(seed)),
            (private_search, "below", tree_of_record),
            (private_tree, "below", tree_of_record),
            (smooth_sensitivity_forest, "below", tree_of_record),
        ):
            stack.enter_context(patch.object(target, name, stand_in))
        yield


def _once(n: int) -> np.ndarray:
    return np.ones(n, dtype=np.int64)


def fitted_alike(
    model: Any, one: Any, other: Any, seed: int, *, wild: bool, times: Any = _once
) -> Fraction:
    """Fit on one data set and force its answers on the other; return the exact loss.

    See `replayed`.
    """
    return replayed(model, one, other, seed, wild=wild, times=times).loss.total


def replayed(
    model: Any, one: Any, other: Any, seed: int, *, wild: bool, times: Any = _once
) -> Transcript:
    """Fit on one data set and force its answers on the other.

    ``one`` and ``other`` are the arguments of ``fit`` as mappings. The loss is off by less
    than `tests.dp.exact.SLACK`. ``times`` says how often each of so many records is taken into
    a tree that draws them again.
    """
    transcript = Transcript(wild=wild, rng=np.random.default_rng(seed))
    with told_by(transcript, seed, times):
        first = to_dict(model.fit(**one).forest_)
    transcript.forced = True
    with told_by(transcript, seed, times):
        second = to_dict(model.fit(**other).forest_)
    assert transcript.at == len(transcript.entries)
    assert json.dumps(first) == json.dumps(second)
    return transcript
