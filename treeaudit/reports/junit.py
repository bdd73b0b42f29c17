"""JUnit XML: a suite for each model, a case for each check. What was not checked is an error."""

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as Xml

from treeaudit.reports.fleet import Row
from treeaudit.reports.plain_text import plain


def to_junit(rows: Sequence[Row]) -> str:
    """Return the results as XML text.

    A check that could not be made is an error, as nobody may take it for a pass; one that an
    accepted report excuses is skipped only where the verdict is ACCEPTED.
    """
    root = Xml.Element("testsuites", name="treeaudit")
    for row in rows:
        suite = Xml.SubElement(root, "testsuite", name=_text(row.name))
        if row.about is None:
            _case(suite, row, "audited", "error", {"type": row.verdict, "message": row.said})
        elif not (row.checks or row.passed):
            _case(suite, row, "audited", "skipped", {"message": "this policy makes no checks"})
        for name in row.passed:
            _case(suite, row, name, "", {})
        for check in row.checks:
            kind, told = _outcome(check, row)
            _case(suite, row, check["name"], kind, told)
        _sum_up(suite, [suite])
    _sum_up(root, list(root))
    Xml.indent(root, " ")
    text: bytes = Xml.tostring(root, "utf-8", xml_declaration=True)
    return text.decode() + "\n"


def _outcome(check: dict[str, Any], row: Row) -> tuple[str, dict[str, str]]:
    words = ": ".join(filter(None, (check["title"], check["shown"] or check["reason"])))
    told = {"type": check["attack"] or check["name"], "message": f"{words} ({check['bound']})"}
    if check["accepted"]:
        kind = "skipped" if row.verdict == "accepted" else "error"
        return kind, {"message": f"accepted before: {told['message']}"}
    return "failure" if check["status"] == "fail" else "error", told


def _case(suite: Xml.Element, row: Row, name: str, kind: str, told: dict[str, str]) -> None:
    case = Xml.SubElement(suite, "testcase", classname=_text(row.name), name=name)
    if kind:
        one = Xml.SubElement(case, kind, {key: _text(text) for key, text in told.items()})
        one.text = _text(row.said) if kind == "failure" else None


def _sum_up(element: Xml.Element, suites: Sequence[Xml.Element]) -> None:
    cases = [case for suite in suites for case in suite]
    element.set("tests", str(len(cases)))
    for kind, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(kind, str(sum(case.find(tag) is not None for case in cases)))


def _text(text: str) -> str:
    """Return text that XML can hold, whatever a model calls things."""
    return plain(text, 1000)
