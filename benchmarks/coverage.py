"""``python -m benchmarks.coverage``: how often each interval of a report holds the truth.

Every interval that stands on a page is drawn again and again from people whose truth is
known; nominal is 95 %. Writes a section of ``benchmarks/RESULTS.md``.
"""

import argparse
import time
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from benchmarks.coverage_cases import Case, cases
from benchmarks.sections import RESULTS, replace_section

__all__ = ["Covered", "coverage", "main"]


class Covered(NamedTuple):
    """How often an interval held the truth, and how often the truth was beside it."""

    case: Case
    inside: float
    above: float
    below: float
    width: float


def coverage(case: Case, times: int, seed: int = 0) -> Covered:
    """Draw an interval many times."""
    rng = np.random.default_rng([seed, len(case.setting), sum(map(ord, case.interval))])
    found = [one for one in (case.draw(rng) for _ in range(times)) if one[0] is not None]
    low, high, truth = np.array([(e.low, e.high, t) for e, t in found if e is not None]).T
    above, below = (truth > high + 1e-12).mean(), (truth < low - 1e-12).mean()
    return Covered(case, 1 - above - below, above, below, float((high - low).mean()))


def main() -> None:
    """Simulate every interval and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=float, default=1.0, help="how many draws, of the usual")
    times = parser.parse_args().times
    begun = time.process_time()
    rows = [coverage(case, max(20, round(case.times * times))) for case in cases()]
    lowest = min(row.inside for row in rows)
    lines = [
        "# How often each interval of a report holds the truth",
        "",
        "Written by `python -m benchmarks.coverage` in "
        f"{time.process_time() - begun:,.0f} CPU seconds. Nominal 95 %; the lowest of all is "
        f"{lowest:.1%}. *Above*: the truth is above the upper end, which is what policies judge. "
        "An interval that is exact or holds more than one uncertainty covers more than it must. "
        "Wilson's holds 95 % on average over all shares, and less or more at a single one: "
        "(low) is below 94 % by more than chance.",
        "",
        "| interval | where | people | draws | holds | above | below | width |",
        "|---|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        case, n = row.case, max(20, round(row.case.times * times))
        # Two standard deviations of the simulation below the nominal is low.
        mark = " **(low)**" if binom.cdf(round(row.inside * n), n, 0.94) < 0.025 else ""
        lines.append(
            f"| {case.interval} | {case.where} | {case.setting} | {n:,} | {row.inside:.1%}{mark} "
            f"| {row.above:.1%} | {row.below:.1%} | {row.width:.3g} |"
        )
    text = "\n".join(lines)
    print(text)
    if times >= 1:
        document = RESULTS.read_text(encoding="utf-8") if RESULTS.is_file() else ""
        RESULTS.write_text(replace_section(document, "coverage", text), encoding="utf-8")


if __name__ == "__main__":
    main()
