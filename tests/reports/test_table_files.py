"""The table as CSV: no spreadsheet runs it, nothing is hidden, and names come back."""

import csv
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeaudit as ta
from tests.reports.test_html import flat
from treeaudit.reports.plain_text import cell, visible
from treeaudit.reports.table_files import save_table

SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"
"""What begins a formula, and its full-width forms."""


@pytest.mark.parametrize("space", ["", " ", "\t", "\r", "\n", "\u00a0", "\u3000", " \t"])
@pytest.mark.parametrize("sign", SIGNS)
def test_formulas_are_defused(sign, space) -> None:
    for text in (f"{space}{sign}SUM(A1)", f"{space}{sign}1{sign}1", f"{space}{sign}"):
        assert cell(text) == f"'{visible(text)}"


@pytest.mark.parametrize("text", ["-2", "+1.5", "-1e-05", "-inf", "1.5", " -3 ", "a-b", "≤ -2", ""])
def test_numbers_and_words_stay(text) -> None:
    assert cell(text) == text


@given(st.text())
def test_no_text_is_run_and_none_hides_a_character(text) -> None:
    shown = cell(text)
    assert shown.isprintable()
    assert shown.lstrip()[:1] not in tuple(SIGNS) or float(shown.strip()) is not None


def test_a_whole_table(tmp_path) -> None:
    names = ("=cmd|'/C calc'!A0", "\t=1+1")
    model = flat([3, 5], counts=[[1, 2], [5, 0]], classes=names, name="\x1b[31m@age\u202e")
    table = ta.reconstruct(model)
    for expand in (False, True):
        path = save_table(table, tmp_path / f"{expand}.csv", expand=expand)
        text = path.read_bytes().decode()
        assert not re.search(r"[^\n\x20-\x7e\u2400-\u2421≤≥<>]", text)
        cells = [one for row in csv.reader(text.splitlines()) for one in row]
        assert "␛[31m@age\\u202e" + "_low" * (not expand) in cells
        assert not [one for one in cells if one.lstrip()[:1] in ("=", "+", "-", "@")]
    people = pd.read_csv(tmp_path / "True.csv").iloc[:, -1]
    assert people.value_counts().to_dict() == {"'" + names[0]: 6, "'␉=1+1": 2}
    leaves = pd.read_csv(tmp_path / "False.csv")
    assert leaves.people.tolist() == [3, 5]


@pytest.mark.parametrize("name", ["age", "x_low", "is_lower", "a_low (2)", "_low"])
def test_open_ends_are_empty_whatever_the_feature_is_called(tmp_path, name) -> None:
    inf = float("inf")
    tree = ta.Tree(
        parent=[-1, 0, 0, 0],
        feature=[-1, 0, 0, 0],
        low=[-inf, -inf, 15, inf],
        high=[inf, 15, inf, inf],
        missing=[True, False, False, True],
        n_records=[9, 2, 3, 4],
    )
    schema = ta.Schema.numeric([name])
    model = ta.Forest(trees=(tree,), schema=schema, counts_are="absent")
    path = save_table(ta.reconstruct(model), tmp_path / "t.csv")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert [row[f"{name}_high"] for row in rows] == ["15.0", "", ""]
    # Nobody but those whose value is missing: that is no open end.
    assert [row[f"{name}_low"] for row in rows] == ["", "15.0", "inf"]
