"""An entry in a folder of outputs that SACRO-Viewer shows to the output checker.

The folder is what ACRO's ``finalise()`` writes: ``results.json`` with a record
per output, ``checksums/`` with the SHA-256 of every file, ``config.json`` with
the thresholds. The record is written last, so that an entry is there whole or
not at all; the records of other outputs are kept as they are, also where many
processes add theirs at once.
"""

import hashlib
import json
import os
import re
from datetime import datetime
from pathlib import Path
from typing import Any

from treeaudit.errors import DataError, ReadError
from treeaudit.files import BASELINE, alone_in, check_new, read_bytes, well_formed, write_file
from treeaudit.findings.findings import Check
from treeaudit.findings.report import Report
from treeaudit.readers.json_text import parse_json
from treeaudit.readers.limits import Most
from treeaudit.reports.advice import repeat_command, verdict_line
from treeaudit.reports.html import to_html
from treeaudit.reports.release_safe import measured, released, that_may_leave
from treeaudit.reports.terminal import to_text
from treeaudit.reports.to_json import dumps
from treeaudit.version import __version__

_FORM = "0.4.11"
"""The version of ACRO whose form this is; SACRO-Viewer asks for 0.4 or later."""

_NOT_FOR_RELEASE = (
    "The report files name small groups: they are for the output checker, not for release. "
    "What is to be released is the model file with the checksum above."
)


def check_folder(report_of: str | None, folder: str | os.PathLike[str], *, force: bool) -> None:
    """Refuse a folder that cannot take the entry, before a long audit begins."""
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise DataError(f"{target} is no folder; name one for the ACRO entry")
    if not target.exists() and not target.parent.is_dir():
        raise DataError(f"there is no folder {target.parent} for {target.name}")
    uid = _uid(report_of)
    known = _read(_results(target))["results"]
    if force:
        return
    if uid in known:
        raise DataError(f"{target} has an entry {uid} already; use --force to replace it")
    for suffix in ("html", "json", "txt"):
        check_new(target / f"{uid}.{suffix}", force=False, how="--force")


def write_acro(
    report: Report,
    folder: str | os.PathLike[str],
    *,
    force: bool = False,
    created: datetime | None = None,
    release_safe: bool = False,
) -> Path:
    """Add the report to a folder of outputs, as a record of type ``custom``; return their file."""
    target, now = Path(folder), created or report.record.at.replace(tzinfo=None)
    model = report.forest.source.path
    check_folder(model, target, force=force)
    _check_model(report, target)
    uid = _uid(model)
    files = {
        f"{uid}.html": to_html(report, release_safe=release_safe),
        f"{uid}.json": released(report, "json") if release_safe else dumps(report),
        f"{uid}.txt": (
            released(report, "txt") if release_safe else to_text(report, 100, verbose=True)
        ),
    }
    target.mkdir(exist_ok=True)
    with alone_in(target):
        # Meanwhile another process may have written an entry of that name.
        check_folder(model, target, force=force)
        (target / "checksums").mkdir(exist_ok=True)
        for name, content in files.items():
            _write(target, name, content)
        if not (target / "config.json").exists():
            _write(target, "config.json", json.dumps(well_formed(_config(report)), indent=4) + "\n")
        if model is not None and report.forest.source.sha256 is not None:
            write_file(_checksum(target, Path(model).name), report.forest.source.sha256, force=True)
        results = _results(target)
        data = _read(results)
        data["results"][uid] = _record(report, uid, list(files), now, release_safe=release_safe)
        _write(target, results.name, json.dumps(well_formed(data), indent=4) + "\n")
    return results


def _uid(model: str | None) -> str:
    name = "model" if model is None else Path(model).name
    return "treeaudit_" + (re.sub(r"[^A-Za-z0-9._-]", "_", name)[:100] or "model")


