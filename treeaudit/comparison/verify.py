"""A report held against the model that it is said to be of: the audit is run again."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from treeaudit.audit.preparation import Progress
from treeaudit.audit.scan import audit_all
from treeaudit.errors import DataError, PolicyError
from treeaudit.files import well_formed
from treeaudit.findings.baseline import acceptance_of
from treeaudit.findings.policy import BUILT_IN, Policy, read_policy
from treeaudit.findings.record import Record, is_line, sha256_of, sha256_of_file
from treeaudit.findings.report import Report
from treeaudit.findings.request import OPTIONS, Request
from treeaudit.readers import load_all
from treeaudit.repair.suggestion import with_fix

_FILES = ("train", "test", "known", "prior", "baseline")
_NAMED = ("model", *_FILES)
_SMALL = 1e-9
_NEW = {"annex"}
"""What reports did not state at first."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One entry of a report that is not what the model gives: where, what it says, what is so."""

    where: str
    said: object
    found: object


def changes_of(
    reports: Sequence[Mapping[str, Any]],
    model: Path,
    *,
    policy: str | None = None,
    **given: Path | None,
) -> tuple[str, ...]:
    """Say what is not what a report was made of: model, tables, policy, or the signed report.

    Files are hashed, not read: what was changed may be readable no more.
    """
    found = []
    stated = reports[0]["model"]["sha256"]
    if stated not in (None, real := _sha256_of_model(model)):
        found.append(f"the model {model.name} is another file: its SHA-256 is {real}, not {stated}")
    for role, told in reports[0].get("record", {}).get("inputs", {}).items():
        path = given.get(role)
        if told is not None and path is not None and (real := sha256_of(path)) != told:
            name, is_now = f"{OPTIONS[role]} {path.name}", real or "not to be had"
            found.append(f"{name} is another table: its SHA-256 is {is_now}, not {told}")
    if (
        policy is not None
        and (real := read_policy(policy).sha256) != reports[0]["policy"]["sha256"]
    ):
        asked, told = reports[0]["policy"]["name"], reports[0]["policy"]["sha256"]
        found.append(
            f"the policy {policy} is not that of the report, {asked}: its thresholds have the hash "
            f"{real}, not {told}"
        )
    for data in reports:
        try:
            acceptance_of(data)
        except (KeyError, TypeError, ValueError) as error:
            found.append(f"the report is not what was signed: {error}")
    return tuple(found)


