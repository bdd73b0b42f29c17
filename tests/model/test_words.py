"""Conditions in words."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import treeaudit as ta
from treeaudit.model.rules import rules_of
from treeaudit.model.tree import CategorySets
from treeaudit.model.words import (
    cell,
    conditions,
    in_percent,
    sentence,
)

INF = math.inf


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (-INF, INF, "not missing"),
        (-INF, 15, "≤ 15"),
        (2.5, INF, "> 2.5"),
        (1, 3, "> 1, ≤ 3"),
        (-INF, math.nextafter(170, 0), "< 170"),
        (math.nextafter(170, 0), INF, "≥ 170"),
        (math.nextafter(0.1, -1), math.nextafter(0.3, -1), "≥ 0.1, < 0.3"),
        (INF, INF, "missing"),
        (-INF, 0.800000011920929, "≤ 0.8"),
        (-1e300, 1e300, "> -1e+300, ≤ 1e+300"),
    ],
)
def test_conditions(low, high, text) -> None:
    assert cell(low, high) == text


def stump(cut: float) -> ta.Tree:
    return ta.Tree(
        parent=[-1, 0, 0], feature=[-1, 0, 0], low=[-INF, -INF, cut], high=[INF, cut, INF]
    )


@pytest.mark.parametrize(
    ("value", "below", "above"),
    [
        (25.9999998, "< 26", "≥ 26"),
        (26.0000002, "≤ 26", "> 26"),
        (-25.9999998, "≤ -26", "> -26"),
        (1234567.5, "< 1,234,568", "≥ 1,234,568"),
        (12345678.5, "≤ 12,345,678", "> 12,345,678"),
        (12345679.5, "< 12,345,680", "≥ 12,345,680"),
        (1700012345.5, "< 1,700,012,346", "≥ 1,700,012,346"),
        # As XGBoost holds x < 0.1 and x < 0.7 of 32 bits, one above 0.1 and one below 0.7,
        (math.nextafter(0.10000000149011612, 0), "< 0.1", "≥ 0.1"),
        (math.nextafter(0.699999988079071, 0), "< 0.7", "≥ 0.7"),
        # and others x <= 0.7.
        (0.699999988079071, "≤ 0.7", "> 0.7"),
        # What LightGBM takes for zero on both sides.
        (1.0000000180025095e-35, "≤ 0", "> 0"),
        (math.nextafter(-1.0000000180025095e-35, -1), "< 0", "≥ 0"),
        (1e300, "≤ 1e+300", "> 1e+300"),
    ],
)
def test_the_number_that_a_bound_names_is_told_where_it_goes(value, below, above) -> None:
    schema = ta.Schema.numeric(["age"])
    told = [conditions(rules_of(stump(value), [leaf]), schema) for leaf in (1, 2)]
    assert told == [[f"age {below}"], [f"age {above}"]]


def categorical(codes: list[int]) -> str:
    schema = ta.Schema(
        features=(ta.Feature(name="job", categories=("Sales", "Tech", "Farm", "Army", "Other")),)
    )
    tree = ta.Tree(
        parent=[-1, 0],
        feature=[-1, 0],
        low=[-INF, -INF],
        high=[INF, INF],
        categories=CategorySets(start=[0, 0, len(codes)], codes=np.array(codes, dtype=np.int32)),
    )
    return sentence(rules_of(tree, [1]), schema)


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        ([0], "job = Sales"),
        ([0, 2], "job = Sales or Farm"),
        ([0, 1, 2, 3], "job not Other"),
        ([9], "job = #9"),
    ],
)
def test_categories(codes, text) -> None:
    assert categorical(codes) == text


@given(st.floats(0, 1), st.lists(st.floats(0, 1), max_size=3), st.integers(0, 3))
@example(1e-300, [], 1)
@example(0.05000000000000001, [0.05], 1)
def test_a_share_is_never_said_to_be_none_all_or_beyond_what_it_stands_beside(
    share, beside, places
) -> None:
    text = in_percent(share, places, *beside)
    said = float(text[:-1]) / 100 if "e" in text else float(f"{text[:-1]}e-2")
    for limit in (0.0, 1.0, *beside):
        # What differs in the last of 17 digits alone is the same.
        assert np.sign(said - limit) == np.sign(share - limit) or abs(share - limit) < 1e-17
