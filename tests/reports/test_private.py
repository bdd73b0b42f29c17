"""What reports say of a differentially private model."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import treeaudit as ta
from treeaudit.dp.claims import BOUNDS_OF_DATA
from treeaudit.model.schema import Feature
from treeaudit.model.tree import Tree
from treeaudit.reports.annex import annex_of
from treeaudit.reports.formats import render

LEDGER = {
    "epsilon": 1.0,
    "neighbours": "add-remove",
    "unit": "record",
    "variant": "sound",
    "budget": "1",
    "public": [],
    "not_private": False,
    "reasons": [],
    "queries": [
        {"name": "splits of level 1", "mechanism": "permute-and-flip", "epsilon": "1/4", "asked": 2,
         "composition": "sequential", "sensitivity": "1"},
        {"name": "leaf counts", "mechanism": "discrete Laplace", "epsilon": "1/2", "asked": 8,
         "composition": "parallel", "sensitivity": "1"},
    ],
}  # fmt: skip


def private(**changes) -> ta.Forest:
    tree = Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 0],
        low=[-np.inf, -np.inf, 1.5],
        high=[np.inf, 1.5, np.inf],
        counts=[[5.5, 4.5], [5.5, 0.5], [0, 4]],
    )
    return ta.Forest(
        trees=(tree,),
        schema=ta.Schema.numeric(["age"], ["no", "yes"], "ill"),
        counts_are="noisy",
        counts_reason="discrete Laplace noise",
        privacy={**LEDGER, **changes},
    )


def test_epsilon_neighbours_and_ledger_are_shown() -> None:
    report = ta.scan(private(), policy="private")
    page, text = render(report, "html"), render(report, "text")
    for part in (
        "claims epsilon 1",
        "epsilon 1 for one record more or less (add-remove), a claim of the file, not tested",
        "0.5 on splits of level 1 (permute-and-flip); 0.5 on leaf counts (discrete Laplace)",
        "bounded by <b>epsilon 1</b>",
    ):
        assert part in page
    assert "No differential privacy follows from it" not in page
    assert "epsilon 1 for one record more or less (add-remove)" in text
    assert "     0.5  leaf counts (discrete Laplace)" in text


def test_what_is_not_private_is_not_said_to_be_bounded() -> None:
    forest = private(not_private=True, reasons=["a seed was given"])
    page = render(ta.scan(forest, policy="private"), "html")
    assert "not private: a seed was given (epsilon 1 for one record more or less" in page
    assert "No differential privacy follows from it" in page
    assert "bounded by" not in page


@pytest.mark.parametrize(
    ("low", "high", "warned"), [(3, 40, True), (0, 40, False), (3, 99, False), (None, None, False)]
)
def test_bounds_that_equal_the_extremes_are_warned_of(low, high, warned) -> None:
    """Whoever reads bounds off the data gives away the smallest and the largest value."""
    column = Feature(name="age", low=low, high=high)
    forest = private()
    schema = replace(forest.schema, features=(column,))
    people = {"age": [3, 8, 9, 40], "ill": ["no", "yes", "no", "yes"]}
    report = ta.scan(replace(forest, schema=schema), train=pd.DataFrame(people), annex=["dp"])
    assert (BOUNDS_OF_DATA in report.warnings) is warned
    told = annex_of(report).dp
    answer = {one.name: one.value for one in told.elements}
    assert answer["Does it bound what the file gives away?"].startswith(
        "not shown" if warned else "yes, if"
    )
    assert ("not shown to hold" in answer["Proof"]) is warned
    assert any(gap.startswith("The bounds of the schema") for gap in told.gaps) is warned


def test_everybody_knows_the_bounds_of_a_flag() -> None:
    forest = private()
    schema = replace(forest.schema, features=(Feature(name="smokes", low=0, high=1),))
    people = pd.DataFrame({"smokes": [0, 1, 1, 0], "ill": ["no", "yes", "no", "yes"]})
    report = ta.scan(replace(forest, schema=schema), train=people)
    assert BOUNDS_OF_DATA not in report.warnings