def _sha256_of_model(path: Path) -> str | None:
    """Return the hash that a report states of a model file; of a folder it is that of a part."""
    return sha256_of_file(path) if path.is_file() else load_all(path)[0].source.sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What became of a report when the audit was run again."""

    again: Report  # The new audit
    differences: tuple[Mismatch, ...]  # What the report says otherwise
    # Attacks whose searches were ended by time, and therefore need not find the same again
    unsettled: tuple[str, ...]
    own_policy: bool  # Whether the thresholds were taken as the report states them


def verify(
    reports: Sequence[Mapping[str, Any]],
    model: Path,
    *,
    policy: str | None = None,
    progress: Progress | None = None,
    **given: Path | None,
) -> tuple[Verification, ...]:
    """Run the audit of a file again, and hold every entry of its reports against the new ones."""
    first = reports[0]
    request, own_policy = _request_of(first, model, policy, given)
    found = audit_all(request, progress)
    if len(found) != len(reports):
        raise DataError(
            f"{model.name} holds {len(found):,} models, and the report is of {len(reports):,}: "
            "scan it again"
        )
    for at, one in enumerate(reports[1:], start=2):
        if one["request"] != first["request"]:
            raise DataError(f"the report says of model {at} that something else was asked")
    return tuple(
        _compare(data, again, request, own_policy=own_policy)
        for data, again in zip(reports, found, strict=True)
    )


def _compare(
    data: Mapping[str, Any], again: Report, request: Request, *, own_policy: bool
) -> Verification:
    if data.get("fix") is not None or data.get("frontier"):
        again = with_fix(again, train=request.train, test=request.test, target=request.target)
    again = replace(again, record=_record_of(data, again.record))
    # As it is written: names of files may hold bytes that are no text.
    written = json.loads(json.dumps(well_formed(again.to_dict())))
    said, true = _neutral(data), _neutral(written)
    names = (
        _names(data["model"]["path"], *map(data["request"].get, _NAMED)),
        _names(*(getattr(request, field) for field in _NAMED)),
    )
    if data.get("fix") is None and not data.get("frontier"):
        true = {**true, "fix": None}
    differences = [*_differences("", said, true, names), *_not_compared(data, written)]
    try:
        acceptance_of(data)
    except (KeyError, TypeError, ValueError) as error:
        differences.append(Mismatch("accepted", data["accepted"], str(error)))
    # Whether a search was ended by time may differ, but not whether it searches.
    sides = [
        {f["id"]: f["details"] for f in form["findings"] if f.get("details")}
        for form in (said, true)
    ]
    stopped = [
        attack
        for attack, details in sides[1].items()
        if "stopped" in details and any(side.get(attack, {}).get("stopped") for side in sides)
    ]
    return Verification(
        again=again,
        differences=tuple(differences),
        unsettled=tuple(dict.fromkeys(stopped)),
        own_policy=own_policy,
    )


def _record_of(data: Mapping[str, Any], found: Record) -> Record:
    """Return a record with the time and the name that a report states: nothing tells these."""
    told = data.get("record") or {}
    try:
        at = datetime.strptime(told["at"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except (KeyError, TypeError, ValueError):
        at = found.at
    by = told.get("by")
    return replace(found, at=at, by=by if is_line(by) else None)


def _not_compared(data: Mapping[str, Any], written: Mapping[str, Any]) -> Iterator[Mismatch]:
    """Tell what a report says where names are not compared, and no audit would write."""
    parts = {part: (data[part], written[part]) for part in ("tool", "request", "policy")}
    for role in written["people"]:
        parts[f"people · {role}"] = data["people"].get(role, {}), written["people"][role]
    for part, (said, true) in parts.items():
        yield from (Mismatch(_under(part, key), said[key], None) for key in said if key not in true)
    asked, told = data["request"]["policy"], data["policy"]["name"]
    if isinstance(asked, str) and asked != told and not BUILT_IN.keys().isdisjoint({asked, told}):
        yield Mismatch("request · policy", asked, told)


def _request_of(
    data: Mapping[str, Any], model: Path, policy: str | None, given: Mapping[str, Path | None]
) -> tuple[Request, bool]:
    asked = data.get("request")
    if not isinstance(asked, dict) or not asked.keys() >= OPTIONS.keys() - _NEW:
        raise DataError("the report does not say what was asked: scan the model again")
    if data["model"]["sha256"] is None:
        raise DataError("the report is of a model in memory: nothing ties it to a file")
    for field in _FILES:
        name = _named(asked[field])
        if name is not None and given.get(field) is None:
            raise DataError(f"the report was made with {OPTIONS[field]} {name}: give that too")
        if name is None and given.get(field) is not None:
            raise DataError(f"the report was made without {OPTIONS[field]}: leave it away")
    policy_of_report = data["policy"]
    report_policy = Policy(
        **{key: policy_of_report.get(key) for key in ("name", "values", "source")}
    )
    own = report_policy.name not in BUILT_IN
    if policy is not None and own:
        # The same thresholds are the same policy, whatever it and its file are called.
        own = read_policy(policy).sha256 == report_policy.sha256
    plain = {k: v for k, v in asked.items() if k in OPTIONS and k not in (*_FILES, "policy")}
    request = Request(
        model=model,
        policy=report_policy if own else read_policy(policy or str(policy_of_report["name"])),
        **{**plain, **given},
    )
    attacks = request.attacks if request.attacks is None else tuple(request.attacks)
    told = {name: tuple(getattr(request, name)) for name in ("sensitive", "annex")}
    return replace(request, attacks=attacks, **told), own and policy is None  # type: ignore[arg-type]


def policy_since(data: Mapping[str, Any]) -> str:
    """Say whether a policy of one's own still asks for what a report states; it was not given."""
    asked, told = data["request"]["policy"], data["policy"]["sha256"]
    try:
        now = read_policy(asked).sha256 if isinstance(asked, str) else None
    except PolicyError:
        now = None
    if now in (None, told):
        return "its thresholds are as the report states them: --policy holds it to your own"
    return (
        f"the policy changed: {asked} asks for other thresholds now (hash {now}, not {told}); the "
        "report was held to those that it states"
    )


