"""SARIF and JUnit XML: the schema of the standard, and names that nobody can trust."""

import json
from datetime import date
from xml.etree import ElementTree as Xml

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeaudit as ta
from tests.contracts.test_attacks import MODELS
from tests.reports.sarif_schema import SCHEMA
from treeaudit.findings.baseline import accepted_report
from treeaudit.reports.fleet import Row, row_of, to_html
from treeaudit.reports.formats import render
from treeaudit.reports.sarif import to_junit, to_sarif

FITS = jsonschema.Draft7Validator(SCHEMA)


@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_model_fits_the_standard(name) -> None:
    report = ta.scan(MODELS[name])
    log = json.loads(render(report, "sarif"))
    FITS.validate(log)
    (run,) = log["runs"]
    open_checks = [check for check in report.checks if not check.met]
    assert [one["ruleId"] for one in run["results"]] == [check.name for check in open_checks]
    for one in run["results"]:
        assert run["tool"]["driver"]["rules"][one["ruleIndex"]]["id"] == one["ruleId"]
    levels = {"fail": "error", "skipped": "warning"}
    assert [one["level"] for one in run["results"]] == [levels[c.status] for c in open_checks]
    (suite,) = Xml.fromstring(render(report, "xml"))
    assert len(suite) == len(report.checks)
    assert int(suite.get("failures")) == sum(check.status == "fail" for check in report.checks)


def test_what_an_accepted_report_excuses_is_told(tmp_path) -> None:
    model = next(iter(MODELS.values()))
    data = accepted_report(
        ta.scan(model).to_dict(), by="Ada", until=date(9999, 12, 31), reason="inside only"
    )
    (tmp_path / "before.json").write_text(json.dumps(data))
    report = ta.scan(model, baseline=tmp_path / "before.json")
    log = json.loads(to_sarif([row_of(report)]))
    FITS.validate(log)
    told = [one["level"] for one in log["runs"][0]["results"] if "suppressions" in one]
    assert set(told) <= {"note"}
    assert len(told) == sum(check.accepted for check in report.checks)


@given(st.text(), st.text(), st.sampled_from(["unread", "unsafe"]))
def test_any_name_can_be_told(path, said, verdict) -> None:
    if "\0" in path:
        return
    row = Row(path=path.encode("utf-8", "replace").decode(), verdict=verdict, said=said)
    log = json.loads(to_sarif([row]))
    FITS.validate(log)
    (where,) = log["runs"][0]["results"][0]["locations"]
    assert where["physicalLocation"]["artifactLocation"]["uri"].isascii()
    (suite,) = Xml.fromstring(to_junit([row]))
    assert suite.get("errors") == "1"
    assert "<script" not in to_html([row])


def test_every_file_has_a_fingerprint_of_its_own() -> None:
    deep = "models/" + "x" * 500
    names = (f"{deep}/a.pkl", f"{deep}/b.pkl", "a\udcff.pkl", "a\\udcff.pkl", "a\n.pkl", "a␊.pkl")
    rows = [Row(path=name, verdict="unread", said="it is damaged") for name in names]
    results = json.loads(to_sarif(rows))["runs"][0]["results"]
    told = [result["partialFingerprints"]["model/v1"] for result in results]
    assert len(set(told)) == len(names)
    assert all(len(one) <= 400 and one.isprintable() for one in told)
    (result,) = json.loads(to_sarif(rows[3:4]))["runs"][0]["results"]
    assert result["partialFingerprints"]["model/v1"] == told[3] == "not-audited:a\\udcff.pkl"
