"""Split scores: their values, and how far one person moves two candidates apart."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from treeaudit.dp.scores import GINI, INFORMATION_GAIN, MAX, UNIT

SCORES = [GINI, MAX, INFORMATION_GAIN]


def exact(score, table) -> float:
    """The score as the papers define it, in floating point."""
    table = np.asarray(table, dtype=float)
    total = 0.0
    for row in table:
        n = row.sum()
        if n:
            p = row[row > 0] / n
            total += {
                "gini": -n * (1 - (p**2).sum()),
                "max": row.max(),
                "information gain": n * (p * np.log2(p)).sum(),
            }[score.name]
    return total


@pytest.mark.parametrize("score", SCORES, ids=lambda s: s.name)
def test_values(score) -> None:
    rng = np.random.default_rng(0)
    tables = rng.integers(0, 30, (200, 3, 4))
    tables[:20, 1] = 0
    mine = score.of(tables) / UNIT
    theirs = [exact(score, table) for table in tables]
    assert np.abs(mine - theirs).max() < 4 / UNIT


@pytest.mark.parametrize("score", SCORES, ids=lambda s: s.name)
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_one_person_moves_two_candidates_apart_by_at_most_the_sensitivity(score, n_classes) -> None:
    """Brute force over the one part that the person is in, up to 12 records."""
    most = 12
    sensitivity = score.sensitivity(most)
    widest = 0
    for counts in itertools.product(range(most), repeat=n_classes):
        if sum(counts) >= most:
            continue
        before = score.of([counts])
        after = score.of(np.add(counts, np.eye(n_classes, dtype=int))[:, None])
        change = np.asarray(after) - before
        # Another candidate may not move at all, so 0 belongs to the range.
        spread = max(change.max(), 0) - min(change.min(), 0)
        widest = max(widest, int(spread))
        assert spread <= sensitivity
        slack = 2 if score is INFORMATION_GAIN else 0
        assert change.min() >= -slack if score is MAX else change.max() <= slack
    assert widest > 0.75 * float(sensitivity)


def test_the_sensitivities_of_the_paper() -> None:
    assert GINI.sensitivity(1) == 2 * UNIT
    assert MAX.sensitivity(1) == UNIT
    # N = 16: 5.4869, below log2(N + 1) + 1 / ln 2 = 5.5302 (Friedman & Schuster, appendix A).
    assert float(INFORMATION_GAIN.sensitivity(16) / UNIT) == pytest.approx(5.4869, abs=1e-4)
    with pytest.raises(ValueError, match="at least 1"):
        INFORMATION_GAIN.sensitivity(0)


def test_large_parts_do_not_overflow() -> None:
    n = 10**9
    assert GINI.of([[n, n]]) == -n * UNIT
    assert isinstance(GINI.sensitivity(n), Fraction)
