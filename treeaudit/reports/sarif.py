"""SARIF 2.1.0, for code scanning: a result for every check that is no pass."""

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

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
