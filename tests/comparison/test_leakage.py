"""What a comparison says was measured, although the worst of several was picked."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import treeaudit as ta
from treeaudit.comparison.leakage import leakage_of


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
