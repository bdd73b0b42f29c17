"""The drawings of the page: icicle, strips, plots and curves."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

import treeaudit as ta
from tests.strategies import forests
from treeaudit.model.tree import Tree
from treeaudit.reports.charts import Column, cell_texts, fit, icicle
from treeaudit.reports.icicle import lay_out, measure_subtrees
from treeaudit.reports.plots import Point, Series, lines, whiskers

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
    shown = cell_texts(layout, {cell.node: (f"{name} ≤ 1", "") for cell in cells}, 24.0)
    assert cells[0].node in shown
    assert sum(len(text.split()) for text in shown.values()) <= 90


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


INF = np.inf


def chain(length: int) -> Tree:
    """A tree that cuts off one person at every level."""
    parent, low, high, people = [-1], [-INF], [INF], [length + 1]
    for i in range(length):
        above = 0 if i == 0 else len(parent) - 1
        parent += [above, above]
        low += [-INF, float(i)]
        high += [float(i), INF]
        people += [1, length - i]
    feature = [-1] + [0] * (len(parent) - 1)
    return Tree(parent=parent, feature=feature, low=low, high=high, n_records=people)


def bush(depth: int, seed: int = 0) -> Tree:
    """A full binary tree with random group sizes."""
    n = 2 ** (depth + 1) - 1
    size = np.zeros(n, dtype=np.int64)
    size[n // 2 :] = np.random.default_rng(seed).integers(1, 90, n - n // 2)
    for node in range(n - 1, 0, -1):
        size[(node - 1) // 2] += size[node] if node else 0
    odd = np.arange(n) % 2 == 1
    return Tree(
        parent=np.concatenate([[-1], (np.arange(1, n) - 1) // 2]),
        feature=np.concatenate([[-1], np.zeros(n - 1)]),
        low=np.where(odd, -INF, 1.0),
        high=np.where(odd, 1.0, INF),
        n_records=size,
    )


@given(forests(most_trees=1), st.integers(1, 12), st.integers(1, 10))
def test_columns_hold_every_leaf_once(forest, most_columns, most_rows):
    tree = forest.trees[0]
    layout = lay_out(tree, 5, most_columns=most_columns, most_rows=most_rows)
    ends = layout.ends
    assert [cell.first for cell in ends] == list(range(layout.columns))
    assert layout.columns <= max(most_columns, 1)
    leaves = sum(int(layout.below.n_leaves[cell.node]) for cell in ends)
    assert leaves == int((tree.n_records[tree.leaves] > 0).sum())


@given(forests(most_trees=1), st.integers(1, 20))
def test_subtrees_agree_with_the_leaves(forest, k):
    tree = forest.trees[0]
    below = measure_subtrees(tree, k)
    size = tree.n_records[tree.leaves]
    held = size[size > 0]
    assert below.n_leaves[0] == len(held)
    assert below.small[0] == (held < k).sum()
    assert below.levels[0].sum() == len(held)
    if len(held):
        assert (below.smallest[0], below.largest[0]) == (held.min(), held.max())


def test_a_big_tree_is_folded():
    tree = bush(12)
    layout = lay_out(tree, 5)
    assert layout.columns == 150
    assert layout.rows <= 16
    assert any(cell.kind == "fold" for cell in layout.cells)


def test_a_deep_chain_is_bounded():
    layout = lay_out(chain(5000), 5)
    assert layout.rows <= 16
    assert layout.columns <= 150


shares = st.floats(0, 1)


@given(shares, shares, shares)
def test_dot_and_line_are_where_the_numbers_are(low, value, high):
    low, value, high = sorted((low, value, high))
    root = ET.fromstring(whiskers([Point(kind="unseen", value=value, low=low, high=high)]))
    dot = root.find("path[@class='wd unseen']").attrib["d"]
    assert abs(float(dot[1:].split()[0]) - 100 * value) <= 0.06
    lines = [path.attrib["d"] for path in root.iter("path") if path.attrib["class"] == "wh unseen"]
    assert bool(lines) == (100 * (high - low) >= 0.1)
    if lines:
        start, end = lines[0][1:].split()[0], lines[0].split("H")[1]
        assert abs(float(start) - 100 * low) <= 0.06
        assert abs(float(end) - 100 * high) <= 0.06
