"""The JSON report: stable, validated against `report.schema.json`."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

from treeaudit.dp.claims import unbounded_because
from treeaudit.files import well_formed
from treeaudit.findings.baseline import line
from treeaudit.findings.details import plain_data
from treeaudit.findings.findings import Check, Finding, Skipped
from treeaudit.findings.policy import Policy
from treeaudit.findings.report import Fix, Report, Tried
from treeaudit.findings.request import OPTIONS, Given, Request
from treeaudit.model.forest import Forest
from treeaudit.reports.annex import annex_of
from treeaudit.version import __version__

SCHEMA_VERSION = 2
HEAD = {"schema_version": SCHEMA_VERSION, "tool": {"name": "treeaudit", "version": __version__}}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema that every report fits."""
    text = files("treeaudit.reports").joinpath("report.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def dumps(report: Report) -> str:
    """Return the report as JSON text."""
    return as_json(to_dict(report))


def as_json(data: object) -> str:
    """Return plain data as JSON text."""
    return _text(data, 2)


def as_line(data: object) -> str:
    """Return plain data as one line of JSON text."""
    return _text(data, None)


def _text(data: object, indent: int | None) -> str:
    text = json.dumps(data, indent=indent, ensure_ascii=True, allow_nan=False) + "\n"
    if "\\ud" in text:  # half a character, or one of two halves
        text = json.dumps(well_formed(data), indent=indent, ensure_ascii=True, allow_nan=False)
        text += "\n"
    return text


def judged_by(policy: Policy, people: Mapping[str, tuple[str, int]]) -> dict[str, Any]:
    """Return what was held against which policy, with which tables of people."""
    return {
        "policy": {
            "name": policy.name,
            "source": policy.source,
            "sha256": policy.sha256,
            "values": dict(policy.values),
        },
        "people": {role: {"name": name, "records": n} for role, (name, n) in people.items()},
    }


def to_dict(report: Report) -> dict[str, Any]:
    """Return the report as plain data."""
    annex = annex_of(report)
    return {
        **HEAD,
        "model": _model(report),
        "findings": [_finding(result) for result in report.results],
        "checks": [_check(check) for check in report.checks],
        "verdict": report.verdict,
        "record": {
            "at": report.record.time,
            "by": report.record.by,
            "inputs": dict(report.record.inputs),
        },
        **judged_by(report.policy, report.people),
        "unit": {**asdict(report.unit), "sentence": report.unit.sentence},
        "fix": _fix(report.fix),
        **({"frontier": list(map(_tried, report.frontier))} if report.frontier else {}),
        **({} if annex is None else {"annex": plain_data(annex)}),
        "baseline": None if report.baseline is None else dict(report.baseline),
        "warnings": list(report.warnings),
        "seed": report.request.seed,
        "request": {field: _request_value(report.request, field) for field in ("model", *OPTIONS)},
    }


def _request_value(request: Request, field: str) -> object:
    """Return a part of the request as plain data: files and policies by name, objects by kind."""
    value = getattr(request, field)
    if request.names_file(field) and isinstance(value, str | os.PathLike):
        return Path(value).name
    if isinstance(value, Given):
        return {"object": value.kind}
    if isinstance(value, Policy):
        return value.name
    if isinstance(value, tuple):
        return list(value)
    return value


def _model(report: Report) -> dict[str, Any]:
    forest, table = report.forest, report.table
    source = forest.source
    return {
        "name": report.request.model_name,
        "line": line(forest),
        "path": source.path,
        "sha256": source.sha256,
        "bytes": source.n_bytes,
        "format": source.format,
        "estimator": source.estimator,
        "inside": source.inside or None,
        "library": source.library or None,
        "library_version": source.library_version,
        "n_trees": forest.n_trees,
        "n_nodes": table.n_nodes,
        "n_leaves": table.n_leaves,
        "depth": table.depth,
        "n_features": len(forest.schema.features),
        "classes": None if forest.schema.classes is None else list(forest.schema.classes),
        "n_records": table.n_records,
        "canonical": source.canonical,
        "canonical_reason": source.canonical_reason or None,
        "counts_are": forest.counts_are,
        "counts_reason": forest.counts_reason,
        "records_are": forest.records_are,
        "privacy": None if forest.privacy is None else _privacy(forest),
    }


def _privacy(forest: Forest) -> dict[str, Any]:
    """Return the ledger as the file states it, and whether its epsilon bounds the model."""
    because = unbounded_because(forest)
    return {**(forest.privacy or {}), "bounded": because is None, "unbounded_because": because}


def _finding(result: Finding | Skipped) -> dict[str, Any]:
    if isinstance(result, Skipped):
        return {
            "id": result.id,
            "title": result.title,
            "status": "skipped",
            "severity": "none",
            "leaves": 0,
            "people": 0,
            "summary": None,
            "looked": [],
            "unseen": [],
            "details": {},
            "evidence": [],
            "controls": [],
            "reason": result.reason,
        }
    form: dict[str, Any] = {
        "id": result.id,
        "title": result.title,
        "status": result.status,
        "severity": result.severity,
        "leaves": result.leaves,
        "people": result.people,
        "summary": result.summary,
        "looked": list(result.looked),
        "unseen": list(result.unseen),
        "details": plain_data(result.details),
        "evidence": [asdict(e) for e in result.evidence],
        "controls": [asdict(c) for c in result.controls],
        "reason": None,
    }
    if result.per_tree is not None:
        form["per_tree"] = [dict(row) for row in result.per_tree]
    return form


def _fix(fix: Fix | None) -> dict[str, Any] | None:
    if fix is None:
        return None
    return {
        "by": fix.by,
        "steps": list(fix.steps),
        "passed": fix.passed,
        "misses": list(fix.misses),
        "leaves": list(fix.leaves),
        "right": list(fix.right),
        **({"right_of": "training people"} if fix.answered else {}),
        "unseen": None if fix.unseen is None else [asdict(one) for one in fix.unseen],
    }


def _tried(one: Tried) -> dict[str, Any]:
    return {**asdict(one), "steps": list(one.steps)}


def _check(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "threshold": check.threshold,
        "measured": check.measured,
        "status": check.status,
        "reason": check.reason,
        "accepted": check.accepted,
        "baseline": check.baseline,
    }
