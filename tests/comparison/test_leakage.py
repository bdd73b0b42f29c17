"""What a comparison says was measured, although the worst of several was picked."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.comparison.measures import leakage_of, lesser_of


def test_the_worst_column_has_an_interval_that_holds_for_all() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 3, (900, 4)).astype(float), rng.integers(0, 2, 900)
    model = RandomForestClassifier(10, random_state=0).fit(x[:450], y[:450])
    report = ta.scan(model, train=(x[:450], y[:450]), test=(x[450:], y[450:]))
    whole = leakage_of(report).attribute
    finding = report["TA104"]
    rows = finding.details.columns
    one = next(row for row in rows if whole.value in (row.excess, row.beyond_imputation))
    alone = replace(finding, details=replace(finding.details, columns=(one,)))
    results = tuple(alone if result.id == "TA104" else result for result in report.results)
    single = leakage_of(replace(report, results=results)).attribute
    assert whole.value == pytest.approx(single.value)
    assert whole.low < single.low
    assert whole.high > single.high


def test_the_lesser_of_two_excesses_may_be_where_either_is() -> None:
    """Of 9.5 ± 7.5 and 5.0 ± 3.5 either may be the lesser: the first may be below nothing."""
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 3, (400, 4)).astype(float), rng.integers(0, 2, 400)
    model = DecisionTreeClassifier(random_state=0).fit(x[:200], y[:200])
    report = ta.scan(model, train=(x[:200], y[:200]), test=(x[200:], y[200:]))
    finding = report["TA104"]
    row = replace(
        finding.details.columns[0],
        excess=0.02, excess_low=-0.05, excess_high=0.09,
        beyond_imputation=0.01, beyond_imputation_low=0.005, beyond_imputation_high=0.015,
    )  # fmt: skip

    def told(row):
        details = replace(finding.details, columns=(row,))
        results = (
            r if r.id != "TA104" else replace(finding, details=details) for r in report.results
        )
        return leakage_of(replace(report, results=tuple(results))).attribute

    assert (told(row).value, told(row).low, told(row).high) == (0.01, -0.05, 0.015)
    narrow = replace(row, excess_low=0.008, excess_high=0.012)
    assert (told(narrow).low, told(narrow).high) == (0.005, 0.012)


def test_the_interval_of_the_lesser_excess_covers() -> None:
    """One excess is nothing and its interval wide, the other is five points and narrow."""
    rng = np.random.default_rng(0)
    held, tries = 0, 2_000
    for wide, narrow in zip(
        rng.normal(0.0, 0.04, tries), rng.normal(0.05, 0.018, tries), strict=True
    ):
        excesses = [
            ta.Estimate(value=told, low=told - 1.96 * sd, high=told + 1.96 * sd, n=400)
            for told, sd in ((wide, 0.04), (narrow, 0.018))
        ]
        found = lesser_of(excesses, 1)
        held += found.low <= 0.0 <= found.high
    assert held / tries >= 0.94