def _results(folder: Path) -> Path:
    """Return the file of records that SACRO-Viewer would open."""
    older = folder / "outputs.json"
    return older if older.exists() else folder / "results.json"


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {"version": _FORM, "results": {}}
    try:
        content = read_bytes(path, BASELINE, DataError)
        data: Any = parse_json(content, Most.form, (232, 88, 36))
    except ReadError as error:
        raise DataError(f"{path} cannot be read as JSON: {error}") from None
    whole = isinstance(data, dict) and "version" in data and isinstance(data.get("results"), dict)
    if not whole:
        raise DataError(f"{path} holds no records of ACRO; name another folder for the ACRO entry")
    return dict(data)


def _checksum(folder: Path, name: str) -> Path:
    return folder / "checksums" / f"{name}.txt"


def _check_model(report: Report, folder: Path) -> None:
    """Refuse a folder with another file under the name of the model."""
    source = report.forest.source
    if source.path is None or source.sha256 is None:
        return
    name = Path(source.path).name
    if name in ("results.json", "outputs.json", "config.json"):
        raise DataError(f"a model named {name} cannot be told from ACRO's own file; rename it")
    model = folder / name
    if model.is_file() and _digest(model) != source.sha256:
        raise DataError(f"{model} is not the model that was audited; put that one into the folder")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write(folder: Path, name: str, content: str) -> None:
    """Write a file and its checksum; who may replace it was decided before."""
    write_file(folder / name, content, force=True, private=True)
    digest = hashlib.sha256(content.encode()).hexdigest()
    write_file(_checksum(folder, name), digest, force=True)


def _record(
    report: Report, uid: str, files: list[str], now: datetime, *, release_safe: bool
) -> dict[str, Any]:
    source, policy = report.forest.source, report.policy
    if release_safe:
        report = that_may_leave(report)
    model = "the model" if source.path is None else Path(source.path).name
    status = "review" if report.verdict == "accepted" else report.verdict
    return {
        "uid": uid,
        # A policy without checks has passed nothing; the output checker decides on exceptions.
        "status": status if report.checks else "review",
        "type": "custom",
        "properties": {
            "method": "treeaudit",
            "version": __version__,
            "model": model,
            "model_sha256": source.sha256,
            "policy": policy.title,
            "policy_sha256": policy.sha256,
        },
        "files": [{"name": name, "sdc": {}} for name in files],
        "outcome": _outcome(report, release_safe=release_safe),
        "command": repeat_command(report),
        "summary": f"{report.verdict}; {verdict_line(report)}"
        if release_safe
        else _summary(report),
        "timestamp": now.isoformat(timespec="seconds"),
        "comments": [
            f"SHA-256 of {model}: {source.sha256 or 'none'}",
            *([] if release_safe else [_NOT_FOR_RELEASE]),
        ],
        "exception": "",
    }


def _outcome(report: Report, *, release_safe: bool) -> dict[str, dict[str, str]]:
    """Return the checks as ACRO stores a table: by column, then by row."""
    checks = {check.name: check for check in report.checks}
    told = measured(report) if release_safe else {}
    return {
        "what": {name: check.title for name, check in checks.items()},
        "asked": {name: check.bound for name, check in checks.items()},
        "measured": {
            name: told.get(name, "") if release_safe else check.shown or "not measured"
            for name, check in checks.items()
        },
        "status": {name: _status(check) for name, check in checks.items()},
    }


def _status(check: Check) -> str:
    return "accepted" if check.accepted else check.status


def _summary(report: Report) -> str:
    """Say the verdict, and every check that did not pass, in words."""
    missed = [
        f"{check.title.lower()}: {check.shown or check.reason} ({check.bound})"
        for check in report.checks
        if not check.met
    ]
    text = f"{report.verdict}; {verdict_line(report)}"
    return text + (f"; {'; '.join(missed)}" if missed else "")


def _config(report: Report) -> dict[str, Any]:
    """Return the thresholds under ACRO's names where it has one, and the policy as it is."""
    values = report.policy.values
    named = {"safe_threshold": "min-leaf", "safe_dof_threshold": "min-degrees-of-freedom"}
    return {theirs: values[ours] for theirs, ours in named.items() if ours in values} | {
        "treeaudit_policy": report.policy.title,
        "treeaudit_values": dict(values),
    }
