"""A report in a file is laid out as rich would lay it out."""

import io
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from treeaudit.reports import blocks
from treeaudit.reports.blocks import Column, Grid, Line, laid_out, show, width_without_terminal
from treeaudit.reports.plain_text import printed

TEXTS = st.text(st.sampled_from("ab .·–…█\n"), max_size=30) | st.lists(
    st.sampled_from(["people", "of", "a leaf", "x10 ≤ 1.5", "", "  two"]), max_size=12
).map(" ".join)
NAMES = st.text(st.sampled_from("ab –"), max_size=6)


@st.composite
def grids(draw) -> Grid:
    wrapping = Column(title=draw(TEXTS), wraps=True, least=draw(st.sampled_from([None, 6])))
    columns = draw(
        st.lists(
            st.builds(
                Column,
                title=NAMES,
                least=st.sampled_from([None, 6]),
                width=st.sampled_from([None, 5]),
                right=st.booleans(),
            ),
            max_size=3,
        )
    )
    wraps = draw(st.booleans()) or not columns
    cells = [st.tuples(NAMES, st.just("dim")) for _ in columns]
    row = st.tuples(*cells, *([st.tuples(TEXTS, st.just(""))] * wraps))
    return Grid(
        columns=(*columns, *([wrapping] * wraps)),
        rows=tuple(draw(st.lists(row, min_size=1, max_size=3))),
        titled=draw(st.booleans()),
    )


LINES = st.builds(
    Line,
    st.lists(st.tuples(TEXTS, st.sampled_from(["", "bold"])), max_size=3).map(tuple),
    st.sampled_from(["", "dim"]),
    st.booleans(),
)


def by_rich(found, width: int) -> str:
    return printed(lambda console: [show(one, console) for one in found], width)


@given(st.lists(LINES | grids(), min_size=1, max_size=3), st.integers(8, 60))
def test_what_is_laid_out_is_what_rich_prints(found, width) -> None:
    text = laid_out(found, width)
    assert text is None or text == by_rich(found, width)


def test_a_grid_in_a_narrow_terminal() -> None:
    columns = (Column(least=6), Column(title="id"), Column(title="found", wraps=True))
    row = (("HIGH", "red"), ("TA101", ""), ("6 people are alone in a leaf", ""))
    lines = [
        "        id     found",
        "HIGH    TA101  6 people are",
        "               alone in a leaf",
    ]
    text = laid_out([Grid(columns=columns, rows=(row,), titled=True)], 31)
    assert text == "\n".join(lines) + "\n"
    assert text == by_rich([Grid(columns=columns, rows=(row,), titled=True)], 31)


def test_a_command_is_one_line() -> None:
    command = Line((("next", "bold"), ("  treeaudit defend m.pkl", "")), whole=True)
    assert laid_out([command], 10) == "next  treeaudit defend m.pkl\n"


@pytest.mark.parametrize("text", ["年", "a\tb", "e\u0301", "a word toolongforit", "\u200b", "😀"])
def test_what_is_not_known_is_left_to_rich(text) -> None:
    for block in (Line(((text, ""),)), Grid(columns=(Column(wraps=True),), rows=(((text, ""),),))):
        assert laid_out([block], 9) is None


def test_the_characters_that_are_known_take_one_column() -> None:
    assert all(cell_len(chr(code)) == 1 for code in blocks._NARROW)


@pytest.mark.parametrize(
    ("name", "value"), [("COLUMNS", "100"), ("FORCE_COLOR", "1"), ("TTY_COMPATIBLE", "1")]
)
def test_rich_is_asked_where_it_is_told_how_wide_the_terminal_is(monkeypatch, name, value) -> None:
    monkeypatch.setattr("sys.stdout", io.StringIO())
    for other in blocks.ASKED_OF_RICH:
        monkeypatch.delenv(other, raising=False)
    assert width_without_terminal() == Console(file=io.StringIO()).width
    monkeypatch.setenv(name, value)
    assert width_without_terminal() is None


def test_the_width_of_the_terminal_that_is_read_from(monkeypatch) -> None:
    monkeypatch.setattr("sys.stdout", io.StringIO())
    for other in blocks.ASKED_OF_RICH:
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setattr(os, "get_terminal_size", lambda stream=0: os.terminal_size((120, 40)))
    assert width_without_terminal() == 120 == Console(file=io.StringIO()).width
    monkeypatch.setattr(os, "get_terminal_size", lambda stream=0: os.terminal_size((0, 0)))
    assert width_without_terminal() == 80 == Console(file=io.StringIO()).width
