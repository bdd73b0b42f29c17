"""Mean ranks, Friedman's test and the critical difference, by the worked example of Demsar."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from benchmarks.private_tables.cells import Cell, Score
from benchmarks.private_tables.ranks import diagram, ranked
from benchmarks.private_tables.summary import Results

# Demsar (2006), table 6: AUC of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on 14 data sets.
AUC = [
    (0.763, 0.768, 0.771, 0.798), (0.599, 0.591, 0.590, 0.569), (0.954, 0.971, 0.968, 0.967),
    (0.628, 0.661, 0.654, 0.657), (0.882, 0.888, 0.886, 0.898), (0.936, 0.931, 0.916, 0.931),
    (0.661, 0.668, 0.609, 0.685), (0.583, 0.583, 0.563, 0.625), (0.775, 0.838, 0.866, 0.875),
    (1.000, 1.000, 1.000, 1.000), (0.940, 0.962, 0.965, 0.962), (0.619, 0.666, 0.614, 0.669),
    (0.972, 0.981, 0.9751, 0.975), (0.957, 0.978, 0.946, 0.970),
]  # fmt: skip
NAMES = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]


def results() -> Results:
    return Results({
        Cell(f"t{i}", 0, name, 1.0): Score(accuracy=0.5, auc=auc, seconds=0, by="")
        for i, row in enumerate(AUC)
        for name, auc in zip(NAMES, row, strict=True)
    })  # fmt: skip


def test_the_worked_example() -> None:
    found = ranked(results(), [f"t{i}" for i in range(14)], 1.0, NAMES, "auc")
    assert found is not None
    means = dict(zip(found.names, found.mean, strict=True))
    # As printed: 3.143, 2.000, 2.893, 1.964, and a critical difference of 1.25.
    assert [means[name] for name in NAMES] == pytest.approx([3.143, 2.0, 2.893, 1.964], abs=6e-4)
    assert found.critical == pytest.approx(2.569 * np.sqrt(20 / 84), abs=1e-3)
    assert found.p < 0.05
    assert found.alike() == [(0, 3)]
    picture = ET.fromstring(diagram(found, "AUC"))
    assert len(picture.findall(".//{*}circle")) == 4


def test_fewer_than_two_tables_are_not_ranked() -> None:
    assert ranked(results(), ["t0"], 1.0, NAMES, "auc") is None
    assert ranked(results(), ["t0", "nowhere"], 1.0, NAMES, "auc") is None
