"""JSON reports of earlier audits, and the terms on which the number of a check rests.

Two numbers compare only if their terms are the same. What an older report does not state is
not known, and equal to nothing.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from treeaudit.errors import MissingFileError, PolicyError, ReadError, TreeauditError
from treeaudit.files import BASELINE, read_bytes
from treeaudit.findings.checks import Registered
from treeaudit.findings.policy import Policy
from treeaudit.findings.report import Report
from treeaudit.model.words import in_digits
from treeaudit.readers.json_text import parse_json
from treeaudit.readers.limits import Most

_SCHEMA_VERSIONS = (1, 2)


def read_report(
    path: str | os.PathLike[str], what: str = "the baseline"
) -> tuple[dict[str, Any], str]:
    """Read a JSON report of one model, and the SHA-256 of its file."""
    data, sha256 = read_json(path, what)
    return _checked_report(data, f"{what} {Path(path).name}"), sha256


def is_report(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file is a JSON report, of one model or of several."""
    try:
        content = read_bytes(path, BASELINE, PolicyError)
        told = b'"schema_version"' in content and content.lstrip()[:1] == b"{"
        data = parse_json(content, Most.form, (232, 88, 36)) if told else None
    except (OSError, TreeauditError):
        return False
    return isinstance(data, dict) and ("checks" in data or "reports" in data)


def read_json(path: str | os.PathLike[str], what: str, most: int = BASELINE) -> tuple[object, str]:
    """Read what a JSON file of at most so many bytes holds, and its SHA-256."""
    try:
        content = read_bytes(path, most, PolicyError, what)
        data = parse_json(content, Most.form, (232, 88, 36))
    except FileNotFoundError:
        raise MissingFileError(path) from None
    except ReadError as error:
        raise PolicyError(
            f"{what} {path} is no JSON report ({error}); 'treeaudit scan MODEL -o report.json' "
            "writes one"
        ) from None
    return data, hashlib.sha256(content).hexdigest()


def checked_reports(data: Any, name: str) -> list[dict[str, Any]]:  # noqa: ANN401  # JSON
    """Return the JSON report of each model of a file, once they are seen to be such."""
    each = data.get("reports") if isinstance(data, dict) and "schema_version" in data else None
    if not isinstance(each, list) or not each:
        return [_checked_report(data, name)]
    return [_checked_report(one, f"{name}, model {i}") for i, one in enumerate(each, start=1)]


def _checked_report(data: Any, name: str) -> dict[str, Any]:  # noqa: ANN401  # JSON
    """Return the JSON report of one model, once it is seen to be one."""
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version is not None and isinstance(data.get("reports"), list):
        raise PolicyError(f"{name} is about several models: scan one with --select NAME")
    if version is None or not all(isinstance(data.get(k), list) for k in ("checks", "findings")):
        raise PolicyError(
            f"{name} is no treeaudit report; 'treeaudit scan MODEL -o report.json' writes one"
        )
    if version not in _SCHEMA_VERSIONS:
        raise PolicyError(
            f"{name} has schema version {version}, this treeaudit reads "
            f"{_SCHEMA_VERSIONS[-1]} and before; write it again with this version"
        )
    report: dict[str, Any] = data
    return report


Terms = Mapping[str, object]
"""What a report states of each term, and ``seen``: which attacks ran, and whether to the end."""

_OPTIONS = ("tolerance", "fraction", "sensitive", "person", "prior", "seconds", "seed")

_NAMES: Mapping[str, str] = {
    "k": "min-leaf",
    "below_k": "min-leaf",
    "unit": "what is counted",
    "tolerance": "--tolerance",
    "fraction": "--sampling-fraction",
    "sensitive": "--sensitive",
    "train": "--train",
    "test": "--test",
    "known": "--known",
    "prior": "--prior",
    "seconds": "--seconds",
    "seed": "--seed",
    "counts": "what class counts count",
    "spread": "the spread of the leaves",
    "noise": "noise in the counts",
    "promise": "what epsilon protects",
}


def terms_of(report: Report) -> Terms:
    """Return the terms of an audit."""
    request, forest = report.request, report.forest
    spreads = (getattr(finding.details, "spread_of", None) for finding in report.findings)
    return _terms(
        k=report.policy.k,
        spread=next((f"of the {one}" for one in spreads if one is not None), "not told"),
        unit=asdict(report.unit),
        request={name: getattr(request, name) for name in _OPTIONS},
        given=report.people,
        counts=forest.counts_are,
        measured=(getattr(one.details, "measured_on", None) for one in report.findings),
        privacy=forest.privacy,
        seen={finding.id: not finding.unseen for finding in report.findings},
    )


