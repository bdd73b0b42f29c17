"""Random bits: exactly uniform, from the operating system, never buffered."""

import os

import numpy as np
import pytest
from scipy.stats import chisquare

from treeaudit.dp.sampling import OperatingSystem, Seeded, below, permutation, unit


@pytest.mark.parametrize("bound", [2, 3, 7, 256, 257, 1000])
def test_all_numbers_are_equally_likely(bound) -> None:
    drawn = below(Seeded(1), bound, 200_000)
    assert drawn.min() >= 0
    assert drawn.max() < bound
    assert chisquare(np.bincount(drawn, minlength=bound)).pvalue > 1e-3


def test_large_bounds_reach_the_top() -> None:
    drawn = below(Seeded(2), 1 << 63, 4000)
    assert drawn.min() >= 0
    assert drawn.max() > 1 << 62
    with pytest.raises(ValueError, match="between 1 and"):
        below(Seeded(2), (1 << 63) + 1, 1)


def test_words_below_the_bound_are_taken_as_they_come() -> None:
    class Fixed:
        def __init__(self, *chunks: bytes) -> None:
            self.chunks = list(chunks)

        def read(self, n: int) -> bytes:
            chunk = self.chunks.pop(0)
            assert len(chunk) == n
            return chunk

    # Bound 5 needs three bits: 7 is refused, and drawn again.
    assert below(Fixed(bytes([1, 7, 4]), bytes([0])), 5, 3).tolist() == [1, 0, 4]


def test_the_operating_system_is_asked_each_time(monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(os, "urandom", lambda n: asked.append(n) or bytes(n))
    below(OperatingSystem(), 10, 4)
    below(OperatingSystem(), 10, 4)
    assert asked == [4, 4]


def test_a_seed_repeats_and_the_system_does_not() -> None:
    assert below(Seeded(3), 1 << 60, 4).tolist() == below(Seeded(3), 1 << 60, 4).tolist()
    assert (
        below(OperatingSystem(), 1 << 60, 4).tolist()
        != below(OperatingSystem(), 1 << 60, 4).tolist()
    )


def test_nothing_is_drawn_for_nobody() -> None:
    assert below(Seeded(0), 10, 0).tolist() == []
    assert permutation(Seeded(0), 0).tolist() == []


def test_orders_and_shares() -> None:
    assert sorted(permutation(Seeded(4), 50).tolist()) == list(range(50))
    shares = unit(Seeded(5), 10_000)
    assert 0 <= shares.min() < 0.01
    assert 0.99 < shares.max() < 1
