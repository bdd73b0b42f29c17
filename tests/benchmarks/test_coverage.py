"""The simulation of the intervals itself: every case draws, and a wrong interval is seen."""

import pytest

from benchmarks.coverage import coverage
from benchmarks.coverage_cases import Case, cases
from treeaudit.stats import Estimate


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", list(cases()), ids=lambda case: f"{case.interval}, {case.setting}")
def test_every_interval_is_drawn_and_mostly_holds(case) -> None:
    found = coverage(case, 12)
    assert found.inside + found.above + found.below == pytest.approx(1)
    assert found.inside >= 0.6
    assert found.width > 0


def test_an_interval_that_is_too_narrow_is_seen() -> None:
    def narrow(rng):
        value = rng.normal()
        return Estimate(value=value, low=value - 1, high=value + 1, n=1), 0.0

    found = coverage(Case("narrow", "nowhere", "one deviation", narrow), 2_000)
    assert found.inside == pytest.approx(0.683, abs=0.04)
