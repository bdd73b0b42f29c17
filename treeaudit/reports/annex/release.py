"""The record of an output check, in the words of SATRE, section 3.3 (output management)."""

from dataclasses import dataclass

from treeaudit.findings.report import Report
from treeaudit.reports.advice import acceptance, verdict_line
from treeaudit.reports.provenance import facts, made, not_checked, shown_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One element of a record: what it is called, and what is known of it."""

    name: str
    value: str
    # Whether the run showed it, the file or its maker says it, or nothing does
    basis: str = "seen"


def release_record(report: Report) -> tuple[Entry, ...]:
    """Return what an output check writes down of one model."""
    source, told = report.forest.source, dict(facts(report))
    tables = [f"{rows:,} rows of {name}" for name, rows in report.people.values()]
    asked = ", ".join(f"{name} = {value:g}" for name, value in report.policy.values.items())
    failed = [check for check in report.checks if check.status == "fail"]
    skipped = [check for check in report.checks if check.status == "skipped"]
    left = [f"{check.title}: {check.shown} ({check.bound})" for check in failed]
    left += [f"{check.title}: not run" for check in skipped]
    minimal = told.get("Canonical file", f"not known of {source.format}")
    return (
        Entry(name="Output", value=f"{shown_name(report)}, {source.format}"),
        Entry(name="SHA-256 of the output", value=source.sha256 or "none: the model was in memory"),
        Entry(name="Checked", value=made(report)),
        Entry(name="Checked with", value=told["Version"]),
        Entry(name="Criteria", value=f"policy {report.policy.name}: {asked or 'no checks'}"),
        Entry(name="SHA-256 of the criteria (as JSON, not of a file)", value=report.policy.sha256),
        Entry(name="Data held against it", value=", ".join(tables) or "none: the file alone"),
        *(
            Entry(name=f"SHA-256 of {role}", value=digest or "not told")
            for role, digest in report.record.inputs.items()
        ),
        Entry(
            name="Cannot be read by eye",
            value="a model file is read whole by the tool, without running it; what lies beyond "
            "its model is listed (TA202–TA206)",
        ),
        Entry(name="No more than is needed", value=minimal),
        Entry(name="Result", value=f"{report.verdict.upper()}: {verdict_line(report)}"),
        Entry(name="Residual risk", value="; ".join(left) or "no check failed"),
        Entry(name="Not looked at", value=" ".join(not_checked(report)) or "nothing"),
        Entry(
            name="Decision",
            value=acceptance(report) or "none here: a person decides (treeaudit accept)",
            basis="a person" if report.baseline else "open",
        ),
    )
