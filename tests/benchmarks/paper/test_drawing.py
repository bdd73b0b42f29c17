from xml.etree import ElementTree

from benchmarks.paper.drawing import Line, Panel, chart

SVG = "{http://www.w3.org/2000/svg}"


def test_a_chart_is_a_picture_with_a_point_for_every_value() -> None:
    panel = Panel(title="a < b", x=["5", "10", "20"], series={"one": [0.5, 0.75, 0.6]})
    root = ElementTree.fromstring(chart([panel, panel], {"one": Line("#000")}, "Title", "s", 2))
    assert root.find(f"{SVG}title").text == "Title"
    assert len(root.findall(f".//{SVG}polyline")) == 2
    assert len(root.findall(f".//{SVG}circle")) == 1 + 2 * 3  # the legend has one too
    assert [t.text for t in root.iter(f"{SVG}text")].count("a < b") == 2


def test_a_series_that_does_not_move_is_drawn() -> None:
    panel = Panel(title="flat", x=["5", "10"], series={"one": [0.0, 0.0]})
    assert "nan" not in chart([panel], {"one": Line("#000")}, "Title", "s", 0)