def terms_of_file(data: Mapping[str, Any]) -> Terms:
    """Return the terms of a JSON report."""
    ran = [one for one in data["findings"] if one["status"] != "skipped"]
    sizes = [one["details"]["k"] for one in ran if "k" in one["details"]]
    policy, model = data.get("policy"), data["model"]
    k = None if policy is None else Policy(name="", values=policy["values"]).k
    spreads = [one["details"]["spread_of"] for one in ran if "spread_of" in one["details"]]
    return _terms(
        k=int(sizes[0]) if sizes else k,
        spread=f"of the {spreads[0]}" if spreads else "not told",
        unit=data.get("unit"),
        request=data.get("request"),
        given=data.get("people"),
        counts=model.get("counts_are"),
        measured=(one["details"].get("measured_on") for one in ran),
        privacy=model.get("privacy"),
        seen={str(one["id"]): not one.get("unseen") for one in ran},
    )


def _terms(
    *,
    k: int | None,
    spread: str,
    unit: Mapping[str, Any] | None,
    request: Mapping[str, Any] | None,
    given: Mapping[str, Any] | None,
    counts: object,
    measured: Iterable[object],
    privacy: Mapping[str, Any] | None,
    seen: Mapping[str, bool],
) -> Terms:
    found: dict[str, object] = {"seen": dict(seen), "promise": _promise(privacy), "spread": spread}
    if k is not None:
        found |= {"k": k, "below_k": k}
    if counts is not None:
        found["counts"] = _counted(counts, next((one for one in measured if one), None))
        found["noise"] = counts == "noisy"
    if given is not None:
        found |= {role: role in given for role in ("train", "test", "known")}
    if request is not None:
        found |= {name: request.get(name) for name in ("tolerance", "fraction", "seconds", "seed")}
        found["prior"] = request.get("prior") is not None
        found["sensitive"] = tuple(sorted(map(str, request.get("sensitive") or ())))
    if unit is not None and request is not None:
        found["unit"] = _unit(unit, request.get("person"))
    return found


def _counted(counts: object, measured: object) -> str:
    """Say what class counts count, of which those of the training people may take the place."""
    if measured in ("people", "draws"):
        return str(measured)
    told = counts in ("exact", "likely") and measured is None
    return "people" if told else f"{counts} numbers"


def _unit(unit: Mapping[str, Any], person: object) -> str:
    by = unit["by"]
    if by == "person":
        return f"persons by {person}"
    if by == "rows-per-person":
        return f"persons of at most {unit['rows_per_person']} records"
    return "distinct records" if by == "copies" else "records"


def _promise(privacy: Mapping[str, Any] | None) -> str:
    if privacy is None:
        return "nobody"
    rows = privacy.get("rows_per_person")
    whom = "a record" if rows is None else f"a person of at most {rows} records"
    return f"{whom} ({privacy.get('neighbours')})"


def apart(known: Registered, old: Terms, new: Terms, *, more: bool = False) -> tuple[str, ...]:
    """Return the terms in which two numbers of a check differ, or that a report does not state."""
    rests_on = known.rule.rests_on
    found: list[str] = [name for name in rests_on if not _same_term(old, new, name, more=more)]
    was, now = (_completion(known.attacks, terms) for terms in (old, new))
    less = any(now[one] < was[one] for one in was)
    return (*found, "seen") if less or (was != now and not more) else tuple(found)


def _same_term(old: Terms, new: Terms, name: str, *, more: bool) -> bool:
    if name not in old or name not in new:
        return False
    was, now = old[name], new[name]
    grew = isinstance(was, int) and isinstance(now, int) and now > was
    return was == now or (more and name == "below_k" and grew)


def _completion(attacks: Sequence[str], terms: Terms) -> dict[str, int]:
    """Return of each attack whether it ran (1), and to its end (2)."""
    seen = terms.get("seen")
    ran = seen if isinstance(seen, Mapping) else {}
    found = {one: 0 if one not in ran else 2 if ran[one] else 1 for one in attacks}
    # A check whose own attack did not run is only made where there is nothing to find.
    return found | {one: found[one] or 2 for one in attacks[:1]}


def in_words(names: Sequence[str], old: Terms, new: Terms) -> str:
    """Return in which terms two reports differ: what was then, and what is now."""
    return ", and ".join(
        "other parts were looked at"
        if name == "seen"
        else f"{_NAMES[name]} was {_said(name, old)} and is {_said(name, new)}"
        for name in names
    )


def _said(name: str, terms: Terms) -> str:
    value = terms.get(name)
    if name not in terms:
        return "not stated"
    if name == "noise":
        return "there" if value else "not there"
    if isinstance(value, bool):
        return "given" if value else "not given"
    if isinstance(value, tuple):
        return ", ".join(value) or "not given"
    if value is None:
        return "not given"
    return in_digits(value, 6, value) if isinstance(value, int | float) else str(value)
