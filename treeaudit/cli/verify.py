"""``treeaudit verify REPORT MODEL`` and ``treeaudit accept REPORT``: what is done with a report."""

import shlex
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer

from treeaudit.cli import options as opt
from treeaudit.cli.console import echo, progress_bar
from treeaudit.errors import DataError, PolicyError
from treeaudit.files import check_free, well_formed, write_file
from treeaudit.reports.plain_text import plain
from treeaudit.version import __version__

_MOST = 1 << 30
_WORST_FIRST = ("fail", "review", "accepted", "pass")
_SHOWN = 10


def verify(
    report: Annotated[
        Path,
        typer.Argument(
            help="What scan -o report.json wrote, or reconstruct --people -o proof.json.",
            show_default=False,
        ),
    ],
    model: opt.Model,
    train: opt.Train = None,
    test: opt.Test = None,
    known: opt.Known = None,
    prior: opt.PriorShares = None,
    policy: Annotated[
        str | None,
        typer.Option(
            help="The policy that it has to be held against: {policies}, or one of your own; that "
            "of the report unless told.",
            metavar="NAME",
            rich_help_panel="Policy",
            show_default=False,
        ),
    ] = None,
    baseline: opt.AcceptedReport = None,
    select: opt.Select = None,
    max_bytes: opt.MaxBytes = None,
) -> None:
    """Tell whether a report, signed or not, or a proof, is of this file and true.

    Says first which of model, tables, policy and signed report are other files than they were.
    Runs the audit again as the report says it was asked. Exits with 0 if every finding, check
    and number is the same and no decision has ended, with 1 if one is not, with 2 if that could
    not be found out.

    treeaudit verify accepted.json model.pkl

    treeaudit verify report.json model.pkl --train people.csv --test others.csv

    treeaudit verify proof.json model.pkl
    """
    from treeaudit.findings.report_file import checked_reports, is_report, read_json

    try:
        content, _ = read_json(report, "the report", _MOST)
    except PolicyError:
        if is_report(model) and report.is_file():
            swapped = f"'treeaudit verify {model} {report}'"
            raise DataError(f"{model} is the report: name it first, {swapped}") from None
        raise
    if isinstance(content, dict) and "treeaudit_proof" in content:
        if given := [one for one in (train, test, known, prior, baseline) if one is not None]:
            raise DataError(f"{report} is a proof, which needs no people: leave {given[0]} away")
        _follow(content, model, select, max_bytes)
        return
    reports = checked_reports(content, f"the report {report.name}")
    if select is not None or max_bytes is not None:
        raise DataError("the report says which model it is of: leave --select and --max-bytes away")
    files = {"train": train, "test": test, "known": known, "prior": prior, "baseline": baseline}
    try:
        together = _compare_totals(content, reports, report)
        code = together or _run_again(reports, report, model, policy, files)
    except (KeyError, TypeError, AttributeError):
        raise DataError(f"the report {report.name} is no whole treeaudit report") from None
    raise typer.Exit(code)


def _compare_totals(content: Any, reports: Sequence[Mapping[str, Any]], report: Path) -> int:  # noqa: ANN401  # JSON
    """Hold what a report says of all models of a file against what it says of each."""
    if content is reports[0]:
        return 0
    verdicts = [one["verdict"] for one in reports]
    worst = next((one for one in _WORST_FIRST if one in verdicts), None)
    true = {**{key: reports[0][key] for key in ("schema_version", "tool")}, "verdict": worst}
    said = {key: part for key, part in content.items() if key != "reports"}
    if said == true:
        return 0
    echo(f"REFUSED  {report} does not say of the whole file what it says of its models")
    return 1


def _run_again(
    reports: Sequence[Mapping[str, Any]],
    report: Path,
    model: Path,
    policy: str | None,
    files: Mapping[str, Path | None],
) -> int:
    from treeaudit.comparison.verify import changes_of, policy_since
    from treeaudit.comparison.verify import verify as run_again

    if changes := changes_of(reports, model, policy=policy, **files):
        between = ": " if len(changes) == 1 else ":\n  "
        told = "\n  ".join(plain(line, 400) for line in changes)
        echo(f"REFUSED  {report} is of something else{between}{told}")
        return 1
    with progress_bar("auditing again") as progress:
        found = run_again(reports, model, policy=policy, progress=progress, **files)
    if (version := reports[0]["tool"]["version"]) != __version__:
        echo(plain(f"written by treeaudit {version}, run again by {__version__}", 200))
    left = [
        (f"model {at} · " if len(found) > 1 else "", d)
        for at, one in enumerate(found, start=1)
        for d in one.differences
        if not _about(d.where, one.unsettled)
    ]
    if left:
        echo(f"REFUSED  {report} does not say what {model} gives:")
        for which, entry in left[:_SHOWN]:
            said, real = (plain(str(part), 120) for part in (entry.said, entry.found))
            echo(plain(f"  {which}{entry.where}: the report says {said}, it is {real}", 400))
        if len(left) > _SHOWN:
            echo(f"  {len(left) - _SHOWN:,} more")
        return 1
    if any(one.differences for one in found):
        names = ", ".join(dict.fromkeys(name for one in found for name in one.unsettled))
        echo(
            f"NOT SETTLED  the search of {names} was ended by time, and went otherwise this time; "
            "the rest is the same: scan again with more --seconds"
        )
        return 2
    findings, checks = (sum(len(one[part]) for one in reports) for part in ("findings", "checks"))
    of = f"the {len(reports):,} models in {model}" if len(reports) > 1 else str(model)
    echo(
        f"TRUE  {report} is of {of} (SHA-256 {reports[0]['model']['sha256']}); run again, its "
        f"{findings} findings and {checks} checks are the same in every number"
    )
    for data, true in zip(reports, found, strict=True):
        verdict = data["verdict"].upper()
        echo(plain(f"verdict  {verdict} by policy {true.again.policy.title}", 400))
    holds = [_decision(data) for data in reports]
    if found[0].own_policy:
        echo(plain(policy_since(reports[0]), 600))
    return 0 if all(holds) else 1