def _named(value: object) -> str | None:
    return value.get("object", "") if isinstance(value, dict) else value  # type: ignore[return-value]


def _names(*paths: object) -> list[str]:
    """Return what files are called in one report, longest first: a file may be moved.

    Never what they are called in the other: a report would choose which words are not held
    against the model.
    """
    told = [well_formed(str(path)) for path in paths if isinstance(path, str | Path)]
    return sorted({*told, *(Path(one).name for one in told)} - {""}, key=len, reverse=True)


def _neutral(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a report says, without who wrote it and what its files are called."""
    left = {"tool", "request", "accepted", "schema_version"}
    first = {key: data[key] for key in ("model", "verdict", "policy") if key in data}
    form = {key: part for key, part in {**first, **data}.items() if key not in left}
    if "record" not in data:
        form.pop("record", None)
    form["model"] = {key: part for key, part in form["model"].items() if key != "path"}
    form["people"] = {role: table["records"] for role, table in form["people"].items()}
    form["policy"] = {key: form["policy"][key] for key in ("name", "sha256", "values")}
    if isinstance(form.get("baseline"), dict):
        form["baseline"] = {k: v for k, v in form["baseline"].items() if k != "name"}
    return form


def _renamed(text: str, names: list[str]) -> str:
    for name in names:
        text = text.replace(name, "FILE")
    return text


def _differences(
    where: str,
    said: Any,  # noqa: ANN401  # JSON
    found: Any,  # noqa: ANN401  # JSON
    names: tuple[list[str], list[str]],
) -> Iterator[Mismatch]:
    if isinstance(said, dict) and isinstance(found, dict):
        for key in dict.fromkeys((*said, *found)):
            yield from _differences(_under(where, key), said.get(key), found.get(key), names)
    elif isinstance(said, list) and isinstance(found, list):
        label = "id" if where == "findings" else "name" if where == "checks" else None
        sides = [_by_label(part, label) for part in (said, found)]
        for key in dict.fromkeys((*sides[0], *sides[1])):
            one, other = (side.get(key) for side in sides)
            yield from _differences(_under(where, str(key)), one, other, names)
    elif not _same(said, found, names):
        yield Mismatch(where, said, found)


def _under(where: str, key: str) -> str:
    return f"{where} · {key}" if where else key


def _by_label(rows: list[Any], label: str | None) -> dict[object, Any]:
    """Return rows by what they are called; by their place where they have no names of their own."""
    if label is None or not all(isinstance(row, dict) and label in row for row in rows):
        return dict(enumerate(rows, start=1))
    named = {row[label]: row for row in rows}
    return named if len(named) == len(rows) else dict(enumerate(rows, start=1))


def _same(said: object, found: object, names: tuple[list[str], list[str]]) -> bool:
    if isinstance(said, bool) or isinstance(found, bool) or None in (said, found):
        return said is found
    if isinstance(said, int | float) and isinstance(found, int | float):
        return math.isclose(said, found, rel_tol=_SMALL, abs_tol=1e-12)
    if isinstance(said, str) and isinstance(found, str):
        return said == found or _renamed(said, names[0]) == _renamed(found, names[1])
    return type(said) is type(found) and said == found
