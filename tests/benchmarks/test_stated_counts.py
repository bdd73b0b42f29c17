"""Bounds and levels of people who were drawn, or are likely, hold what is true."""

import pytest

from benchmarks.drawn_counts import of_labels, of_numbers
from benchmarks.likely_people import Setting, measured


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(100, 120))
def test_bounds_of_drawn_people_hold_the_truth(seed) -> None:
    stated = [*of_labels(seed), *of_numbers(seed)]
    assert len(stated) == 9
    assert [one for one in stated if not one.holds] == []


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "expected", "right", "level"), [
    (None, 21.2, 20.7, 0.91), (1.0, 17.1, 16.3, 0.92),
])  # fmt: skip
def test_as_many_likely_people_are_there_as_is_stated(rate, expected, right, level) -> None:
    found = measured(Setting("random", 30, 12, rate, 6))
    assert found.expected.mean() == pytest.approx(expected, abs=1)
    assert found.right.mean() == pytest.approx(right, abs=1)
    assert found.likely_right.sum() / found.likely.sum() == pytest.approx(level, abs=0.05)
    assert found.covered >= 0.9
