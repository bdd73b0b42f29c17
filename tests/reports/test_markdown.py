"""The report in Markdown: short, whole, and of nothing that a model could make of it."""

import pytest
from markdown_it import MarkdownIt

import treeaudit as ta
from tests.reports.test_html import flat
from treeaudit.reports.formats import FORMATS
from treeaudit.reports.markdown import escaped, to_markdown

HOSTILE = [
    "# heading",
    "**bold** _it_ `code`",
    "<script>alert(1)</script>",
    "[link](https://example.org)",
    "https://example.org www.example.org",
    "a | b",
    "![i](x.png)",
    "&lt;b&gt;",
    "one\n\n# two",
    "~~gone~~ $x$",
]


def shown(text: str) -> str:
    return MarkdownIt("commonmark", {"linkify": False}).enable("table").render(text)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_text_is_shown_as_it_stands(name) -> None:
    page = shown(f"before {escaped(name)} after")
    assert page.count("<") == 2, page
    assert "://" not in escaped(name)
    assert "www." not in escaped(name)


@pytest.mark.parametrize("name", [*HOSTILE, "@everybody", "#12"])
def test_names_of_a_model_make_no_markup(name) -> None:
    model = flat([1, 20, 30], name=name, classes=(name, "yes"))
    page = shown(to_markdown(ta.scan(model)))
    assert "<script" not in page
    assert "<a " not in page
    assert "<img" not in page
    assert page.count("<h3>") == 1
    assert "@everybody" not in page


def test_it_says_who_is_exposed_and_what_to_do() -> None:
    text = to_markdown(ta.scan(flat([1, 20, 30])))
    assert text.startswith("### ✕ FAIL · HIGH RISK: model in memory\n")
    assert "**This file should not go out as it is.**" in text
    assert "can single out **1 person**" in text
    assert "| ✕ | People alone in a leaf, TA101 | 1 | at most 0 |" in text
    assert "treeaudit.save(" in text
    assert len(text.split()) < 400


def test_every_format_is_written(tmp_path) -> None:
    report = ta.scan(flat([1, 20, 30]))
    for suffix in (one for one in FORMATS if one != "cdx.json"):  # it needs a library
        assert report.save(tmp_path / f"report.{suffix}").read_text(encoding="utf-8")
        safe = report.save(tmp_path / f"safe.{suffix}", release_safe=True)
        assert "single out" not in safe.read_text(encoding="utf-8")
