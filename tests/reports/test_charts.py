"""The drawings: well-formed, escaped, inside their frame."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from treeaudit.model.tree import Tree
from treeaudit.reports.charts import Column, fit, icicle, strip, written
from treeaudit.reports.icicle import lay_out
from treeaudit.reports.plots import Series, lines

INF = np.inf
HOSTILE = "</title><script>alert(1)</script>\"'&"


def stump_drawing(text: str = "age", title: str = "2 people", largest: int = 7) -> str:
    tree = Tree(
        parent=[-1, 0, 0],
        feature=[-1, 0, 0],
        low=[-INF, -INF, 1],
        high=[INF, 1, INF],
        n_records=[9, 2, 7],
    )
    ends = [
        Column(title=title, row=text, smallest=2, largest=largest, shares=(("r3", 1.0),)),
        Column(title=title, row="", smallest=7, largest=7, shares=(("r2", 1.0),), one_label=True),
    ]
    asked = {0: (text, text)}
    return str(icicle(lay_out(tree, 5), ends, asked, k=5, name=text, description=text))


def parse(svg: str) -> ET.Element:
    return ET.fromstring(svg)


def test_hostile_text_stays_text():
    root = parse(stump_drawing(HOSTILE, HOSTILE))
    assert not [e for e in root.iter() if e.tag.endswith("script")]
    assert HOSTILE in [e.text for e in root.iter() if e.tag.endswith("title")]


@given(st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_categories=["C"])))
def test_any_printable_text_gives_well_formed_markup(text):
    parse(stump_drawing(text, text))


@pytest.mark.parametrize("largest", [2, 5, 10, 99, 1000, 10**7])
def test_bars_stay_inside_the_frame(largest):
    root = parse(stump_drawing(largest=largest))
    height = float(root.attrib["viewBox"].split()[3])
    for rect in root.iter("rect"):
        assert float(rect.attrib["height"]) >= 0
        assert 0 <= float(rect.attrib["y"]) <= float(rect.attrib["y"]) + float(
            rect.attrib["height"]
        ) <= height + 0.1  # fmt: skip


def test_columns_name_their_row():
    assert parse(stump_drawing("t0-1")).find("g[@class='col']").attrib["data-row"] == "t0-1"


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("age ≤ 15", 100, "age ≤ 15"),
        ("hours-per-week", 60, "hours-per…"),
        ("age", 5, ""),
        ("年齢年齢年齢", 60, "年齢年齢…"),
        ("x" * 10_000, 60, "x" * 9 + "…"),
    ],
)
def test_labels_are_cut_to_their_cell(text, width, shown):
    assert fit(text, width) == shown


@pytest.mark.parametrize("words", [1, 5, 40])
def test_questions_of_long_names_leave_room_for_the_page(words):
    """300 columns of five words each were 250 words of a page of 900."""
    frame = np.random.default_rng(0).normal(size=(400, 12))
    tree = ta.load(DecisionTreeClassifier(random_state=0).fit(frame, np.arange(400) % 2)).trees[0]
    layout = lay_out(tree, 5)
    name = " ".join(["household"] * words)
    cells = [cell for cell in layout.cells if cell.kind == "inner"]
    shown = written(layout, {cell.node: (f"{name} ≤ 1", "") for cell in cells}, 24.0)
    assert cells[0].node in shown
    assert sum(len(text.split()) for text in shown.values()) <= 90


def test_a_strip_is_as_wide_as_its_shares():
    rects = list(parse(str(strip([("r4", 0.25), ("r0", 0.5)]))).iter("rect"))
    assert [(float(r.attrib["x"]), float(r.attrib["width"])) for r in rects] == [(0, 25), (25, 50)]


@given(st.lists(st.lists(st.integers(0, 10**9), min_size=2, max_size=20), min_size=1, max_size=4))
def test_a_line_has_a_point_per_value(every):
    every = [sorted(values) for values in every]
    drawn = [Series(name="n", values=v, texts=[str(n) for n in v]) for v in every]
    root = parse(str(lines(drawn, name="n", axis="a")))
    dots = list(root.iter("circle"))
    assert len(dots) == sum(len(values) for values in every)
    height = float(root.attrib["viewBox"].split()[3])
    for values in every:
        mine, dots = dots[: len(values)], dots[len(values) :]
        heights = [float(dot.attrib["cy"]) for dot in mine]
        assert heights == sorted(heights, reverse=True)
        assert all(0 <= y <= height for y in heights)


def test_a_line_is_told_in_words():
    drawn = [Series(name=HOSTILE, values=[1, 4], texts=["1", "4"])]
    root = parse(str(lines(drawn, name=HOSTILE, axis=HOSTILE)))
    assert root.find("desc").text == f"{HOSTILE}: from 1 to 4"
    assert not [e for e in root.iter() if e.tag.endswith("script")]
