"""A report that is printed, or saved as PDF, is the whole record; no page break cuts a chart."""

import shutil
import subprocess

import pytest

import treeaudit as ta
from tests.browser.test_report_in_browser import held, models
from tests.reports.test_private import private
from treeaudit.reports.html import to_html

A4 = {"width": 703, "height": 1031}  # in pixels, without the margins of 12 mm
REPORTS = {
    "people": held,
    "forest": lambda: ta.scan(models()["forest"], annex=["edpb", "satre", "dp"], by="Ada"),
    "private": lambda: ta.scan(private(), annex=["dp"], by="Ada"),
    "passing": lambda: ta.scan(models()["passing"], by="Ada"),
}
CUT = """() => [...document.querySelectorAll("svg")].filter((one) => {
  const box = one.getBoundingClientRect();
  return box.height && (box.height > 1031 || getComputedStyle(one).breakInside !== "avoid");
}).length"""


@pytest.mark.slow
@pytest.mark.parametrize("name", REPORTS)
def test_a_printed_report_is_whole(browser, tmp_path, name) -> None:
    report = REPORTS[name]()
    path, printed = tmp_path / "report.html", tmp_path / "report.pdf"
    path.write_text(to_html(report), encoding="utf-8")
    page = browser.new_page(viewport=A4)
    page.goto(path.as_uri())
    page.emulate_media(media="print")
    assert page.evaluate(CUT) == 0
    page.pdf(path=printed, format="A4")
    page.close()
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not there to read the PDF")
    done = subprocess.run(
        ["pdftotext", "-layout", printed, "-"], capture_output=True, text=True, check=True
    )
    text = " ".join(done.stdout.split())
    passed = [check.title for check in report.checks if check.status == "pass"]
    told = [report.policy.sha256, "1 January 2026, 12:00 UTC", "What a PASS does not mean"]
    told += ["What the attacker is assumed to have", "Repeat this audit", "a person decides"]
    told += [title.split()[0] for title in passed]
    told += ["Annex", "Known gaps"] if report.request.annex else []
    assert [one for one in told if one not in text] == []