def _decision(data: Mapping[str, Any]) -> bool:
    """Tell what a person decided on a report, and return whether that has not ended."""
    from treeaudit.findings.baseline import acceptance_of

    told = acceptance_of(data)
    if told is None:
        echo("decision  none yet: a person decides (treeaudit accept)")
        return True
    echo(plain(f"decision  may go out, by {told.by} on {told.on}: {told.reason}", 500))
    for line in told.conditions:
        echo(plain(f"  if  {line}", 300))
    echo(f"  {'until' if told.holds else 'ENDED'}  {told.until}")
    return told.holds


def _about(where: str, attacks: tuple[str, ...]) -> bool:
    """Tell whether an entry hangs on an attack that was ended by time; an annex repeats them."""
    hangs = [f"findings · {attack}" for attack in attacks] + ["annex ·"] * bool(attacks)
    return where.startswith(tuple(hangs))


def _follow(
    content: Mapping[str, Any], model: Path, select: str | None, max_bytes: int | None
) -> None:
    import treeaudit as ta
    from treeaudit.inference.checker import assumed_by, check_proof
    from treeaudit.inference.scope import assumptions_of

    forest = ta.load(model, select=select, max_bytes=max_bytes)
    try:
        people = check_proof(content, forest)
    except DataError as error:
        echo(f"REFUSED  {error}")
        raise typer.Exit(1) from None
    noun = "person" if people == 1 else "people"
    echo(f"HOLDS  {people:,} {noun} for certain, where this holds:")
    missing = "no value is missing in the training data"
    for line in (*assumed_by(content, forest), *assumptions_of(forest), missing):
        echo(f"  {line}")
    echo("what the proof says of them in words is not checked: its cells and counts are")


_SAYS = {"rich_help_panel": "Who accepts it", "show_default": False}


def accept(
    report: Annotated[
        Path, typer.Argument(help="The JSON report of a scan (-o report.json).", show_default=False)
    ],
    by: Annotated[str, typer.Option(help="Who answers for it.", metavar="NAME", **_SAYS)],
    until: Annotated[
        str, typer.Option(help="The last day on which that holds.", metavar="YYYY-MM-DD", **_SAYS)
    ],
    reason: Annotated[str, typer.Option(help="Why, in one line.", metavar="TEXT", **_SAYS)],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Write the signed report, for verify and for --baseline.",
            metavar="FILE",
            rich_help_panel="Output",
            show_default=False,
        ),
    ],
    condition: Annotated[
        list[str] | None,
        typer.Option(
            help="Under which condition, in one line. Can be repeated.", metavar="TEXT", **_SAYS
        ),
    ] = None,
    force: opt.Force = False,
) -> None:
    """Sign a report: a person decides that its model may go out, until a day.

    Whatever the verdict is. Of a FAIL this accepts what failed: a later scan with --baseline fails
    what is worse. Of a PASS or a REVIEW it records the decision; what could not be checked is
    decided anew by every scan. The file states who, when, until when, under which conditions, and
    the SHA-256 of the report and of the model file. 'treeaudit verify' checks all of it.

    The file has no key: whoever can write it can sign it again in any name, so keep it where
    only those may write who may decide.

    treeaudit accept report.json --by "Ada Lovelace" --until 2027-06-30 --reason "inside
    the trust only" --condition "no copy leaves the trust" -o accepted.json

    treeaudit verify accepted.json model.pkl

    treeaudit scan next.pkl --baseline accepted.json
    """
    from treeaudit.findings.baseline import accepted_report
    from treeaudit.findings.report_file import read_report
    from treeaudit.reports.to_json import as_json

    try:
        day = date.fromisoformat(until)
    except ValueError:
        raise DataError(f"--until {until}: write a day as YYYY-MM-DD, such as 2027-06-30") from None
    if output.suffix.lower() != ".json":
        raise DataError(f"{output}: an accepted report is written as .json")
    check_free(output, force=force)
    data = well_formed(read_report(report, "the report")[0])  # as it is written
    signed = accepted_report(data, by=by, until=day, reason=reason, conditions=condition or ())
    failed = sum(check["status"] == "fail" for check in data["checks"])
    written = write_file(output, as_json(signed), force=force, private=True)
    what = f"{failed} failed checks" if failed else f"a {str(data['verdict']).upper()}"
    echo(plain(f"ACCEPTED  {what}, by {by.strip()} until {day}", 400))
    echo(f"file  SHA-256 {signed['accepted']['file'] or 'none: the model was in memory'}")
    echo(plain(f"written  {written}", 1000))
    name = shlex.quote(str(written))
    echo(plain(f"next  treeaudit verify {name} MODEL", 1000))
    if failed:
        echo(plain(f"next  treeaudit scan MODEL --baseline {name}", 1000))
