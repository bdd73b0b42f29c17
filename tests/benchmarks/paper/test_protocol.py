"""Cells that come out to the printed digits, and what the clean columns promise."""

import os

import pytest

pytest.importorskip("sklearn")

from benchmarks.paper.agreement import agreement
from benchmarks.paper.cells import THRESHOLDS, Cell, spread
from benchmarks.paper.data import read
from benchmarks.paper.protocol import run_clean, run_printed

pytestmark = pytest.mark.slow
needs_data = pytest.mark.skipif(
    not os.environ.get("TREEAUDIT_DATA"),
    reason="TREEAUDIT_DATA does not name a folder with nursery.csv.gz and loan.csv.gz",
)


@pytest.fixture(scope="module")
def nursery():
    return run_printed("nursery", read("nursery"), (6, 7), seeds=1)


@pytest.fixture(scope="module")
def loan():
    return run_printed("loan", read("loan"), (3, 6, 7), seeds=1)


@needs_data
@pytest.mark.parametrize(
    ("rule", "depth", "s", "what", "printed"),
    [
        ("none", 6, 0, "N_l", "11.2"),
        ("none", 7, 0, "N_u", "7863.9"),
        ("none", 7, 0, "ACC", "0.9370"),
        ("Method 1", 7, 30, "ACC", "0.9363"),
        ("Method 1", 7, 40, "ACC", "0.9333"),
        ("Method 1", 7, 50, "ACC", "0.9324"),
        ("Method 2", 7, 10, "N_u", "7860.2"),
        ("Method 2", 7, 50, "N_u", "7528.5"),
        ("Method 2", 7, 50, "N_l", "17.3"),
        ("Method 2", 7, 50, "ACC", "0.9348"),
    ],
)
def test_nursery(nursery, rule, depth, s, what, printed) -> None:
    found = spread(nursery[Cell("nursery", rule, depth, s, what)])
    assert agreement(printed, found) == "agrees"


@needs_data
@pytest.mark.parametrize(
    ("rule", "depth", "s", "what", "printed"),
    [
        ("none", 3, 0, "N_l", "3.8"),
        ("none", 3, 0, "N_u", "3653"),
        ("Method 1", 7, 40, "N_u", "3711.8"),
        ("Method 1", 7, 10, "ACC", "0.9599"),
        ("Method 1", 7, 50, "ACC", "0.9277"),
        ("Method 2", 7, 10, "N_u", "3648.2"),
        ("Method 2", 7, 10, "N_l", "5.5"),
        ("Method 2", 7, 30, "N_u", "3169.5"),
        ("Method 2", 7, 40, "ACC", "0.9791"),
    ],
)
def test_loan(loan, rule, depth, s, what, printed) -> None:
    found = spread(loan[Cell("loan", rule, depth, s, what)])
    assert agreement(printed, found) == "agrees"


@needs_data
def test_printed_depth_5_of_loan_is_the_depth_6_tree_after_method_1(loan) -> None:
    found = [spread(loan[Cell("loan", "Method 1", 6, 5, what)]) for what in ("U", "N_l", "N_u")]
    assert [agreement(text, of) for text, of in zip(("0", "7.9", "3729"), found, strict=True)] == [
        "agrees",
        "agrees",
        "agrees",
    ]


@needs_data
def test_clean_methods_leave_nobody_alone_and_stay_within_what_they_cover() -> None:
    people = read("loan")
    clean = run_clean("loan", people, (7,), splits=2, without=people.numbering)

    def of(rule: str, s: int, what: str) -> float:
        return float(clean[Cell("loan", rule, 7, s, what)].mean())

    assert of("none", 0, "U") > 0
    for s in THRESHOLDS:
        assert of("Method 1", s, "U") == of("Method 2", s, "U") == 0
        assert of("Method 2", s, "N_u") <= of("Method 1", s, "N_u") <= of("none", 0, "N_u")
        assert of("Method 1", s, "ACC, remembering") <= 1
        right = of("Method 1", s, "ACC, unanswered wrong")
        assert right <= of("Method 1", s, "coverage") <= 1
        assert right <= of("Method 1", s, "ACC")
