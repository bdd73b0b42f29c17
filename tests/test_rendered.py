"""What a result offers is shown by the renderer that is bound to its class."""

import pytest

import treeaudit as ta
from treeaudit.rendered import Rendered, renderer_of


def test_every_result_has_its_renderer() -> None:
    for kind in (ta.Report, ta.Comparison):
        renderer = renderer_of(kind)
        assert all(hasattr(renderer, n) for n in ("to_dict", "to_text", "in_notebook", "save"))


def test_a_class_that_nothing_renders_says_so() -> None:
    class Other(Rendered):
        pass

    with pytest.raises(LookupError, match="nothing renders Other"):
        Other().to_dict()


def test_a_report_is_shown_and_saved(cancer_tree, tmp_path) -> None:
    report = ta.scan(cancer_tree)
    assert report.to_dict()["verdict"] == report.verdict
    assert str(report).startswith("treeaudit")
    assert "<iframe" in report._repr_html_()
    assert report.save(tmp_path / "x.html").read_text(encoding="utf-8").startswith("<!doctype")
    assert report.save(tmp_path / "safe.html", release_safe=True).is_file()
    found = ta.compare(cancer_tree)
    assert found.to_dict()["models"][0]["verdict"] == report.verdict
    assert "<iframe" in found._repr_html_()
    assert found.save(tmp_path / "c.txt").read_text(encoding="utf-8") == str(found)
