"""What tools of continuous integration read: SARIF 2.1.0 and JUnit XML."""

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as Xml

from treeaudit.reports.fleet import Row
from treeaudit.reports.plain_text import plain
from treeaudit.version import __version__

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_HOME = "https://github.com/treeaudit/treeaudit"
_FAILED = {
    "unsafe": ("unsafe-file", "Loading the file would run code", "9.0"),
    "unread": ("not-audited", "The file could not be audited", "5.0"),
}
_LONGEST = 400
_SEVERITY = "7.0"
"""Of a check of the policy, on the scale of code scanning from 0 to 10."""


def to_sarif(rows: Sequence[Row]) -> str:
    """Return the results of one run as SARIF text."""
    rules: dict[str, dict[str, Any]] = {}
    results = [_result(row, told, rules) for row in rows for told in _results(row)]
    run = {
        "tool": {
            "driver": {
                "name": "treeaudit",
                "version": __version__,
                "informationUri": _HOME,
                "rules": list(rules.values()),
            }
        },
        "invocations": [{"executionSuccessful": not any(row.verdict in _FAILED for row in rows)}],
        "automationDetails": {"id": "treeaudit/"},
        "results": results,
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def _results(row: Row) -> Iterable[dict[str, Any]]:
    """Yield what is to be said of a model: rule, its title, severity and help, level and text."""
    if row.verdict in _FAILED:
        rule, title, severity = _FAILED[row.verdict]
        yield {"id": rule, "title": title, "severity": severity, "level": "error", "text": row.said}
        return
    remedies = {found["id"]: found["remedy"] for found in row.findings}
    for check in row.checks:
        failed = check["status"] == "fail"
        measured = ": ".join(filter(None, (check["title"], check["shown"] or check["reason"])))
        yield {
            "id": check["name"],
            "title": check["title"],
            "severity": _SEVERITY,
            "help": remedies.get(check["attack"], ""),
            "level": "note" if check["accepted"] else "error" if failed else "warning",
            "text": f"{measured} ({check['bound']}). {row.said}",
            "accepted": check["accepted"],
        }


def _result(row: Row, told: dict[str, Any], rules: dict[str, dict[str, Any]]) -> dict[str, Any]:
    rule = rules.setdefault(told["id"], _rule(told))
    where: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(row.path)},
            "region": {"startLine": 1},  # a model has no lines; code scanning asks for one
        }
    }
    if row.inside:
        where["logicalLocations"] = [{"name": plain(row.inside, 200)}]
    result: dict[str, Any] = {
        "ruleId": told["id"],
        "ruleIndex": list(rules).index(rule["id"]),
        "level": told["level"],
        "message": {"text": plain(told["text"], 1000)},
        "locations": [where],
        "partialFingerprints": {"model/v1": _fingerprint(told["id"], row.name)},
    }
    if told.get("accepted"):
        result["suppressions"] = [{"kind": "external", "justification": "an accepted report"}]
    return result


def _fingerprint(rule: str, name: str) -> str:
    """Return what tells one alert from all others, and is the same in the next run.

    A name that would have to be cut or shown otherwise than it is stands for itself by its hash.
    """
    told = f"{rule}:{name}"
    if told.isprintable() and len(told) <= _LONGEST:
        return told
    hashed = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{rule}:sha256:{hashed}"


def _rule(told: dict[str, Any]) -> dict[str, Any]:
    words = {"text": plain(told["title"], 200)}
    remedy = plain(told.get("help") or told["title"], 1000)
    return {
        "id": told["id"],
        "shortDescription": words,
        "fullDescription": words,
        "help": {"text": remedy},
        "helpUri": f"{_HOME}#what-it-finds",
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["security", "privacy"], "security-severity": told["severity"]},
    }


def _uri(path: str) -> str:
    """Return a path from the current folder where it lies there, as code scanning asks."""
    whole = Path(os.path.normpath(Path.cwd() / path))
    if whole.is_relative_to(Path.cwd()):
        return quote(os.fsencode(whole.relative_to(Path.cwd()).as_posix()))
    return "file://" + quote(os.fsencode(f"/{PurePath(whole).as_posix()}".replace("//", "/")))


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
        for name in row.needless:
            _case(suite, row, name, "skipped", {"message": "does not apply to this model"})
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
