"""Shares on one scale: where they are drawn, and what they say in words."""

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from treeaudit.reports.plots import Point, share_row, whiskers
from treeaudit.stats import Estimate

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


def test_kinds_differ_in_shape_and_not_only_in_colour():
    drawn = {
        kind: whiskers([Point(kind=kind, value=0.5, low=0.5, high=0.5)])
        for kind in ("claim", "seen", "unseen", "guess")
    }
    assert "wd claim" in drawn["claim"]  # squares, by their line cap
    assert drawn["guess"].count('d="M50.0 10h0"') == 2  # a ring
    assert drawn["seen"].count('d="M50.0 10h0"') == drawn["unseen"].count('d="M50.0 10h0"') == 1


def test_a_row_in_words():
    found = Estimate(value=17 / 28, low=0.424, high=0.764, n=28)
    assert share_row("Unseen people", "unseen", found).cells == ("61%", "42–76%", "of 28")
